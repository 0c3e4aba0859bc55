"""What a run's events say of it: the one state of a run, whether they happen now or are read back to go on."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from ahp.protocol.signals import Signal
from ahp.protocol.text import one_line
from ahp.runner.run import prompts
from ahp.runner.run.conversation import Conversation
from ahp.runner.run.events import KINDS, VERSION, Event, Kind
from ahp.runner.run.evidence import Given, differs
from ahp.runner.run.prompts import Finding, Frames
from ahp.runner.verification.project import Snapshot
from ahp.runner.words.plan import BROKEN_OFF, Plan, StepStatus
from ahp.system import clock, digest, jsontext
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


class Talk:
    """Where one conversation after the other stands.

    `open_call` is the tool that may have run without a recorded result, `results` the (tool, text, advice, id of the
    call) that the model has not read, `calls_left` how many calls of its last reply were not made, `reply_open` whether
    that was not acted on at all, `asking` whether it was asked and has not answered. `notes` are the gate's for the
    next turn, `delivered` and `waiting` its signals by id, `found` is (tool, text) of the last result of the step.
    """

    def __init__(self, system: str = "") -> None:
        self.system = system
        self.conversation: Conversation | None = None
        self.results: list[tuple[str, str, str, str]] = []
        self.calls_left = 0
        self.open_call: str | None = None
        self.reply_open = False
        self.asking = False
        self.notes: list[str] = []
        self.delivered: dict[str, Signal] = {}
        self.waiting: dict[str, Signal] = {}
        self.call: tuple[str, Any] = ("", None)
        self.found = ("", "")
        self._call_id = ""

    def hear(self, event: Event) -> None:
        """Takes in what an event tells of this conversation."""
        kind: Kind = event["event"]
        match kind:
            case "message":
                self._take(event)
            case "conversation":
                self.conversation = Conversation(self.system, str(event["head"]), str(event["opening"]))
                self.reply_open = False
                self._told()
            case "trimmed":
                self._trim(event)
            case "state":
                self.asking = False
                # A run that was killed with its answer on the way out has not given it.
                self.reply_open = self.reply_open and event["state"] == "DONE"
            case "model_request":
                self.asking = True
            case "model_answer":
                self.asking, self.reply_open = False, True
            case (
                "planning_retry" | "malformed_reply" | "intercepted" | "answered" | "plan_generated" | "control_signal"
            ):
                self.reply_open = False
            case "tool_call":
                self.call, self._call_id = (str(event["tool"]), event["args"]), str(event["id"])
                self.calls_left = int(event["left"])
                self.reply_open = False
            case "tool_result":
                tool, text = str(event["tool"]), str(event["text"])
                self.results.append((tool, text, str(event["advice"]), self._call_id))
                self.found = (tool, text) if event["code"] == "ok" else self.found
                self.open_call = None
            case "verdict":
                self._judged(event)
            case "note":
                self.notes.append(str(event["text"]))
            case "response":
                self.waiting.pop(event["signal_id"], None)
                self.reply_open = self.reply_open and "automatic" in event["details"]

    @property
    def unheard(self) -> bool:
        """Whether its last request comes again when the run goes on."""
        return self.asking or self.reply_open

    def broken_off(self, frames: Frames, changed: Sequence[str] = ()) -> str:
        """What the model has to know of the end of these events, and which files have `changed` since."""
        unread = [prompts.result(tool, text, advice, frames, name) for tool, text, advice, name in self.results]
        return prompts.broken_off(
            unread, self.open_call, unheard=self.reply_open, calls_left=self.calls_left, changed=changed
        )

    def _take(self, event: Event) -> None:
        role, content = str(event["role"]), str(event["content"])
        if role == "system":
            self.system = content
            if self.conversation is not None:
                self.conversation.instruct(content)
            return
        if self.conversation is None:
            raise ValueError("a message outside of a conversation")
        self.conversation.add(role, content, event.get("own"), event.get("results", ()), event.get("rest", ""))
        self.reply_open = role == "assistant"
        if role == "user":
            self._told()

    def _told(self) -> None:
        self.results, self.open_call, self.calls_left, self.notes = [], None, 0, []

    def _trim(self, event: Event) -> None:
        if self.conversation is None:
            raise ValueError("nothing was said that could be trimmed")
        for _ in range(int(event["pairs"])):
            self.conversation.drop_oldest()
        for chars in event["cuts"]:
            self.conversation.cut(int(chars))

    def _judged(self, event: Event) -> None:
        denied = event["decision"] == "deny"
        if event["trigger"] == "pre-tool-use":
            self.open_call = None if denied else self.call[0]
        for given in event["signals"]:
            signal = Signal(given["header"], given["context"], given["payload"])
            self.delivered[signal.id] = signal
            if signal.intensity == "prompt" and not denied:
                self.waiting[signal.id] = signal


def key(*what: Any) -> str:
    """The digest under which is counted how often `what`, any JSON values, happened in a run."""
    return digest.sha256(jsontext.encode(what).encode())


def _block_keys(trigger: str, reasons: Sequence[Sequence[str]]) -> list[str]:
    """Under what each rule with its reason is counted, a block without one under its trigger alone."""
    return [key(trigger, list(one)) for one in reasons] or [key(trigger, None)]


_PLACES = {"planning": "the plan", "react": "the task", "answer": "the final answer"}
_RAN = ("ok", "E_TOOL", "E_TIMEOUT")


def _check_version(version: object) -> None:
    """Raises AhpError for events in another form than today's."""
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        told = "a newer ahp; resume it with that one" if newer else "another ahp"
        raise AhpError(f"its events are of version {one_line(version, 20)}, of {told}")


