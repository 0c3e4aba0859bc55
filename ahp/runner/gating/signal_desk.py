"""Where the gate's signals arrive and the model's answers leave (design §7)."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from ahp.hosts.verdict_text import short_id
from ahp.protocol.signals import ACTIONS_OF, Signal
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.gates import Gate, count_blocks, forget_blocks, reasons, said
from ahp.runner.gating.person import Choice, Person
from ahp.runner.run.events import AnyLog, plain
from ahp.runner.run.limits import Repeats
from ahp.runner.run.restored_run import Cursor, RestoredRun
from ahp.runner.run.state_machine import Stop
from ahp.runner.words.actions import Respond
from ahp.system.errors import AhpError

_PERSON_ONLY = "proceed_with_risk"
_deciding = threading.Lock()  # a person is asked one thing at a time


class SignalDesk:
    """Asks the gate for one run, keeps what the model is to read next, and sends what it answers."""

    def __init__(
        self, gate: Gate, events: AnyLog, *, issue: str | None, max_same_blocks: int, person: Person | None = None
    ) -> None:
        self.gate = gate
        self._person = person
        self._events = events
        self._issue = issue
        self._max_same_blocks = max_same_blocks
        self._blocks = Repeats()
        self._delivered: dict[str, Signal] = {}
        self._waiting: dict[str, Signal] = {}
        self._notes: list[str] = []
        self.overridable: list[str] = []  # signals of the last block that a person could let pass

    def take_up(self, cursor: Cursor) -> None:
        """Goes on where a former run, or a step of one, stood: its prompts wait, its notes are still to be read."""
        if isinstance(cursor, RestoredRun):
            self._blocks = cursor.blocks
        self._delivered, self._waiting = dict(cursor.delivered), dict(cursor.waiting)
        self._notes = list(cursor.notes)

    def beside(self, gate: Gate, events: AnyLog, cursor: Cursor | None) -> "SignalDesk":
        """The desk of a step that runs beside others, from where `cursor` stood; blocks are counted together."""
        other = SignalDesk(gate, events, issue=self._issue, max_same_blocks=self._max_same_blocks, person=self._person)
        other._blocks = self._blocks
        if cursor is not None:
            other.take_up(cursor)
        return other

    def keep(self, notes: list[str]) -> None:
        """Has the next user turn carry notes of a step that nobody read there."""
        self._notes += notes

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None) -> Verdict:
        """The verdict on `trigger`; its signals go into the next user turn.

        Raises Stop when the gate cannot judge what has not been done yet.
        """
        try:
            verdict = self.gate.ask(trigger, tool=tool, issue=self._issue)
        except AhpError as error:
            self._events("gate_error", trigger=trigger, problem=str(error))
            if not TRIGGERS[trigger].post:
                raise Stop("GATE_ERROR", f"the gate could not judge {trigger}: {error}") from error
            # What is done is done: nothing could be refused any more, so the result is not thrown away.
            self.note(f"ahp: {trigger} could not be judged: {one_line(error, 300)}")
            return Verdict("allow", trigger, "", "")
        self._events(
            "verdict",
            trigger=trigger,
            decision=verdict.decision,
            signals=plain([signal.as_dict() for signal in verdict.signals]),
            modifications=plain(verdict.modifications),
        )
        for signal in verdict.signals:
            self._delivered[signal.id] = signal
        prompts = [s for s in verdict.signals if s.intensity == "prompt" and not verdict.denied]
        self._waiting.update({signal.id: signal for signal in prompts})
        note = said(verdict, prompts)
        if note:
            self.note(note)
        return verdict

    def may_read(self, path: str) -> bool:
        """Whether the gate lets a file be read for the model, though no tool asks; what it cannot judge is not read."""
        call = {"name": "retrieve", "kind": "read", "writes": False, "input": {"path": path}, "touched": None}
        try:
            return not self.gate.ask("pre-tool-use", tool=call, issue=self._issue, dry=True).denied
        except AhpError:
            return False

    def brief(self) -> str:
        """What the gate asks of agents in general, where it can tell; what it cannot, is said when it is asked."""
        told: Callable[[], str] = getattr(self.gate, "brief", str)
        try:
            return told()
        except AhpError:
            return ""

    def judge(self, trigger: str, what: str, *, final: bool) -> Verdict:
        """The verdict on `trigger` where no tool is called; what a person lets pass is judged again.

        Raises Stop, as `blocked` does.
        """
        verdict = self.ask(trigger)
        while verdict.denied and self.blocked(verdict, what, final=final):
            verdict = self.ask(trigger)
        return verdict

    def blocked(self, verdict: Verdict, what: str, *, final: bool = False) -> bool:
        """Counts a block; True when a person lets it pass, so that it is to be judged again.

        The person is asked, where there is one, when the same block came too often or is `final`: nothing but their
        word could help. Raises Stop when it came too often and nobody decides otherwise, or when they stop the run.
        """
        why = reasons(verdict)
        times = count_blocks(self._blocks, verdict.trigger, why)
        self._events("blocked", trigger=verdict.trigger, what=what, times=times, reasons=why)
        too_often = times >= self._max_same_blocks
        blocks = [signal for signal in verdict.signals if signal.intensity == "block"]
        self.overridable = [one.id for one in blocks if one.context.get("overridable")]
        choice = Choice.STOP
        if self._person is not None and blocks and (too_often or final):
            with _deciding:
                choice = self._person.decide(what, blocks, may_go_on=not final)
            self._events("person", choice=choice.value, trigger=verdict.trigger, what=what, reasons=why)
            if choice is not Choice.STOP:
                forget_blocks(self._blocks, verdict.trigger, why)
        if choice is Choice.STOP and too_often:
            named = "; ".join(f"{rule}: {reason}" for rule, reason in why) or "no reason given"
            ids = ", ".join(short_id(signal) for signal in blocks)
            told = f"the gate refused {what} {times} times for the same reason: {named} ({ids})"
            raise Stop("GATE_BLOCKED", told, self.overridable)
        return choice is Choice.PASS

    def settle(self, verdict: Verdict, action: str, **details: Any) -> None:
        """Answers the control signals of a verdict whose modifications were applied or could not be."""
        for signal in verdict.signals:
            if signal.intensity == "control":
                self._send(signal, action, details)

    def next_call(self) -> None:
        """A prompt that nobody answered before the next call is dismissed."""
        for signal in list(self._waiting.values()):
            self._send(signal, "dismiss", {"automatic": True})

    @property
    def waits(self) -> bool:
        """Whether a prompt is still unanswered."""
        return bool(self._waiting)

    def answer(self, responses: list[Respond]) -> str:
        """Sends what the model answered; what it reads of that, a line each."""
        return "\n".join(self._answer(response) for response in responses)

    def take_notes(self) -> list[str]:
        """What the next user turn has to carry, once."""
        notes, self._notes = self._notes, []
        return notes

    def note(self, text: str) -> None:
        """Has the next user turn carry a text."""
        self._events("note", text=text)
        self._notes.append(text)

    def _answer(self, response: Respond) -> str:
        wanted = response.signal_id.strip()
        found = [signal for key, signal in self._delivered.items() if wanted and key.startswith(wanted)]
        shown = one_line(wanted, 40)
        if len(found) != 1:
            return f"{shown}: {'several signals begin so' if found else 'no signal of this run'}."
        signal = found[0]
        allowed = [action for action in ACTIONS_OF[signal.intensity] if action != _PERSON_ONLY]
        if response.action == _PERSON_ONLY:
            return f"{shown}: {_PERSON_ONLY} is a person's answer, not yours."
        if response.action not in allowed:
            return f"{shown}: a {signal.intensity} is answered with {', '.join(allowed)}."
        problem = self._send(signal, response.action, response.details)
        return f"{shown}: {one_line(problem, 300)}" if problem else f"{shown}: {response.action}, noted."

    def _send(self, signal: Signal, action: str, details: Mapping[str, Any]) -> str | None:
        """Sends one answer; the gate's complaint, if it has one, is an event and comes back."""
        self._waiting.pop(signal.id, None)
        problem = None
        try:
            self.gate.respond(signal.id, action, details)
        except AhpError as error:
            problem = str(error)
        self._events("response", signal_id=signal.id, action=action, details=plain(dict(details)), problem=problem)
        return problem
