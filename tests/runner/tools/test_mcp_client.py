"""ahp.runner.tools.mcp_client: a real server by the SDK, on its standard streams, behind the gate"""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ahp.cli.main import run as ahp
from ahp.runner.config import AgentConfig, McpServer
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools.mcp_client import connected
from ahp.runner.tools.tool import Tool, Toolbox, ToolContext
from ahp.system.errors import AhpError, Timeout
from tests.conftest import Repo

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="needs the package mcp")

COMMAND = (sys.executable, str(Path(__file__).with_name("mcp_server.py")))
POLICY = """\
version: 1
rules:
  no-removal:
    at: pre-tool-use
    block: "tool.name == 'mcp' and tool.annotations.destructive and tool.native_name == 'mcp__notes__remove'"
  no-secrets: {at: pre-tool-use, block: "tool.native_name == 'mcp__notes__find' and tool.input.text == 'secret'"}
  no-keys: {at: pre-tool-use, block: "'keys.txt' in tool.paths"}
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Tool]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOTES_KEY", "k")
        root = str(tmp_path_factory.mktemp("notes"))
        with connected({"notes": McpServer(command=COMMAND, env=("NOTES_KEY",))}, root) as found:
            yield found
    assert not [one for one in threading.enumerate() if one.name == "mcp"]


def call(tools: list[Tool], name: str, seconds: float = 60.0, **args: Any) -> str:
    box = Toolbox(tools)
    tool = box.find(f"mcp__notes__{name}")
    return str(tool.run(box.validate(tool, args), ToolContext(".", seconds)))


def test_tools_and_resources_are_told_as_the_server_tells_them(tools: list[Tool]) -> None:
    names = [tool.name.removeprefix("mcp__notes__") for tool in tools]
    assert names == ["find", "remove", "hang_up", "read_resource"]
    find = tools[0]
    assert (find.kind, find.description) == ("mcp", "Finds notes that hold a text.")
    assert find.args.model_json_schema()["required"] == ["text"]
    assert getattr(find, "annotations", {}) == {"read_only": True, "destructive": False, "open_world": True}
    assert "notes://first" in tools[3].description


def test_a_call_is_answered_in_the_project_with_the_variables_that_are_named(tools: list[Tool]) -> None:
    assert call(tools, "find", text="a").startswith("found a 3 for ahp k /")
    assert call(tools, "read_resource", uri="notes://first") == "Buy milk."


def test_what_a_server_refuses_is_an_error_and_the_server_goes_on(tools: list[Tool]) -> None:
    with pytest.raises(AhpError, match="text\n"):
        call(tools, "find", most="x")
    with pytest.raises(AhpError, match="notes://second"):
        call(tools, "read_resource", uri="notes://second")
    with pytest.raises(Timeout, match=r"^the MCP server notes did not answer within 0.2 s$"):
        call(tools, "hang_up", 0.2)
    assert call(tools, "find", text="b").startswith("found b")


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (McpServer(command=("/nowhere/server",)), "FileNotFoundError"),
        (McpServer(command=(*COMMAND, "broken")), "it said last: no licence"),
        (McpServer(url="http://127.0.0.1:9/mcp"), "ConnectError"),
    ],
)
def test_a_server_that_does_not_start_is_an_error_that_names_it(server: McpServer, told: str) -> None:
    with pytest.raises(AhpError, match=rf"^the MCP server x cannot be used: .*{told}"), connected({"x": server}, "."):
        pass


def test_names_arguments_annotations_and_files_are_judged(repo: Repo, tools: list[Tool]) -> None:
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, "keys.txt": "k\n"})
    asked = [
        ("find", {"text": "a"}),
        ("find", {"text": "secret"}),
        ("remove", {"path": "a"}),
        ("read_resource", {"uri": f"file://{repo.root}/keys.txt"}),
        ("read_resource", {"uri": "notes://first"}),
    ]
    answers = [json.dumps({"tool": f"mcp__notes__{name}", "args": args}) for name, args in asked]
    log = EventLog()
    config = AgentConfig(enable_planning=False, verification_policy="none")
    gate = RepositoryGate(str(repo.root), session="s")
    Agent(ScriptedModel([*answers, "Done."]), tools, gate=gate, config=config, events=log).run("look?")
    assert [one["code"] for one in log.of("tool_result")] == ["ok", "blocked", "blocked", "blocked", "ok"]
    assert [one["signals"][0]["context"]["rule"] for one in log.of("verdict") if one["decision"] == "deny"] == [
        *("no-secrets", "no-removal", "no-keys")
    ]


def test_the_command_has_the_servers_of_the_settings(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = {"answers": ['{"tool": "mcp__notes__find", "args": {"text": "a"}}', "It is found."], "task": "find it?"}
    settings = {"mcp_servers": {"notes": {"command": list(COMMAND)}}, "enable_planning": False}
    repo.commit("first", **{".ahp/agent.yaml": json.dumps(settings), "script.json": json.dumps(script)})
    monkeypatch.chdir(repo.root)
    assert ahp(["agent", "run", "--script", "script.json", "--live"]) == 0
    told = capsys.readouterr()
    assert told.out == "It is found.\n" and "found a 3 for ahp None" in told.err
