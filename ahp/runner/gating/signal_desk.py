"""How the runner asks the gate, where its signals arrive and the model's answers leave (design §7, §9)."""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from pydantic import BaseModel

from ahp.hosts.verdict_text import for_agent, rule_of, short_id
from ahp.protocol.signals import ACTIONS_OF, Signal, reason_of
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.runner.config import AgentConfig
from ahp.runner.models.model import Model
from ahp.runner.run.events import AnyLog, EventLog, plain
from ahp.runner.run.run_state import RunState, Stop, Talk
from ahp.runner.tools.tool import Toolbox
from ahp.runner.words.actions import Respond
from ahp.system.errors import AhpError

_PERSON_ONLY = "proceed_with_risk"


class Gate(Protocol):
    """The gate as the runner sees it. Whatever it raises as AhpError means: not judged, so not done."""

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, dry: bool = False) -> Verdict:
        """Judges `trigger`; a `dry` question is neither logged nor counted.

        `tool` is `{"name", "kind", "writes", "input", "touched"}`; within a plan step also `expected`, the tools it
        names; `boxed` where its commands will run in a box; `annotations`, what an MCP server says of it; in a step
        that runs beside others `checkout`, the linked work tree that it works in and whose folder no other value names;
        afterwards `output` and `code`. What a verdict changes in a call is in its `modified`, where it has to run in
        its `box`.
        """
        ...

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records an answer to a signal. Raises AhpError when the action does not fit it."""
        ...


def said(verdict: Verdict, unanswered: list[Signal]) -> str:
    """A verdict in a model's words (at most 600 characters), and how to answer the prompts in it; "" for none."""
    lines = [for_agent(verdict)] if verdict.signals else []
    for signal in unanswered:
        answer = json.dumps({"respond": short_id(signal), "action": "acknowledge"})
        lines.append(f"Answer it with {answer} (or apply_suggestion, dismiss); going on without is dismiss.")
    return "\n".join(lines)


def reasons(verdict: Verdict) -> list[list[str]]:
    """[rule, reason] of each block in a verdict: what makes two blocks the same one."""
    return sorted([rule_of(s), one_line(reason_of(s.payload))] for s in verdict.signals if s.intensity == "block")


class Setup(Protocol):
    """What the parts of a run take of their agent."""

    model: Model
    gate: Gate
    config: AgentConfig
    events: EventLog
    toolbox: Toolbox
    root: str
    answer: type[BaseModel]


def modified(verdict: Verdict, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the verdict wants them: those of its `modified` event, else as they are."""
    event = verdict.modified
    given = event.tool.get("input") if event is not None and event.tool is not None else None
    return copy.deepcopy(given if isinstance(given, dict) else dict(args))


class SignalDesk:
    """Asks the gate for one run, keeps what the model is to read next, and sends what it answers."""

    def __init__(self, agent: Setup, state: RunState) -> None:
        self.gate, self._events = agent.gate, cast(AnyLog, agent.events)
        self._state, self._talk = state, cast(Talk, state)
        self._max_same_blocks = agent.config.max_same_blocks
        self.overridable: list[str] = []  # signals of the last block that a person could let pass

    def beside(self, gate: Gate, events: AnyLog, talk: Talk) -> "SignalDesk":
        """The desk of a step that runs beside others, whose talk is `talk`; blocks are counted together."""
        other = copy.copy(self)
        other.gate, other._events, other._talk = gate, events, talk
        return other

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None) -> Verdict:
        """The verdict on `trigger`; its signals go into the next user turn.

        Raises Stop when the gate cannot judge what has not been done yet.
        """
        try:
            verdict = self.gate.ask(trigger, tool=tool)
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
        note = said(verdict, [s for s in verdict.signals if s.intensity == "prompt" and not verdict.denied])
        if note:
            self.note(note)
        return verdict

    def may_read(self, path: str) -> bool:
        """Whether the gate lets a file be read for the model, though no tool asks; what it cannot judge is not read."""
        call = {"name": "retrieve", "kind": "read", "writes": False, "input": {"path": path}, "touched": None}
        try:
            return not self.gate.ask("pre-tool-use", tool=call, dry=True).denied
        except AhpError:
            return False

    def brief(self) -> str:
        """What the gate asks of agents in general, where it can tell; what it cannot, is said when it is asked."""
        told: Callable[[], str] = getattr(self.gate, "brief", str)
        try:
            return told()
        except AhpError:
            return ""

    def judge(self, trigger: str, what: str) -> Verdict:
        """The verdict on `trigger` where no tool is called. Raises Stop, as `blocked` does."""
        verdict = self.ask(trigger)
        if verdict.denied:
            self.blocked(verdict, what)
        return verdict

    def blocked(self, verdict: Verdict, what: str) -> None:
        """Counts a block. Raises Stop when the same one came too often: nothing but a person's word could help."""
        why = reasons(verdict)
        times = self._state.times_blocked(verdict.trigger, why) + 1
        self._events("blocked", trigger=verdict.trigger, what=what, times=times, reasons=why)
        blocks = [signal for signal in verdict.signals if signal.intensity == "block"]
        self.overridable = [one.id for one in blocks if one.context.get("overridable")]
        if times >= self._max_same_blocks:
            named = "; ".join(f"{rule}: {reason}" for rule, reason in why) or "no reason given"
            ids = ", ".join(short_id(signal) for signal in blocks)
            told = f"the gate refused {what} {times} times for the same reason: {named} ({ids})"
            raise Stop("GATE_BLOCKED", told, self.overridable)

    def settle(self, verdict: Verdict, action: str, **details: Any) -> None:
        """Answers the control signals of a verdict whose modifications were applied or could not be."""
        for signal in verdict.signals:
            if signal.intensity == "control":
                self._send(signal, action, details)

    def next_call(self) -> None:
        """A prompt that nobody answered before the next call is dismissed."""
        for signal in list(self._talk.waiting.values()):
            self._send(signal, "dismiss", {"automatic": True})

    @property
    def waits(self) -> bool:
        """Whether a prompt is still unanswered."""
        return bool(self._talk.waiting)

    def answer(self, responses: list[Respond]) -> str:
        """Sends what the model answered; what it reads of that, a line each."""
        return "\n".join(self._answer(response) for response in responses)

    @property
    def notes(self) -> list[str]:
        """What the next user turn has to carry."""
        return list(self._talk.notes)

    def note(self, text: str) -> None:
        """Has the next user turn carry a text."""
        self._events("note", text=text)

    def _answer(self, response: Respond) -> str:
        wanted = response.signal_id.strip()
        found = [signal for key, signal in self._talk.delivered.items() if wanted and key.startswith(wanted)]
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
        problem = None
        try:
            self.gate.respond(signal.id, action, details)
        except AhpError as error:
            problem = str(error)
        self._events("response", signal_id=signal.id, action=action, details=plain(dict(details)), problem=problem)
        return problem
