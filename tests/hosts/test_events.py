"""Events that a person asks about by name."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from ahp.hosts import events
from ahp.protocol.triggers import TRIGGERS
from ahp.system import environ
from ahp.system.errors import AhpError
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


def test_an_unknown_trigger_names_the_known_ones(here: Repo) -> None:
    with pytest.raises(AhpError, match=r"there is no trigger 'pre-comit'; did you mean `pre-commit`?"):
        events.event_of("pre-comit")


def test_facts_from_a_file_are_for_dry_commands(here: Repo) -> None:
    with pytest.raises(AhpError, match="--facts is for dry commands"):
        events.event_of("pre-commit", facts_file="facts.yaml")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("files: {changed_count: 3}\n", {"files": {"changed_count": 3}}),
        (
            '{"files": {"changed": ["a"]}, "environment": "ci"}',
            {"files": {"changed": ["a"]}, "environment": {"": "ci"}},
        ),
    ],
)
def test_facts_are_yaml_or_json(here: Repo, text: str, given: object) -> None:
    here.write("facts", text)
    assert events.dry_event("pre-commit", facts_file="facts").given == given


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "there is no file facts"),
        (b"a: [", "neither YAML nor JSON"),
        (b"\xff", "neither YAML nor JSON"),
        (b"[1]", "no mapping of namespaces"),
        (b"1: {}", "a key must be text, not 1"),
        (b"!!python/object/apply:os.system [x]", "neither YAML nor JSON"),
    ],
)
def test_other_facts_are_refused(here: Repo, content: bytes | None, why: str) -> None:
    if content is not None:
        here.write("facts", content)
    with pytest.raises(AhpError, match=why):
        events.dry_event("pre-commit", facts_file="facts")


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_every_trigger_has_an_event_even_before_the_first_commit(here: Repo, trigger: str) -> None:
    event = events.event_of(trigger)
    assert (event.trigger, event.host, event.subject, event.root) == (trigger, "cli", "main", str(here.root))
    assert event.journal == f"{here.root}/.git/ahp"
    if event.view is not None:
        assert event.view.change().entries == []


def test_the_views_of_triggers(here: Repo) -> None:
    first = here.commit("first", **{"a.txt": "1\n"})
    here.git("checkout", "-q", "-b", "FEAT-0123-x")
    second = here.commit("second", **{"b.txt": "1\n"})
    here.write("c.txt")
    views = {trigger: events.event_of(trigger).view for trigger in TRIGGERS}
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
    assert events.event_of("pre-commit").subject == "FEAT-0123"
    assert events.event_of("pre-commit", issue="FIX-001").subject == "FIX-001"


def test_the_message_is_the_one_git_left(here: Repo) -> None:
    assert events.event_of("commit-msg").draft == b""
    here.commit("words")
    assert events.event_of("commit-msg").draft == b"words\n"


def test_the_next_push_is_of_the_current_branch(here: Repo, tmp_path: Path) -> None:
    head = here.commit("first", **{"a.txt": "1\n"})
    event = events.event_of("pre-push")
    assert event.push is not None
    assert (event.remote, event.push.local_ref, event.push.local_oid) == ("origin", "refs/heads/main", head)
    assert event.push.remote_oid == "0" * 40
    assert event.view is not None
    assert [e.path for e in event.view.change().entries] == ["a.txt"]
    here.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    here.git("remote", "add", "up", str(tmp_path / "up.git"))
    here.git("push", "-q", "-u", "up", "main")
    event = events.event_of("pre-push")
    assert event.push is not None
    assert (event.remote, event.push.remote_oid) == ("up", head)
    here.git("checkout", "-q", "--detach")
    event = events.event_of("pre-push")
    assert event.push is not None
    assert (event.remote, event.push.local_ref, event.subject) == ("origin", "refs/heads/HEAD", "detached")


def test_the_merge_base_is_of_the_remote_s_default_branch_where_there_is_one(here: Repo, tmp_path: Path) -> None:
    first = here.commit("first", **{"a.txt": "1\n"})
    here.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    here.git("remote", "add", "origin", str(tmp_path / "up.git"))
    here.git("push", "-q", "origin", "main")
    here.commit("second", **{"b.txt": "1\n"})
    assert events.merge_base(events.repository_here()) == first
    here.git("checkout", "-q", "--orphan", "island")
    third = here.commit("third")
    assert events.merge_base(events.repository_here()) in (first, third)


def test_outside_a_repository_the_folder_is_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    event = events.event_of("pre-tool-use")
    assert (event.root, event.journal, event.repo, event.view) == (str(tmp_path), f"{tmp_path}/.ahp", None, None)
    with pytest.raises(NotARepository):
        events.repository_here()


def test_in_a_bare_repository_there_is_no_work_tree(
    here: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path / "bare.git")
    assert events.event_of("pre-issue-submit").view is None
    assert events.event_of("pre-push").push is not None


def test_the_user_s_policy_is_in_the_home_of_the_password_database(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/elsewhere")
    assert events.user_policy() == f"{home}/.ahp/hooks.yaml"

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert events.user_policy() == ""
