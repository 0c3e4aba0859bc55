"""pydantic-ai behind the gate, as a capability of an agent (docs/embedding.md)."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic_ai import ModelRetry, RunContext, ToolReturn
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from ahp.integrations.calls import RESPOND, Calls


class AhpGate(AbstractCapability[Any]):
    """`Agent(…, capabilities=[AhpGate(".", kinds={"bash": "shell"})])`: every tool call passes the gate of the project.

    The arguments are those of `Calls`. A run is a session. A run whose task the gate refuses raises Refused; an answer
    that checks or gate do not take is asked for again, as often as the agent's retries say. What a model's provider
    runs itself (native tools) comes to no gate.
    """

    def __init__(
        self, root: Any = ".", *, agent: str = "", kinds: Mapping[str, str] | None = None, verify: bool = False
    ) -> None:
        self.calls = Calls(root, host="pydantic-ai", agent=agent, kinds=kinds, verify=verify)

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tool by which a model answers the gate."""
        tools = FunctionToolset[Any]()
        tools.add_function(self.calls.answer, name=RESPOND)
        return tools

    async def before_run(self, ctx: RunContext[Any]) -> None:
        """Asks for the session and its task."""
        prompt = ctx.prompt if isinstance(ctx.prompt, str) else "\n".join(map(str, ctx.prompt or ()))
        await asyncio.to_thread(self.calls.begin, prompt, ctx.run_id or "")

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], handler: Any
    ) -> Any:
        """One call between its gates."""
        output, note = await self.calls.around(tool_def.name, args, ctx.run_id or "", handler)
        if not note:
            return output
        if isinstance(output, ToolReturn):
            content = [output.content] if isinstance(output.content, str) else list(output.content or ())
            return ToolReturn(output.return_value, content=[*content, note], metadata=output.metadata)
        return f"{note}\n{output}" if isinstance(output, str) else ToolReturn(output, content=note)

    async def after_output_process(self, ctx: RunContext[Any], *, output_context: Any, output: Any) -> Any:
        """The end of the task."""
        if not ctx.partial_output and (problem := await asyncio.to_thread(self.calls.end, ctx.run_id or "")):
            raise ModelRetry(problem)
        return output
