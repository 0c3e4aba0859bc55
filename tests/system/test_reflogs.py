"""How commits came about here, as real git writes it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from ahp.system import git, reflogs
from tests.conftest import Repo


def made(repo: Repo) -> dict[str, str]:
    return reflogs.made_here(git.discover(str(repo.root), {}))


def test_what_makes_a_commit_and_what_does_not(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit("first")
    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit("side", a="1\n")
    repo.git("checkout", "-q", "main")
    moved = repo.commit("moved", b="1\n")
    repo.git("cherry-pick", side)
    picked = repo.head()
    repo.git("revert", "--no-edit", picked)
    reverted = repo.head()
    repo.git("merge", "-q", "--no-ff", "-m", "joined", "side")
    joined = repo.head()
    repo.git("reset", "-q", "--hard", moved)
    repo.git("checkout", "-q", "side")
    repo.commit("more", c="1\n")
    repo.git("rebase", "-q", "main")
    rebased = repo.head()
    found = made(repo)
    assert found[first] == found[side] == found[moved] == "commit"
    assert (found[picked], found[reverted], found[joined], found[rebased]) == (
        "cherry-pick",
        "revert",
        "merge",
        "rebase",
    )
    repo.git("clone", "-q", str(repo.root), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.git("checkout", "-q", "-b", "main2", "origin/main")
    clone.git("merge", "-q", "--ff-only", "origin/side")
    assert made(clone) == {}


def test_a_pick_that_only_moves_on_makes_nothing(repo: Repo) -> None:
    repo.commit("first")
    repo.git("checkout", "-q", "-b", "side")
    tip = repo.commit("side", a="1\n")
    repo.git("checkout", "-q", "main")
    (repo.root / ".git/logs/HEAD").write_text("")
    (repo.root / ".git/logs/refs/heads/side").write_text("")
    repo.git("cherry-pick", "--ff", tip)
    assert tip not in made(repo)


def test_other_work_trees_count_and_refs_in_tables_are_asked_of_git(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git 2.45 can keep refs elsewhere than in files; older ones cannot make such a repository, so it is made up."""
    repo.commit("first")
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    tip = Repo(tmp_path / "linked").commit("there", a="1\n")
    assert made(repo)[tip] == "commit"
    first = repo.head()
    real = reflogs.files.read
    monkeypatch.setattr(
        reflogs.files, "read", lambda path, *limit: b"x" if path.endswith("tables.list") else real(path, *limit)
    )
    assert made(repo)[first] == "commit"


@pytest.mark.parametrize("in_tables", [False, True])
def test_a_branch_that_moved_is_told_from_one_that_did_not(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, in_tables: bool
) -> None:
    real = reflogs.files.read
    if in_tables:
        monkeypatch.setattr(
            reflogs.files, "read", lambda path, *limit: b"x" if path.endswith("tables.list") else real(path, *limit)
        )
    here = git.discover(str(repo.root), {})
    assert reflogs.mark(here, "main") == ""
    first = repo.commit("first")
    before = reflogs.mark(here, "main")
    repo.git("branch", "side")
    assert before and reflogs.mark(here, "main") == before
    repo.commit("second")
    repo.git("reset", "-q", "--hard", first)
    assert reflogs.mark(here, "main") not in ("", before)
    assert reflogs.mark(here, "none") == ""


def test_the_zeros_at_the_ends_of_an_id_are_part_of_it(repo: Repo) -> None:
    """git writes zeros for no commit, so an entry's first id is looked at for them."""
    log, made = repo.root / ".git" / "logs" / "HEAD", "b" * 40
    who = "A <a@example.org> 1700000000 +0000"
    ids = ["0" * 40, "00" + "a" * 36 + "00", made]
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(f"{old} {new} {who}\tcommit: x\n" for old, new in itertools.pairwise(ids)))
    here = git.discover(str(repo.root), {})
    assert reflogs.made_from(here, ids[1]) == [made]
    assert reflogs.made_from(here, "") == [ids[1]]
    assert reflogs.made_from(here, "a" * 36) == []
