"""ahp.runner.gating.gate_adapter: what a run changes below `.ahp/` weakens nothing for it"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel, scripted_tool
from ahp.runner.tools.tool import FunctionTool, ToolContext
from tests.runner.runs import call

POLICY = "version: 1\nrules:\n  secret: {at: pre-tool-use, block: \"'secret' in tool.paths\", message: not read}\n"
WEAK = "version: 1\nrules:\n  other: {at: pre-tool-use, prompt: \"'other' in tool.paths\", message: read it twice}\n"
SECRET = call("look", path="secret")


class Args(BaseModel):
    script: str


def tools() -> list[Any]:
    def change(args: Args, context: ToolContext) -> str:
        subprocess.run(["sh", "-ec", args.script], cwd=context.root, check=True, capture_output=True)
        return "done"

    return [
        FunctionTool("change", "changes", Args, change, writes=False, kind="other"),
        scripted_tool("look", ["the key"], kind="read"),
    ]


def commit(policy: str) -> str:
    write = f"cat > .ahp/hooks.yaml <<'EOF'\n{policy}EOF\n"
    return write + "git add -A; git commit -q --no-verify -m weaker"


def run(root: Path, *answers: str, log: EventLog | None = None, resumes: bool = False) -> tuple[AgentTurn, list[str]]:
    """How a run ended, and the codes of its calls."""
    events = log or EventLog()
    config = AgentConfig(enable_planning=False, verification_policy="none", max_same_blocks=9)
    agent = Agent(
        ScriptedModel(answers), tools(), gate=RepositoryGate(str(root), session="s1"), config=config, events=events
    )
    turn = agent.resume() if resumes else agent.run("task")
    return turn, [event["code"] for event in events.of("tool_result")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        commit(WEAK),
        commit("version: 1\n"),
        "git rm -q -r .ahp; git commit -q --no-verify -m gone",
        f"cat > .ahp/hooks.yaml <<'EOF'\n{WEAK}EOF\n",
        "rm -r .ahp",
    ],
    ids=["weaker, committed", "empty, committed", "gone, committed", "weaker", "gone"],
)
def test_a_committed_policy_outlasts_what_the_run_makes_of_it(repo: Any, script: str) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    turn, codes = run(repo.root, SECRET, call("change", script=script), SECRET, "done")
    assert (turn.ok, codes) == (True, ["blocked", "ok", "blocked"])
    # The next run begins with what was committed.
    _, codes = run(repo.root, SECRET, "done")
    assert codes == ["ok" if "commit" in script else "blocked"]


@pytest.mark.parametrize("script", ["rm -r .ahp", commit(WEAK)], ids=["gone", "replaced and committed"])
def test_a_policy_that_only_the_work_tree_has_outlasts_it_too(repo: Any, script: str) -> None:
    repo.commit("first", a="a")
    repo.write(".ahp/hooks.yaml", POLICY)
    turn, codes = run(repo.root, SECRET, call("change", script=script), SECRET, "done")
    assert (turn.ok, codes) == (True, ["blocked", "ok", "blocked"])


def test_what_the_run_adds_counts_as_well(repo: Any) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    strict = POLICY + "  other: {at: pre-tool-use, block: \"'other' in tool.paths\", message: not read}\n"
    _, codes = run(repo.root, call("change", script=commit(strict)), call("look", path="other"), SECRET, "done")
    assert codes == ["ok", "blocked", "blocked"]


def test_outside_a_repository_the_folder_s_policy_stands(tmp_path: Path) -> None:
    (tmp_path / ".ahp").mkdir()
    (tmp_path / ".ahp" / "hooks.yaml").write_text(POLICY)
    _, codes = run(tmp_path, SECRET, call("change", script="rm .ahp/hooks.yaml"), SECRET, "done")
    assert codes == ["blocked", "ok", "blocked"]


def test_a_resumed_run_is_judged_by_the_policy_of_its_beginning(repo: Any, tmp_path: Path) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    path = str(tmp_path / "run" / "events.jsonl")
    log = EventLog(path)
    assert not run(repo.root, call("change", script=commit(WEAK)), log=log)[0].ok  # the script ends here
    log.close()
    log = EventLog(path, resumes=True)
    turn, codes = run(repo.root, SECRET, "done", log=log, resumes=True)
    log.close()
    assert (turn.ok, codes) == (True, ["ok", "blocked"])


def test_a_resumed_run_is_judged_by_what_only_the_work_tree_had_too(repo: Any, tmp_path: Path) -> None:
    repo.commit("first", a="a")
    repo.write(".ahp/hooks.yaml", "version: 1\nextends: [part.yaml]\n")
    repo.write(".ahp/part.yaml", POLICY)
    path = str(tmp_path / "run" / "events.jsonl")
    log = EventLog(path)
    assert not run(repo.root, call("change", script="rm .ahp/part.yaml\n" + commit(WEAK)), log=log)[0].ok
    log.close()
    log = EventLog(path, resumes=True)
    turn, codes = run(repo.root, SECRET, "done", log=log, resumes=True)
    log.close()
    assert (turn.ok, codes) == (True, ["ok", "blocked"])


def test_a_policy_that_did_not_load_when_the_run_began_does_not_stand(repo: Any) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": "rules: ["})
    gate = RepositoryGate(str(repo.root), session="s1")
    repo.commit("mended", **{".ahp/hooks.yaml": WEAK})
    assert (
        gate.ask("pre-tool-use", tool={"name": "look", "kind": "read", "input": {"path": "secret"}}).decision == "allow"
    )
