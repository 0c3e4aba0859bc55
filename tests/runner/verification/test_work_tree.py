"""ahp.runner.verification.project: `auto` verifies what changed, whatever tools say of themselves"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ahp.runner.run.events import EventLog
from ahp.runner.scripted import AnyArgs
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.runner.verification.project import changed_since, take
from ahp.runner.verification.result import VerificationResult
from tests.conftest import Repo
from tests.runner.runs import Scene, call


class Green:
    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        return VerificationResult(type="passed", summary="1 tests passed")


def look(command: str, writes: bool) -> FunctionTool:
    def run(args: AnyArgs, context: ToolContext) -> str:
        subprocess.run(["sh", "-c", command], cwd=context.root, check=True, env=context.env, capture_output=True)
        return "done"

    return FunctionTool("look", "looks", AnyArgs, run, writes=writes)


@pytest.mark.slow
@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize(
    ("command", "verified"),
    [
        ("true", False),
        ("echo new > a", True),
        ("echo new > b", True),
        ("rm a", True),
        ("chmod +x a", True),
        ("echo new > a && git commit -qam new", True),
        ("echo two >> dirty", True),
        ("touch a", False),
        ("echo x > ignored", False),
        ("git commit -q --allow-empty -m empty", False),
    ],
)
def test_the_work_tree_tells_whether_a_run_wrote(repo: Repo, writes: bool, command: str, verified: bool) -> None:
    repo.commit("first", a="a", **{".gitignore": "ignored", "pytest.ini": ""})
    repo.write("dirty", "one")
    scene = Scene([call(), "done"], tools=[look(command, writes)], root=str(repo.root), verifiers={"auto": Green()})
    assert scene.of("final_verify")[0]["result"]["type"] == ("passed" if verified else "no_tests")


def test_a_resumed_run_knows_what_it_wrote_before(repo: Repo, tmp_path: Path) -> None:
    from ahp.runner.config import AgentConfig
    from ahp.runner.models.model import ModelError
    from ahp.runner.run.agent import Agent
    from ahp.runner.scripted import ScriptedModel
    from tests.runner.scripted_gate import ScriptedGate

    repo.commit("first", **{"pytest.ini": ""})
    tool = look("echo new > a", False)
    for answers, resumes in (([call(), ModelError("gone")], False), (["done"], True)):
        log = EventLog(str(tmp_path / "run" / "events.jsonl"), resumes=resumes)
        agent = Agent(
            ScriptedModel(answers),  # type: ignore[arg-type]
            [tool],
            gate=ScriptedGate(),
            root=str(repo.root),
            events=log,
            config=AgentConfig(enable_planning=False),
            verifiers={"auto": Green()},
        )
        if resumes:
            agent.resume()
        else:
            agent.run("x")
        log.close()
    assert log.of("final_verify")[0]["result"]["type"] == "passed"


def test_where_git_cannot_tell_nothing_is_taken(tmp_path: Path, repo: Repo) -> None:
    assert take(str(tmp_path)) is None
    before = take(str(repo.root))
    assert before is not None
    assert changed_since(str(repo.root), before) == []
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    assert take(str(tmp_path / "bare")) is None
