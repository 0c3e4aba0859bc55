"""ahp.runner.gating.box: the commands of a run in a box, by default where one can start"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.box import engine
from ahp.box.table import CannotBox
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel, scripted_tool
from ahp.runner.tools.catalog import command_tool
from tests.conftest import Repo

POLICY = """\
version: 1
box: {writable: [~/made]}
rules:
  outside: {at: pre-tool-use, block: "tool.name == 'shell' and not tool.boxed and 'outside' in tool.command"}
"""
SANDBOX = """\
version: 1
rules:
  in-a-box: {at: pre-tool-use, control: tool.name == 'shell', action: {type: sandbox}, otherwise: %s}
"""


def run(command: str) -> str:
    return json.dumps({"tool": "run_command", "args": {"command": command}})


def results(repo: Repo, *commands: str, tools: Any = None, session: str = "s", **settings: Any) -> list[dict[str, Any]]:
    """What calls of one run came to."""
    log = EventLog()
    config = AgentConfig(enable_planning=False, verification_policy="none", **settings)
    gate = RepositoryGate(str(repo.root), session=session)
    model = ScriptedModel([*map(run, commands), "It is done."])
    Agent(model, tools or [command_tool()], gate=gate, config=config, events=log).run("look?")
    return log.of("tool_result")


@pytest.fixture(autouse=True)
def engine_here(request: pytest.FixtureRequest) -> None:
    """Skips what is marked `box` where none can start, and says why."""
    if request.node.get_closest_marker("box") is None:
        return
    try:
        engine.try_out()
    except CannotBox as error:
        pytest.skip(str(error))


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, "a.txt": "a\n"})
    return repo


@pytest.fixture
def none_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot() -> str:
        raise CannotBox("no bubblewrap")

    monkeypatch.setattr(engine, "try_out", cannot)


@pytest.mark.box
def test_a_command_runs_in_a_box_by_default_and_the_policy_knows(project: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    found = results(project, f"pwd; echo b > b.txt; : > {outside}", "touch /tmp/ahp-kept", "ls /tmp/ahp-kept")
    assert found[0]["text"].startswith(f"[exit code 0]\n{project.root}\n"), found
    assert (project.root / "b.txt").read_text() == "b\n"
    assert not outside.exists() and not Path("/tmp/ahp-kept").exists()
    assert found[2]["text"] == "[exit code 0]\n/tmp/ahp-kept\n"  # the next call of the run finds what one has written


@pytest.mark.box
def test_what_a_command_leaves_running_in_its_box_ends_and_nothing_is_left_in_the_project(project: Repo) -> None:
    found = results(project, "sleep 600 & echo $!", "! pgrep -x sleep; echo $?", "git add -A; git status --porcelain")
    assert [one["text"].splitlines()[0] for one in found] == ["[exit code 0]"] * 3
    assert found[1]["text"].splitlines()[1] == "0", found
    assert found[2]["text"] == "[exit code 0]\n"
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize(("box", "code"), [("auto", "ok"), pytest.param("always", "blocked", marks=pytest.mark.box)])
def test_steps_beside_each_other_run_in_linked_work_trees_which_no_box_takes(
    project: Repo, box: Any, code: str
) -> None:
    plan = {"title": "t", "steps": [{"id": name, "description": f"look at {name}"} for name in ("a1", "b1")]}
    steps = {name: [run("true"), '{"control": "step_done"}'] for name in ("a1", "b1")}
    log = EventLog()
    model = ScriptedModel([json.dumps(plan), "It is seen."], steps)
    config = AgentConfig(jobs=2, box=box)
    gate = RepositoryGate(str(project.root), session="s")
    Agent(model, [command_tool()], gate=gate, config=config, events=log).run("look?")
    assert not log.of("not_parallel") and [one["code"] for one in log.of("tool_result")] == [code] * 2
    assert ("linked work tree" in log.of("tool_result")[0]["text"]) is (code == "blocked")


@pytest.mark.parametrize(("box", "code"), [("auto", "blocked"), ("never", "blocked"), ("always", "blocked")])
def test_a_rule_about_calls_outside_of_a_box_holds_where_none_can_start(
    project: Repo, none_starts: None, box: str, code: str
) -> None:
    assert [one["code"] for one in results(project, "echo outside", box=box)] == [code]


def test_without_a_box_commands_run_here_unless_the_settings_say_always(project: Repo, none_starts: None) -> None:
    assert [results(project, "echo hi", box=box)[0]["code"] for box in ("auto", "never", "always")] == [
        *("ok", "ok", "blocked")
    ]
    [found] = results(project, "echo hi", box="always")
    assert "it has to run in a box, and cannot (no bubblewrap)" in found["text"]


@pytest.mark.parametrize(("otherwise", "code"), [("block", "blocked"), ("prompt", "ok"), ("skip", "ok")])
def test_a_rule_that_wants_a_box_goes_before_the_settings(
    repo: Repo, none_starts: None, otherwise: str, code: str
) -> None:
    repo.commit("first", **{".ahp/hooks.yaml": SANDBOX % otherwise})
    [found] = results(repo, "echo hi", box="never")
    assert found["code"] == code


@pytest.mark.box
def test_a_rule_that_wants_a_box_has_one_though_the_settings_say_never(repo: Repo) -> None:
    repo.commit("first", **{".ahp/hooks.yaml": SANDBOX % "block"})
    [found] = results(repo, ": > /etc/ahp-probe", box="never")
    assert "Read-only file system" in found["text"]


def test_a_tool_that_runs_in_no_box_is_refused_where_a_rule_wants_one(repo: Repo) -> None:
    repo.commit("first", **{".ahp/hooks.yaml": SANDBOX % "block"})
    own = scripted_tool("run_command", ["ran"], kind="shell")
    [found] = results(repo, "echo hi", tools=[own])
    assert found["code"] == "blocked" and "this tool runs its commands itself" in found["text"]
