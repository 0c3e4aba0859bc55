"""Trees of work trees in a store of their own; merging and checking out are tried in tests/runner/parallel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.system import git, trees
from tests.conftest import Repo


@pytest.mark.parametrize("broken", [False, True])
def test_a_linked_work_tree_is_forgotten_also_without_its_way_back(repo: Repo, tmp_path: Path, broken: bool) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    place, other = tmp_path / "linked", tmp_path / "somebody's"
    for one in (place, other):
        repo.git("worktree", "add", "--quiet", "--detach", str(one))
        if broken:
            (one / ".git").unlink()
    here = git.discover(str(repo.root), dict(os.environ))
    trees.forget(here, str(place))
    trees.forget(here, str(tmp_path / "never"))
    assert [line.split()[0] for line in repo.git("worktree", "list").splitlines()] == [str(repo.root), str(other)]


def test_what_is_not_committed_gets_into_no_object_store_of_the_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("a.txt", "2\n")
    repo.write("new.txt", "3\n")
    before = sorted((repo.root / ".git" / "objects").rglob("*"))
    store = trees.TreeStore(git.discover(str(repo.root), dict(os.environ)), str(tmp_path / "kept"))
    old, new = repo.git("rev-parse", "HEAD^{tree}").strip(), store.take(store._repo, "project")
    assert [(one.path, bool(one.old_mode)) for one in store.changed(old, new)] == [("a.txt", True), ("new.txt", False)]
    assert store.has(new) and not store.has("0" * 40)
    assert sorted((repo.root / ".git" / "objects").rglob("*")) == before
    assert repo.git("status", "--short").split() == ["M", "a.txt", "??", "new.txt"]
