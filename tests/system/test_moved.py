"""What a moved file holds is told in every state that is judged."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.system import git, moved
from ahp.system.history import RangeView
from ahp.system.view import IndexView, View
from ahp.system.worktree import WorkTreeView

LINES = "".join(f"line {number}\n" for number in range(20))


def told(view: View) -> list[tuple[object, object, object]]:
    return [(one["old_path"], one["path"], one["text"]) for one in moved.of(view).files]


def test_moved_files_are_told_with_what_they_hold_now(repo: Any) -> None:
    wide = b"\xff\xfe" + LINES.encode("utf-16-le")
    files = {"tests/a.py": LINES, "b": b"\0\1\2\3" * 50, "wide": wide, "kept": LINES + "x", "gone": "bye\n" * 9}
    repo.commit("first", **files)
    for old, new in (("tests/a.py", "src/a.py"), ("b", "c"), ("wide", "far")):
        (repo.root / new).parent.mkdir(exist_ok=True)
        repo.git("mv", old, new)
    repo.write("src/a.py", LINES + "more\n")
    repo.write("kept", LINES + "y")
    repo.git("rm", "-q", "gone")
    repo.add()
    where = git.discover(str(repo.root), dict(os.environ))
    expected = {("tests/a.py", "src/a.py", LINES + "more\n"), ("b", "c", ""), ("wide", "far", LINES)}
    assert set(told(IndexView(where))) == set(told(WorkTreeView(where))) == expected
    repo.write("src/a.py", LINES + "other\n")  # not staged
    assert ("tests/a.py", "src/a.py", LINES + "other\n") in told(WorkTreeView(where))
    assert set(told(IndexView(where))) == expected
    old = repo.git("rev-parse", "HEAD")
    repo.commit("second")
    new = repo.git("rev-parse", "HEAD")
    assert set(told(RangeView(where, old, new))) == expected


def test_past_the_limit_the_rest_is_named(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("first", **{f"old/{name}": LINES + name for name in "abc"})
    repo.git("mv", "old", "new")
    monkeypatch.setattr(moved, "LIMIT", len(LINES))
    monkeypatch.setattr(moved, "_AT_ONCE", 1)
    found = moved.of(IndexView(git.discover(str(repo.root), dict(os.environ))))
    assert [one["path"] for one in found.files] == ["new/a"]
    assert found.unread == ["new/b", "new/c"]
