"""The runner as a host of agent-hooks 0.1: interceptors of others hear of a run beside the gate (docs/runner.md)."""

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ahp.runner.models.model import Answer, Model, ModelError, NativeCall, Want
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.conversation import Message
from ahp.runner.tools.tool import Tool, Toolbox, ToolContext, told
from ahp.system.deadline import awaited
from ahp.system.errors import AhpError


class Intercepted(AhpError):
    """An interceptor refuses."""


class Host:
    """`Host(agent, emitter, contexts).run(task)`: the run of an agent whose eight points the emitter hears of.

    `emitter` is the SDK's InterceptionEmitter, `contexts` its AgentContextBuilder for this run. The gate is asked
    first, and again where an interceptor changes a call's arguments: what runs was judged. The calls of steps side by
    side are emitted one after the other.
    """

    def __init__(self, agent: Agent, emitter: Any, contexts: Any) -> None:
        self.emitter, self.context, self._agent, self._emitting = emitter, contexts, agent, threading.Lock()
        self.lone = ""  # the id of a call that came alone
        agent.model = _Model(agent.model, self)
        agent.toolbox = Toolbox([_Tool(one, self) for one in agent.toolbox.tools.values()], agent.root)

    def run(self, task: str) -> AgentTurn:
        """Carries out one task. Raises Intercepted where an interceptor refuses its begin or its answer."""
        ended = "error"
        try:
            self.emit(self.context.agent_startup(tools_registered=sorted(self._agent.toolbox.tools)))
            given = self.emit(self.context.input(content=task))["input"]["content"]
            turn = self._agent.run(str(given))
            if turn.ok:
                said = self.emit(self.context.output(content=turn.answer))["output"]["content"]
                turn, ended = replace(turn, answer=str(said)), "completed"
            return turn
        finally:
            asyncio.run(self.emitter.emit_unchecked(self.context.agent_shutdown(reason=ended)))

    def emit(self, context: dict[str, Any]) -> dict[str, Any]:
        """The context as interceptors want it. Raises Intercepted."""
        with self._emitting:
            record = asyncio.run(self.emitter.emit_unchecked(context))
        if not record.proceeds:
            said = (record.verdict.reason, record.verdict.message)
            raise Intercepted(": ".join(filter(None, ("blocked", *said))))
        return context

    def call_id(self) -> str:
        """The id that the model gave the call at work; one of ahp's own where it gave none."""
        seen = reversed(self._agent.events.seen)
        last: dict[str, Any] = next((one for one in seen if one["event"] in ("tool_call", "tool_result")), {})
        return str(last.get("id") or self.lone or secrets.token_hex(4))  # events have ids where there are several

    def judged(self, tool: Tool, changed: dict[str, Any]) -> BaseModel:
        """The arguments that an interceptor wants, as the gate takes them. Raises Intercepted, AhpError."""
        box = self._agent.toolbox
        valid = box.validate(tool, changed)
        asked = {"name": tool.name, "kind": tool.kind, "writes": tool.writes, "input": changed}
        verdict = self._agent.gate.ask("pre-tool-use", tool={**asked, "touched": tool.touches(valid)})
        if verdict.denied or verdict.modifications:
            raise Intercepted("the gate does not take the arguments that an interceptor changed")
        return valid


class _Model:
    """A model between its two points."""

    def __init__(self, inner: Model, host: Host) -> None:
        self._inner, self._host, self.name = inner, host, inner.name

    def query(
        self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None
    ) -> Answer | Awaitable[Answer]:
        """The reply. Raises ModelError, which ends the run, where an interceptor refuses it."""
        host, name = self._host, self.name
        try:
            # As text alone: what an interceptor changes of it is all that the model reads.
            texts = [{"role": one["role"], "content": one["content"]} for one in messages]
            asked = host.emit(host.context.pre_model_call(model_id=name, messages=texts))
            given = self._inner.query(asked["messages"], max_tokens=max_tokens, timeout_s=timeout_s, want=want)
            answer: Answer = awaited(given, timeout_s, name)
            calls = [_as_told(one) for one in answer.calls]
            host.lone = answer.calls[0].id if len(answer.calls) == 1 else ""
            context = host.context.post_model_call(
                model_id=name, content=answer.text, tool_calls=calls, finish_reason=answer.finish_reason
            )
            wanted = host.emit(context)["response"]
        except Intercepted as refused:
            raise ModelError(str(refused)) from None
        if wanted["tool_calls"] != calls:
            own = [NativeCall(one["name"], one["args"], one.get("id", "")) for one in wanted["tool_calls"]]
            answer = replace(answer, calls=tuple(own))
        return replace(answer, text=str(wanted["content"]))


class _Tool:
    """A tool between its two points. It has the tool's own name, arguments and limits."""

    def __init__(self, inner: Tool, host: Host) -> None:
        self._inner, self._host = inner, host

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def run(self, args: BaseModel, context: ToolContext) -> object:
        """What the tool did. Raises Intercepted, for the model to read, where an interceptor refuses call or result."""
        inner, host = self._inner, self._host
        id, name, given = host.call_id(), inner.name, told(args)
        wanted = host.emit(host.context.pre_tool_call(call_id=id, name=name, args=given))["tool_call"]["args"]
        valid = args if wanted == given else host.judged(inner, wanted)
        try:
            value, raised = awaited(inner.run(valid, context), context.timeout_s, name), None
        except AhpError as error:
            value, raised = str(error), error
        value = to_jsonable_python(value, fallback=str)
        done = host.context.post_tool_call(call_id=id, name=name, args=wanted, value=value, is_error=raised is not None)
        value = host.emit(done)["tool_result"]["value"]
        if raised is not None:
            raise raised
        return value


def _as_told(call: NativeCall) -> dict[str, Any]:
    args = dict(call.args) if isinstance(call.args, Mapping) else {"": call.args}
    return {"name": call.tool, "args": args, **({"id": call.id} if call.id else {})}
