"""ahp.runner.run.run_state"""

from __future__ import annotations

import itertools

import pytest

from ahp.runner.run.run_state import MOVES, IllegalMove, State, check_move


def test_the_table_names_every_state() -> None:
    assert set(MOVES) == set(State)
    assert not MOVES[State.DONE]
    assert not MOVES[State.BLOCKED]


def test_every_state_but_the_ends_can_be_blocked_and_be_reached() -> None:
    assert all(State.BLOCKED in moves for state, moves in MOVES.items() if moves)
    assert set().union(*MOVES.values()) == set(State) - {State.INTAKE}


@pytest.mark.parametrize(("former", "new"), list(itertools.product(State, State)))
def test_only_moves_of_the_table_are_made(former: State, new: State) -> None:
    if new in MOVES[former]:
        check_move(former, new, "why")
    else:
        with pytest.raises(IllegalMove, match=f"{former} -> {new}"):
            check_move(former, new, "why")
