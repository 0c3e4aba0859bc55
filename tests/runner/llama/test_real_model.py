"""Whole runs with a real model server: what is scripted is only what the model says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.exchange import connect
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import Event, EventLog
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.words.replies import is_protocol_content
from tests.conftest import Repo
from tests.runner.llama.replies import CALLS, LEFT_IN_THE_TEXT, LINES, WAYS

pytestmark = pytest.mark.runner

LONG = 600.0  # s; only a failure takes so long
AHP = str(Path(sys.executable).with_name("ahp"))
POLICY = """\
version: 1
rules:
  no-secrets: {at: pre-tool-use, block: "any(glob(p, 'secrets/**') for p in tool.paths)", message: "keys stay closed"}
"""


class Run:
    """One run of the agent with ahp's own tools: how it ended, its events, and what a person was shown."""

    def __init__(
        self, repo: Repo, address: str, task: str, *, api: str = "openai", planning: bool = True, **settings: Any
    ) -> None:
        reply_format = settings.get("reply_format", "text")
        config = AgentConfig.model_validate({"enable_planning": planning, "verification_policy": "none", **settings})
        base_url = address if api == "anthropic" else f"{address}/v1"
        self.shown: list[str] = []
        log = EventLog()
        agent = Agent(
            connect(None, base_url, api, env={}, reply_format=reply_format),
            standard_tools(self.shown.append),
            gate=RepositoryGate(str(repo.root), session="s1"),
            config=config,
            events=log,
        )
        self.events: list[Event] = log.seen
        self.turn: AgentTurn = agent.run(task)
        assert not is_protocol_content(self.turn.answer)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event["event"] == kind]

    @property
    def ended(self) -> tuple[str, str]:
        return self.turn.stop_reason, self.turn.answer


@pytest.fixture
def project(repo: Repo) -> Repo:
    return _project(repo)


def _project(repo: Repo) -> Repo:
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.write("secrets/k", "KEY\n")
    repo.git("add", "-A")
    repo.git("commit", "--quiet", "-m", "begin")
    return repo


