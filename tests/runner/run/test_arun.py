"""Runs beside an event loop: `Agent.arun`, and what ends when it is cancelled"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import get_type_hints

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.models.model import Answer, Model
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import AnyArgs, Hang, Scripted, ScriptedModel
from ahp.runner.tools.tool import FunctionTool, Tool, ToolContext
from ahp.runner.verification import project_verifier
from ahp.runner.verification.check import Check
from ahp.runner.verification.outcomes import by_exit_code
from ahp.runner.verification.result import VerificationResult
from ahp.system import process
from tests.runner.runs import call, nowhere
from tests.runner.scripted_gate import ScriptedGate
from tests.system.test_descendants import LINUX, alive

WAITS = "echo $$ > pid; exec sleep 600"


def agent(answers: list[Scripted], **more: object) -> Agent:
    config = AgentConfig(enable_planning=False, verification_policy="check" if "verifiers" in more else None)
    return Agent(ScriptedModel(answers), gate=ScriptedGate(), config=config, root=nowhere(), **more)  # type: ignore[arg-type]


async def cancelled_when(begun: Callable[[], bool], run: Awaitable[AgentTurn]) -> None:
    task = asyncio.ensure_future(run)
    while not begun():
        assert not task.done(), task.result()
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def ended(one: Agent) -> object:
    return one.events.seen[-1]["stop_reason"]


def test_the_event_loop_goes_on_meanwhile() -> None:
    async def main() -> tuple[str, str]:
        came = asyncio.Event()

        async def look(args: AnyArgs, context: ToolContext) -> str:
            loop.call_soon_threadsafe(came.set)
            return "seen"

        loop = asyncio.get_running_loop()
        one = agent([call(), "done"], tools=[FunctionTool("look", "looks", AnyArgs, look)])
        turn, _ = await asyncio.gather(one.arun("x"), came.wait())
        two = agent([KeyError("broken"), "done"])
        broken = await two.arun("x")
        return turn.answer, broken.stop_reason

    assert asyncio.run(main()) == ("done", "MODEL_ERROR")


def test_models_and_tools_that_are_async_are_of_the_types_that_are_asked_for() -> None:
    assert get_type_hints(Model.query)["return"] == Answer | Awaitable[Answer]
    assert get_type_hints(Tool.run)["return"] is object


def test_what_it_raises_is_raised_where_it_is_awaited() -> None:
    def listen(event: object) -> None:
        raise ValueError("listener")

    with pytest.raises(ValueError, match="listener"):
        asyncio.run(agent(["done"], events=EventLog(None, (listen,))).arun("x"))


def test_a_request_that_hangs_is_left_when_the_run_is_cancelled() -> None:
    one = agent([Hang()])
    asyncio.run(cancelled_when(lambda: bool(one.events.of("model_request")), one.arun("x")))
    assert ended(one) == "INTERRUPTED"


@LINUX
@pytest.mark.parametrize("where", ["tool", "check"])
def test_a_cancelled_run_leaves_nothing_running(tmp_path: Path, where: str) -> None:
    pid = tmp_path / "pid"

    def work(args: AnyArgs, context: ToolContext) -> None:
        process.capture(["sh", "-c", WAITS], cwd=str(tmp_path), timeout=600, env=context.env)

    class Sleeps:
        def verify(self, root: str, timeout_s: float) -> VerificationResult:
            check = Check("it", "tests", ".", ("sh", "-c", WAITS), lambda ran: by_exit_code(ran, "it", "it"))
            return project_verifier.run_check(
                check, str(tmp_path), project_verifier.environment({"PATH": "/usr/bin:/bin"}), timeout_s
            )

    tools = [FunctionTool("look", "looks", AnyArgs, work)]
    one = agent([call(), "done"], tools=tools) if where == "tool" else agent(["done"], verifiers={"check": Sleeps()})
    asyncio.run(cancelled_when(lambda: pid.exists() and bool(pid.read_text()), one.arun("x")))
    assert ended(one) == "INTERRUPTED"
    assert not alive(int(pid.read_text()))


def test_a_run_that_was_cancelled_is_resumed(tmp_path: Path) -> None:
    path = str(tmp_path / "events.jsonl")
    one = agent([Hang()], events=EventLog(path))
    asyncio.run(cancelled_when(lambda: bool(one.events.of("model_request")), one.arun("x")))
    one.events.close()
    two = agent(["done"], events=EventLog(path, resumes=True))
    assert two.resume().answer == "done"
    two.events.close()
