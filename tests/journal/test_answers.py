"""Who may answer what (seed 002 §3.4; design §7)."""

from __future__ import annotations

import pytest

from ahp.journal import answers
from ahp.journal.answers import AnswerRefused
from ahp.protocol.event import Actor

from .story import AGENT, PERSON

FITTING = {
    "block": ("retry_after_fix", "proceed_with_risk", "abort"),
    "control": ("accept_modification", "reject_modification"),
    "prompt": ("acknowledge", "apply_suggestion", "dismiss"),
    "aid": ("suggestion_applied", "suggestion_deferred"),
}


ALL = [action for actions in FITTING.values() for action in actions]


def check(
    action: str, intensity: str = "block", actor: str = "agent:claude", by: Actor = PERSON, **more: object
) -> None:
    given = {"overridable": True, "reason": "because", **more}
    answers.check(action, intensity=intensity, actor=actor, by=by, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("intensity", FITTING)
def test_only_the_actions_of_a_level_answer_it(intensity: str) -> None:
    for action in [*ALL, "approve", ""]:
        if action in FITTING[intensity]:
            check(action, intensity)
        else:
            with pytest.raises(AnswerRefused, match=f"does not answer an? {intensity}"):
                check(action, intensity)


def test_agents_give_every_answer_to_their_own_but_proceed_with_risk() -> None:
    for intensity, actions in FITTING.items():
        for action in actions:
            if action != "proceed_with_risk":
                check(action, intensity, by=AGENT)
    with pytest.raises(AnswerRefused, match="a person's answer"):
        check("proceed_with_risk", by=AGENT)


@pytest.mark.parametrize("owner", ["human:ann", "agent:codex", "agent", ""])
def test_agents_do_not_answer_for_somebody_else(owner: str) -> None:
    with pytest.raises(AnswerRefused, match="its own only"):
        check("acknowledge", "prompt", actor=owner, by=AGENT)


def test_neither_does_ci_and_it_takes_no_risk() -> None:
    with pytest.raises(AnswerRefused, match="its own only"):
        check("abort", by=Actor("ci", "github"))
    with pytest.raises(AnswerRefused, match="a person's answer"):
        check("proceed_with_risk", actor="ci", by=Actor("ci"))


def test_a_risk_needs_a_reason_and_a_rule_that_can_be_overridden() -> None:
    check("proceed_with_risk")
    with pytest.raises(AnswerRefused, match="--reason"):
        check("proceed_with_risk", reason=" ")
    with pytest.raises(AnswerRefused, match="cannot be overridden"):
        check("proceed_with_risk", overridable=False)


def test_a_prefix_must_name_one_signal() -> None:
    assert answers.one("a", ["abc"]) == "abc"
    for prefix, found, told in [("x", [], "no signal"), ("", ["a"], "no signal"), ("a", ["ab", "ac"], "several")]:
        with pytest.raises(AnswerRefused, match=told):
            answers.one(prefix, found)
