"""What the table promises of every client, and a client that is added to it as docs/adding-a-host.md says."""

from __future__ import annotations

import json
import re
import sys
from types import ModuleType
from typing import Any

import pytest

from ahp.agents import clients, doctor, envelope, install
from ahp.agents.clients import Unreadable
from ahp.protocol.triggers import TRIGGERS
from tests.agents.conftest import Ask, found
from tests.conftest import PROJECT, Repo

DOCUMENTED = re.findall(r"`([A-Za-z_]+)(?:\([a-z, ]+\))?`", str(clients.__doc__).partition("For `ahp")[0])
MORE = ("SETTINGS", "HOME_SETTINGS", "PLUGIN", "BEGIN", "FOUND", "ROOT", "TRUST", "entry", "switched_off", "probe")


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_a_client_has_all_that_the_table_names(client: str) -> None:
    module = clients.module(client)
    wanted = {name for name in DOCUMENTED if name not in ("Asked",)} | set(MORE)
    assert {name for name in wanted if not hasattr(module, name)} == set()
    assert module.EVENTS[module.CALL] == "pre-tool-use" and set(module.EVENTS.values()) <= set(TRIGGERS)
    assert json.dumps(module.entry(module.CALL, "x", 60, True))
    for event in module.EVENTS:
        assert "why" in json.dumps(module.deny(event, "why"))
        assert (module.context(event, "said") is None) == (event in module.MUTE)
    assert module.rewrite(module.CALL, {"command": "x"}, "") != module.rewrite(module.CALL, {"command": "x"}, "said")
    assert f"`{module.SETTINGS}`" in (PROJECT / "docs/agents.md").read_text()


@pytest.mark.parametrize(
    ("payload", "speaker"),
    [
        ({"hook_event_name": "PreToolUse"}, "claude"),
        ({"cursor_version": "1"}, "cursor"),
        ({"toolName": "bash"}, "copilot"),
        ({"sessionId": "x"}, "copilot"),
    ],
)
def test_who_speaks_is_told_by_the_words(payload: dict[str, object], speaker: str) -> None:
    assert clients.speaker("claude", payload) == speaker


@pytest.mark.parametrize("response", ["text", {"stdout": "text", "n": 1}])
def test_what_a_tool_answered_is_one_text(response: object) -> None:
    asked = envelope.read({"tool_name": "x", "tool_response": response}, "PostToolUse")
    assert (asked.output, asked.is_error) == ("text", False)


def test_a_tool_without_a_name_cannot_be_read() -> None:
    with pytest.raises(Unreadable, match="tool_name"):
        envelope.read({}, "PreToolUse")


def test_a_client_added_as_the_page_says_is_asked_installed_and_examined(
    project: Repo, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("ahp.agents.fresh")
    for name in ("read", "deny", "context", "probe"):
        setattr(module, name, getattr(envelope, name))
    module.EVENTS, module.CALL, module.FOLDERS = {"PreToolUse": "pre-tool-use"}, "PreToolUse", ()
    module.MUTE, module.BEGIN, module.DENIED, module.ALLOWED = (), "{}\n", 2, {}
    module.PLUGIN, module.HOME_SETTINGS = "", ".fresh/settings.json"
    module.SETTINGS, module.FOUND, module.ROOT, module.TRUST = ".fresh/settings.json", (".fresh",), ".", ""
    module.entry = lambda event, command, timeout, refuses: {"hooks": [{"command": command}]}
    module.switched_off = lambda settings: ""
    monkeypatch.setitem(sys.modules, "ahp.agents.fresh", module)
    monkeypatch.setattr(clients, "CLIENTS", (*clients.CLIENTS, "fresh"))
    project.write(".ahp/hooks.yaml", "rules: {r: {at: pre-tool-use, block: tool.name == 'shell', message: no}}\n")
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert ask(payload, "fresh").code == 2 and ask({**payload, "tool_name": "Read"}, "fresh").code == 0
    assert install.install(found(project), "fresh", "").changed
    (check,) = doctor.examine(found(project), "fresh")
    assert check.name == "fresh" and "there is no client" in check.detail  # another process has its own table
    assert install.uninstall(found(project), "fresh")
