"""Another policy, asked about commits that exist: what changes, and what nobody can tell."""

from __future__ import annotations

import os

import pytest

from ahp.insight import past_commits
from ahp.insight.past_commits import CommitBacktest
from ahp.policy import layers
from ahp.policy.sources import TextSource
from ahp.system import git, process
from ahp.system.commits import commits
from tests.conftest import Repo

BEFORE = """\
version: 1
environment: {release: branch.target == 'main'}
rules:
  lines: {at: pre-commit, each: l in diff.added, block: "'TODO' in l.text", finding: {file: l.path}, message: a TODO}
  size: {at: pre-commit, prompt: files.changed_count > 2}
  subject: {at: commit-msg, prompt: commit.subject.startswith('wip')}
  same: {at: [pre-commit, commit-msg], block: commit.is_merge}
  tested: {at: pre-commit, prompt: files.changed_count > 0}
  watched: {at: pre-commit, prompt: files.changed_count > 0, shadow: true}
  push: {at: pre-push, block: push.is_force}
  gone: {at: commit-msg, prompt: "'x' in commit.subject"}
"""
AFTER = """\
version: 1
environment: {release: branch.target == 'main'}
rules:
  lines: {at: pre-commit, each: l in diff.added, block: "'FIXME' in l.text", finding: {file: l.path}, message: a FIXME}
  size: {at: pre-commit, block: files.changed_count > 1}
  subject: {at: commit-msg, block: commit.subject.startswith('wip')}
  same: {at: [pre-commit, commit-msg], block: commit.is_merge}
  tested: {at: pre-commit, prompt: tests.failed_count > 0}
  watched: {at: pre-commit, block: files.changed_count > 0, shadow: true}
  push: {at: pre-push, prompt: push.is_force}
"""


def asked(repo: Repo, before: str, after: str, span: str = "HEAD") -> CommitBacktest:
    here = git.discover(str(repo.root), dict(os.environ))
    read = [layers.load(TextSource(text.encode(), "hooks.yaml")) for text in (before, after)]
    return past_commits.replay(here, *read, commits(here, span, None)[::-1])


@pytest.fixture
def past(repo: Repo) -> Repo:
    repo.commit("one x", a="TODO\n")
    repo.commit("wip two", a="1\n", b="FIXME\n")
    repo.commit("three", a="2\n", b="2\n", c="2\n")
    return repo


def test_blocks_gained_and_lost_come_first_and_nothing_is_guessed(past: Repo) -> None:
    told = asked(past, BEFORE, AFTER)
    assert (told.judged, told.refused, told.refuses, told.unjudged) == (3, 1, 2, [])
    assert [(one.rule, one.before, one.after, one.count) for one in told.changes] == [
        ("lines", "silent", "block", 1),
        ("size", "prompt", "block", 1),
        ("size", "silent", "block", 1),
        ("subject", "prompt", "block", 1),
        ("lines", "block", "silent", 1),
        ("gone", "prompt", "silent", 1),
        ("tested", "prompt", "undecided", 3),
    ]
    assert told.missing == {"tested": ["tests.failed_count"]}
    assert told.elsewhere == ["push"]
    gained = told.changes[1].examples[0]
    assert gained.subject == f"{past.head()[:10]} three" and gained.told == "files.changed_count = 3"
    assert (gained.hook, gained.actor) == ("pre-commit", "Test Person <person@example.org>")
    assert told.begin <= told.end and len(told.decided) == len(told.changes) - 1


def test_the_same_policy_changes_nothing(past: Repo) -> None:
    told = asked(past, BEFORE, BEFORE)
    assert (told.changes, told.elsewhere, told.judged, told.refused, told.refuses) == ([], [], 3, 1, 1)


def test_a_level_that_hangs_on_an_environment_nobody_knows_is_undecided(past: Repo) -> None:
    rule = "{id: big, condition: files.changed_count > 2, intensity: LEVEL}"
    text = f"{BEFORE}hooks: {{pre-commit: [{{name: sizes, rules: [{rule}]}}]}}\n"
    told = asked(past, text.replace("LEVEL", "prompt"), text.replace("LEVEL", "{release: block, default: prompt}"))
    assert [(one.rule, one.before, one.after, one.count) for one in told.changes] == [
        ("sizes/big", "prompt", "undecided", 1)
    ]


def test_a_commit_of_which_it_is_not_known_what_it_changes_is_named(past: Repo) -> None:
    (past.root / ".git/shallow").write_text(past.git("rev-parse", "HEAD~1") + "\n")
    told = asked(past, BEFORE, AFTER)
    ((commit, why),) = told.unjudged
    assert (commit, told.judged) == (past.git("rev-parse", "HEAD~1"), 1)
    assert "git fetch --unshallow" in why


def test_two_policies_ask_git_once(past: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_of_git: list[list[str]] = []
    real = process.capture
    monkeypatch.setattr(process, "capture", lambda argv, **more: (asked_of_git.append(argv), real(argv, **more))[1])
    asked(past, BEFORE, BEFORE)
    few = len(asked_of_git)
    for number in range(12):
        past.commit(f"more {number}", d=f"{number}\n")
    asked_of_git.clear()
    asked(past, BEFORE, AFTER)
    assert len(asked_of_git) <= few
    assert sum("--stdin" in argv and "diff-tree" in argv for argv in asked_of_git) <= 2
