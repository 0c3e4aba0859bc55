"""Where the gate is asked, and about which state, when no hook says it."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path

import pytest

from ahp.hosts import asking
from ahp.hosts.asking import issue_in, subject_of
from ahp.protocol.event import Actor, Event
from ahp.protocol.triggers import TRIGGERS
from ahp.system import environ
from ahp.system.errors import Unknown
from ahp.system.git import NotARepository
from ahp.system.history import CommitView, RangeView
from ahp.system.view import IndexView
from ahp.system.worktree import WorkTreeView
from tests.conftest import Repo


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The repository that the process stands in."""
    monkeypatch.chdir(repo.root)
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    return repo


def event_of(trigger: str, issue: str | None = None) -> Event:
    """The event of the current folder, with its state."""
    event = asking.event(trigger, "cli", Actor("human"), asking.around(os.getcwd()), issue=issue)
    asking.complete(event, os.getcwd())
    return event


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_every_trigger_has_an_event_even_before_the_first_commit(here: Repo, trigger: str) -> None:
    event = event_of(trigger)
    assert (event.trigger, event.host, event.subject, event.root) == (trigger, "cli", "main", str(here.root))
    assert event.journal == f"{here.root}/.git/ahp"
    if event.view is not None:
        assert event.view.change().entries == []


def test_the_views_of_triggers(here: Repo) -> None:
    first = here.commit("first", **{"a.txt": "1\n"})
    here.git("checkout", "-q", "-b", "FEAT-0123-x")
    second = here.commit("second", **{"b.txt": "1\n"})
    here.write("c.txt")
    views = {trigger: event_of(trigger).view for trigger in TRIGGERS}
    assert isinstance(views["pre-commit"], IndexView)
    assert isinstance(views["post-commit"], CommitView)
    assert views["post-commit"].new == second
    assert isinstance(views["pre-merge"], RangeView)
    assert (views["pre-merge"].old, views["pre-merge"].new) == (first, "HEAD")
    submitted = views["pre-issue-submit"]
    assert isinstance(submitted, WorkTreeView)
    assert [e.path for e in submitted.change().entries] == ["b.txt", "c.txt"]
    assert isinstance(views["task-complete"], WorkTreeView)
    assert views["prompt-submit"] is None
    assert event_of("pre-commit").subject == "FEAT-0123"
    assert event_of("pre-commit", issue="FIX-001").subject == "FIX-001"


def test_during_a_rebase_the_subject_is_the_branch_that_is_rebased(here: Repo) -> None:
    here.commit("first", a="1\n")
    here.git("checkout", "-q", "-b", "topic")
    here.commit("second", a="2\n")
    here.git("checkout", "-q", "-b", "other", "HEAD~1")
    here.commit("third", a="3\n")
    for backend in ("--merge", "--apply"):
        assert here.run("git", "rebase", backend, "other", "topic").returncode == 1
        assert (at_hand := event_of("pre-commit")).subject == "topic" and at_hand.repo is not None
        assert at_hand.repo.branch() == ""
        here.git("rebase", "--abort")
        here.git("checkout", "-q", "--detach")
        assert event_of("pre-commit").subject == "detached"


def test_the_message_is_the_one_git_left(here: Repo) -> None:
    assert event_of("commit-msg").draft == b""
    here.commit("words")
    assert event_of("commit-msg").draft == b"words\n"


def test_the_next_push_is_of_the_current_branch(here: Repo, tmp_path: Path) -> None:
    head = here.commit("first", **{"a.txt": "1\n"})
    event = event_of("pre-push")
    assert event.push is not None
    assert (event.remote, event.push.local_ref, event.push.local_oid) == ("origin", "refs/heads/main", head)
    assert event.push.remote_oid == "0" * 40
    assert event.view is not None
    assert [e.path for e in event.view.change().entries] == ["a.txt"]
    here.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    here.git("remote", "add", "up", str(tmp_path / "up.git"))
    here.git("push", "-q", "-u", "up", "main")
    event = event_of("pre-push")
    assert event.push is not None
    assert (event.remote, event.push.remote_oid) == ("up", head)
    here.git("checkout", "-q", "--detach")
    event = event_of("pre-push")
    assert event.push is not None
    assert (event.remote, event.push.local_ref, event.subject) == ("origin", "refs/heads/HEAD", "detached")


