"""A run read back from its events: what a resumed run carries over. The events are the truth, nothing else is kept."""

from collections.abc import Iterable
from typing import Any

from ahp.protocol.signals import Signal
from ahp.runner.gating.gates import count_blocks, forget_blocks
from ahp.runner.run import migration, prompts
from ahp.runner.run.conversation import Conversation
from ahp.runner.run.events import VERSION, Event
from ahp.runner.run.frames import Frames
from ahp.runner.run.limits import Repeats
from ahp.runner.run.snapshot import Snapshot
from ahp.runner.verification.work_tree import WorkTreeMark
from ahp.runner.words.plan import BROKEN_OFF, Plan, StepStatus
from ahp.system import clock
from ahp.system.errors import AhpError

_PLACES = {"planning": "the plan", "react": "the task", "answer": "the final answer"}
_RAN = ("ok", "E_TOOL", "E_TIMEOUT")


class RestoredRun:
    """Where a run stood when its events end, and everything that was counted in it.

    A step that was broken off is pending again; what its tools did stays done. `open_step` is the one that
    `conversation` is about, `open_call` the tool that may have run without a recorded result, `results` the
    (tool, text, advice, id of the call) that the model has not read, `calls_left` how many calls of its last reply were
    not made, `reply_open` whether that was not acted on at all. `snapshot` is what the files held when the run last
    looked; who resumes it says in `changed` which ones do not any more (None: that cannot be told).
    Raises AhpError for events that tell of no run.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.task = ""
        self.issue: str | None = None
        self.model = ""
        self.endpoint: dict[str, str] | None = None
        self.planning = True
        self.stop_reason = ""
        self.nonce = self.since = ""
        self.policy: dict[str, Any] | None = None
        self.system = ""
        self.conversation: Conversation | None = None
        self.open_step: str | None = None
        self.plan: Plan | None = None
        self.left_out: list[str] = []
        self.problem = ""
        self.recovering: str | None = None
        self.answered: str | None = None
        self.results: list[tuple[str, str, str, str]] = []
        self.calls_left = 0
        self.open_call: str | None = None
        self.reply_open = False
        self.moved: set[str] = set()
        self.notes: list[str] = []
        self.delivered: dict[str, Signal] = {}
        self.waiting: dict[str, Signal] = {}
        self.blocks, self.repeats, self.barred = Repeats(), Repeats(), Repeats()
        self.ran: dict[str, int] = {}
        self.has_run = False
        self.snapshot: Snapshot | None = None
        self.changed: list[str] | None = []
        self._version = VERSION
        self.work_tree: WorkTreeMark | None = None
        self.replans = self.requests = self.tokens = 0
        self.usd = self.seconds = 0.0
        self.iterations: dict[str, int] = {}
        self.step_calls: dict[str, int] = {}
        self._step = ""
        self._call: tuple[str, Any] = ("", None)
        self._call_id = ""
        self._asking = False
        self._begun = self._last = 0.0
        number = 1
        try:
            for number, event in enumerate(events, start=1):  # noqa: B007  # the error names it
                self._read(event)
        except (AhpError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise AhpError(f"event {number} of this run cannot be read back: {type(error).__name__}: {error}") from None
        if not self._last:
            raise AhpError("this run was killed before it began; start it anew")
        self._close()

    @property
    def has_task(self) -> bool:
        """Whether the model was told the task."""
        return self.conversation is not None

    @property
    def consumed(self) -> int:
        """How many of a script's answers the run has used: one that was not acted on comes again."""
        return self.requests - (self._asking or self.reply_open)

    def broken_off(self, frames: Frames) -> str:
        """What the model has to know of the end of these events, and which files have changed since."""
        unread = [prompts.result(tool, text, advice, frames, name) for tool, text, advice, name in self.results]
        return prompts.broken_off(
            unread,
            self.open_call,
            unheard=self.reply_open,
            calls_left=self.calls_left,
            changed=self.changed or (),
        )

    def asked(
        self, model: str | None = None, base_url: str | None = None, api: str | None = None
    ) -> dict[str, str | None]:
        """The model, base URL and interface to go on with: those of the run, where no others are named."""
        if base_url is None and api is None and self.endpoint is not None:
            base_url, api = self.endpoint["base_url"], self.endpoint["api"]
        return {"model": model or (self.model if self.endpoint else None), "base_url": base_url, "api": api}

    def _read(self, event: Event) -> None:
        at = clock.parse_iso(event["at"])
        if event["event"] in ("run_start", "run_resume"):
            self._end_part(at)
            self._version = migration.version_of(event)
        event = migration.upgraded(event, self._version)
        self._last = max(self._last, at)
        read = getattr(self, f"_on_{event['event']}", None)
        if read is not None:
            read(event)

    def _end_part(self, at: float) -> None:
        self.seconds += self._last - self._begun
        self._begun = self._last = at

    def _close(self) -> None:
        self._end_part(self._last)
        open_steps = {step.id for step in self.plan.steps if step.status is StepStatus.PENDING} if self.plan else set()
        for step in self.plan.steps if self.plan else ():
            if step.status is StepStatus.IN_PROGRESS:
                step.status = StepStatus.PENDING
                open_steps.add(step.id)
        # A step of a new plan that has the name of a failed one begins at nothing.
        self.step_calls = {step: calls for step, calls in self.step_calls.items() if step in open_steps}
        places = {*_PLACES.values(), *(f"step {step}" for step in open_steps)}
        self.iterations = {place: spent for place, spent in self.iterations.items() if place in places}

    def _on_run_start(self, event: Event) -> None:
        self.task, self.issue, self.nonce = str(event["task"]), event["issue"], str(event["nonce"])
        self.since, self.policy = str(event["since"]), event["policy"]
        self.planning = bool(event["config"]["enable_planning"])
        self.model = str(event["model"])
        endpoint = event["endpoint"]
        self.endpoint = {name: str(endpoint[name]) for name in ("api", "base_url")} if endpoint else None

    def _on_run_resume(self, event: Event) -> None:
        self.stop_reason = ""

    def _on_run_end(self, event: Event) -> None:
        self.stop_reason = str(event["stop_reason"])

    def _on_message(self, event: Event) -> None:
        role, content = str(event["role"]), str(event["content"])
        if role == "system":
            self.system = content
            return
        if self.conversation is None:
            raise ValueError("a message outside of a conversation")
        self.conversation.take_up(role, content)
        self.reply_open = role == "assistant"
        if role == "user":
            self._told()

    def _on_conversation(self, event: Event) -> None:
        self.conversation = Conversation(self.system, str(event["head"]), str(event["opening"]))
        self.open_step = self._step if event["scene"] == "step" else None
        self.reply_open = False
        self._told()

    def _told(self) -> None:
        self.results, self.open_call, self.calls_left, self.notes = [], None, 0, []

    def _on_trimmed(self, event: Event) -> None:
        if self.conversation is None:
            raise ValueError("nothing was said that could be trimmed")
        for _ in range(int(event["pairs"])):
            self.conversation.drop_oldest()
        for chars in event["cuts"]:
            self.conversation.cut(int(chars))

    def _on_state(self, event: Event) -> None:
        state = event["state"]
        self._asking = False
        # A run that was killed with its answer on the way out has not given it.
        self.reply_open = self.reply_open and state == "DONE"
        if state == "VERIFYING":
            self.iterations.pop(_PLACES["react"], None)
        elif state in ("RECOVERING", "EXECUTING"):
            self.answered = None if state == "RECOVERING" else self.answered
            self.recovering = None

    def _on_model_request(self, event: Event) -> None:
        self.requests += 1
        self._asking = True
        place = f"step {self._step}" if event["scene"] == "step" else _PLACES.get(event["scene"])
        if place is not None and event["attempt"] == 1:
            self.iterations[place] = self.iterations.get(place, 0) + 1

    def _on_model_answer(self, event: Event) -> None:
        self._asking, self.reply_open = False, True
        self.tokens += int(event["input_tokens"]) + int(event["output_tokens"])
        self.usd += float(event["usd"])

    def _on_answered(self, event: Event) -> None:
        self.answered = str(event["text"])
        self.reply_open = False

    def _on_plan_generated(self, event: Event) -> None:
        self.plan, self.left_out = Plan.model_validate(event["plan"]), list(event["left_out"])
        self.iterations, self.step_calls = {}, {}
        self.recovering, self.reply_open, self.open_step = None, False, None

    def _on_planning_retry(self, event: Event) -> None:
        self.reply_open = False

    _on_malformed_reply = _on_intercepted = _on_planning_retry

    def _on_replan(self, event: Event) -> None:
        self.replans = int(event["used"])
        self.recovering = str(event["problem"])

    def _on_plan_step_start(self, event: Event) -> None:
        self._step = str(event["step_id"])
        self._mark(self._step, StepStatus.IN_PROGRESS)

    def _on_plan_step_end(self, event: Event) -> None:
        broken_off = event["problem"] == BROKEN_OFF
        self.open_step = self.open_step if broken_off else None
        self.problem = self.problem if broken_off else str(event["problem"])
        self._mark(event["step_id"], StepStatus.PENDING if broken_off else StepStatus(event["status"]))

    def _on_plan_step_blocked(self, event: Event) -> None:
        self._mark(event["step_id"], StepStatus.BLOCKED)

    def _on_control_signal(self, event: Event) -> None:
        self.reply_open = False
        if event["control"] == "step_done":
            self.open_step = None
            self._mark(event["step_id"], StepStatus.DONE)

    def _mark(self, step_id: str, status: StepStatus) -> None:
        if self.plan is None:
            raise ValueError(f"step {step_id} without a plan")
        self.plan.step(step_id).status = status

    def _on_tool_call(self, event: Event) -> None:
        self._call, self._call_id = (str(event["tool"]), event["args"]), str(event["id"])
        self.calls_left = int(event["left"])
        self.reply_open = False
        self.step_calls[self._step] = self.step_calls.get(self._step, 0) + 1

    def _on_tool_result(self, event: Event) -> None:
        tool, text = str(event["tool"]), str(event["text"])
        self.results.append((tool, text, str(event["advice"]), self._call_id))
        self.open_call = None
        if event["same"] is not None:
            self.repeats.add(str(event["same"]))
        if event["code"] in _RAN or (event["code"] == "E_STUTTERING" and event["same"] is not None):
            self.ran[tool] = self.ran.get(tool, 0) + 1

    def _on_work_tree(self, event: Event) -> None:
        self.has_run = True
        self.work_tree = None if event["mark"] is None else WorkTreeMark(**event["mark"])

    def _on_snapshot(self, event: Event) -> None:
        self.snapshot = None if event["snapshot"] is None else Snapshot(**event["snapshot"])

    def _on_stuttering(self, event: Event) -> None:
        self.barred.count(*self._call)

    def _on_verdict(self, event: Event) -> None:
        denied = event["decision"] == "deny"
        if event["trigger"] == "pre-tool-use":
            self.open_call = None if denied else self._call[0]
        for given in event["signals"]:
            signal = Signal(given["header"], given["context"], given["payload"])
            self.delivered[signal.id] = signal
            if signal.intensity == "prompt" and not denied:
                self.waiting[signal.id] = signal

    def _on_blocked(self, event: Event) -> None:
        count_blocks(self.blocks, event["trigger"], event["reasons"])

    def _on_person(self, event: Event) -> None:
        if event["choice"] != "stop":
            forget_blocks(self.blocks, event["trigger"], event["reasons"])

    def _on_note(self, event: Event) -> None:
        self.notes.append(str(event["text"]))

    def _on_response(self, event: Event) -> None:
        self.waiting.pop(event["signal_id"], None)
        self.reply_open = self.reply_open and "automatic" in event["details"]

    def _on_issue_moved(self, event: Event) -> None:
        self.moved.add(str(event["verb"]))
