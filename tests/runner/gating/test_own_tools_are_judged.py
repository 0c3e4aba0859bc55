"""ahp's own tools behind the real gate: whatever way a path takes, what is judged is what is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools.catalog import standard_tools
from tests.conftest import Repo
from tests.runner.runs import call

POLICY = """\
version: 1
rules:
  no-secrets: {at: pre-tool-use, block: "any(glob(p, 'secrets/**') for p in tool.paths)", message: "keys stay closed"}
  moved:
    at: pre-tool-use
    control: tool.input['path'] == 'moved'
    action: {type: set, target: tool.input.path, value: secrets/k}
"""


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.write("secrets/k", "KEY\n")
    repo.write("README", "nothing\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "begin")
    root = repo.root
    (root / "open").symlink_to("secrets")
    (root / "near").symlink_to("secrets/k")
    (root / "dangling").symlink_to("secrets/new")
    (root.parent / "other").symlink_to(root)
    monkeypatch.chdir(root)
    return root


def carried_out(root: Path, *calls: str) -> tuple[AgentTurn, list[str]]:
    """How the run ended, and how each call did."""
    agent = Agent(
        ScriptedModel([*calls, "done"]),
        standard_tools(print),
        gate=RepositoryGate(str(root), session="s1"),
        config=AgentConfig(enable_planning=False, max_same_blocks=100),
    )
    turn = agent.run("the task")
    return turn, [event["code"] for event in agent.events.seen if event["event"] == "tool_result"]


WAYS = [
    "secrets/k",
    "./secrets/../secrets//k",
    "open/k",
    "near",
    "dangling",
    "{root}/secrets/k",
    "{root}/../other/open/k",
    "file://{root}/secrets/k",
    "/proc/self/cwd/secrets/k",
    "/proc/thread-self/cwd/near",
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_past_the_block(project: Path, way: str) -> None:
    path = way.format(root=project)
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-KEY\n+mine\n"
    turn, codes = carried_out(
        project,
        call("write_file", path=path, content="mine"),
        call("append_file", path=path, content="mine"),
        call("create_file", file_path=path, text="mine"),
        call("edit", path=path, search="KEY", replace="mine"),
        call("str_replace", file_path=path, old_str="KEY", new_str="mine"),
        *([] if path.startswith(("/", "file:")) else [call("apply_patch", patch=patch)]),
        call("read_file", path=path),
        call("cat", filename=path),
        call("search", pattern="KEY", path=path),
        call("run_command", command=f"cat {path.removeprefix('file://')}"),
        call("run_command", command="cat k", workdir=os.path.dirname(path.removeprefix("file://")) or "."),
    )
    assert turn.stop_reason == "DONE"
    # The last one does not reach the file where its folder is the project's own.
    assert set(codes[:-1]) == {"blocked"}
    assert (project / "secrets" / "k").read_text() == "KEY\n"
    assert os.listdir(project / "secrets") == ["k"]


def test_a_search_tells_nothing_of_a_file_that_may_not_be_read(project: Path) -> None:
    _, codes = carried_out(project, call("search", pattern="KEY"), call("search", pattern="nothing"))
    assert codes == ["blocked", "ok"]


def test_what_the_gate_moves_is_judged_again(project: Path) -> None:
    _, codes = carried_out(project, call("write_file", path="moved", content="mine"))
    assert codes == ["blocked"]
    assert (project / "secrets" / "k").read_text() == "KEY\n"


def test_the_model_cannot_say_where_a_path_leads(project: Path) -> None:
    _, codes = carried_out(
        project,
        call("write_file", path="free", leads_to="secrets/k", content="mine"),
        call("write_file", path="secrets/k", leads_to="free", content="mine"),
    )
    assert codes == ["ok", "blocked"]
    assert (project / "free").read_text() == "mine" and (project / "secrets" / "k").read_text() == "KEY\n"
