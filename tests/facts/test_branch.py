"""`branch` and `repo`: where the head stands, what a push writes to, which branch is the default one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import branch, branches
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
    repo.git("checkout", "-q", "--orphan", "trunk")
    repo.commit("first")
    repo.git("checkout", "-qb", "side")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": ""}
    repo.git("config", "init.defaultBranch", "trunk")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": "trunk"}
    repo.git("branch", "master")
    repo.git("pack-refs", "--all")
    assert gather(make_event(), "repo.default_branch") == {"repo.default_branch": "master"}


def test_refs_kept_in_tables_are_asked_of_git(repo: Any, make_event: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """git 2.45 can keep refs elsewhere than in files; older ones cannot make such a repository, so it is made up."""
    repo.commit("first")
    repo.git("branch", "master")
    repo.git("checkout", "-qb", "side")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    event = make_event()
    real = branches.files.read

    def tables(path: str, limit: int | None = None) -> bytes | None:
        if path.endswith("tables.list"):
            return b"x"
        return None if "/refs/" in path else real(path, limit)

    monkeypatch.setattr(branches.files, "read", tables)
    assert branches.has_branch(event.repo, "master") and not branches.has_branch(event.repo, "nix")
    assert branches.default_branch(event.repo) == "main"


def test_a_shallow_clone_says_so(repo: Any, make_event: Any, gather: Any, tmp_path: Path) -> None:
    from ahp.system import git

    repo.commit("one")
    repo.commit("two")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(tmp_path / "shallow"))
    event = make_event(repo=git.discover(str(tmp_path / "shallow"), {}))
    assert gather(event, "repo.is_shallow") == {"repo.is_shallow": True}
    facts = gather(make_event(), "repo.is_shallow", "repo.root")
    assert facts == {"repo.is_shallow": False, "repo.root": str(repo.root)}
