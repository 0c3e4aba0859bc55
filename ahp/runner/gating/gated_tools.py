"""The only way a tool runs: behind pre- and post-tool-use, within its time, counted (design §2, §4)."""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import BaseModel

from ahp.protocol.text import excerpt, failure, one_line
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.box import Box
from ahp.runner.gating.signal_desk import Setup, SignalDesk, modified
from ahp.runner.run.events import AnyLog, plain
from ahp.runner.run.evidence import changed_in
from ahp.runner.run.run_state import RunState, key
from ahp.runner.tools.project_files import LastSeen
from ahp.runner.tools.tool import WRITING, InvalidCall, Tool, ToolContext, left_running, result_text, told
from ahp.runner.verification.project import take
from ahp.runner.words.actions import ToolCall
from ahp.system.deadline import Worker
from ahp.system.descendants import MARK, Descendants
from ahp.system.errors import AhpError, Timeout
from ahp.system.interrupt import Ended

_ONLY_WRITE = ("write", "edit", "patch")  # kinds of tools that leave another file behind, or have done nothing
_ROUNDS = 3  # of rewriting and judging again, as the gate itself has (design §2)


@dataclass(frozen=True)
class Outcome:
    """How a call ended: `ok`, `blocked` or an E_ code, and what the model reads of it."""

    code: str
    text: str
    advice: str = ""
    """What the runner itself has to say of it."""

    same: str | None = None
    """Under which digest call and result were counted; None for a call that was not made."""


