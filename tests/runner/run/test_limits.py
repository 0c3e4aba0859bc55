"""ahp.runner.run.limits"""

from __future__ import annotations

import pytest

from ahp.runner.run.limits import Breaker, Budget, Repeats, Room


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_breaker_lets_its_limit_through_and_no_more(limit: int) -> None:
    breaker = Breaker(limit)
    assert [breaker.spend() for _ in range(limit + 2)] == [True] * limit + [False] * 2
    assert breaker.spent == limit


def test_repeats_are_counted_by_all_that_is_given() -> None:
    repeats = Repeats()
    assert not repeats.seen("a", {"x": 1})
    assert [repeats.count("a", {"x": 1}), repeats.count("a", {"x": 2}), repeats.count("a", {"x": 1})] == [1, 1, 2]
    assert repeats.seen("a", {"x": 1})


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(), None),
        (Budget(tokens=0), "BUDGET_TOKENS"),
        (Budget(tokens=10, tokens_used=9), None),
        (Budget(tokens=10, tokens_used=10), "BUDGET_TOKENS"),
        (Budget(usd=0.0), "BUDGET_USD"),
        (Budget(usd=1.0, usd_used=0.99), None),
        (Budget(usd=1.0, usd_used=1.01), "BUDGET_USD"),
        (Budget(seconds=0.0), "BUDGET_TIME"),
        (Budget(seconds=1e6), None),
        (Budget(seconds=5.0, started=-1e9), "BUDGET_TIME"),
    ],
)
def test_a_budget_is_exhausted_when_all_of_it_is_used(budget: Budget, reason: str | None) -> None:
    assert budget.exhausted() == reason


def test_what_is_used_adds_up() -> None:
    budget = Budget(tokens=10)
    budget.add(4, 0.5)
    budget.add(6, 0.25)
    assert (budget.tokens_used, budget.usd_used, budget.exhausted()) == (10, 0.75, "BUDGET_TOKENS")
    assert budget.seconds_left() is None


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
