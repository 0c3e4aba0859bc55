"""An aid on `post-*` triggers may have a command that goes on from what is done (seed 002 §2.2)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.gate.decide import decide
from ahp.policy import trust
from ahp.protocol.event import Actor
from ahp.protocol.verdict import Verdict
from tests.gate.conftest import Desk

POLICY = """\
rules:
  docs:
    at: post-issue-close
    aid: issue.type == 'feature'
    message: a feature is closed
    suggestions: [tell the users]
    action: {type: run, command: [sh, -c, SCRIPT], timeout: SECONDS}
"""
ISSUE = {"type": "feature"}


def policy(desk: Desk, script: str, seconds: str = "60s") -> None:
    desk.policy(POLICY.replace("SCRIPT", script).replace("SECONDS", seconds))


def accept(desk: Desk) -> None:
    event = desk.event("post-issue-close")
    command = desk.judges(event)[0].answers(event).rules["docs"].action.command
    digest = trust.digest(command, trust.in_folder(str(desk.root)))
    trust.accept(str(desk.journal), {"rule docs": digest}, Actor("human", "ann"))


def said(verdict: Verdict) -> list[tuple[str, str]]:
    (signal,) = verdict.signals
    listed: Any = signal.payload["suggestions"]
    return [(one["type"], one["description"]) for one in listed]


@pytest.fixture
def closed(desk: Desk) -> Any:
    def ask(mode: str = "real", **slots: Any) -> Verdict:
        event = desk.event("post-issue-close", mode, **slots).but(issue="FEAT-1", given={"issue": ISSUE})
        return decide(event, desk.judges(event))

    return ask


def test_an_accepted_command_runs_once_the_action_is_done_and_knows_what_it_follows(desk: Desk, closed: Any) -> None:
    policy(desk, "echo $AHP_TRIGGER $AHP_ISSUE $AHP_FOLLOW_UP >did; echo made CHORE-1")
    accept(desk)
    verdict = closed()
    assert verdict.decision == "suggest"
    assert (desk.root / "did").read_text() == "post-issue-close FEAT-1 docs\n"
    assert said(verdict)[0] == ("best_practice", "tell the users")
    kind, told = said(verdict)[1]
    assert kind == "follow_up"
    assert told.startswith("done: sh -c echo")
    assert told.endswith("(made CHORE-1)")


def test_a_command_that_nobody_accepted_does_not_run(desk: Desk, closed: Any) -> None:
    policy(desk, "echo x >did")
    assert "a person runs: ahp trust" in said(closed())[1][1]
    assert not (desk.root / "did").exists()


def test_a_dry_question_says_what_would_run(desk: Desk, closed: Any) -> None:
    policy(desk, "echo x >did")
    accept(desk)
    assert said(closed("dry"))[1][1].startswith("would run: sh -c")
    assert not (desk.root / "did").exists()


@pytest.mark.parametrize(
    ("script", "seconds", "told"),
    [("echo why >&2; exit 3", "60s", "ended with 3: "), ("sleep 60", "100ms", "not done, ")],
)
def test_a_command_that_fails_is_told_and_fails_nothing(
    desk: Desk, closed: Any, script: str, seconds: str, told: str
) -> None:
    policy(desk, script, seconds)
    accept(desk)
    verdict = closed()
    assert verdict.decision == "suggest"
    assert said(verdict)[1][1].startswith(told)


def test_what_a_follow_up_does_starts_no_other_one(desk: Desk, closed: Any) -> None:
    policy(desk, "echo x >did")
    accept(desk)
    verdict = closed(env={**os.environ, "AHP_FOLLOW_UP": "other"})
    assert "another follow-up did this" in said(verdict)[1][1]
    assert not (desk.root / "did").exists()


def test_a_rule_that_is_not_committed_starts_nothing(desk: Desk, closed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    policy(desk, "echo x >did")
    accept(desk)
    real = desk.judges

    def judges(event: Any) -> Any:
        (judge,) = real(event)
        judge.adds = True
        return [judge]

    monkeypatch.setattr(desk, "judges", judges)
    assert "its rule is not committed" in said(closed())[1][1]
    assert not (desk.root / "did").exists()
