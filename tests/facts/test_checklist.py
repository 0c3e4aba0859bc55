"""`checklist`: the boxes of the current ticket, whole and by section."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ahp.facts import checklist
from ahp.facts.absent import Absent
from ahp.protocol.event import Event
from ahp.tickets.ticket_error import TicketError
from tests.tickets.memory import draft, place

Make = Callable[..., Event]


def test_a_ticket_that_cannot_be_read_is_an_error_and_never_an_empty_checklist(event: Make) -> None:
    broken = {place("FEAT-0001"): "---\nid: FEAT-0001\nid: FEAT-0001\n---\n"}
    for trigger in ("pre-commit", "pre-push", "pre-issue-submit", "pre-merge"):
        with pytest.raises(TicketError, match=r"a-thing\.md:3: "):
            checklist.gather(event(trigger, broken), frozenset(("incomplete_count",)), {})
    with pytest.raises(Absent, match=r"a-thing\.md:3: "):
        checklist.gather(event("pre-tool-use", broken), frozenset(("incomplete_count",)), {})


def test_the_checklist_counts_as_a_whole_and_by_section(event: Make) -> None:
    text = draft("FEAT-0001") + "- [x] b\n## Tasks\n- [/] c\n- [~] d\n"
    facts = checklist.gather(event(files={place("FEAT-0001"): text}), frozenset(checklist.NAMESPACE.schema), {})
    assert (facts["total"], facts["done"], facts["incomplete_count"]) == (3, 1, 2)
    assert (facts["completion_rate"], facts["acceptance.completion_rate"]) == (1 / 3, 0.5)
    assert facts["tasks.completion_rate"] == 0.0
    assert (facts["incomplete"], facts["incomplete_ids"]) == (["It works", "c"], ["acceptance-1", "tasks-1"])
    none = facts["review.completion_rate"]
    assert isinstance(none, Absent)
    assert none.reason == "FEAT-0001 has no boxes in review"
    assert set(facts) == set(checklist.NAMESPACE.schema)
    assert checklist.gather(event(), frozenset(("tasks.total",)), {}) == {"tasks.total": 0}
