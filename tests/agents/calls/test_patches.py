"""ahp.agents.calls.patches"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.agents.calls import call_edits
from ahp.agents.calls.tool_call import read


def change(path: str, a: str = "a/", b: str = "b/") -> str:
    return f"diff --git {a}{path} {b}{path}\n--- {a}{path}\n+++ {b}{path}\n@@ -1 +1,2 @@\n one\n+two\n"


PLAIN = "--- {0}\n+++ {0}\n@@ -1 +1,2 @@\n one\n+two\n"
PATCHES = {
    "one": change("src/a.py"),
    "two": change("src/a.py") + change(".ahp/hooks.yaml"),
    "p0": PLAIN.format(".ahp/x"),
    "deep": change("y/.ahp/x"),
    "name": change("x"),
    "mode": "diff --git a/.ahp/x b/.ahp/x\nold mode 100644\nnew mode 100755\n",
    "moved": "diff --git a/x b/.ahp/x\nsimilarity index 100%\nrename from x\nrename to .ahp/x\n",
    "gone": "diff --git a/.ahp/x b/.ahp/x\n--- a/.ahp/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
    "index": "Index: .ahp/x\n@@ -1 +1 @@\n-a\n+b\n",
    "inner": "diff --git a/p b/p\n--- a/p\n+++ b/p\n@@ -1,2 +1,2 @@\n one\n--- a/.ahp/x\n+++ b/.ahp/x\n",
    "mail": f"From 1 Mon\nSubject: x\n\n---\n a | 1 +\n{change('src/a.py')}-- \n2.40\n",
    # What none of it can be told of, for git or patch may read other names.
    "empty": "",
    "text": "hello\n",
    "quoted": '--- "a/\\056ahp/x"\n+++ "b/\\056ahp/x"\n@@ -1 +1 @@\n-a\n+b\n',
    "context": change("src/a.py") + "*** .ahp/x\n--- .ahp/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
    "overrun": change("src/a.py").replace("+1,2", "+1,9") + change(".ahp/x"),
    "base64": "Content-Transfer-Encoding: base64\n\nZGlmZg==\n" + change("src/a.py"),
    "indented": change("src/a.py") + "".join(f"  {line}\n" for line in PLAIN.format(".ahp/x").splitlines()),
    "ed": change("src/a.py") + "1c\n!x\n.\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PATCHES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "sub").mkdir()
    (tmp_path / ".ahp").mkdir()
    (tmp_path / "all").mkdir()
    for number, name in enumerate(("one", "two")):
        (tmp_path / f"all/{number}.patch").write_text(PATCHES[name])
    (tmp_path / "binary").write_bytes(b"\0\xff")
    return tmp_path


def called(project: Path, script: str) -> tuple[set[str], bool]:
    """What the call writes, and whether a part of that is not known."""
    found: Any = read("", "Bash", {"command": script}, root=str(project))
    return set(found["writes"]), any("path" in one["unresolved_at"] for one in found["commands"])


def test_the_files_that_a_patch_names_are_written(project: Path) -> None:
    for script, *names in (
        ("git apply one", "src/a.py"),
        ("git apply --3way --index one", "src/a.py"),
        ("git apply -R one", "src/a.py"),
        ("git apply < one", "src/a.py"),
        ("cat one | git apply", "src/a.py"),
        ("git apply one two", "src/a.py", ".ahp/hooks.yaml"),
        ("git am mail", "src/a.py"),
        ("git am all/*.patch", "src/a.py", ".ahp/hooks.yaml"),
        ('for p in all/*.patch; do git am "$p"; done', "src/a.py", ".ahp/hooks.yaml"),
        ("patch -p1 < two", "src/a.py", ".ahp/hooks.yaml"),
        ("patch -p1 -i two", "src/a.py", ".ahp/hooks.yaml"),
        ("git apply -p0 p0", ".ahp/x"),
        ("git apply p0", ".ahp/x", "x"),
        ("git apply -p2 deep", ".ahp/x"),
        ("git apply mode", ".ahp/x"),
        ("git apply moved", ".ahp/x", "x"),
        ("git apply gone", ".ahp/x"),
        ("patch -p0 < index", ".ahp/x"),
        ("git apply inner", "p"),
        ("patch -d .ahp -p1 < name", ".ahp/x"),
        ("cd .ahp && patch -p1 < ../name", ".ahp/x"),
        ("cd sub && git apply ../one", "sub/src/a.py", "src/a.py"),
        ("git -C sub apply ../two", "sub/src/a.py", "src/a.py", "sub/.ahp/hooks.yaml", ".ahp/hooks.yaml"),
        ("git apply --directory=.ahp name", ".ahp/x", ".ahp/**", "x"),
        ("patch one < two", "one"),
        # Nothing that may have written it ran before, or it is not among what that brought.
        ("git switch -c topic && git apply --check one && git apply one && pytest", "src/a.py"),
        # What git compares has the names that it is given, or is about the tree as a whole.
        ("git diff HEAD~1 -- .ahp src | git apply -R", ".ahp", "src"),
        ("git show abc:.ahp/x | git apply", ".ahp/x", "abc:.ahp/x"),
        ("git diff HEAD~1 | git apply -R", "HEAD~1"),
        ("git stash show -p | git apply -R",),
        # Nothing is written.
        ("git apply --check two",),
        ("git apply --stat two",),
        ("patch --dry-run -p1 < two",),
        ("git am --abort",),
    ):
        assert called(project, script) == (set(names), False), script


def test_what_cannot_be_told_of_a_patch_is_not_known(project: Path) -> None:
    for name in ("empty", "text", "quoted", "context", "overrun", "base64", "binary", "missing", "sub"):
        assert called(project, f"git apply {name}")[1], name
    for script in (
        "patch -p1 < indented",
        "patch -p1 < ed",
        "git apply one empty",
        "git apply -",
        "git apply - < one",
        'git apply "$X"',
        "git apply $(cat list)",
        "git apply /dev/fd/3",
        "curl -s https://x.test/a | git apply",
        "sed s/src/.ahp/ one | git apply",
        "git diff | sed s/src/.ahp/ | git apply",
        "git diff --no-index a b | git apply",
        "git diff --dst-prefix=.ahp/ | git apply",
        "git -c diff.noprefix=true diff | git apply",
        "GIT_EXTERNAL_DIFF=./x git diff | git apply",
        "git diff | git apply -p2",
        "git() { cat two; }; git diff | git apply",
        # Something may have written it before.
        "sed -i s/src/.ahp/ one && git apply one",
        "cp two one; git apply one",
        "ln -sf two one; git apply one",
        "python gen.py; git apply one",
        "git checkout topic && git apply one",
        "git stash pop && git apply one",
        "for i in 1 2; do git apply one; cp two one; done",
    ):
        assert called(project, script)[1], script


def test_a_patch_that_git_did_not_bring_stays_what_it_is(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    patch = tmp_path_factory.mktemp("elsewhere") / "one"
    patch.write_text(PATCHES["one"])
    assert called(project, f"git checkout topic && git apply {patch}") == ({"src/a.py"}, False)


def test_the_lines_of_a_patch_are_known(project: Path) -> None:
    edits = call_edits.of(read("", "Bash", {"command": "git apply two"}, root=str(project)))
    assert {path: [edit.new for edit in found] for path, found in edits.by_path.items()} == {
        "src/a.py": ["one\ntwo\n"],
        ".ahp/hooks.yaml": ["one\ntwo\n"],
    }
    backwards = call_edits.of(read("", "Bash", {"command": "git apply -R two"}, root=str(project)))
    assert backwards.by_path == {}
    assert backwards.unknown
