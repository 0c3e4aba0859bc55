"""A recorded run as the source of another one: its answers, the results of its calls, its signals' ids."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ahp.protocol.verdict import Verdict
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.model import Answer, ModelError, Want
from ahp.runner.run import migration
from ahp.runner.run.conversation import Message
from ahp.runner.run.events import VERSION, Event, EventLog
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.tools.tool import Tool, ToolContext
from ahp.system import jsontext
from ahp.system.errors import AhpError, Timeout

_STARTS = ("run_start", "run_resume")


class Recording:
    """What a run's events tell. Raises AhpError for events that tell of no run."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.run = RestoredRun(events)
        self.events = _of_today(events)
        self.answers = _answers(self.events)
        self.results = _results(self.events)
        self.signals = _signals(self.events)

    @property
    def unused(self) -> int:
        """How many answers nobody has asked for."""
        return sum(map(len, self.answers.values()))


def _of_today(events: Iterable[Event]) -> list[Event]:
    version, found = VERSION, []
    for event in events:
        version = migration.version_of(event) if event["event"] in _STARTS else version
        found.append(migration.upgraded(event, version))
    return found


def _answers(events: Sequence[Event]) -> dict[tuple[str, str], deque[Answer]]:
    """The model's answers by step and scene. One that was not acted on when the run was broken off was asked again."""
    found: dict[tuple[str, str], deque[Answer]] = {}
    places: dict[str, tuple[str, str]] = {}  # by the conversation: that of a step beside others, or the run's own
    for at, event in enumerate(events):
        if event["event"] == "model_request":
            places[_talk(event)] = _place(event)
        elif event["event"] == "model_answer":
            found.setdefault(places[_talk(event)], deque()).append(_answer(event, events[at + 1 :]))
        elif event["event"] == "run_resume":
            past = RestoredRun(events[:at])
            for talk, cursor in {"": past, **{step: one.cursor for step, one in past.beside.items()}}.items():
                if cursor.reply_open:
                    found[places[talk]].pop()
    return found


def _talk(event: Event) -> str:
    return str(event["step"]) if event.get("parallel") else ""


def _place(request: Event) -> tuple[str, str]:
    return str(request.get("step") or ""), str(request["scene"])


def _answer(event: Event, behind: Sequence[Event]) -> Answer:
    text = str(event["text"])
    if event["finish_reason"] != "length":  # a cut one is shortened in the conversation
        ends = ("message", "model_request", *_STARTS)
        same = (one for one in behind if one["event"] in _STARTS or _talk(one) == _talk(event))
        following = next((one for one in same if one["event"] in ends), None)
        if following is not None and following["event"] == "message" and following["role"] == "assistant":
            text = str(following["content"])  # as it was read: without thoughts
    return Answer(text, event["finish_reason"], (), event["input_tokens"], event["output_tokens"], event["usd"])


def _results(events: Sequence[Event]) -> dict[str, deque[tuple[str, str]]]:
    """(code, text) of the calls that were made, by call."""
    found: dict[str, deque[tuple[str, str]]] = {}
    keys: dict[str, str] = {}
    for event in events:
        if event["event"] == "tool_call":
            keys[_talk(event)] = _key(event)
        elif event["event"] == "tool_result" and event["code"] in ("ok", "E_TOOL", "E_TIMEOUT"):
            key = keys[_talk(event)]
            found.setdefault(key, deque()).append((str(event["code"]), str(event["text"])))
    return found


def _key(call: Event) -> str:
    return jsontext.encode([call["tool"], call["args"]])


def _signals(events: Sequence[Event]) -> dict[tuple[str, str], deque[str]]:
    """The ids of the signals by trigger and rule: the answers that were recorded speak of them."""
    found: dict[tuple[str, str], deque[str]] = {}
    for event in events:
        for signal in event["signals"] if event["event"] == "verdict" else ():
            key = (str(event["trigger"]), str(signal["context"].get("rule")))
            found.setdefault(key, deque()).append(str(signal["header"]["id"]))
    return found


def _last(log: EventLog, kind: str) -> Event:
    return next(event for event in reversed(log.seen) if event["event"] == kind)


class RecordedModel:
    """Answers as the recorded model did in the same step and scene; `log` is where the run that asks it writes."""

    def __init__(self, recording: Recording, log: EventLog) -> None:
        self.name = recording.run.model
        self._recording, self._log = recording, log

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        """The next recorded answer. Raises ModelError where there is none."""
        step, scene = _place(_last(self._log, "model_request"))
        left = self._recording.answers.get((step, scene))
        if not left:
            where = f"{scene} of {step}" if step else scene
            raise ModelError(f"the recording has no further answer for this place ({where}): here the runs part")
        return left.popleft()


class RecordedTool:
    """A tool that gives what it gave in the recording, and does nothing."""

    def __init__(self, tool: Tool, recording: Recording, log: EventLog) -> None:
        self.name, self.description, self.kind, self.args = tool.name, tool.description, tool.kind, tool.args
        self.writes, self.timeout_s = tool.writes, tool.timeout_s
        self.aliases = tuple(getattr(tool, "aliases", ()))
        self.touches = tool.touches
        self._recording, self._log = recording, log

    def run(self, args: Any, context: ToolContext) -> str:
        """The recorded result of this call. Raises what the tool raised, and AhpError where the call was not made."""
        left = self._recording.results.get(_key(_last(self._log, "tool_call")))
        if not left:
            raise AhpError("this call was not made in the recording, so what it gives is not known")
        code, text = left.popleft()
        if code == "ok":
            return text
        raise (Timeout if code == "E_TIMEOUT" else AhpError)(text.removeprefix(f"{code}: "))


class DryGate:
    """The project's gate as it is now, asked without being logged or counted; its signals have the recorded ids."""

    def __init__(self, gate: RepositoryGate, recording: Recording) -> None:
        self.root, self.agent, self.brief = gate.root, gate.agent, gate.brief
        self._gate, self._recording = gate, recording

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """The verdict of now. Raises PolicyError, AhpError."""
        verdict = self._gate.ask(trigger, tool=tool, issue=issue, dry=True)
        for signal in () if dry else verdict.signals:
            ids = self._recording.signals.get((trigger, str(signal.context.get("rule"))))
            if ids:
                signal.header["id"] = ids.popleft()
        return verdict

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Nothing: who answered was the recorded run."""
