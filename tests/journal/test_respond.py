from __future__ import annotations

from pathlib import Path

import pytest

from ahp.journal import segments
from ahp.journal.answers import AnswerRefused
from ahp.journal.respond import possible, respond
from ahp.protocol.event import Actor
from ahp.system import terminal
from ahp.system.errors import AhpError

from .story import AGENT, PERSON, Story


def test_an_answer_is_recorded_with_what_was_said(story: Story, person: list[str]) -> None:
    id = story.signal("block")
    given = respond(story.journal, id[:8], "proceed_with_risk", PERSON, "a\nreason", "too strict")
    assert given.response.as_dict()["details"] == {"reason": "a reason", "feedback": "too strict"}
    assert "this change passes the rule once" in given.told
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


@pytest.mark.parametrize(("answer", "said"), [(False, "the answer was no"), (None, "run in a terminal: ahp respond ")])
def test_a_risk_needs_a_person_s_yes_at_the_terminal(
    story: Story, monkeypatch: pytest.MonkeyPatch, answer: bool | None, said: str
) -> None:
    id = story.signal("block")
    before = Path(story.journal.log_path).read_bytes()
    monkeypatch.setattr(terminal, "ask", lambda question, patience: answer)
    with pytest.raises(AhpError, match=said) as raised:
        respond(story.journal, id[:8], "proceed_with_risk", PERSON, "it's urgent")
    if answer is None:
        assert str(raised.value).endswith(f"""ahp respond {id[:8]} proceed_with_risk --reason 'it'"'"'s urgent'""")
    assert Path(story.journal.log_path).read_bytes() == before


def test_one_is_told_what_follows(story: Story) -> None:
    assert "does not climb once" in respond(story.journal, story.signal(), "acknowledge", AGENT).told
    assert "does not climb again" in respond(story.journal, story.signal(), "acknowledge", PERSON).told
    assert respond(story.journal, story.signal(), "dismiss", AGENT).response.details is None


def test_blanks_are_neither_a_reason_nor_a_comment(story: Story) -> None:
    assert respond(story.journal, story.signal(), "dismiss", PERSON, " ", "\n \t").response.details is None
    assert b'"feedback"' not in Path(story.journal.log_path).read_bytes()


def test_only_answers_that_the_actor_may_give_are_possible(story: Story) -> None:
    signal = story.seen(story.signal("block"))
    assert possible(signal, AGENT) == ["retry_after_fix", "abort"]
    assert possible(signal, PERSON) == ["retry_after_fix", "proceed_with_risk", "abort"]
    assert possible(signal, Actor("agent", "other")) == []
