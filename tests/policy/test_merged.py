"""What a merge takes from the default branch makes no policy weaker; what it takes from elsewhere does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.policy import weakening
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import clock, git
from ahp.system.history import CommitView
from ahp.system.view import IndexView
from tests.conftest import Repo

STRICT = "version: 1\nrules:\n  one: {at: pre-commit, block: files.changed_count > 1}\n"
RULE = "  two: {at: pre-commit, block: files.changed_count > 2}\n"


def weakened(repo: Repo, commit: str = "") -> list[object]:
    """The rules that the merge makes weaker which is not concluded, or by which `commit` came about."""
    found = git.discover(str(repo.root), dict(os.environ))
    where = Workspace(str(repo.root), found.ahp_dir, found.env, found)
    event = Event("pre-merge-commit", "git", Actor("agent"), where, clock.monotonic() + 60)
    event.view = CommitView(found, commit) if commit else IndexView(found, whole=True)
    told = weakening.facts(event)["weakenings"]
    assert isinstance(told, list)
    return [one["rule"] for one in told]


@pytest.fixture
def topic(repo: Repo, tmp_path: Path) -> Repo:
    """On branch `topic` with a strict policy; `origin/main` has one that lacks a rule."""
    repo.commit("before there was one", **{"a.txt": "a\n"})
    repo.commit("policy", **{".ahp/hooks.yaml": STRICT + RULE})
    repo.git("branch", "topic")
    repo.commit("less", **{".ahp/hooks.yaml": STRICT})
    repo.git("init", "-q", "--bare", str(tmp_path / "there"))
    repo.git("remote", "add", "origin", str(tmp_path / "there"))
    repo.git("push", "-q", "origin", "main")
    repo.git("checkout", "-q", "topic")
    repo.commit("mine")
    return repo


def test_what_the_default_branch_has_is_no_weakening(topic: Repo) -> None:
    topic.git("merge", "-q", "--no-ff", "--no-commit", "origin/main")
    assert weakened(topic) == []
    topic.write(".ahp/hooks.yaml", STRICT.replace("> 1", "> 9"))
    topic.add()
    assert weakened(topic) == ["one"]  # what the merge itself makes weaker
    topic.git("commit", "-q", "-m", "merged")
    assert weakened(topic, "HEAD") == ["one"]


def test_so_it_is_while_git_runs_its_hook_for_merges(topic: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = topic.git("rev-parse", "origin/main")
    topic.git("read-tree", "-u", "-m", "HEAD", "origin/main")
    assert weakened(topic) == ["two"]
    monkeypatch.setenv(f"GITHEAD_{joined}", "origin/main")
    assert weakened(topic) == []


def test_what_only_another_branch_has_is_one(topic: Repo) -> None:
    topic.git("checkout", "-q", "-b", "other", "topic~1")
    topic.commit("weak", **{".ahp/hooks.yaml": STRICT})
    topic.git("checkout", "-q", "topic")
    topic.git("merge", "-q", "--no-ff", "--no-commit", "other")
    assert weakened(topic) == ["two"]
    topic.git("update-ref", "refs/remotes/origin/main", "other")  # which no fetch did
    assert weakened(topic) == ["two"]


def test_without_a_remote_the_local_branch_is_the_default_one(topic: Repo) -> None:
    topic.git("remote", "remove", "origin")
    topic.git("merge", "-q", "--no-ff", "-m", "m", "main")
    assert weakened(topic, "HEAD") == []
    topic.git("branch", "-f", "main", "HEAD")  # a merge that main has is its own change
    assert weakened(topic, "HEAD") == ["two"]


def test_a_former_commit_of_the_default_branch_excuses_nothing(topic: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    topic.git("checkout", "-q", "-b", "weak", "topic")
    topic.commit("weak", **{".ahp/hooks.yaml": "version: 1\n"})
    topic.git("checkout", "-q", "topic")
    first = topic.git("rev-list", "--max-parents=0", "HEAD")
    monkeypatch.setenv(f"GITHEAD_{first}", "main")  # which the default branch has, and has no policy
    topic.git("read-tree", "-u", "-m", "HEAD", "weak")
    assert weakened(topic) == ["one", "two"]
    tree = topic.git("write-tree")
    made = topic.git("commit-tree", tree, "-p", "HEAD", "-p", first, "-m", "as if it were merged")
    assert weakened(topic, made) == ["one", "two"]


def test_what_is_not_in_force_any_more_on_the_default_branch_is_a_weakening(topic: Repo) -> None:
    weak = topic.git("rev-parse", "origin/main")
    topic.git("checkout", "-q", "main")
    topic.commit("strict again", **{".ahp/hooks.yaml": STRICT + RULE})
    topic.git("push", "-q", "origin", "main")
    topic.git("checkout", "-q", "topic")
    topic.git("merge", "-q", "--no-ff", "--no-commit", weak)
    assert weakened(topic) == ["two"]


def test_what_is_only_on_the_branch_is_not_taken_away_by_a_merge(topic: Repo) -> None:
    topic.commit("stricter", **{".ahp/hooks.yaml": STRICT + RULE + RULE.replace("two", "three").replace("2", "3")})
    topic.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "origin/main")
    topic.git("checkout", "origin/main", "--", ".ahp")
    assert weakened(topic) == ["three"]


def test_a_policy_of_the_default_branch_that_does_not_load_excuses_nothing(topic: Repo) -> None:
    topic.git("checkout", "-q", "main")
    topic.commit("broken", **{".ahp/hooks.yaml": "version: 1\nrules: 1\n"})
    topic.git("push", "-q", "origin", "main")
    topic.git("checkout", "-q", "topic")
    topic.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "origin/main")
    topic.write(".ahp/hooks.yaml", STRICT)
    topic.add()
    assert weakened(topic) == ["two"]