@dataclass
class BesideStep:
    """A step that runs beside others and is not merged yet: where its conversation and its files stand.

    It works in the linked work tree `folder`, which began as the tree `base` (complete once `begun`); `tree` is the
    last one that was noted of it. `finished`: its model is through; `merged`: its files are in the project.
    """

    talk: Talk
    folder: str
    base: str
    tree: str
    begun: bool = False
    finished: bool = False
    merged: bool = False


class RunState(Talk):
    """Where a run stands, and everything that is counted in it; itself the talk of the steps in place.

    `open_step` is the one that `conversation` is about; `beside` are those that run beside others, by id, `folders`
    where their checkouts were, `redone` the conflicts that led to a step, by its id, `merging` the merge whose files
    may not all be there. `first` is what the files held before the first tool ran, `snapshot` what they held when the
    run last looked; `changed` are those that somebody else changed while the run was broken off (None: that cannot be
    told). `wrote` are the steps in which a file has changed, `used` the tools that did their work in each. `findings`
    are what finished steps left, `failed` the lines, by path, where the last verification was red.
    """

    def __init__(self) -> None:
        super().__init__()
        self.task = ""
        self.model = ""
        self.endpoint: dict[str, str] | None = None
        self.planning = True
        self.jobs = 1
        self.stop_reason = ""
        self.at = State.INTAKE
        self.nonce = self.since = ""
        self.policy: dict[str, Any] | None = None
        self.open_step: str | None = None
        self.plan: Plan | None = None
        self.left_out: list[str] = []
        self.problem = ""
        self.recovering: str | None = None
        self.answered: Given | None = None
        self.beside: dict[str, BesideStep] = {}
        self.folders: set[str] = set()
        self.redone: dict[str, Event] = {}
        self.merging: Event | None = None
        self.blocks, self.repeats, self.barred = Counter[str](), Counter[str](), Counter[str]()
        self.ran = Counter[str]()
        self.first: Snapshot | None = None
        self.snapshot: Snapshot | None = None
        self.changed: list[str] | None = []
        self.used: dict[str, set[str]] = {}
        self.wrote: set[str] = set()
        self.findings: dict[str, Finding] = {}
        self.failed: dict[str, list[int]] = {}
        self.replans = self.requests = self.tokens = 0
        self.usd = self.seconds = 0.0
        self.iterations, self.step_calls, self.requests_of = Counter[str](), Counter[str](), Counter[str]()
        self._step = self._place = ""
        self._called = False
        self._broken_off: set[str] = set()
        self._calling: str | None = None  # the step, "" for none, whose call runs
        self._begun = self._last = 0.0

    @classmethod
    def of(cls, events: Iterable[Event]) -> "RunState":
        """Where a run stood when its events ended. Raises AhpError for events that tell of no run."""
        state, number = cls(), 1
        try:
            for number, event in enumerate(events, start=1):  # noqa: B007  # the error names it
                state.hear(event)
        except (AhpError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise AhpError(f"event {number} of this run cannot be read back: {type(error).__name__}: {error}") from None
        if not state._last:
            raise AhpError("this run was killed before it began; start it anew")
        state._break_off()
        return state

    @property
    def consumed_by(self) -> dict[str, int]:
        """How many of a script's answers each step has used, "" for what no step did: one not acted on comes again."""
        again = {step: one.talk.unheard for step, one in self.beside.items()}
        again[self._place] = again.get(self._place, False) or self.unheard
        return {step: count - again.get(step, False) for step, count in self.requests_of.items()}

    def asked(
        self, model: str | None = None, base_url: str | None = None, api: str | None = None
    ) -> dict[str, str | None]:
        """The model, base URL and interface to go on with: those of the run, where no others are named."""
        if base_url is None and api is None and self.endpoint is not None:
            base_url, api = self.endpoint["base_url"], self.endpoint["api"]
        return {"model": model or (self.model if self.endpoint else None), "base_url": base_url, "api": api}

    def times_blocked(self, trigger: str, reasons: Sequence[Sequence[str]]) -> int:
        """How often the most frequent of these rules, with its reason, has refused, whatever was tried."""
        return max(self.blocks[one] for one in _block_keys(trigger, reasons))

    def hear(self, event: Event) -> None:
        """Takes in what an event tells of the run."""
        at = clock.parse_iso(event["at"])
        if event["event"] in ("run_start", "run_resume"):
            self._end_part(at)
            _check_version(event.get("version"))
        self._last = max(self._last, at)
        if event["event"] not in KINDS:
            return
        talk = self._talk_of(event)
        Talk.hear(talk, event)
        kind: Kind = event["event"]
        match kind:
            case "run_start":
                self._start(event)
            case "run_resume":
                self._break_off()
                self.jobs = int(event["config"].get("jobs", 1)) if "config" in event else self.jobs
                self.stop_reason, self.at, self.changed = "", State.INTAKE, event.get("changed", [])
            case "run_end":
                self.stop_reason = str(event["stop_reason"])
                # An answer that nothing covered is no answer to go on with.
                self.answered = None if self.stop_reason == NO_EVIDENCE else self.answered
            case "conversation":
                if not event.get("parallel"):
                    self.open_step = self._step if event["scene"] == "step" else None
            case "message":
                for other in self.beside.values() if event["role"] == "system" else ():
                    other.talk.hear(event)
            case "state":
                self._enter(event["former"], event["state"])
            case "model_request":
                self._request(event)
            case "model_answer":
                self.tokens += int(event["input_tokens"]) + int(event["output_tokens"])
                self.usd += float(event["usd"])
            case "answered":
                self.plan = None if self.at is State.PLANNING else self.plan
                self.answered = Given(
                    str(event["text"]), bool(event.get("typed")), event.get("changed", ()), str(event.get("unsure", ""))
                )
            case "plan_generated":
                self.plan, self.left_out = Plan.model_validate(event["plan"]), list(event["left_out"])
                self.redone = {}
                self.iterations.clear()
                self.step_calls.clear()
                self.recovering, self.open_step = None, None
                self._step, self.found = "", ("", "")
            case "replan":
                self.replans, self.recovering = int(event["used"]), str(event["problem"])
            case "plan_step_start":
                self._start_step(event)
            case "plan_step_end":
                self._end_step(event)
            case "step_checkout":
                self._check_out(event)
            case "step_tree":
                self._note_tree(str(event["step"]), str(event["tree"]))
            case "step_dropped":
                self.beside.pop(str(event["step_id"]), None)
            case "step_merging":
                self.merging = event
            case "step_merged":
                self.merging = None
                self.beside[str(event["step_id"])].merged = True
            case "step_conflict":
                self.plan, self.replans = Plan.model_validate(event["plan"]), int(event["used"])
                self.merging = None
                self.beside.pop(str(event["step_id"]), None)
                self.redone[str(event["new_id"])] = event
            case "plan_step_blocked":
                self._mark(event["step_id"], StepStatus.BLOCKED)
            case "control_signal":
                self._control(event, talk)
            case "tool_call":
                self.step_calls[self._step_of(event)] += 1
                self._called, self._calling = True, str(event.get("step", ""))
            case "tool_result":
                self._count_result(event)
            case "snapshot":
                self._look(None if event["snapshot"] is None else Snapshot(**event["snapshot"]))
            case "stuttering":
                self.barred[key(*talk.call)] += 1
            case "blocked":
                self.blocks.update(_block_keys(event["trigger"], event["reasons"]))
            case "final_verify":
                self.failed = {}
                for detail in event["result"]["details"] if event["result"].get("red") else ():
                    self.failed.setdefault(str(detail["file"]), []).extend([detail["line"]] if detail["line"] else [])
            case ("trimmed" | "brief" | "retrieved" | "note" |
                "response" | "model_retry" | "malformed_reply" | "intercepted" | "planning_retry" |
                "step_not_kept" | "not_parallel" | "verdict" | "gate_error" | "repeated_call" |
                "leftovers_ended"):  # fmt: skip
                pass
            case _:
                assert_never(kind)

    def _end_part(self, at: float) -> None:
        self.seconds += self._last - self._begun
        self._begun = self._last = at

    def _break_off(self) -> None:
        """A step that was broken off is pending again; what its tools did stays done."""
        self._end_part(self._last)
        open_steps = {step.id for step in self.plan.steps if step.status is StepStatus.PENDING} if self.plan else set()
        for step in self.plan.steps if self.plan else ():
            if step.status is StepStatus.IN_PROGRESS or step.id in self._broken_off:
                step.status = StepStatus.PENDING
                open_steps.add(step.id)
        self._broken_off.clear()
        # A step of a new plan that has the name of a failed one begins at nothing.
        self.step_calls = Counter({step: calls for step, calls in self.step_calls.items() if step in open_steps})
        places = {*_PLACES.values(), *(f"step {step}" for step in open_steps)}
        self.iterations = Counter({place: spent for place, spent in self.iterations.items() if place in places})

    def _start(self, event: Event) -> None:
        self.task, self.nonce = str(event["task"]), str(event["nonce"])
        self.since, self.policy = str(event["since"]), event["policy"]
        self.planning = bool(event["config"]["enable_planning"])
        self.model = str(event["model"])
        self.jobs = int(event["config"].get("jobs", 1))
        endpoint = event["endpoint"]
        self.endpoint = {name: str(endpoint[name]) for name in ("api", "base_url")} if endpoint else None

    def _enter(self, former: str, state: str) -> None:
        self.at = State(state)
        if state == "VERIFYING":
            self.iterations.pop(_PLACES["react"], None)
        elif (former, state) == ("RECOVERING", "PLANNING"):
            self.iterations.pop(_PLACES["planning"], None)
        elif state in ("RECOVERING", "EXECUTING"):
            self.answered = None if state == "RECOVERING" else self.answered
            self.recovering = None

    def _request(self, event: Event) -> None:
        self.requests += 1
        by = str(event.get("step") or "")
        self.requests_of[by] += 1
        if not event.get("parallel"):
            self._place = by
        place = f"step {self._step_of(event)}" if event["scene"] == "step" else _PLACES.get(event["scene"])
        if place is not None and event["attempt"] == 1:
            self.iterations[place] += 1

    def _start_step(self, event: Event) -> None:
        step = str(event["step_id"])
        if event.get("parallel"):
            self.beside[step].begun = True
        elif self._step != step:
            self._step, self.found = step, ("", "")
        self._mark(step, StepStatus.IN_PROGRESS)

    def _end_step(self, event: Event) -> None:
        step, broken_off = str(event["step_id"]), event["problem"] == BROKEN_OFF
        if not broken_off and event.get("parallel"):
            self.notes += self.beside.pop(step).talk.notes
        elif not event.get("parallel"):
            self.open_step = self.open_step if broken_off else None
        self.problem = self.problem if broken_off or not event["problem"] else str(event["problem"])
        self._mark(step, StepStatus(event["status"]))
        if broken_off:
            self._broken_off.add(step)

    def _check_out(self, event: Event) -> None:
        step, folder = str(event["step_id"]), str(event["folder"])
        self.folders.add(os.path.dirname(folder))
        known = self.beside.get(step)
        if known is None:
            base = str(event["base"])
            self.beside[step] = BesideStep(Talk(self.system), folder, base, base)
        else:
            known.folder, known.base, known.begun, known.merged = folder, str(event["base"]), False, False

    def _control(self, event: Event, talk: Talk) -> None:
        done = event["control"] == "step_done"
        if done:
            self.findings[self._step_of(event)] = Finding(str(event["reason"] or ""), *talk.found)
        if event.get("parallel"):
            self.beside[str(event["step"])].finished = done
        elif done:
            self.open_step = None
            self._mark(event["step_id"], StepStatus.DONE)

    def _look(self, now: Snapshot | None) -> None:
        former, self.snapshot = self.snapshot, now
        if not self._called:
            self.first = now
        if self._calling and now is not None and (former is None or differs(former, now)):
            self.wrote.add(self._calling)

    def _note_tree(self, step: str, tree: str) -> None:
        if self.beside[step].tree != tree:
            self.beside[step].tree = tree
            self.wrote.add(step)

    def _talk_of(self, event: Event) -> Talk:
        beside = self.beside.get(event["step"]) if event.get("parallel") else None
        return self if beside is None else beside.talk

    def _step_of(self, event: Event) -> str:
        return str(event["step"]) if event.get("parallel") else self._step

    def _mark(self, step_id: str, status: StepStatus) -> None:
        if self.plan is None:
            raise ValueError(f"step {step_id} without a plan")
        self.plan.step(step_id).status = status

    def _count_result(self, event: Event) -> None:
        tool, self._calling = str(event["tool"]), None
        if event["code"] == "ok":
            self.used.setdefault(str(event.get("step", "")), set()).add(tool)
        if event["same"] is not None:
            self.repeats[str(event["same"])] += 1
        if event["code"] in _RAN or (event["code"] == "E_STUTTERING" and event["same"] is not None):
            self.ran[tool] += 1