def sleeping(seconds: int) -> bool:
    """Whether a `sleep` of so many seconds runs on this machine, in a box or not."""
    told = b"sleep\0%d\0" % seconds
    return any(told == _read(path) for path in Path("/proc").glob("[0-9]*/cmdline"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it ended meanwhile


def log_of(repo: Repo) -> list[str]:
    return (repo.root / "log").read_text().splitlines()


DONE = ("DONE", "All is done.")


@pytest.mark.parametrize("reply_format", ["auto", "text", "schema"])
def test_three_steps_that_are_listed_out_of_order(project: Repo, server: str, reply_format: str) -> None:
    run = Run(project, server, "[[plan:three]] [[answer:final]]", reply_format=reply_format)
    assert run.ended == DONE
    assert log_of(project) == ["one", "two", "three"]
    assert [event["step_id"] for event in run.of("plan_step_start")] == ["s1", "s2", "s3"]


def test_steps_side_by_side_lose_nothing_where_two_write_one_file(project: Repo, server: str) -> None:
    run = Run(project, server, "[[plan:side]] [[answer:final]]", jobs=4)
    assert run.ended == DONE, run.turn
    assert (project.root / "same").read_text() == "first\nsecond\n"
    assert log_of(project) == ["three", "two"]
    assert [(event["step_id"], event["new_id"]) for event in run.of("step_conflict")] == [("p2", "p2-2")]
    begun = {event["step_id"]: event["n"] for event in run.of("plan_step_start")}
    assert max(begun[step] for step in ("p1", "p2", "p3")) < min(event["n"] for event in run.of("step_merged"))
    assert len(project.git("worktree", "list").splitlines()) == 1


def test_a_new_plan_that_begins_at_step_1_again_loses_nothing(project: Repo, server: str) -> None:
    run = Run(project, server, "[[plan:first]] [[replan:second]] [[answer:final]]")
    assert run.ended == DONE
    assert log_of(project) == ["one", "two", "three"]
    assert run.turn.plan is not None and len({step.id for step in run.turn.plan.steps}) == len(run.turn.plan.steps)


def test_a_model_that_fences_everything(project: Repo, server: str) -> None:
    run = Run(project, server, "[[plan:plan_fenced]] [[answer:final]]")
    assert run.ended == DONE
    assert log_of(project) == ["fenced"]
    assert [event["via"] for event in run.of("control_signal")] == ["envelope"]  # once it was told the form


@pytest.mark.parametrize("reply_format", ["auto", "text"])
def test_a_model_that_thinks_first_and_speaks_other_dialects(project: Repo, server: str, reply_format: str) -> None:
    run = Run(project, server, "[[plan:one_step]] [[answer:final]]", reply_format=reply_format)
    assert run.ended == DONE
    assert log_of(project) == ["thought", "openai", "hermes", "tool_calls"]


@pytest.mark.parametrize("reply", LEFT_IN_THE_TEXT)
def test_what_a_server_leaves_in_the_text_is_no_answer(project: Repo, server: str, reply: str) -> None:
    run = Run(project, server, f"[[script:{reply},final]]", planning=False, reply_format="text")
    assert run.ended == DONE
    assert len(run.of("intercepted")) + len(run.of("malformed_reply")) == 1
    assert not (project.root / "log").exists()


@pytest.mark.parametrize("reply_format", ["auto", "text"])
@pytest.mark.parametrize(("reply", "codes"), [("pair", ["ok", "blocked", "ok"]), ("hermes_pair", ["ok", "ok"])])
def test_several_calls_in_one_reply_are_made_in_order(
    project: Repo, server: str, reply: str, codes: list[str], reply_format: str
) -> None:
    run = Run(project, server, f"[[script:{reply},final]]", planning=False, reply_format=reply_format)
    assert run.ended == DONE
    assert [event["code"] for event in run.of("tool_result")] == codes
    assert log_of(project) == ["first", "last"]
    assert (project.root / "secrets" / "k").read_text() == "KEY\n"


@pytest.mark.parametrize("near", ["done_twice", "near_miss", "log_one", "three"])
def test_no_protocol_reaches_the_person(project: Repo, server: str, near: str) -> None:
    run = Run(project, server, f"[[plan:no_step]] [[answer:{near},final]]")
    # Plan, step, what is nearly an answer, the answer.
    assert (run.ended, run.turn.requests) == (DONE, 4)
    assert not (project.root / "log").exists()


def test_the_field_incident_without_a_plan(project: Repo, server: str) -> None:
    run = Run(project, server, "[[script:done_twice,final]]", planning=False)
    assert (run.ended, run.turn.requests) == (DONE, 2)


def test_a_context_of_4096_tokens_over_many_calls(project: Repo, served: Callable[[int], str]) -> None:
    for number in range(1, CALLS + 1):
        following = f"[[reply:read_{number + 1}]]" if number < CALLS else "[[reply:final]]"
        project.write(f"n{number}", f"{'x' * 700}\n{following}\n")
    run = Run(project, served(4096), "[[script:read_1]]", planning=False, max_iterations=40, tool_output_chars=900)
    assert run.ended == DONE
    read = [event["args"]["path"] for event in run.of("tool_call")]
    assert read == [f"n{number}" for number in range(1, CALLS + 1)]
    assert run.of("trimmed"), "the context was never full"


def test_a_file_that_is_longer_than_a_reply_may_be(project: Repo, server: str) -> None:
    # A token of the scripted replies has up to 24 bytes.
    run = Run(project, server, "[[script:too_long,part_1,part_2,part_3,final]]", planning=False, max_tokens=60)
    assert run.ended == DONE
    assert (project.root / "long").read_text() == "".join(LINES)
    assert [event["finish_reason"] for event in run.of("model_answer")][:2] == ["length", "stop"]


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_no_way_leads_past_a_block(
    server: str, paths_root: Path, api: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not paths_root.exists():
        paths_root.mkdir()
        made = Repo(paths_root)
        made.git("init", "--quiet")
        _project(made)
        (paths_root / "open").symlink_to("secrets")
        (paths_root / "near").symlink_to("secrets/k")
        (paths_root / "dangling").symlink_to("secrets/new")
        (paths_root.parent / "other").symlink_to(paths_root)
    monkeypatch.chdir(paths_root)
    script = ",".join(f"way_{number}" for number in range(len(WAYS)))
    run = Run(Repo(paths_root), server, f"[[script:{script},final]]", api=api, planning=False, max_same_blocks=50)
    assert run.ended == DONE
    assert [event["code"] for event in run.of("tool_result")] == ["blocked"] * len(WAYS)
    assert (paths_root / "secrets" / "k").read_text() == "KEY\n"
    assert os.listdir(paths_root / "secrets") == ["k"]


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found through /proc")
@pytest.mark.parametrize("left", ["background", "session"])
def test_a_child_that_is_left_behind_is_ended(project: Repo, server: str, left: str) -> None:
    run = Run(project, server, f"[[script:{left},final]]", planning=False, box="never")
    assert run.ended == DONE
    assert not sleeping({"background": 654, "session": 655}[left])
    # What stays in the command's own process group ends with that, before anybody counts.
    assert left == "background" or [event["names"] for event in run.of("leftovers_ended")] == [["sleep"]]


def test_anthropics_interface(project: Repo, server: str) -> None:
    run = Run(project, server, "[[plan:three]] [[answer:done_twice,final]]", api="anthropic")
    assert run.ended == DONE
    assert log_of(project) == ["one", "two", "three"]
    assert all(event["input_tokens"] > 100 and event["output_tokens"] > 0 for event in run.of("model_answer"))


def test_an_empty_answer_is_asked_for_again(project: Repo, server: str) -> None:
    assert Run(project, server, "[[plan:no_step]] [[answer:empty,final]]").ended == DONE


STATES = {
    # A name that the model does not know gives noise until the limit of a reply.
    "PLANNING": "[[plan:noise]]",
    "EXECUTING": "[[plan:wait_step]]",
    "VERIFYING": "[[plan:three]] [[answer:final]]",
    "RECOVERING": "[[plan:again_step]] [[replan:noise]]",
    "the answer": "[[plan:no_step]] [[answer:noise]]",
}


def _reached(events: list[dict[str, Any]], root: Path, where: str) -> bool:
    """Whether a run is in the middle of what is to be interrupted."""
    states = [event["state"] for event in events if event["event"] == "state"]
    asked = events[-1:] and events[-1]["event"] == "model_request"
    if where in ("PLANNING", "the answer"):
        scene = {"PLANNING": "planning", "the answer": "answer"}[where]
        return bool(asked) and events[-1]["scene"] == scene
    if where == "RECOVERING":
        return "RECOVERING" in states and bool(asked) and events[-1]["scene"] == "planning"
    return (root / "child").exists() and bool((root / "child").read_text())


def _events(root: Path) -> list[dict[str, Any]]:
    found = list((root / ".git" / "ahp" / "runs").glob("*/events.jsonl"))
    lines = found[0].read_text().split("\n")[:-1] if found else []
    return [json.loads(line) for line in lines]


@pytest.mark.skipif(sys.platform != "linux", reason="descendants are found through /proc")
@pytest.mark.parametrize("where", STATES)
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_every_state_ends_the_run_and_all_it_started(
    project: Repo, server: str, where: str, signum: signal.Signals
) -> None:
    root = project.root
    policy = "run_pytest" if where == "VERIFYING" else "none"
    project.write(".ahp/agent.yaml", f"max_tokens: 12000\nverification_policy: {policy}\nreply_format: text\n")
    project.write(
        "tests/test_slow.py",
        "import subprocess, time\n\ndef test_slow():\n    child = subprocess.Popen(['setsid', 'sleep', '658'])\n"
        "    open('child', 'w').write(str(child.pid))\n    time.sleep(659)\n",
    )
    task = STATES[where]
    env = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    # A shell that runs in the background has its children ignore Ctrl-C.
    program = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from ahp.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "agent", "run", task, "--base-url", f"{server}/v1"]
    with subprocess.Popen(command, cwd=root, env=env, stderr=subprocess.PIPE, text=True) as run:
        until = time.monotonic() + LONG
        while not _reached(_events(root), root, where):
            assert run.poll() is None, run.stderr and run.stderr.read()
            assert time.monotonic() < until, _events(root)[-1:]
            time.sleep(0.02)
        run.send_signal(signum)
        told = run.communicate(timeout=LONG)[1]
    assert run.returncode != 0
    assert "ahp agent resume" in told and "Traceback" not in told
    last = _events(root)[-1]
    assert (last["event"], last["stop_reason"]) == ("run_end", "INTERRUPTED")
    assert not any(map(sleeping, (656, 657, 658)))


@pytest.mark.skipif(sys.platform != "linux", reason="the environment of a process is read from /proc")
@pytest.mark.parametrize("box", ["auto", "never"])
def test_a_command_does_not_find_the_key_of_the_run(project: Repo, server: str, box: str) -> None:
    project.write(".ahp/agent.yaml", f"box: {box}\n")
    project.git("add", "-A")
    project.git("commit", "--quiet", "-m", "where commands run")
    env = {**os.environ, "AHP_API_KEY": "sk-not-to-be-found-anywhere", "SEEN": "by the command"}
    command = [AHP, "agent", "run", "[[script:spy,final]]", "--no-plan", "--base-url", f"{server}/v1"]
    done = subprocess.run(command, cwd=project.root, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "All is done.\n")
    [result] = [event for event in _events(project.root) if event["event"] == "tool_result"]
    assert ("SEEN=by the command" in result["text"]) or box == "auto"  # a box has a list of variables
    assert "sk-not-to-be-found" not in json.dumps(_events(project.root))


def test_a_run_that_stopped_goes_on_without_naming_the_model(project: Repo, server: str) -> None:
    def ahp(*arguments: str) -> tuple[int, str]:
        command = [AHP, "agent", *arguments]
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    project.write(".ahp/agent.yaml", "verification_policy: none\nmax_iterations: 1\n")
    assert ahp("run", "[[plan:three]] [[answer:final]]", "--base-url", f"{server}/v1") == (1, "")
    project.write(".ahp/agent.yaml", "verification_policy: none\n")
    assert ahp("resume") == (0, "All is done.\n")
    assert log_of(project) == ["one", "two", "three"]
