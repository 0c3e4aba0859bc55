"""The only way a tool runs: behind pre- and post-tool-use, within its time, counted (design §2, §4)."""

from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gates import modified
from ahp.runner.gating.signal_desk import SignalDesk
from ahp.runner.run.events import EventLog, plain
from ahp.runner.run.limits import Repeats
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.tools.environment import tool_environment
from ahp.runner.tools.tool import InvalidCall, Tool, Toolbox, ToolContext
from ahp.runner.words.replies import ToolCall
from ahp.system.deadline import within
from ahp.system.errors import AhpError, Timeout

_ROUNDS = 3  # of rewriting and judging again, as the gate itself has (design §2)


@dataclass(frozen=True)
class Outcome:
    """How a call ended: `ok`, `blocked` or an E_ code, and what the model reads of it."""

    code: str
    text: str
    same: str | None = None
    """Under which digest call and result were counted; None for a call that was not made."""


class GatedTools:
    """Runs calls for one run. `wrote` says whether a tool that may write has run."""

    def __init__(
        self, toolbox: Toolbox, desk: SignalDesk, events: EventLog, config: AgentConfig, root: str, agent: str
    ) -> None:
        self.wrote = False
        self._toolbox = toolbox
        self._desk = desk
        self._events = events
        self._config = config
        self._root = root
        self._agent = agent
        self._repeats = Repeats()
        self._barred = Repeats()

    def take_up(self, past: RestoredRun) -> None:
        """Goes on where a former run stood; a tool that may have run has written."""
        self._repeats, self._barred = past.repeats, past.barred
        names = {*past.ran, past.open_call}
        self.wrote = any(tool.writes for name, tool in self._toolbox.tools.items() if name in names)

    def call(self, call: ToolCall, seconds_left: float | None = None) -> Outcome:
        """Judges, runs and judges again one call, in at most `seconds_left`; never raises for what the model did.

        Raises Stop when the gate cannot judge or has blocked the same thing too often.
        """
        self._desk.next_call()
        self._events("tool_call", tool=call.tool, args=plain(call.args))
        outcome = self._call(call, seconds_left)
        self._events("tool_result", tool=call.tool, code=outcome.code, text=outcome.text, same=outcome.same)
        return outcome

    def _call(self, call: ToolCall, seconds_left: float | None) -> Outcome:
        if self._barred.seen(call.tool, plain(call.args)):
            return self._stuttering(call)
        try:
            tool = self._toolbox.find(call.tool)
            judged = self._judge(tool, call.args)
            if isinstance(judged, Outcome):
                return judged
            return self._run(tool, call, judged, seconds_left)
        except InvalidCall as error:
            return self._counted(call, Outcome(error.code, f"{error.code}: {error}"))

    def _judge(self, tool: Tool, args: dict[str, Any]) -> dict[str, Any] | Outcome:
        """The arguments that may run, or the refusal. Rewritten arguments are validated and judged again."""
        self._toolbox.validate(tool, args)
        for _ in range(_ROUNDS):
            verdict = self._desk.ask("pre-tool-use", tool=_told(tool, args))
            if verdict.denied:
                self._desk.blocked(verdict, tool.name)
                return Outcome("blocked", f"{tool.name} did not run: the gate refused it.")
            changed = self._modified(tool, args, verdict)
            # The project's gate has judged what its own changes led to; asked again, it would warn and count twice.
            if isinstance(changed, Outcome) or changed == args or verdict.modified is not None:
                return changed
            args = changed
        return Outcome(
            "blocked", f"{tool.name} did not run: its arguments were still being changed after {_ROUNDS} rounds."
        )

    def _modified(self, tool: Tool, args: dict[str, Any], verdict: Verdict) -> dict[str, Any] | Outcome:
        """The arguments as the gate wants them. What cannot be applied is refused and says what to change."""
        changed, missing = modified(verdict, args)
        problem = f"{', '.join(missing)} is no argument" if missing else None
        try:
            if changed != args:
                self._toolbox.validate(tool, changed)
        except InvalidCall as error:
            problem = str(error)
        if problem is None:
            self._desk.settle(verdict, "accept_modification")
            return changed
        self._desk.settle(verdict, "reject_modification", problem=problem)
        said = one_line(problem, 300)
        return Outcome(
            "blocked", f"{tool.name} did not run: the gate's change does not fit it ({said}). Change the call."
        )

    def _run(self, tool: Tool, call: ToolCall, args: dict[str, Any], seconds_left: float | None) -> Outcome:
        limit = self._config.tool_timeout_s if tool.timeout_s is None else tool.timeout_s
        seconds = limit if seconds_left is None else min(limit, seconds_left)
        valid: BaseModel = self._toolbox.validate(tool, args)
        self.wrote = self.wrote or tool.writes
        context = ToolContext(self._root, seconds, tool_environment(self._agent))
        try:
            output = within(seconds, lambda: tool.run(valid, context), tool.name)
            outcome = Outcome("ok", self._shortened(str(output)))
        except Timeout as error:
            outcome = Outcome("E_TIMEOUT", f"E_TIMEOUT: {error}")
        except AhpError as error:
            outcome = Outcome("E_TOOL", f"E_TOOL: {error}")
        except Exception as error:  # noqa: BLE001  # a tool is outside code: its bug is a result, not the run's end
            outcome = Outcome("E_TOOL", f"E_TOOL: {type(error).__name__}: {one_line(error, 500)}")
        self._desk.ask("post-tool-use", tool={**_told(tool, args), "output": outcome.text, "code": outcome.code})
        return self._counted(call, outcome)

    def _counted(self, call: ToolCall, outcome: Outcome) -> Outcome:
        """The outcome, with a word when the same call keeps giving it (seed 003 §4)."""
        same = self._repeats.key(call.tool, plain(call.args), outcome.code, outcome.text)
        times = self._repeats.add(same)
        if times > self._config.max_same_calls:
            self._barred.count(call.tool, plain(call.args))
            return replace(self._stuttering(call), same=same)
        if times < self._config.repeat_warning:
            return replace(outcome, same=same)
        self._events("repeated_call", tool=call.tool, times=times)
        advice = f"This call has given this result {times} times. Change your approach: it will not give another."
        return Outcome(outcome.code, f"{outcome.text}\n\n{advice}", same)

    def _stuttering(self, call: ToolCall) -> Outcome:
        self._events("stuttering", tool=call.tool, limit=self._config.max_same_calls)
        said = (
            f"E_STUTTERING: this call has given the same result more than {self._config.max_same_calls} times in this "
            "run and is not made again. Do something else."
        )
        return Outcome("E_STUTTERING", said)

    def _shortened(self, output: str) -> str:
        limit = self._config.tool_output_chars
        if len(output) <= limit:
            return output
        head = limit - limit // 2
        tail = output[len(output) - limit // 2 :]
        return f"{output[:head]}\n[… {len(output) - limit} of {len(output)} characters left out …]\n{tail}"


def _told(tool: Tool, args: dict[str, Any]) -> dict[str, Any]:
    """A call as the gate is told of it."""
    return {"name": tool.name, "kind": tool.kind, "writes": tool.writes, "input": args}
