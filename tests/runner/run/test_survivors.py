"""No process outlives a run, whatever ends it, and every way out leaves its event."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog, read_events
from ahp.runner.scripted import AnyArgs, ScriptedModel
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.system import interrupt
from ahp.system.descendants import MARK
from tests.runner.runs import Scene, call, nowhere
from tests.runner.scripted_gate import ScriptedGate
from tests.system.test_descendants import LEFT_BEHIND, LINUX, NAMES, alive

# A shell that runs in the background has its children ignore Ctrl-C.
PROGRAM = """\
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from ahp.runner.config import AgentConfig
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import AnyArgs, ScriptedModel
from tests.runner.scripted_gate import ScriptedGate
from ahp.runner.tools.tool import FunctionTool
from ahp.runner.verification.result import VerificationResult
from ahp.system import process

def work(args, context):
    process.capture(["sh", "-c", SCRIPT], timeout=context.timeout_s, env=context.env)

class Check:
    def verify(self, root, timeout_s):
        process.capture(["sh", "-c", SCRIPT], timeout=timeout_s)

SCRIPT = "setsid sh -c 'echo $$ > other; exec sleep 600' & sleep 600 & echo $! > child; wait"
where = sys.argv[1]
answers = ['{"tool": "work", "args": {}}', "done"] if where == "tool" else ["done"]
config = AgentConfig(enable_planning=False, verification_policy="check" if where == "check" else "none")
Agent(ScriptedModel(answers), [FunctionTool("work", "works", AnyArgs, work)], gate=ScriptedGate(), config=config,
      root=".", events=EventLog("run/events.jsonl"), verifiers={"check": Check()}).run("x")
"""


def shell(command: str, folder: Path) -> FunctionTool:
    def run(args: AnyArgs, context: ToolContext) -> str:
        subprocess.run(["sh", "-c", command], cwd=folder, check=True, env=context.env, stdout=subprocess.DEVNULL)
        return "started"

    return FunctionTool("look", "looks", AnyArgs, run)


@LINUX
@pytest.mark.parametrize("command", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_what_a_call_left_running_is_ended_with_it_and_told(tmp_path: Path, command: str) -> None:
    scene = Scene([call(), "done"], tools=[shell(command, tmp_path)])
    assert not alive(int((tmp_path / "pid").read_text()))
    [ended] = scene.of("leftovers_ended")
    assert ended["names"] in NAMES
    told = f"started\n(ended with the call, which had left it running: {ended['names'][0]})"
    assert scene.said[1] == f"Result of look:\n{scene.framed(told)}"


@LINUX
def test_at_its_time_limit_a_tool_loses_all_that_it_started(
    tmp_path: Path, an_hour_passes_at: Callable[[Path], None]
) -> None:
    an_hour_passes_at(tmp_path / "pid")
    scene = Scene([call(), "done"], tools=[shell("echo $$ > pid; sleep 600", tmp_path)], tool_timeout_s=600)
    assert scene.of("tool_result")[0]["code"] == "E_TIMEOUT"
    assert not alive(int((tmp_path / "pid").read_text()))


@LINUX
def test_what_a_tool_holds_between_calls_lives_until_the_run_ends(tmp_path: Path) -> None:
    held: list[subprocess.Popen[bytes]] = []

    def run(args: AnyArgs, context: ToolContext) -> str:
        if not held:
            held.append(subprocess.Popen(["sleep", "600"]))
        return str(alive(held[0].pid))

    scene = Scene([call(n=1), call(n=2), "done"], tools=[FunctionTool("look", "looks", AnyArgs, run)])
    assert [event["text"] for event in scene.of("tool_result")] == ["True", "True"]
    assert not alive(held[0].pid)


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("where", ["tool", "check"])
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_and_all_its_processes(tmp_path: Path, where: str, signum: signal.Signals) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, where], cwd=tmp_path, env=env, stderr=subprocess.PIPE) as run:
        while not all((tmp_path / name).exists() and (tmp_path / name).read_text() for name in ("child", "other")):
            assert run.poll() is None, run.stderr and run.stderr.read()
        run.send_signal(signum)
        run.wait(120)
    assert run.returncode == (-signum if signum is signal.SIGINT else 128 + signum)
    assert not any(alive(int((tmp_path / name).read_text())) for name in ("child", "other"))
    last = read_events(str(tmp_path / "run" / "events.jsonl"))[-1]
    assert (last["event"], last["stop_reason"]) == ("run_end", "INTERRUPTED")


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), BaseException("odd")])
def test_a_tool_that_raises_anything_but_an_interrupt_is_e_tool(error: BaseException) -> None:
    def run(args: AnyArgs, context: ToolContext) -> str:
        raise error

    scene = Scene([call(), "done"], tools=[FunctionTool("look", "looks", AnyArgs, run)])
    assert (scene.turn.stop_reason, scene.of("tool_result")[0]["code"]) == ("DONE", "E_TOOL")


def test_a_model_that_raises_system_exit_is_a_model_error() -> None:
    assert Scene([SystemExit(3)]).turn.stop_reason == "MODEL_ERROR"


def test_all_tools_of_a_run_work_in_one_thread() -> None:
    import threading

    seen: list[int] = []

    def run(args: AnyArgs, context: ToolContext) -> str:
        seen.append(threading.get_ident())
        return "x"

    Scene([call(n=1), call(n=2), "done"], tools=[FunctionTool("look", "looks", AnyArgs, run)])
    assert seen[0] == seen[1] != threading.get_ident()


def test_a_signal_right_before_signals_are_held_leaves_its_event_too(monkeypatch: pytest.MonkeyPatch) -> None:
    real, came = interrupt.held, list[int]()

    @contextmanager
    def held() -> Iterator[None]:
        if not came:
            came.append(signal.SIGTERM)
            raise interrupt.Ended(signal.SIGTERM)
        with real():
            yield

    monkeypatch.setattr(interrupt, "held", held)
    log = EventLog(None)
    config = AgentConfig(enable_planning=False)
    with pytest.raises(interrupt.Ended):
        Agent(ScriptedModel(["done"]), gate=ScriptedGate(), config=config, root=nowhere(), events=log).run("task")
    assert [event["stop_reason"] for event in log.of("run_end")] == ["INTERRUPTED"]


def test_each_run_marks_its_own_programs_whatever_other_runs_do() -> None:
    marks: list[str] = []

    def note(args: AnyArgs, context: ToolContext) -> None:
        marks.append(context.env[MARK])

    def around(args: AnyArgs, context: ToolContext) -> None:
        note(args, context)
        if args.model_extra == {"n": 1}:
            Scene([call(), "done"], tools=[FunctionTool("look", "looks", AnyArgs, note)])

    Scene([call(n=1), call(n=2), "done"], tools=[FunctionTool("look", "looks", AnyArgs, around)])
    outer, inner, again = marks
    assert outer == again != inner
