"""read_file, list_files, search, write_file, append_file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.runner.tools import file_tools
from ahp.runner.tools.tool import InvalidCall
from ahp.system.errors import AhpError
from tests.conftest import Repo
from tests.runner.tools.conftest import Call


def test_a_file_is_read_whole_or_in_part(call: Call, folder: Path) -> None:
    (folder / "f").write_text("one\ntwo\nthree\n")
    assert call("read_file", path="f") == "one\ntwo\nthree\n"
    assert call("cat", file_path="f", offset=2, limit=1) == "[lines 2 to 2 of 3]\ntwo\n"
    assert call("read_file", path="f", start=2) == "[lines 2 to 3 of 3]\ntwo\nthree\n"
    with pytest.raises(AhpError, match="only 3 lines"):
        call("read_file", path="f", start=9)


def test_lines_are_those_of_git_and_editors(call: Call, folder: Path) -> None:
    (folder / "f").write_text("a\n\x0cb\nc\x85d\u2028e\nneedle\r\n", newline="")
    assert call("read_file", path="f", start=4) == "[lines 4 to 4 of 4]\nneedle\r\n"
    assert call("search", pattern="needle$") == "f:4: needle"


def test_a_glob_with_braces_stands_for_several(call: Call, folder: Path) -> None:
    for name in ("a.ts", "b.tsx", "c.js", "d{x}.txt"):
        (folder / name).write_text("")
    assert call("list_files", glob="*.{ts,tsx}") == "a.ts\nb.tsx"
    assert call("list_files", glob="{a,{b,c}}.{js,ts}*") == "a.ts\nb.tsx\nc.js"
    assert call("list_files", glob="d{x}.txt") == "d{x}.txt"
    with pytest.raises(InvalidCall, match="more than 100 globs"):
        call("list_files", glob="{a,b}" * 8)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^def", "f:3: def foo():"),
        ("pass$", "f:4: pass"),
        ("^import os$", "f:1: import os"),
        ("^$", "f:2: "),
        ("\\Adef", "f:3: def foo():"),
        (":\\z", "f:3: def foo():"),
        ("[^:]pass", "f:4: pass"),
        ("\\bfoo\\b", "f:3: def foo():"),
        ("os\ndef", "(nothing found; files that git ignores are not searched)"),
    ],
)
def test_a_pattern_is_one_of_lines(call: Call, folder: Path, pattern: str, found: str) -> None:
    (folder / "f").write_text("import os\n\ndef foo():\n    pass\n")
    assert call("search", pattern=pattern) == found


def test_what_was_read_of_a_file_that_is_no_utf_8_does_not_take_its_place(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"caf\xe9\n")
    with pytest.raises(AhpError, match="f is no UTF-8: a change would spoil it"):
        call("write_file", path="f", content=call("read_file", path="f") + "more\n")
    assert (folder / "f").read_bytes() == b"caf\xe9\n"
    call("write_file", path="f", content="coffee\n")
    call("write_file", path="g", content="\ufffd\n")
    call("write_file", path="g", content="\ufffd\ufffd\n")
    assert (folder / "g").read_text() == "\ufffd\ufffd\n"


def test_what_is_no_text_is_not_read(call: Call, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\0b")
    with pytest.raises(AhpError, match=r"f is no text \(3 bytes\)"):
        call("read_file", path="f")


@pytest.mark.parametrize("args", [{}, {"path": ""}, {"path": "f", "start": 0}, {"path": "f", "end": 3}])
def test_wrong_arguments_are_told(call: Call, args: dict[str, object]) -> None:
    with pytest.raises(
        InvalidCall, match=r"read_file: (path: |start: |end: no such name; there are path, start, lines)"
    ):
        call("read_file", **args)


def test_files_are_listed_without_what_git_ignores(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(folder)
    repo.git("init", "-q")
    repo.write(".gitignore", "build/\n")
    for name in ("a.py", "src/b.py", "src/c.txt", "build/d.py"):
        repo.write(name, "x\n")
    repo.git("add", "a.py")
    repo.write("gone.py", "x\n")
    repo.git("add", "gone.py")
    (folder / "gone.py").unlink()
    assert call("list_files") == ".gitignore\na.py\nsrc/b.py\nsrc/c.txt"
    assert call("ls", dir="src") == "src/b.py\nsrc/c.txt"
    assert call("list_files", glob="*.py") == "a.py\nsrc/b.py"
    assert call("list_files", path="src", glob="src/**/*.txt") == "src/c.txt"
    assert call("list_files", path="a.py") == "a.py"
    (folder / "empty").mkdir()
    assert call("list_files", path="empty") == "(no files; what git ignores is left out)"
    for name, pattern in (("list_files", {}), ("search", {"pattern": "x"})):
        with pytest.raises(AhpError, match=r"^none: there is no such file or folder$"):
            call(name, path="none", **pattern)
    monkeypatch.setattr(file_tools, "_SHOWN", 2)
    assert call("list_files") == ".gitignore\na.py\n[… and 2 more of 4 files; name a folder or a glob …]"
    with pytest.raises(InvalidCall, match="glob"):
        call("list_files", glob="[")


def test_outside_a_repository_every_file_is_listed(call: Call, folder: Path) -> None:
    for name in (".git/x", "a", "b/c"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".git").rename(folder / "hidden")
    (folder / "sub" / ".git").mkdir(parents=True)
    (folder / "sub" / ".git" / "config").write_text("x")
    assert call("list_files") == "a\nb/c\nhidden/x"


def test_lines_are_found(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.py").write_text("def one():\n    return ONE\n")
    (folder / "b.txt").write_text("one\n" * 3)
    (folder / "c.bin").write_bytes(b"one\0")
    (folder / "away").symlink_to("/etc")
    assert call("search", pattern=r"def \w+") == "a.py:1: def one():"
    assert call("grep", query="ONE", ignore_case=True, glob="*.py") == "a.py:1: def one():\na.py:2: return ONE"
    assert call("search", pattern="nothing") == "(nothing found; files that git ignores are not searched)"
    monkeypatch.setattr(file_tools, "_SEARCHED", 20)
    assert call("search", pattern="one", path="a.py") == (
        "(nothing found; files that git ignores are not searched)\n[… larger than 1 MB and not searched: a.py …]"
    )
    monkeypatch.undo()
    monkeypatch.setattr(file_tools, "_HITS", 2)
    assert call("search", pattern="one", path="b.txt").splitlines() == [
        "b.txt:1: one",
        "b.txt:2: one",
        "[… more than 2 lines; name a folder, a glob or a longer pattern …]",
    ]
    monkeypatch.setattr(file_tools, "_SEARCH_TIME", -1.0)
    assert "stopped after" in call("search", pattern="one")
    with pytest.raises(InvalidCall, match="no regular expression: missing"):
        call("search", pattern="(")


def test_files_are_written_and_added_to(call: Call, folder: Path) -> None:
    assert call("write_file", path="new/f", content="one\n") == "wrote new/f: 4 bytes, 1 line"
    assert call("append", path="new/f", text="two") == "appended to new/f: it has 7 bytes, 2 lines now"
    assert (folder / "new" / "f").read_text() == "one\ntwo"
    assert call("write_file", path="new/f", content="") == "replaced new/f: 0 bytes, 0 lines"
    assert call("append_file", path="g", content="ü") == "wrote g: it has 2 bytes, 1 line now"
    (folder / "crlf").write_bytes(b"a\r\n")
    call("append_file", path="crlf", content="b\nc\r\n")
    assert (folder / "crlf").read_bytes() == b"a\r\nb\r\nc\r\n"
    with pytest.raises(AhpError, match="half of a character at 2"):
        call("write_file", path="g", content="ab\ud800")
    assert (folder / "g").read_text() == "ü"
