"""The files of a tree as a change that adds them."""

from __future__ import annotations

import pytest

from ahp.system import git, worktree
from ahp.system.worktree import FilesView
from tests.conftest import Repo


def test_lines_as_git_would_add_them(repo: Repo, monkeypatch: pytest.MonkeyPatch, hostile_names: list[str]) -> None:
    (repo.root / "long").write_bytes(b"one\r\n\xff\n\n")
    (repo.root / "short").write_bytes(b"end")
    (repo.root / "empty").write_bytes(b"")
    for name in hostile_names:
        repo.write(name, "x\n")
    repo.add()
    here = git.discover(str(repo.root), {})
    paths, untracked = worktree.listed(here)
    assert {"long", "short", "empty", *hostile_names} == set(paths) and untracked == 0
    view = FilesView(here, here.empty_tree(), paths)
    found = view.known_lines()
    told = [(line["line"], line["text"]) for line in found.added if line["path"] in ("long", "short", "empty")]
    assert told == [(1, "one\r"), (2, "\udcff"), (3, ""), (1, "end")] and not found.unread
    assert {line["path"] for line in found.added if line["text"] == "x"} == set(hostile_names)
    entries = {entry.path: (entry.status, entry.insertions) for entry in view.change().entries}
    assert (entries["long"], entries["empty"], entries["short"]) == (("A", 3), ("A", 0), ("A", 1))
    monkeypatch.setattr(worktree, "LINES_LIMIT", 5)
    assert [path for path, _ in FilesView(here, here.empty_tree(), ["long", "short"]).known_lines().unread] == ["long"]
    assert FilesView(here, here.empty_tree(), ["long"]).known_lines().unread == []
    assert view.mend() == "" and view.paths() == paths
