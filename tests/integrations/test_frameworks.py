"""The real frameworks of agents behind the gate: what their models read, what ran, and what the log has."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from ahp import AhpError
from tests.conftest import Repo

pytestmark = [pytest.mark.tools, pytest.mark.wings]

POLICY = """\
version: 1
rules:
  no-rm: {at: pre-tool-use, block: any(c.program == 'rm' for c in tool.commands), message: it would be gone}
  short:
    at: pre-tool-use
    control: default(tool.input['timeout'], 0) > 60
    action: {type: clamp, target: tool.input.timeout, max: 60}
  look-first: {at: pre-tool-use, prompt: any(c.program == 'make' for c in tool.commands), message: look first}
  read-it: {at: post-tool-use, aid: tool.is_error, message: read the error}
  many: {at: pre-tool-use, block: session.tool_calls > 5, message: enough}
  people: {at: prompt-submit, block: "actor.kind != 'agent'", message: only for agents}
  todo: {at: task-complete, block: "any(f.path == 'todo.txt' for f in files.changes)", message: todo.txt is left}
"""
Call = tuple[str, dict[str, Any]]
Script = list[Call | str]


class Ran:
    """The tools of the tests, and what they were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def bash(self, command: str, timeout: int = 0) -> str:
        """Runs a command."""
        self.calls.append((command, timeout))
        if command == "fail":
            raise RuntimeError("no such target")
        return f"did {command}"


def with_pydantic_ai(ran: Ran, script: Script, **options: Any) -> Iterator[str]:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from ahp.integrations.pydantic_ai import AhpGate

    read: list[str] = []

    def model(messages: Any, info: Any) -> Any:
        read.append("\n".join(str(part.content) for part in messages[-1].parts))
        step = next(steps)
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        name, args = step(read[-1]) if callable(step) else step
        return ModelResponse(parts=[ToolCallPart(name, args)])

    steps = iter(script)
    agent = Agent(FunctionModel(model), tools=[ran.bash], capabilities=[AhpGate(kinds={"bash": "shell"}, **options)])
    read.append(asyncio.run(agent.run("the task")).output)
    yield from read[1:]


def with_openai_agents(ran: Ran, script: Script, **options: Any) -> Iterator[str]:
    from agents import Agent, Runner, function_tool, set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    from ahp.integrations.openai_agents import AhpGate

    set_tracing_disabled(True)
    given = iter(script)
    read: list[str] = []

    class Model(ScriptedModel):
        async def get_response(self, *more: Any, **named: Any) -> Any:
            items = named["input"]
            last = items if isinstance(items, str) else items[-1]
            read.append(str(last if isinstance(last, str) else last.get("output", last.get("content"))))
            step = next(given)
            if isinstance(step, str):
                self.enqueue([assistant_message(step)])
            else:
                name, args = step(read[-1]) if callable(step) else step
                self.enqueue([function_call(name, json.dumps(args), call_id=f"c{len(read)}")])
            return await super().get_response(*more, **named)

    agent = Agent("a", model=Model([]), tools=[function_tool(ran.bash, failure_error_function=None)])
    done = asyncio.run(Runner.run(AhpGate(kinds={"bash": "shell"}, **options).around(agent), "the task"))
    yield from [*read[1:], str(done.final_output)]


def with_langchain(ran: Ran, script: Script, **options: Any) -> Iterator[str]:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool

    from ahp.integrations.langchain import AhpGate

    steps, read = iter(script), list[str]()

    class Model(GenericFakeChatModel):
        def bind_tools(self, *tools: Any, **named: Any) -> Any:
            return self

        def _generate(self, messages: Any, *more: Any, **named: Any) -> Any:
            read.append(str(messages[-1].text))
            step = next(steps)
            if isinstance(step, str):
                answer = AIMessage(step)
            else:
                name, args = step(read[-1]) if callable(step) else step
                answer = AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{len(read)}"}])
            return ChatResult(generations=[ChatGeneration(message=answer)])

    agent = create_agent(
        Model(messages=iter(())), [tool(ran.bash)], middleware=[AhpGate(kinds={"bash": "shell"}, **options)]
    )
    done = agent.invoke({"messages": [("user", "the task")]})
    yield from [*read[1:], str(done["messages"][-1].text)]


