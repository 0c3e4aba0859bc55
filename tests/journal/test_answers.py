"""Who may answer what (seed 002 §3.4; design §7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.journal import answers, segments
from ahp.journal.answers import AnswerRefused
from ahp.journal.respond import respond
from ahp.protocol.actor import Actor

from .story import AGENT, PERSON, Story

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


def test_an_answer_is_recorded_with_what_was_said(story: Story) -> None:
    id = story.signal("block")
    given = respond(story.journal, id[:8], "proceed_with_risk", PERSON, "a\nreason", "too strict")
    assert given.response.as_dict()["details"] == {"reason": "a reason", "feedback": "too strict"}
    assert "passes once for this tree" in given.told
    feedback, answer = (line.record() for line, _ in zip(segments.backward(story.journal.folder), "12", strict=False))
    assert feedback is not None and answer is not None
    assert (feedback["kind"], feedback["feedback"], feedback["rule"]) == ("feedback", "too strict", "size/1")
    assert list(answer)[:6] == ["timestamp", "hook", "intensity", "source", "consumed", "action"]
    assert (answer["kind"], answer["id"], answer["consumed"], answer["by"]) == ("response", id, True, "human:ann")
    assert story.seen(id).details == {"reason": "a reason", "feedback": "too strict"}


def test_a_refused_answer_leaves_no_trace(story: Story) -> None:
    id = story.signal("block", overridable=False)
    before = Path(story.journal.log_path).read_bytes()
    for prefix, action, by in [(id, "dismiss", PERSON), (id, "proceed_with_risk", PERSON), ("zz", "abort", PERSON)]:
        with pytest.raises(AnswerRefused):
            respond(story.journal, prefix, action, by, "why")
    assert Path(story.journal.log_path).read_bytes() == before


def test_one_is_told_what_follows(story: Story) -> None:
    assert "does not climb once" in respond(story.journal, story.signal(), "acknowledge", AGENT).told
    assert "does not climb again" in respond(story.journal, story.signal(), "acknowledge", PERSON).told
    assert respond(story.journal, story.signal(), "dismiss", AGENT).response.details is None
