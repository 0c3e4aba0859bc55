"""`branch`: where the head stands, and what a push writes to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import branch
from ahp.protocol.event import PushRef

ALL = [f"branch.{field}" for field in branch.NAMESPACE.schema]

ZERO = "0" * 40


@pytest.fixture
def cloned(repo: Any, tmp_path: Path) -> Any:
    """`repo` with a remote `origin` that has its main branch."""
    repo.commit("first")
    repo.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("push", "-qu", "origin", "main")
    return repo


def test_before_the_first_commit_the_branch_has_a_name(make_event: Any, gather: Any) -> None:
    facts = gather(make_event(), *ALL)
    assert facts["branch.name"] == "main"
    assert facts["branch.is_default"] is True and facts["branch.is_detached"] is False
    assert facts["missing"]["branch.ahead"] == (
        "the branch has no upstream",
        "git branch --set-upstream-to=REMOTE/BRANCH",
    )


def test_a_detached_head_has_an_empty_name(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first")
    repo.git("checkout", "-q", "--detach")
    facts = gather(make_event(), "branch.name", "branch.is_default", "branch.is_detached")
    assert facts == {"branch.name": "", "branch.is_default": False, "branch.is_detached": True}


def test_no_process_is_started_for_the_name(make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    event = make_event()
    monkeypatch.setattr(type(event.repo), "run", lambda *a, **k: pytest.fail("git was started"))
    assert gather(event, "branch.name", "branch.is_default", "branch.is_detached")["branch.name"] == "main"


def test_outside_a_repository_there_is_no_branch_and_that_is_known(make_event: Any, gather: Any) -> None:
    facts = gather(make_event("pre-tool-use", repo=None, view=None), *ALL, "repo.is_shallow", "repo.default_branch")
    assert facts["branch.name"] == facts["repo.default_branch"] == ""
    assert facts["branch.ahead"] == 0 and facts["repo.is_shallow"] is False


@pytest.mark.parametrize("name", ["feature/x", "ümläut", "a.b", "we'ird$(x)", "#1"])
def test_any_branch_name(repo: Any, make_event: Any, gather: Any, name: str) -> None:
    repo.commit("first")
    repo.git("checkout", "-qb", name)
    facts = gather(make_event(), "branch.name", "branch.is_default")
    assert facts == {"branch.name": name, "branch.is_default": False}


@pytest.mark.skipif(sys.platform == "darwin", reason="file names there are UTF-8")
def test_a_branch_name_that_is_not_utf8(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first")
    repo.git("checkout", "-qb", b"caf\xe9")
    assert gather(make_event(), "branch.name") == {"branch.name": "caf\udce9"}


def test_a_linked_work_tree_has_its_own_branch(repo: Any, make_event: Any, gather: Any, tmp_path: Path) -> None:
    from ahp.system import git

    repo.commit("first")
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked tree"))
    event = make_event(repo=git.discover(str(tmp_path / "linked tree"), {}))
    assert gather(event, "branch.name", "branch.is_default") == {"branch.name": "side", "branch.is_default": False}


def test_ahead_and_behind_of_the_upstream(cloned: Any, make_event: Any, gather: Any) -> None:
    cloned.commit("mine")
    assert gather(make_event(), "branch.ahead", "branch.behind") == {"branch.ahead": 1, "branch.behind": 0}
    cloned.git("push", "-q")
    cloned.git("reset", "-q", "--hard", "HEAD^")
    assert gather(make_event(), "branch.behind") == {"branch.behind": 1}


def test_a_push_is_about_the_branch_it_writes(cloned: Any, make_event: Any, gather: Any) -> None:
    old, new = cloned.head(), cloned.commit("mine")
    cloned.git("checkout", "-qb", "feature")
    event = make_event("pre-push", push=PushRef("refs/heads/feature", new, "refs/heads/main", old), remote="origin")
    assert gather(event, *ALL) == {
        "branch.name": "main",
        "branch.target": "main",
        "branch.is_default": True,
        "branch.is_detached": False,
        "branch.ahead": 1,
        "branch.behind": 0,
    }


def test_a_pushed_tag_is_on_no_branch(cloned: Any, make_event: Any, gather: Any) -> None:
    event = make_event("pre-push", push=PushRef("refs/tags/v1", cloned.head(), "refs/tags/v1", ZERO), remote="origin")
    facts = gather(event, "branch.name", "branch.is_default")
    assert facts == {"branch.name": "", "branch.is_default": False}


def test_a_new_branch_is_behind_nothing_and_a_deleted_one_neither(cloned: Any, make_event: Any, gather: Any) -> None:
    new = cloned.commit("mine")
    for local, ahead in ((new, 1), (ZERO, 0)):
        event = make_event("pre-push", push=PushRef("refs/heads/x", local, "refs/heads/x", ZERO), remote="origin")
        assert gather(event, "branch.ahead", "branch.behind") == {"branch.ahead": ahead, "branch.behind": 0}


def test_commits_nobody_fetched_have_no_distance(cloned: Any, make_event: Any, gather: Any) -> None:
    event = make_event("pre-push", push=PushRef("refs/heads/main", cloned.head(), "refs/heads/main", "1" * 40))
    assert gather(event, "branch.behind")["missing"]["branch.behind"][1] == "git fetch"
