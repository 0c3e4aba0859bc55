"""A shell call that a rule has run in a box, as Claude Code's hook answers it."""

from __future__ import annotations

import json
import subprocess

import pytest

from ahp.box import engine
from ahp.box.table import CannotBox
from ahp.cli.main import run
from tests.conftest import Repo

POLICY = """\
version: 1
rules:
  in-a-box: {at: pre-tool-use, control: tool.name == 'shell', action: {type: sandbox}, otherwise: %s}
  no-rm: {at: pre-tool-use, block: "any(c.program == 'rm' for c in tool.commands)"}
"""


def answer(repo: Repo, command: str, otherwise: str = "block", tool: str = "Bash") -> dict[str, object]:
    """What the installed hook says of a call."""
    repo.write(".ahp/hooks.yaml", POLICY % otherwise)
    assert run(["install", "claude"]) == 0
    repo.add()
    repo.commit("policy")
    settings = json.loads((repo.root / ".claude/settings.json").read_text())
    (hook,) = settings["hooks"]["PreToolUse"][0]["hooks"]
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "1", "cwd": str(repo.root)}
    call |= {"tool_name": tool, "tool_input": {"command": command, "description": "d"}}
    done = repo.run(
        "sh", "-c", hook["command"], stdin=json.dumps(call).encode(), env={"CLAUDE_PROJECT_DIR": str(repo.root)}
    )
    return json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(repo.root)
    return repo


@pytest.fixture
def engine_here() -> None:
    try:
        engine.try_out()
    except CannotBox as error:
        pytest.skip(str(error))


@pytest.mark.box
def test_a_call_runs_in_the_box_and_its_folder_comes_back(here: Repo, engine_here: None) -> None:
    text = 'mkdir sub; cd sub; echo "it\'s $((1 + 1))" > x; ls ~/.gitconfig /run; false'
    said = answer(here, text)
    assert said["updatedInput"].keys() == {"command", "description"}  # type: ignore[attr-defined]
    outer = said["updatedInput"]["command"] + '; echo "$? $PWD"'  # type: ignore[index]
    done = subprocess.run(["bash", "-c", outer], cwd=here.root, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == f"1 {here.root}/sub"
    assert (here.root / "sub/x").read_text() == "it's 2\n"


@pytest.mark.box
def test_what_is_refused_is_refused_first(here: Repo, engine_here: None) -> None:
    assert answer(here, "rm x")["permissionDecision"] == "deny"


@pytest.mark.slow
def test_without_a_box_otherwise_decides(here: Repo) -> None:
    """A guarded place that is a link is one that no box can keep, with an engine and without."""
    (here.root / ".mcp.json").symlink_to("mcp.json")
    said = answer(here, "ls")
    assert said["permissionDecision"] == "deny"
    reason = str(said["permissionDecisionReason"])
    assert "in-a-box: it has to run in a box" in reason and "doctor" in reason
    said = answer(here, "ls", "prompt")
    assert "so it runs without one" in str(said["additionalContext"]) and "updatedInput" not in said
    assert answer(here, "ls", "skip") == {}
