"""The budgets of the house: lines by room, and the files of ahp that an event enters. Who raises one lowers another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo
from tests.entered import PACKAGE, Traced

pytestmark = pytest.mark.no_cover  # what it runs, runs in processes of its own

POLICY = """\
version: 1
rules:
  size: {at: [pre-commit, pre-push], prompt: files.changed_count > 30}
  secret: {at: pre-commit, each: l in diff.added, block: "l.path == 'a.txt' and 'SECRET' in l.text"}
  leave: {at: pre-tool-use, block: "tool.name == 'shell' and 'leave' in tool.command"}
"""
# Lines of ahp/*.py by room. The whole has to come down to 72,000: who adds to one room takes as many from another.
LINES = {
    "runner": 11_580,
    "hosts": 9_410,
    "policy": 7_450,
    "insight": 6_700,
    "system": 6_590,
    "conditions": 6_010,
    "facts": 5_020,
    "journal": 4_070,
    "agents": 3_710,
    "gate": 3_490,
    "box": 2_900,
    "cli": 2_690,
    "tickets": 1_270,
    "integrations": 880,
    "protocol": 630,
    "shell": 290,
    "": 30,
}
# Files of ahp entered by each event.
QUIET_COMMIT, REFUSED_COMMIT, QUIET_CALL, CI, RUN, RUNNER_STEP = 40, 60, 60, 110, 130, 60

SCRIPT = {
    "task": "the task",
    "answers": [
        json.dumps({"title": "goal", "steps": [{"id": "a", "description": "look"}]}),
        '{"tool": "look", "args": {}}',
        '{"control": "step_done"}',
        "It is seen.",
    ],
    "tools": [{"name": "look", "kind": "read", "results": ["seen"]}],
}
# Prints the files that are entered between the events that begin and end a plan step.
STEP = """\
import sys, threading
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import load_script

files = set()

def seen(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & 1:
        files.add(frame.f_code.co_filename)

def heard(event):
    if event["event"] in ("plan_step_start", "plan_step_end"):
        tracer = seen if event["event"] == "plan_step_start" else None
        threading.setprofile(tracer)
        sys.setprofile(tracer)

script = load_script("script.json")
log = EventLog("run/events.jsonl", (heard,))
turn = Agent(script.model(), script.toolbox(), gate=RepositoryGate(".", session="s"), events=log).run("the task")
assert turn.ok, turn
print(*sorted(files), sep="\\n")
"""


def test_no_room_grows_beyond_its_lines() -> None:
    found: dict[str, int] = dict.fromkeys(LINES, 0)
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0] if path.parent != PACKAGE else ""
        found[room] += len(path.read_text("utf-8").splitlines())
    assert {room: lines for room, lines in found.items() if lines > LINES[room]} == {}


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    folder = tmp_path / "traced"
    folder.mkdir()
    return Traced(folder)


@pytest.fixture
def judged(repo: Repo, traced: Traced, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository whose hooks run in traced interpreters, after a first commit."""
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", POLICY)
    for host in ("git", "claude"):
        assert run(["install", host]) == 0
    for script in [*(repo.root / ".git/hooks").glob("*[a-z]"), repo.root / ".git/ahp/agent-hook"]:
        traced.take_the_place_of_the_interpreter(script)
    repo.add()
    repo.commit("begin")
    assert committed(repo, "the log knows the policy now\n") == 0
    traced.files()
    return repo


def within(traced: Traced, most: int) -> None:
    files = traced.files()
    assert files, "nothing was traced"
    assert len(files) <= most, f"{len(files)} files, more than {most}: {' '.join(files)}"


def committed(repo: Repo, text: str) -> int:
    repo.write("a.txt", text)
    repo.add()
    return repo.run("git", "commit", "-qm", "more").returncode


def test_a_quiet_commit_enters_few_files(judged: Repo, traced: Traced) -> None:
    assert committed(judged, "quiet\n") == 0
    within(traced, QUIET_COMMIT)


def test_a_refused_commit_enters_few_files(judged: Repo, traced: Traced) -> None:
    assert committed(judged, "SECRET\n") == 1
    within(traced, REFUSED_COMMIT)


def test_a_quiet_tool_call_enters_few_files(judged: Repo, traced: Traced) -> None:
    settings = json.loads((judged.root / ".claude/settings.json").read_text())
    (hook,) = settings["hooks"]["PreToolUse"][0]["hooks"]
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "1", "cwd": str(judged.root)}
    call |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    env = {"CLAUDE_PROJECT_DIR": str(judged.root)}
    done = judged.run("sh", "-c", hook["command"], stdin=json.dumps(call).encode(), env=env)
    assert (done.returncode, done.stdout) == (0, b"")
    within(traced, QUIET_CALL)


def test_judging_a_commit_in_ci_enters_few_files(judged: Repo, traced: Traced) -> None:
    judged.git("checkout", "-qb", "topic")
    assert committed(judged, "quiet\n") == 0
    traced.files()
    cli = Traced(traced.python.parent, isolated=False)
    done = cli.ahp("ci", "--from", "main", "--to", "topic", "--target", "main", cwd=judged.root)
    assert done.returncode == 0, done.stderr
    within(cli, CI)


@pytest.fixture
def scripted(repo: Repo) -> Repo:
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, "script.json": json.dumps(SCRIPT)})
    return repo


def test_a_run_of_the_agent_enters_few_files_and_none_of_parallel_steps(scripted: Repo, traced: Traced) -> None:
    cli = Traced(traced.python.parent, isolated=False)
    done = cli.ahp("agent", "run", "--script", "script.json", cwd=scripted.root)
    assert (done.returncode, done.stdout) == (0, "It is seen.\n"), done.stderr
    files = cli.files()
    assert "runner/run/work.py" in files
    assert [one for one in files if one.startswith("runner/parallel/")] == []
    assert len(files) <= RUN, f"{len(files)} files, more than {RUN}: {' '.join(files)}"


def test_a_plan_step_enters_few_files(scripted: Repo) -> None:
    done = subprocess.run([sys.executable, "-c", STEP], cwd=scripted.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = [one.removeprefix(f"{PACKAGE}/") for one in done.stdout.splitlines() if one.startswith(f"{PACKAGE}/")]
    assert "runner/run/session.py" in files
    assert len(files) <= RUNNER_STEP, f"{len(files)} files, more than {RUNNER_STEP}: {' '.join(files)}"
