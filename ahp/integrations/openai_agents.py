"""OpenAI's Agents SDK behind the gate (docs/embedding.md)."""

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

from agents import Agent, FunctionTool, GuardrailFunctionOutput, InputGuardrail, OutputGuardrail, Tool, function_tool

from ahp.integrations.calls import RESPOND, Calls, Refused
from ahp.protocol.text import one_line
from ahp.system import jsontext
from ahp.system.errors import AhpError


class AhpGate:
    """The gate of one session: `AhpGate(".", kinds={"bash": "shell"}).around(agent)` is the agent behind it.

    The arguments are those of `Calls`. The run ends with the SDK's tripwires where the gate refuses its task or takes
    the answer for no end of it; their `output_info` says why.
    """

    def __init__(
        self, root: Any = ".", *, agent: str = "", kinds: Mapping[str, str] | None = None, verify: bool = False
    ) -> None:
        self.calls = Calls(root, host="openai-agents", agent=agent, kinds=kinds, verify=verify)
        self._behind: list[Agent[Any]] = []

    def around(self, agent: Agent[Any]) -> Agent[Any]:
        """The agent with its tools behind the gate; those it hands off to are put there first.

        Raises AhpError for what runs past it: tools of the platform, MCP servers, other handoffs.
        """
        if agent.mcp_servers:
            raise AhpError(f"{agent.name} has MCP servers, whose tools come to no gate: make function tools of them")
        if not all(any(one is known for known in self._behind) for one in agent.handoffs):
            raise AhpError(f"{agent.name} hands off to an agent past the gate: hand off to gate.around(AGENT)")
        made = agent.clone(
            tools=[
                *map(self._gated, agent.tools),
                self._gated(function_tool(self.calls.answer, name_override=RESPOND)),
            ],
            input_guardrails=[InputGuardrail(self._begin, name="ahp", run_in_parallel=False), *agent.input_guardrails],
            output_guardrails=[*agent.output_guardrails, OutputGuardrail(self._end, name="ahp")],
        )
        self._behind.append(made)
        return made

    def _gated(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool):
            raise AhpError(f"{one_line(tool.name)} is no function tool and runs where no gate is asked")
        inner = tool.on_invoke_tool

        async def invoke(context: Any, arguments: str) -> Any:
            try:
                args = jsontext.decode(arguments or "{}")
            except ValueError:
                args = None
            if not isinstance(args, dict):
                return f"the arguments of {one_line(tool.name)} are no JSON object"
            output, note = await self.calls.around(
                tool.name,
                args,
                "",
                lambda given: inner(context, arguments if given == args else jsontext.encode(given)),
            )
            return f"{note}\n{output}" if note else output

        return dataclasses.replace(tool, on_invoke_tool=invoke)

    async def _begin(self, context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
        texts = [given] if isinstance(given, str) else [str(item.get("content", "")) for item in given[-1:]]
        try:
            await asyncio.to_thread(self.calls.begin, texts[0] if texts else "")
        except Refused as refused:
            return GuardrailFunctionOutput(str(refused), tripwire_triggered=True)
        return GuardrailFunctionOutput("", tripwire_triggered=False)

    async def _end(self, context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
        problem = await asyncio.to_thread(self.calls.end)
        return GuardrailFunctionOutput(problem, tripwire_triggered=bool(problem))
