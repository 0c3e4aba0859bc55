"""What a run may use: ahp.runner.run.session"""

from __future__ import annotations

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.run.run_state import RunState, key
from ahp.runner.run.session import Room, Session
from ahp.system import clock


def test_what_is_counted_is_told_apart_by_all_that_is_given() -> None:
    assert key("a", {"x": 1}) == key("a", {"x": 1})
    assert len({key("a", {"x": 1}), key("a", {"x": 2}), key("a"), key("b", {"x": 1})}) == 4


@pytest.mark.parametrize(
    ("limits", "used", "reason"),
    [
        ({}, {}, None),
        ({"budget_tokens": 0}, {}, "BUDGET_TOKENS"),
        ({"budget_tokens": 10}, {"tokens": 9}, None),
        ({"budget_tokens": 10}, {"tokens": 10}, "BUDGET_TOKENS"),
        ({"budget_usd": 0.0}, {}, "BUDGET_USD"),
        ({"budget_usd": 1.0}, {"usd": 0.99}, None),
        ({"budget_usd": 1.0}, {"usd": 1.01}, "BUDGET_USD"),
        ({"budget_seconds": 0.0}, {}, "BUDGET_TIME"),
        ({"budget_seconds": 1e6}, {}, None),
        ({"budget_seconds": 5.0}, {"seconds": 6.0}, "BUDGET_TIME"),
    ],
)
def test_a_budget_is_exhausted_when_all_of_it_is_used(
    limits: dict[str, float], used: dict[str, float], reason: str | None
) -> None:
    state = RunState()
    vars(state).update(used)
    session = Session.__new__(Session)
    session.config, session.state = AgentConfig.model_validate(limits), state
    session._started = clock.monotonic() - state.seconds
    assert session.exhausted() == reason
    assert (session.seconds_left() is None) is ("budget_seconds" not in limits)


def test_the_room_of_a_model_is_learned_from_what_it_refuses() -> None:
    room = Room(None)
    assert room.needs(1_000) is None
    room.refused(4_000)
    assert room.needs(1_000) == 3_600
    room.refused(3_000)
    assert room.needs(1_000) == 2_700
    room.refused(3_500)  # other text, of more tokens than is estimated
    assert room.needs(1_000) == 2_700
    assert Room(500).needs(1_000) == 500
