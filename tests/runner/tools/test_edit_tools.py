"""edit and apply_patch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.runner.tools.edit_tools import PatchError, applied, parse
from ahp.runner.tools.tool import InvalidCall
from ahp.system.errors import AhpError
from tests.runner.tools.conftest import Call


def test_exact_texts_are_replaced(call: Call, folder: Path) -> None:
    (folder / "f").write_text("a = 1\nb = 1\nc = 1\n")
    edits = [{"search": "a = 1", "replace": "a = 2"}, {"search": "= 1", "replace": "= 3", "all": True}]
    assert call("edit", path="f", edits=edits) == "f: 2 edits made"
    assert (folder / "f").read_text() == "a = 2\nb = 3\nc = 3\n"
    assert call("str_replace", file_path="f", old_string="a = 2\n", new_string="") == "f: 1 edit made"
    assert (folder / "f").read_text() == "b = 3\nc = 3\n"


@pytest.mark.parametrize(
    ("search", "said"), [("= 9", "does not hold that text"), ("= 1", "holds that text 2 times.*all")]
)
def test_an_edit_that_is_not_clear_changes_nothing(call: Call, folder: Path, search: str, said: str) -> None:
    (folder / "f").write_text("a = 1\nb = 1\n")
    edits = [{"search": "a =", "replace": "x ="}, {"search": search, "replace": ""}]
    with pytest.raises(AhpError, match=f"edit 2: f {said}"):
        call("edit", path="f", edits=edits)
    assert (folder / "f").read_text() == "a = 1\nb = 1\n"


def test_line_ends_stay_as_they_are(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\r\nb\r\n")
    call("edit", path="f", search="a\nb", replace="a\nc")
    assert (folder / "f").read_bytes() == b"a\r\nc\r\n"
    call("apply_patch", patch="--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n+x\n c\n")
    assert (folder / "f").read_bytes() == b"a\r\nx\r\nc\r\n"


def test_a_byte_order_mark_is_in_nobodys_way(call: Call, folder: Path) -> None:
    for first in ("a", "\ufeffa"):
        (folder / "f").write_text("\ufeffa\nb\n")
        call("apply_patch", patch=f"```diff\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n {first}\n-b\n+c\n```")
        assert (folder / "f").read_text() == "\ufeffa\nc\n"
    call("apply_patch", patch="--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+x\n")
    assert (folder / "f").read_text() == "\ufeffx\nc\n"


@pytest.mark.parametrize(
    "args", [{"edits": []}, {"search": "", "replace": "x"}, {"search": "x"}, {"search": "x", "replace": "x"}, {}]
)
def test_half_an_edit_is_refused(call: Call, args: dict[str, object]) -> None:
    with pytest.raises(InvalidCall):
        call("edit", path="f", **args)


def test_what_is_no_utf_8_is_not_spoilt(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\xffb\n")
    with pytest.raises(AhpError, match="UTF-8"):
        call("edit", path="f", search="a", replace="b")
    with pytest.raises(AhpError, match="UTF-8"):
        call("apply_patch", patch="--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n")
    (folder / "f").write_text("a \ufffd\n")  # the sign itself is a character like any other
    call("edit", path="f", search="a", replace="b")
    assert (folder / "f").read_text() == "b \ufffd\n"


PATCH = """\
diff --git a/f b/f
index 1..2 100644
--- a/f
+++ b/f
@@ -1,2 +1,2 @@
-one
+eins
 two
@@ -9,2 +9,3 @@ heading
 three