@pytest.fixture(params=[with_pydantic_ai, with_openai_agents, with_langchain], ids=lambda one: one.__name__[5:])
def framework(request: pytest.FixtureRequest, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a script in a project with the policy; what the model read, its answer last."""
    package = {"with_openai_agents": "agents", "with_langchain": "langchain"}.get(request.param.__name__, "pydantic_ai")
    if package not in packages_distributions():
        pytest.skip(f"the extra of ahp.integrations.{request.param.__name__[5:]} is not installed")
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    monkeypatch.chdir(repo.root)
    return lambda ran, script, **options: list(request.param(ran, script, **options))


def log(repo: Repo, kind: str) -> list[dict[str, Any]]:
    lines = (repo.root / ".git/ahp/signals.jsonl").read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


def test_each_level_reaches_the_model_and_the_log(framework: Callable[..., list[str]], repo: Repo) -> None:
    ran = Ran()

    def answer(read: str) -> Call:
        (signal,) = re.findall(r"\b[0-9a-f]{8}\b", read)[:1]
        return "respond_to_gate", {"signal_id": signal, "action": "acknowledge", "reason": "I looked"}

    script = [
        ("bash", {"command": "rm -rf build"}),
        ("bash", {"command": "sleep 1", "timeout": 600}),
        ("bash", {"command": "make"}),
        answer,
        "done",
    ]
    refused, clamped, prompted, answered, last = framework(ran, script)
    assert ran.calls == [("sleep 1", 60), ("make", 0)]
    assert "no-rm" in refused and "it would be gone" in refused and "did rm" not in refused
    assert "short" in clamped and clamped.endswith("did sleep 1")
    assert "look first" in prompted and prompted.endswith("did make")
    assert (answered, last) == ("acknowledge, noted", "done")
    assert [one["rule"] for one in log(repo, "signal")] == ["no-rm", "short", "look-first"]
    assert {one["action"] for one in log(repo, "response")} >= {"acknowledge"}
    assert {one["actor"]["kind"] if isinstance(one["actor"], dict) else one["actor"] for one in log(repo, "verdict")}


def test_calls_of_a_session_are_counted(framework: Callable[..., list[str]], repo: Repo) -> None:
    ran = Ran()
    read = framework(ran, [*[("bash", {"command": f"ls {n}"}) for n in range(8)], "done"])
    assert 4 <= len(ran.calls) <= 6
    assert "enough" in read[-2]


def test_a_failure_is_told_and_its_advice_logged(framework: Callable[..., list[str]], repo: Repo) -> None:
    ran = Ran()
    try:
        framework(ran, [("bash", {"command": "fail"}), "done"])
    except Exception as error:  # noqa: BLE001  # each has its own
        assert "no such target" in str(error)  # the framework's own way
    assert [one["rule"] for one in log(repo, "signal")] == ["read-it"]


def test_an_answer_is_no_end_while_the_gate_says_so(framework: Callable[..., list[str]], repo: Repo) -> None:
    repo.write("todo.txt", "x")
    ran = Ran()

    def remove(read: str) -> Call:
        assert "todo.txt is left" in read
        (repo.root / "todo.txt").unlink()
        return "bash", {"command": "true"}

    try:
        assert framework(ran, ["done", remove, "done now"])[-1] == "done now"
    except Exception as error:  # noqa: BLE001  # the SDK ends the run
        assert type(error).__name__ == "OutputGuardrailTripwireTriggered", error
        assert "todo.txt is left" in error.guardrail_result.output.output_info


def test_with_verify_red_checks_are_no_end(framework: Callable[..., list[str]], repo: Repo) -> None:
    repo.commit("tests", **{"test_it.py": "def test_it():\n    assert False\n", "pytest.ini": "[pytest]\n"})
    ran = Ran()

    def mend(read: str) -> Call:
        assert "not green" in read and "test_it.py" in read
        repo.write("test_it.py", "def test_it():\n    assert True\n")
        return "bash", {"command": "true"}

    try:
        assert framework(ran, ["done", mend, "done now"], verify=True)[-1] == "done now"
    except Exception as error:  # noqa: BLE001  # the SDK ends the run
        assert type(error).__name__ == "OutputGuardrailTripwireTriggered", error
        assert "not green" in error.guardrail_result.output.output_info


@pytest.mark.parametrize("text", ["import os\n\ndef test_it():\n    os._exit(0)\n", ""])
def test_with_verify_checks_that_do_not_come_to_an_end_are_none(
    framework: Callable[..., list[str]], repo: Repo, text: str
) -> None:
    """Neither a run that broke off nor a project without checks is green."""
    repo.commit("tests", **{"test_it.py": text, "pytest.ini": "[pytest]\n"} if text else {"a.txt": "a\n"})
    said = ""
    try:
        framework(Ran(), ["done", "done", "done", "done", "done"], verify=True)
    except Exception as error:  # noqa: BLE001  # each framework has its own
        result = getattr(error, "guardrail_result", None)
        said = result.output.output_info if result is not None else str(error)
    assert said and "done" not in said


def test_what_nobody_can_judge_does_not_run(framework: Callable[..., list[str]], repo: Repo) -> None:
    repo.git("update-ref", "-d", "HEAD")
    repo.write(".ahp/hooks.yaml", "rules: [")
    ran = Ran()
    with pytest.raises(AhpError, match=r"hooks\.yaml"):
        framework(ran, [("bash", {"command": "ls"}), "done"])
    assert ran.calls == []


def test_openai_s_other_tools_and_servers_are_refused() -> None:
    # Not `agents` itself: the folder of tests has that name, too.
    gate = pytest.importorskip("ahp.integrations.openai_agents", exc_type=ImportError).AhpGate()
    import agents

    for agent in (
        agents.Agent("a", tools=[agents.WebSearchTool()]),
        agents.Agent("a", mcp_servers=[object()]),
        agents.Agent("a", handoffs=[agents.Agent("b")]),
    ):
        with pytest.raises(AhpError, match="gate"):
            gate.around(agent)
    assert gate.around(agents.Agent("a", handoffs=[gate.around(agents.Agent("b"))])).handoffs


PAGE = Path(__file__).parents[2] / "docs/embedding.md"


@pytest.mark.parametrize("module", ["pydantic_ai", "openai_agents", "langchain", "agent_hooks"])
def test_the_page_shows_it_in_ten_lines(module: str) -> None:
    [block] = [
        one
        for one in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        if f"integrations.{module} " in one
    ]
    assert len([line for line in block.splitlines() if line]) <= 10
    compile(block, module, "exec")
