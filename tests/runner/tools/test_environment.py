"""ahp.runner.tools.tool: what a model starts is an agent's, never a person's"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping

import pytest
from pydantic import BaseModel

from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.model import Answer, Want
from ahp.runner.run.agent import Agent
from ahp.runner.run.conversation import Message
from ahp.runner.tools.tool import FunctionTool, ToolContext, marked, tool_environment
from ahp.runner.verification.result import VerificationResult
from tests.conftest import Repo
from tests.runner.runs import Scene, call
from tests.runner.scripted_gate import ScriptedGate

AHP = shlex.quote(os.path.join(os.path.dirname(sys.executable), "ahp"))
POLICY = """\
version: 1
rules:
  no-env: {at: pre-tool-use, block: "'.env' in tool.paths", message: "keys stay out"}
  told: {at: pre-commit, prompt: "files.changed_count > 0", message: "look twice"}
"""


class Command(BaseModel):
    command: str


def shell(hand_on: Mapping[str, str] | None = None) -> FunctionTool:
    """A shell that hands on `ToolContext.env`, or is careless and hands on nothing."""

    def run(args: Command, context: ToolContext) -> str:
        env = context.env if hand_on is None else None
        done = subprocess.run(
            ["sh", "-c", args.command], cwd=context.root, env=env, capture_output=True, text=True, check=False
        )
        return f"{done.returncode}\n{done.stdout}{done.stderr}"

    return FunctionTool("shell", "runs a command", Command, run, kind="shell", writes=True)


class Climber:
    """A model that is blocked, then answers the block as if it were a person; `way` is how it runs `ahp`."""

    name = "climber"

    def __init__(self, way: str = "%s") -> None:
        self.said: list[str] = []
        self.way = way

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        self.said.append(messages[-1]["content"])
        if len(self.said) == 1:
            return Answer(call("shell", command="echo KEY > .env"))
        if len(self.said) == 2:
            found = re.search(r"\((\w+)\)", self.said[-1])
            assert found
            return Answer(call("shell", command=self.way % f"{AHP} respond {found[1]} proceed_with_risk --reason me"))
        return Answer(call("shell", command="echo KEY > .env") if len(self.said) == 3 else "stopped")


@pytest.mark.parametrize("careless", [False, True])
def test_a_model_cannot_give_a_person_s_answer_through_a_tool(repo: Repo, careless: bool) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    model = Climber()
    gate = RepositoryGate(str(repo.root), session="s1")
    config = AgentConfig(enable_planning=False, verification_policy="none")
    turn = Agent(model, [shell({} if careless else None)], gate=gate, config=config, root=str(repo.root)).run(
        "write the key"
    )
    assert turn.stop_reason == "DONE", turn.answer
    assert "a person's answer" in model.said[2]
    assert "ahp blocked: no-env" in model.said[3]
    assert not (repo.root / ".env").exists()


@pytest.mark.skipif(not shutil.which("script"), reason="the program `script` gives a command a terminal")
@pytest.mark.skipif(sys.platform != "linux", reason="what a process was started with is read from /proc")
@pytest.mark.slow
def test_a_terminal_that_a_model_makes_up_is_no_person_s(repo: Repo) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    model = Climber("printf 'y\\n' | env -i PATH=\"$PATH\" HOME=\"$HOME\" timeout 60 script -qec '%s' /dev/null")
    config = AgentConfig(enable_planning=False, verification_policy="none")
    gate = RepositoryGate(str(repo.root), session="s1")
    turn = Agent(model, [shell(None)], gate=gate, config=config, root=str(repo.root)).run("write the key")
    assert turn.stop_reason == "DONE", turn.answer
    assert "which `ahp agent` cannot give; run in a terminal: " in model.said[2]
    assert not (repo.root / ".env").exists()


@pytest.mark.slow
def test_a_commit_that_a_tool_makes_is_judged_as_an_agent_s(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    monkeypatch.chdir(repo.root)
    subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "ahp"), "install", "git"], check=True, capture_output=True
    )
    Scene(
        [call("shell", command="echo a > a && git add a && git commit -qm 'feat: a'"), "done"],
        tools=[shell()],
        gate=RepositoryGate(str(repo.root), session="s1", agent="bot"),
        root=str(repo.root),
        verification_policy="none",
    )
    found, _ = query.folded(journal_of(str(repo.root)).folder, query.Filter())
    assert [one["actor"] for one in found if one.get("source") == "told"] == ["agent:bot"]


def test_verifiers_run_marked_and_the_mark_ends_with_the_run() -> None:
    seen: list[str | None] = []

    class Check:
        def verify(self, root: str, timeout_s: float) -> VerificationResult:
            seen.append(os.environ.get("AHP_AGENT"))
            return VerificationResult(type="passed", summary="fine")

    Scene(["done"], verifiers={"check": Check()}, verification_policy="check", gate=ScriptedGate())
    assert seen == ["ahp"]
    assert "AHP_AGENT" not in os.environ


def test_the_environment_of_a_tool_is_free_of_the_hook_that_may_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/elsewhere/index")
    found = tool_environment("bot")
    assert found["AHP_AGENT"] == "bot"
    assert not {"GIT_DIR", "GIT_INDEX_FILE"} & found.keys()
    assert found["PATH"] == os.environ["PATH"]


def test_runs_at_once_leave_the_former_mark_when_the_last_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AHP_AGENT", "outer")
    with marked("a"):
        with marked("b"):
            assert os.environ["AHP_AGENT"] == "b"
        assert os.environ["AHP_AGENT"] == "b"
    assert os.environ["AHP_AGENT"] == "outer"


def test_what_a_model_starts_does_not_see_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AHP_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in tool_environment("ahp").values()