+four
--- /dev/null
+++ b/new/g
@@ -0,0 +1 @@
+made
--- a/old
+++ /dev/null
@@ -1 +0,0 @@
-gone
"""


def test_a_patch_changes_makes_and_removes_files(call: Call, folder: Path) -> None:
    (folder / "f").write_text("one\ntwo\n\nthree\n\n")
    (folder / "old").write_text("gone\n")
    assert call("apply_patch", patch=PATCH) == "changed f\ncreated new/g\ndeleted old"
    assert (folder / "f").read_text() == "eins\ntwo\n\nthree\n\nfour\n"
    assert (folder / "new" / "g").read_text() == "made\n"
    assert not (folder / "old").exists()


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"f": "one\ntwo\n"}, "hunk 2 does not fit"),
        ({"f": "one\ntwo\n\nthree\n\n", "new/g": ""}, "new/g is there already"),
        ({"f": "one\ntwo\n\nthree\n\n"}, "old is not there"),
        ({"f": "one\ntwo\n\nthree\n\n", "old": "gone\nand more\n"}, "holds more than the patch removes"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(call: Call, folder: Path, there: dict[str, str], said: str) -> None:
    for name, text in there.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with pytest.raises(AhpError, match=said):
        call("patch", diff=PATCH)
    assert {name: (folder / name).read_text() for name in there} == there


FITS = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n"


def test_a_file_without_lines_is_not_passed_over(call: Call, folder: Path) -> None:
    (folder / "f").write_text("one\n")
    made = "diff --git a/new/__init__.py b/new/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n"
    with pytest.raises(InvalidCall, match="has no lines to change"):
        call("apply_patch", patch=f"{made}diff --git a/f b/f\n{FITS}")
    assert (folder / "f").read_text() == "one\n"


def test_the_signature_of_git_format_patch_is_no_line(call: Call, folder: Path) -> None:
    (folder / "f").write_text("one\n- \n")
    call("apply_patch", patch=f"From: me\n\nThe new file mode 100755 is next.\n---\n f | 1 +\n\n{FITS}-- \n2.43.0\n\n")
    assert (folder / "f").read_text() == "ONE\n- \n"
    call("apply_patch", patch="--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n ONE\n-- \n+- two\n")
    assert (folder / "f").read_text() == "ONE\n- two\n"


def test_a_hunk_without_a_number_stands_in_one_place() -> None:
    (change,) = parse("--- a/f\n+++ b/f\n@@ def two():\n-    return\n+    pass\n")
    assert applied("def two():\n    return\n", change) == "def two():\n    pass\n"
    with pytest.raises(PatchError, match="hunk 1 fits in 2 places; give its line numbers"):
        applied("def one():\n    return\ndef two():\n    return\n", change)
    (change,) = parse("--- a/f\n+++ b/f\n@@\n+new\n")
    with pytest.raises(PatchError, match="2 places"):
        applied("a\n", change)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("hello", "no file in it"),
        ("--- a/f\n+++ b/f\n", "no hunk"),
        ("--- a/f\n+++ b/f\n@@\n", "without lines"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\nold\n", "begins with a blank"),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "renamed"),
        ("rename from a\nrename to b\n", "not taken"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n" + FITS, "'old mode 100644' is not taken"),
        ("diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "not taken"),
        ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+f\n", "not taken"),
        ("+++ b/x\n@@ -0,0 +1 @@\n+a\n" + FITS, "a hunk without the lines"),
        ("--- a/x\n@@ -0,0 +1 @@\n+a\n" + FITS, "a hunk without the lines"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n", "without a path"),
        ('--- "a/f"\n+++ "b/f"\n@@ -1 +1 @@\n-a\n', "quoted"),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n", "out of the project"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n--- a/./f\n+++ b/./f\n@@ -1 +1 @@\n-a\n", "twice"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n" * 201, "more than 200 files"),
    ],
)
def test_what_is_no_patch_is_refused(call: Call, patch: str, said: str) -> None:
    with pytest.raises(InvalidCall, match=said):
        call("apply_patch", patch=patch)


def test_a_hunk_stands_nearest_to_where_it_says() -> None:
    text = "x\na\nx\nb\nx\n"
    (change,) = parse("--- a/f\n+++ b/f\n@@ -5 +5 @@\n-x\n+y\n")
    assert applied(text, change) == "x\na\nx\nb\ny\n"
    (change,) = parse("--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+new\n")
    assert applied(text, change) == "x\na\nnew\nx\nb\nx\n"
    with pytest.raises(PatchError):
        applied("", parse("--- a/f\n+++ b/f\n@@\n-x\n")[0])


def test_a_last_line_without_an_end() -> None:
    (change,) = parse(
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )
    assert applied("a", change) == "b"
    (change,) = parse("--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n")
    assert applied("a", change) == "a\nb\n"


LINES = st.lists(st.sampled_from(["a", "b", "", "- c", "+ d", "-- e", "@@"]), max_size=12)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_what_diff_writes_is_applied(old: list[str], new: list[str], old_end: bool, new_end: bool) -> None:
    texts = ["\n".join(lines) + ("\n" if lines and end else "") for lines, end in ((old, old_end), (new, new_end))]
    if texts[0] == texts[1] or not texts[0]:
        return
    made = _diff(*texts)
    (change,) = parse(made)
    assert applied(texts[0], change) == texts[1]


def _diff(old: str, new: str) -> str:
    """What `diff -u` says; it reads one side from its input and the other from an argument file descriptor."""
    import os

    read, write = os.pipe()
    os.write(write, new.encode())
    os.close(write)
    done = subprocess.run(
        ["diff", "-u", "--label", "a/f", "--label", "b/f", "-", f"/dev/fd/{read}"],
        input=old.encode(),
        capture_output=True,
        check=False,
        pass_fds=(read,),
    )
    os.close(read)
    return done.stdout.decode()
