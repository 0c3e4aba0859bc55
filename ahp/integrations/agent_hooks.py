"""The gate as an interceptor of agent-hooks 0.1 (docs/embedding.md). What the two mean otherwise: docs/agents.md."""

import asyncio
from collections.abc import Mapping
from typing import Any

from agent_hooks import AgentContext, Decision, InterceptionPoint, Transform, Verdict, Warning

from ahp.hosts.verdict_text import rule_of
from ahp.integrations.calls import Calls, Refused
from ahp.protocol import verdict as ours
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.system import jsontext
from ahp.system.errors import AhpError

_BEFORE, _AFTER = InterceptionPoint.PRE_TOOL_CALL, InterceptionPoint.POST_TOOL_CALL
_TRIGGERS = {
    InterceptionPoint.AGENT_STARTUP: "session-start",
    InterceptionPoint.INPUT: "prompt-submit",
    _BEFORE: "pre-tool-use",
    _AFTER: "post-tool-use",
    InterceptionPoint.OUTPUT: "task-complete",
}


class AhpGate:
    """`emitter.register(AhpGate(".", kinds={"bash": "shell"}))`: every tool call of the host passes the gate.

    The arguments are those of `Calls`. `calls.answer` is a tool by which a model answers the gate.
    """

    def __init__(
        self, root: Any = ".", *, agent: str = "", kinds: Mapping[str, str] | None = None, verify: bool = False
    ) -> None:
        self.calls = Calls(root, host="agent-hooks", agent=agent, kinds=kinds, verify=verify)

    async def intercept(self, context: AgentContext) -> Verdict:
        """The verdict on one interception, judged beside the host's event loop so that its timeout holds."""
        return await asyncio.to_thread(self.judge, context)

    def judge(self, context: AgentContext) -> Verdict:
        """The same for a host without a loop. What nobody could judge is denied, with the reason as its message."""
        point = InterceptionPoint(context["interception_point"])
        if point not in _TRIGGERS:  # of a model's turns and a session's end ahp has no event
            return Verdict.allow()
        try:
            if point is InterceptionPoint.OUTPUT and (why := self.calls.unchecked()):
                return Verdict.deny(reason="ahp:verify", message=why)
            facts, trace = self._facts(point, context), context.get("trace") or {}
            told = f"00-{trace.get('trace_id')}-{trace.get('span_id')}-00" if trace else ""
            verdict = self.calls.ask(_TRIGGERS[point], context["session"]["id"], told, **facts)
        except Refused as refused:
            return _denied(refused.verdict, str(refused))
        except AhpError as error:
            return Verdict.deny(reason="ahp:not_judged", message=str(error))
        return _passed(verdict)

    def _facts(self, point: InterceptionPoint, context: AgentContext) -> dict[str, Any]:
        if point is InterceptionPoint.INPUT:
            return {"prompt": _text(context["input"]["content"])}
        if point not in (_BEFORE, _AFTER):
            return {}
        call = self.calls.call(context["tool_call"]["name"], context["tool_call"]["args"])
        if point is _AFTER:
            result = context["tool_result"]
            call |= {"output": _text(result["value"]), "is_error": result["is_error"]}
        return {"tool": call}


def _denied(verdict: ours.Verdict, said: str) -> Verdict:
    blocks = [one for one in verdict.signals if one.intensity == "block"]
    # One rule that nobody may let pass is enough: a lift is of the whole call.
    is_liftable = verdict.is_logged and blocks and all(one.context.get("overridable") for one in blocks)
    return Verdict(
        Decision.DENY,
        reason=_reason(blocks[0]) if blocks else "ahp:refused",
        message=said,
        warnings=_warnings([one for one in verdict.signals if one not in blocks]),
        approval={"signals": [one.id for one in blocks]} if is_liftable else None,
    )


def _passed(verdict: ours.Verdict) -> Verdict:
    warnings = _warnings(verdict.signals)
    if verdict.box is not None and verdict.box["otherwise"] != "skip":
        why = "it has to run in a box, and a host of agent-hooks has none"
        if verdict.box["otherwise"] == "block":
            return Verdict(Decision.DENY, reason=f"ahp:{verdict.box['rule']}", message=why, warnings=warnings)
        warnings += (Warning(f"ahp:{verdict.box['rule']}", why),)
    if verdict.modified is None or not verdict.modified.tool:
        return Verdict(Decision.ALLOW, warnings=warnings)
    changed = Transform("$target", verdict.modified.tool["input"])
    first = next(one for one in verdict.signals if one.intensity == "control")
    return Verdict(Decision.TRANSFORM, reason=_reason(first), warnings=warnings, transform=changed)


def _warnings(signals: list[Signal]) -> tuple[Warning, ...]:
    return tuple(Warning(_reason(one), one_line(reason_of(one.payload), 600)) for one in signals)


def _reason(signal: Signal) -> str:
    return f"ahp:{rule_of(signal)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.encode(value)
