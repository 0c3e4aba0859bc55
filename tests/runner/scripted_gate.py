"""A gate that answers from a script, with the real interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ahp.protocol import signals
from ahp.protocol.event import Event
from ahp.protocol.signals import DECISION_OF, Signal, strongest
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError


@dataclass
class ScriptedGate:
    """A Gate that answers from a script; what it has no answer for is allowed.

    `script` maps a trigger to verdicts given in turn, the last one again and again, or to a function of the call.
    `asked` keeps (trigger, tool), `responses` (signal id, action, details).
    """

    script: Mapping[str, Sequence[Verdict | AhpError] | Callable[[Mapping[str, Any] | None], Verdict]] = field(
        default_factory=dict
    )
    asked: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list)
    responses: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    _turns: dict[str, int] = field(default_factory=dict)

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, dry: bool = False) -> Verdict:
        """The next verdict of the script; a dry question is answered with the one that would come, and not kept."""
        if dry:
            return self._dry(trigger, tool)
        self.asked.append((trigger, tool))
        scripted = self.script.get(trigger, ())
        if callable(scripted):
            return changing(scripted(tool), tool)
        if not scripted:
            return verdict(trigger)
        turn = self._turns.get(trigger, 0)
        self._turns[trigger] = turn + 1
        answer = scripted[min(turn, len(scripted) - 1)]
        if isinstance(answer, AhpError):
            raise answer
        return changing(answer, tool)

    def _dry(self, trigger: str, tool: Mapping[str, Any] | None) -> Verdict:
        asked, turns = list(self.asked), dict(self._turns)
        try:
            return self.ask(trigger, tool=tool)
        finally:
            self.asked[:], self._turns = asked, turns

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Keeps the answer."""
        self.responses.append((signal_id, action, details))

    def triggers(self) -> list[str]:
        """What it was asked, in order."""
        return [trigger for trigger, _ in self.asked]


def changing(given: Verdict, tool: Mapping[str, Any] | None) -> Verdict:
    """The verdict with the call that its modifications of arguments lead to, as the gate of a project has it."""
    for change in given.modifications if tool is not None else ():
        target = str(change["target"])
        if tool is not None and "input." in target:
            given.modified = Event.__new__(Event)
            given.modified.tool = {**tool, "input": {**tool["input"], target.rpartition(".")[2]: change["updated"]}}
    return given


def verdict(trigger: str, *given: Signal, modifications: list[dict[str, object]] | None = None) -> Verdict:
    """The verdict that these signals lead to; without any, allow."""
    decision = DECISION_OF[strongest([signal.intensity for signal in given])]
    return Verdict(decision, trigger, "scripted", "sha256:scripted", list(given), modifications)


def signal(intensity: str, rule: str, message: str, *, signal_id: str, ways: Sequence[str] = ()) -> Signal:
    """A signal of one rule; `ways` are its resolution path or suggestions."""
    payload = {
        "block": lambda: signals.blocking(message, list(ways), resolvable=True),
        "control": lambda: signals.controlling([], reversible=True),
        "prompt": lambda: signals.prompting(message, "medium", list(ways), continue_allowed=True),
        "aid": lambda: signals.aiding(message, [{"type": "best_practice", "description": way} for way in ways]),
    }[intensity]()
    header: dict[str, object] = {"id": signal_id, "type": rule, "source": rule, "intensity": intensity}
    return Signal(header, {"rule": rule}, payload)
