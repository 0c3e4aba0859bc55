"""Which branch is the default one, read from files where they say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.facts import default_branch
from ahp.protocol.event import PushRef

ZERO = "0" * 40


@pytest.fixture
def cloned(repo: Any, tmp_path: Path) -> Any:
    """`repo` with a remote `origin` that has its main branch."""
    repo.commit("first")
    repo.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("push", "-qu", "origin", "main")
    return repo


def test_the_remote_says_which_branch_is_the_default(cloned: Any, make_event: Any, gather: Any) -> None:
    cloned.git("push", "-q", "origin", "main:trunk")
    cloned.git("remote", "set-head", "origin", "trunk")
    assert gather(make_event(), "branch.is_default", "repo.default_branch") == {
        "branch.is_default": False,
        "repo.default_branch": "trunk",
    }
    event = make_event("pre-push", push=PushRef("x", "1" * 40, "refs/heads/trunk", ZERO), remote="https://e.org/x.git")
    assert gather(event, "branch.is_default") == {"branch.is_default": True}


def test_the_only_remote_counts_whatever_its_name(cloned: Any, make_event: Any, gather: Any) -> None:
    cloned.git("remote", "rename", "origin", "upstream")
    cloned.git("push", "-q", "upstream", "main:next")
    cloned.git("remote", "set-head", "upstream", "next")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": "next"}


def test_without_a_remote_the_usual_names_then_the_configuration(repo: Any, make_event: Any, gather: Any) -> None:
    repo.git("checkout", "-q", "--orphan", "stable")
    repo.commit("first")
    repo.git("checkout", "-qb", "side")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": ""}
    repo.git("config", "init.defaultBranch", "stable")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": "stable"}
    for name in ("develop", "trunk", "master", "main"):
        repo.git("branch", name)
        repo.git("pack-refs", "--all")
        assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": name}


def test_what_install_found_comes_before_the_usual_names_and_outlives_a_renaming(
    repo: Any, make_event: Any, gather: Any
) -> None:
    repo.commit("first")
    repo.write(".git/ahp/default-branch", "main\n")
    repo.git("branch", "-m", "main", "old")
    repo.git("branch", "master")
    event = make_event("pre-push", push=PushRef("x", repo.head(), "refs/heads/main", ZERO), remote="origin")
    assert gather(event, "branch.is_default", "repo.default_branch") == {
        "branch.is_default": True,
        "repo.default_branch": "main",
    }


def test_a_head_of_the_remote_that_is_written_by_hand_takes_no_protection_away(
    cloned: Any, make_event: Any, gather: Any
) -> None:
    cloned.write(".git/ahp/default-branch", "main\n")
    cloned.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/zz")
    for name in ("main", "zz", "other"):
        event = make_event("pre-push", push=PushRef("x", cloned.head(), f"refs/heads/{name}", ZERO), remote="origin")
        assert gather(event, "branch.is_default") == {"branch.is_default": name != "other"}


def test_without_a_head_of_the_remote_its_branch_of_a_usual_name_counts(
    cloned: Any, make_event: Any, gather: Any
) -> None:
    cloned.git("branch", "-m", "main", "old")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": "main"}
    cloned.git("pack-refs", "--all")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": "main"}


def test_a_branch_that_stands_for_another_is_that_one(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first")
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    repo.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert gather(make_event(), "branch.name", "branch.is_default") == {
        "branch.name": "main",
        "branch.is_default": True,
    }


def test_refs_kept_in_tables_are_asked_of_git(repo: Any, make_event: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """git 2.45 can keep refs elsewhere than in files; older ones cannot make such a repository, so it is made up."""
    repo.commit("first")
    repo.git("branch", "master")
    repo.git("checkout", "-qb", "side")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    event = make_event()
    real = default_branch.files.read

    def tables(path: str, limit: int | None = None) -> bytes | None:
        if path.endswith("tables.list"):
            return b"x"
        return None if "/refs/" in path else real(path, limit)

    monkeypatch.setattr(default_branch.files, "read", tables)
    assert default_branch.has_branch(event.repo, "master") and not default_branch.has_branch(event.repo, "nix")
    assert default_branch.default_branch(event.repo) == "main"


def test_in_a_clone_of_one_branch_a_usual_name_that_comes_first_may_be_the_default(
    cloned: Any, make_event: Any, gather: Any
) -> None:
    def defaults(*names: str) -> list[str]:
        events = [
            make_event("pre-push", push=PushRef("x", "1" * 40, f"refs/heads/{n}", ZERO), remote="origin") for n in names
        ]
        return [n for n, e in zip(names, events, strict=True) if gather(e, "branch.is_default")["branch.is_default"]]

    cloned.git("push", "-q", "origin", "main:develop", "main:topic")
    cloned.git("checkout", "-q", "--detach")
    cloned.git("branch", "-q", "-D", "main")
    cloned.git("update-ref", "-d", "refs/remotes/origin/main")
    assert defaults("main", "trunk", "develop", "topic") == ["main", "trunk", "develop"]
    cloned.git("update-ref", "-d", "refs/remotes/origin/develop")
    assert defaults("main", "develop", "topic") == ["main", "develop"]
    cloned.git("update-ref", "refs/remotes/origin/master", "HEAD")
    assert defaults("main", "master", "trunk") == ["main", "master"]
    cloned.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/topic")
    assert defaults("main", "master", "topic") == ["topic"]
