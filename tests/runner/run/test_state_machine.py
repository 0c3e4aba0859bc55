"""ahp.runner.run.state_machine"""

from __future__ import annotations

import itertools

import pytest

from ahp.runner.run.state_machine import MOVES, IllegalMove, State, StateMachine


def test_the_table_names_every_state() -> None:
    assert set(MOVES) == set(State)
    assert not MOVES[State.DONE]
    assert not MOVES[State.BLOCKED]


def test_every_state_but_the_ends_can_be_blocked_and_be_reached() -> None:
    assert all(State.BLOCKED in moves for state, moves in MOVES.items() if moves)
    assert set().union(*MOVES.values()) == set(State) - {State.INTAKE}


@pytest.mark.parametrize(("former", "new"), list(itertools.product(State, State)))
def test_only_moves_of_the_table_are_made(former: State, new: State) -> None:
    told: list[tuple[State, State, str]] = []
    machine = StateMachine(lambda *move: told.append(move))
    machine.state = former
    if new in MOVES[former]:
        machine.move(new, "why")
        assert (machine.state, told) == (new, [(former, new, "why")])
    else:
        with pytest.raises(IllegalMove):
            machine.move(new, "why")
        assert (machine.state, told) == (former, [])