class GatedTools:
    """Runs calls for one run."""

    def __init__(
        self, agent: Setup, desk: SignalDesk, state: RunState, env: Mapping[str, str], descendants: Descendants
    ) -> None:
        self._toolbox, self._config, self._root = agent.toolbox, agent.config, agent.root
        self._events: AnyLog = agent.events
        self._desk, self._state, self._env, self._descendants = desk, state, env, descendants
        self._box = Box(agent.config.box, agent.root, str(getattr(agent.gate, "session", env.get(MARK, ""))))
        self._worker, self._last_seen = Worker(), LastSeen()
        self._looked: Callable[[], object] | None = None
        self.expected: list[str] | None = None  # the tools that the plan step at work names; None outside of a step

    @property
    def names(self) -> frozenset[str]:
        """How the model calls the tools of this run."""
        return self._toolbox.names

    def beside(
        self,
        desk: SignalDesk,
        events: AnyLog,
        root: str,
        descendants: Descendants,
        env: Mapping[str, str],
        looked: Callable[[], object],
    ) -> "GatedTools":
        """The same tools for a step that works in the linked work tree `root`; what repeats is counted together.

        What its programs get is `env`; `looked` is called behind each call that may have written.
        """
        other = copy.copy(self)
        other._toolbox, other._box, other._root = self._toolbox.at(root), self._box.at(root), root
        other._desk, other._events, other._env, other._descendants = desk, events, env, descendants
        other._worker, other._last_seen, other._looked = Worker(), LastSeen(), looked
        return other

    def wrote(self) -> bool:
        """Whether the project is another than before the first tool ran.

        The work tree tells, not what tools say of themselves; outside a repository that is all there is.
        """
        changed = changed_in(self._state.first, self._root)
        if changed is not None:
            return bool(changed)
        began = {*self._state.ran, self._state.open_call}  # one that was cut off may have written
        return any(tool.writes for name, tool in self._toolbox.tools.items() if name in began)

    def to_write(self, names: Iterable[str]) -> dict[str, bool]:
        """The tools among these names, as a plan gives them, that may write, and whether each does nothing else.

        A name of ahp's for one that this run does not have is among them: nothing here can do its work.
        """
        known, found = self._toolbox.tools, dict[str, bool]()
        for name in map(self._toolbox.own_name, names):
            if name in known and known[name].writes:
                found[name] = known[name].kind in _ONLY_WRITE
            elif name not in known and name.strip().lower() in WRITING:
                found[name] = True
        return found

    @property
    def by_git(self) -> bool:
        """Whether git tells what changes."""
        return self._looked is not None or self._state.snapshot is not None

    def look(self) -> None:
        """Notes what the project's files hold, so that a resumed run can tell what somebody else has changed."""
        if self._looked is not None:
            self._looked()
            return
        taken = take(self._root)
        if taken != self._state.snapshot:
            self._events("snapshot", snapshot=None if taken is None else asdict(taken))

    def call(self, call: ToolCall, seconds_left: float | None = None, calls_left: int = 0) -> Outcome:
        """Judges, runs and judges again one call, in at most `seconds_left`; never raises for what the model did.

        `calls_left` are those of the same reply behind it. Raises Stop when the gate cannot judge or has blocked the
        same thing too often.
        """
        tool, args = self._toolbox.own_call(call.tool, call.args)
        call = replace(call, tool=tool, args=args)
        self._events("tool_call", tool=call.tool, args=plain(call.args), id=call.id, left=calls_left)
        outcome = self._call(call, seconds_left)
        self._events(
            "tool_result",
            tool=call.tool,
            code=outcome.code,
            text=outcome.text,
            advice=outcome.advice,
            same=outcome.same,
        )
        return outcome

    def _call(self, call: ToolCall, seconds_left: float | None) -> Outcome:
        if key(call.tool, plain(call.args)) in self._state.barred:
            return self._stuttering(call)
        try:
            tool = self._toolbox.find(call.tool)
            judged = self._judge(tool, self._toolbox.validate(tool, call.args))
            if isinstance(judged, Outcome):
                return judged
            return self._run(tool, call, *judged, seconds_left)
        except InvalidCall as error:
            return self._counted(call, Outcome(error.code, f"{error.code}: {error}"))

    def _judge(self, tool: Tool, valid: BaseModel) -> tuple[BaseModel, Callable[[str], str]] | Outcome:
        """The arguments that may run and what places its commands, or the refusal.

        What is judged is what runs: the arguments as validated.
        """
        for _ in range(_ROUNDS):
            call = self._call_of(tool, valid)
            verdict = self._desk.ask("pre-tool-use", tool=call)
            if verdict.denied:
                self._desk.blocked(verdict, tool.name)
                return Outcome("blocked", f"{tool.name} did not run: the gate refused it.")
            wanted = modified(verdict, call["input"])
            changed = self._modified(tool, valid, verdict, wanted)
            # The project's gate has judged what its own changes led to; asked again, it would warn and count twice.
            settled = wanted if verdict.modified is not None and call["touched"] is None else call["input"]
            if isinstance(changed, Outcome):
                return changed
            if told(changed) == settled:
                try:
                    return changed, self._box.placing(tool, verdict, self._desk.note) if tool.kind == "shell" else str
                except AhpError as error:
                    return Outcome("blocked", f"{tool.name} did not run: {error}")
            valid = changed
        return Outcome(
            "blocked", f"{tool.name} did not run: its arguments were still being changed after {_ROUNDS} rounds."
        )

    def _modified(self, tool: Tool, valid: BaseModel, verdict: Verdict, wanted: dict[str, Any]) -> BaseModel | Outcome:
        """The arguments as the gate wants them. What cannot be applied is refused and says what to change."""
        try:
            changed = self._toolbox.change(tool, valid, wanted) if wanted != told(valid) else valid
        except InvalidCall as error:
            self._desk.settle(verdict, "reject_modification", problem=str(error))
            said = f"the gate's change does not fit it ({one_line(error, 300)}). Change the call."
            return Outcome("blocked", f"{tool.name} did not run: {said}")
        self._desk.settle(verdict, "accept_modification")
        return changed

    def _run(
        self, tool: Tool, call: ToolCall, valid: BaseModel, placed: Callable[[str], str], seconds_left: float | None
    ) -> Outcome:
        limit = self._config.tool_timeout_s if tool.timeout_s is None else tool.timeout_s
        seconds = limit if seconds_left is None else min(limit, seconds_left)
        judged = self._call_of(tool, valid)  # as it was before the tool, which may change what it was given
        context = ToolContext(self._root, seconds, dict(self._env), self._last_seen, placed)
        self._events.sync()  # that this may have been done is known whatever happens next
        try:
            output = self._worker.call(
                seconds, lambda: result_text(tool.run(valid, context), seconds, tool.name), tool.name
            )
            outcome = Outcome("ok", excerpt(output, self._config.tool_output_chars))
        except Timeout as error:
            outcome = Outcome("E_TIMEOUT", excerpt(f"E_TIMEOUT: {error}", self._config.tool_output_chars))
            self.close()
        except KeyboardInterrupt:
            raise
        except AhpError as error:
            outcome = Outcome("E_TOOL", excerpt(f"E_TOOL: {error}", self._config.tool_output_chars))
        except Ended:  # of this process, in this thread
            raise
        except BaseException as error:  # noqa: BLE001  # a tool is outside code: its bug is a result, not the run's end
            outcome = Outcome("E_TOOL", f"E_TOOL: {failure(error)}")
        outcome = self._ended_leftovers(tool, outcome)
        self._desk.ask("post-tool-use", tool={**judged, "output": outcome.text, "code": outcome.code})
        if tool.writes:
            self.look()
        return self._counted(call, outcome)

    def _ended_leftovers(self, tool: Tool, outcome: Outcome) -> Outcome:
        """The outcome, with what the call left running and was ended with it: the model may count on that."""
        names = self._descendants.sweep()
        if not names:
            return outcome
        self._events("leftovers_ended", tool=tool.name, names=names)
        return replace(outcome, text=f"{outcome.text}\n{left_running(names)}")

    def _call_of(self, tool: Tool, valid: BaseModel) -> dict[str, Any]:
        """A call as the gate is told of it. Raises InvalidCall."""
        try:
            touched = tool.touches(valid)
        except (KeyboardInterrupt, Ended):
            raise
        except BaseException as error:  # a tool is outside code: what it cannot tell is not judged, and does not run
            problem = f"what {tool.name} will touch cannot be told: {failure(error)}"
            raise InvalidCall("E_TOOL", problem) from error
        call = {"name": tool.name, "kind": tool.kind, "writes": tool.writes, "input": told(valid), "touched": touched}
        if getattr(tool, "boxes", False):
            call["boxed"] = self._box.starts
        if said := getattr(tool, "annotations", None):
            call["annotations"] = dict(said)
        return call if self.expected is None else {**call, "expected": self.expected}

    def close(self) -> None:
        """Ends all that the thread of the tools has started, and leaves the thread itself behind."""
        self._descendants.sweep(self._worker.thread)
        self._worker.leave()

    def _counted(self, call: ToolCall, outcome: Outcome) -> Outcome:
        """The outcome, with a word when the same call keeps giving it (seed 003 §4)."""
        same = key(call.tool, plain(call.args), outcome.code, outcome.text)
        times = self._state.repeats[same] + 1
        if times > self._config.max_same_calls:
            return replace(self._stuttering(call), same=same)
        if times < self._config.repeat_warning:
            return replace(outcome, same=same)
        self._events("repeated_call", tool=call.tool, times=times)
        advice = f"This call has given this result {times} times. Change your approach: it will not give another."
        return replace(outcome, advice=advice, same=same)

    def _stuttering(self, call: ToolCall) -> Outcome:
        self._events("stuttering", tool=call.tool, limit=self._config.max_same_calls)
        said = (
            f"E_STUTTERING: this call has given the same result more than {self._config.max_same_calls} times in this "
            "run and is not made again. Do something else."
        )
        return Outcome("E_STUTTERING", said)