def test_the_merge_base_is_of_the_remote_s_default_branch_where_there_is_one(here: Repo, tmp_path: Path) -> None:
    first = here.commit("first", **{"a.txt": "1\n"})
    here.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    here.git("remote", "add", "origin", str(tmp_path / "up.git"))
    here.git("push", "-q", "origin", "main")
    here.commit("second", **{"b.txt": "1\n"})
    assert asking.merge_base(asking.repository_here()) == first
    here.git("checkout", "-q", "--orphan", "island")
    here.commit("third")
    apart = asking.merge_base(asking.repository_here())
    assert isinstance(apart, Unknown) and apart.reason == "this branch and main have no commit in common"


def test_before_the_first_commit_there_is_nothing_to_measure_from(here: Repo) -> None:
    assert asking.merge_base(asking.repository_here()) is None


@pytest.mark.parametrize("name", ["main", "master", "trunk", "develop"])
def test_the_default_branch_without_a_remote_is_one_of_the_usual_names(here: Repo, name: str) -> None:
    first = here.commit("first", **{"a.txt": "1\n"})
    here.git("branch", "-m", name)
    here.git("checkout", "-qb", "FEAT-0001-x")
    here.commit("second", **{"b.txt": "1\n"})
    assert asking.merge_base(asking.repository_here()) == first


def test_a_branch_of_the_remote_that_was_moved_here_is_not_measured_from(here: Repo, tmp_path: Path) -> None:
    first = here.commit("first", **{"a.txt": "1\n"})
    here.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    here.git("remote", "add", "origin", str(tmp_path / "up.git"))
    here.git("push", "-q", "origin", "main")
    here.git("checkout", "-qb", "topic")
    here.commit("second", **{"b.txt": "1\n"})
    here.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert asking.merge_base(asking.repository_here()) == first


def test_what_changed_is_unknown_where_no_merge_base_is_and_the_command_mends_it(here: Repo, tmp_path: Path) -> None:
    here.commit("first", **{"a.txt": "1\n"})
    here.git("branch", "-m", "stable")
    here.git("checkout", "-qb", "topic")
    here.commit("second", **{"b.txt": "1\n"})
    unknown = asking.merge_base(asking.repository_here())
    assert isinstance(unknown, Unknown) and unknown.command == "git config init.defaultBranch BRANCH"
    here.git("config", "init.defaultBranch", "stable")
    assert asking.merge_base(asking.repository_here()) == here.git("rev-parse", "stable")


