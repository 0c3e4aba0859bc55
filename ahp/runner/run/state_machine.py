"""The states of a run, the moves between them, and what stops it (seed 004 §3, §5.2)."""

from collections.abc import Iterable
from enum import StrEnum

from ahp.system.errors import AhpError

NO_EVIDENCE = "NO_EVIDENCE"  # the stop reason of a run whose claim nothing covers


class State(StrEnum):
    """What a run is doing. DONE and BLOCKED are its ends."""

    INTAKE = "INTAKE"
    PLANNING = "PLANNING"
    EXECUTING = "EXECUTING"
    VERIFYING = "VERIFYING"
    RECOVERING = "RECOVERING"
    BLOCKED = "BLOCKED"
    DONE = "DONE"


# Everything not listed is a bug. RECOVERING is the only way back, and it costs one of `max_replans`.
MOVES: dict[State, frozenset[State]] = {
    State.INTAKE: frozenset({State.PLANNING, State.EXECUTING, State.BLOCKED}),
    State.PLANNING: frozenset({State.EXECUTING, State.BLOCKED}),
    State.EXECUTING: frozenset({State.VERIFYING, State.RECOVERING, State.BLOCKED}),
    State.VERIFYING: frozenset({State.DONE, State.RECOVERING, State.BLOCKED}),
    State.RECOVERING: frozenset({State.PLANNING, State.EXECUTING, State.BLOCKED}),
    State.BLOCKED: frozenset(),
    State.DONE: frozenset(),
}


class IllegalMove(RuntimeError):
    """The runner tried a move that the table does not have: a bug of the runner, never of a model."""


def check_move(former: State, to: State, why: str) -> None:
    """Raises IllegalMove where the table does not allow it."""
    if to not in MOVES[former]:
        raise IllegalMove(f"{former} -> {to} ({why})")


class Stop(AhpError):
    """Ends the run in BLOCKED from any depth: `reason` is its stop_reason, `advice` a sentence for the person.

    `overridable` are the ids of the signals that a person could let pass.
    """

    def __init__(self, reason: str, advice: str, overridable: Iterable[str] = ()) -> None:
        super().__init__(f"{reason}: {advice}")
        self.reason = reason
        self.advice = advice
        self.overridable = list(overridable)
