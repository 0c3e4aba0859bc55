"""What is open now and what was said lately, for somebody who looks on."""

from __future__ import annotations

from typing import NamedTuple

from ahp.gate.escalation import NEXT_BLOCKS
from ahp.journal.answers import AUTOMATIC
from ahp.journal.append import Journal
from ahp.journal.respond import fitting
from ahp.journal.state import State
from ahp.protocol.event import Actor
from ahp.protocol.signals import ACTIONS_OF
from ahp.system import clock

_LATELY = 50
_SILENCE = ("dismiss", "suggestion_deferred")  # derived, they say that nobody answered


class Row(NamedTuple):
    """A signal that somebody may look at: of an open episode its last one, with how often it was gone past."""

    id: str
    at: str
    intensity: str
    rule: str
    subject: str
    actor: str
    message: str
    answer: str
    went_past: int = 0

    @property
    def blocks_next(self) -> bool:
        """Whether the next attempt is refused: the gate has said so, or refused the last one."""
        return self.intensity == "block" or NEXT_BLOCKS in self.message


class Snapshot(NamedTuple):
    """The open episodes, those about to block first and then the latest; and the last signals, newest first."""

    open: list[Row]
    lately: list[Row]


def snapshot(journal: Journal) -> Snapshot:
    """As of now. Raises AhpError when the log cannot be read."""
    with State.open(journal) as state:
        found = [(signal, state.record(signal), episode.went_past) for episode, signal in state.open_episodes()]
        lately = [(signal, state.record(signal), 0) for signal in state.latest(_LATELY)]
    rows = [
        [
            Row(
                signal.id,
                clock.iso(signal.act.at),
                signal.intensity,
                signal.rule,
                signal.subject,
                signal.actor,
                str(record.get("message") or ""),
                "" if signal.by == AUTOMATIC and signal.action in _SILENCE else signal.action,
                past,
            )
            for signal, record, past in listed
        ]
        for listed in (found, lately)
    ]
    return Snapshot(sorted(rows[0], key=lambda row: not row.blocks_next), rows[1])


def actions(journal: Journal, id: str, intensity: str, by: Actor) -> list[str]:
    """What `by` may answer the signal with now. Raises AhpError."""
    return [
        action
        for action in ACTIONS_OF.get(intensity, ())
        if any(signal.id == id for signal in fitting(journal, by, action))
    ]