def test_in_a_shallow_clone_of_one_branch_the_command_mends_it(
    here: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.commit("first", **{"a.txt": "1\n"})
    here.git("checkout", "-qb", "topic")
    here.commit("second", **{"b.txt": "1\n"})
    here.commit("third", **{"c.txt": "1\n"})
    here.git("checkout", "-q", "main")
    source = here.root.as_uri()
    here.git("clone", "-q", "--depth", "1", "--branch", "topic", source, str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    monkeypatch.chdir(shallow.root)
    for trigger in ("pre-issue-submit", "pre-merge", "task-complete"):
        asked = event_of(trigger)
        assert asked.view is not None
        with pytest.raises(Unknown) as raised:
            asked.view.change()
        assert "git fetch --unshallow origin" in raised.value.command
        assert asked.view.paths() == ["a.txt", "b.txt", "c.txt"]
    assert shallow.run("sh", "-c", raised.value.command).returncode == 0
    view = event_of("pre-issue-submit").view
    assert view is not None and [entry.path for entry in view.change().entries] == ["b.txt", "c.txt"]
    # A remote whose HEAD is this very branch says nothing about where the branch began.
    here.git("checkout", "-q", "-b", "FEAT-0001-x", "topic")
    here.git("clone", "-q", "--depth", "1", source, str(tmp_path / "own"))
    own = Repo(tmp_path / "own")
    monkeypatch.chdir(own.root)
    unknown = asking.merge_base(asking.repository_here())
    assert isinstance(unknown, Unknown) and "itself what origin has" in unknown.reason
    assert own.run("sh", "-c", unknown.command.replace("BRANCH", "main")).returncode == 0
    assert asking.merge_base(asking.repository_here()) == here.git("rev-parse", "main")
    # With the default branch there, but cut off before the two part.
    here.git("checkout", "-q", "main")
    here.git("clone", "-q", "--depth", "1", "--no-single-branch", source, str(tmp_path / "both"))
    both = Repo(tmp_path / "both")
    both.git("checkout", "-q", "topic")
    monkeypatch.chdir(both.root)
    unknown = asking.merge_base(asking.repository_here())
    assert isinstance(unknown, Unknown) and "cut off before this branch left main" in unknown.reason
    assert both.run("sh", "-c", unknown.command).returncode == 0
    assert asking.merge_base(asking.repository_here()) == here.git("rev-parse", "main")


def test_outside_a_repository_the_folder_is_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    event = event_of("pre-tool-use")
    assert (event.root, event.journal, event.repo, event.view) == (str(tmp_path), f"{tmp_path}/.ahp", None, None)
    with pytest.raises(NotARepository):
        asking.repository_here()


def test_in_a_bare_repository_there_is_no_work_tree(
    here: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path / "bare.git")
    assert event_of("pre-issue-submit").view is None
    assert event_of("pre-push").push is not None


def test_the_user_s_policy_is_in_the_home_of_the_password_database(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/elsewhere")
    assert asking.user_policy() == f"{home}/.ahp/hooks.yaml"

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert asking.user_policy() == ""


def test_a_hook_that_another_user_installed_has_the_layer_of_who_runs_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, own = "/home/a:b/.ahp/hooks.yaml", f"{home}/.ahp/hooks.yaml"
    monkeypatch.setenv("HOME", "/home/a:b")
    assert asking.layer_by_hook(f"{os.getuid()}:{theirs}") == theirs
    assert asking.layer_by_hook(f"{os.getuid()}:") == ""
    assert asking.layer_by_hook(f"{os.getuid() + 1}:{theirs}") == own
    assert asking.layer_by_hook(f"{os.getuid() + 1}:") == own
    assert (asking.layer_by_hook(theirs), asking.layer_by_hook("")) == (theirs, "")


def test_the_workspace_knows_the_log_that_was_installed(here: Repo) -> None:
    assert asking.around(str(here.root)).genesis is None
    here.write(".git/ahp/install.json", json.dumps({"genesis": "g1"}))
    where = asking.around(str(here.root / ".git"))
    assert (where.genesis, where.journal) == ("g1", f"{here.root}/.git/ahp")


@pytest.mark.parametrize(
    ("branch", "issue"),
    [
        ("feat/FEAT-0123-login", "FEAT-0123"),
        ("FIX-001", "FIX-001"),
        ("FIX-001_x", "FIX-001"),
        ("FIX-001.2", "FIX-001"),
        ("a/b/CHORE-9999/c", "CHORE-9999"),
        ("UTF-8", ""),
        ("feat-0123", ""),
        ("XFEATURESXX-0123", ""),
        ("F-0123", ""),
        ("FEAT-0123x", ""),
        ("FEAT-", ""),
        ("main", ""),
        ("ÄÖ-0123", ""),
        ("FEAT-1234567890", ""),
    ],
)
def test_a_branch_may_carry_an_issue(branch: str, issue: str) -> None:
    assert issue_in(branch) == issue


def test_the_issue_comes_before_the_branch_and_that_before_the_session() -> None:
    assert subject_of("feat/FEAT-0123-x", "FIX-001", "s") == "FIX-001"
    assert subject_of("feat/FEAT-0123-x") == "FEAT-0123"
    assert subject_of("topic", None, "s") == "topic"
    assert subject_of("", None, "s") == "s"
    assert subject_of("") == "detached"
