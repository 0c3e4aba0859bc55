"""LangChain's agents behind the gate, as a middleware (docs/embedding.md)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.agents.middleware.types import AgentState, ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool

from ahp.integrations.calls import RESPOND, Calls
from ahp.system.errors import AhpError

_NAME = "ahp"  # of the messages that send a model back to work
_MOST_RETURNS = 3


class AhpGate(AgentMiddleware[Any, Any, Any]):
    """`create_agent(model, tools, middleware=[AhpGate(".", kinds={"bash": "shell"})])`: every call passes the gate.

    The arguments are those of `Calls`. A thread is a session. A run whose task the gate refuses raises Refused.
    Where checks or gate do not take its end, the model is sent back to work, three times; then the run raises AhpError.
    Put it last in the list, so that nothing changes a call that was judged.
    """

    def __init__(
        self, root: Any = ".", *, agent: str = "", kinds: Mapping[str, str] | None = None, verify: bool = False
    ) -> None:
        super().__init__()
        self.calls = Calls(root, host="langchain", agent=agent, kinds=kinds, verify=verify)
        self.tools = [StructuredTool.from_function(self.calls.answer, name=RESPOND)]

    def before_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Asks for the session and its task."""
        messages = state["messages"]
        self.calls.begin(str(messages[-1].text) if messages else "", _session(runtime))

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """The end of the task, where the model calls no tool any more."""
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or last.tool_calls:
            return None
        problem = self.calls.end(_session(runtime))
        if problem and sum(one.name == _NAME for one in state["messages"]) >= _MOST_RETURNS:
            raise AhpError(problem)
        return {"messages": [HumanMessage(problem, name=_NAME)], "jump_to": "model"} if problem else None

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """One call between its gates."""

        async def run(asked: ToolCallRequest) -> Any:
            return handler(asked)

        return asyncio.run(self.awrap_tool_call(request, run))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """The same beside an event loop."""
        call = request.tool_call

        async def run(args: dict[str, Any]) -> Any:
            return await handler(request.override(tool_call={**call, "args": args}))

        output, note = await self.calls.around(call["name"], call["args"], _session(request.runtime), run)
        if isinstance(output, str):
            return ToolMessage(output, tool_call_id=call["id"], name=call["name"], status="error")
        if note and isinstance(output, ToolMessage):
            return output.model_copy(update={"content": f"{note}\n{output.text}"})
        return output


def _session(runtime: Any) -> str:
    config = getattr(runtime, "config", None) or {}
    return str((config.get("configurable") or {}).get("thread_id", ""))
