"""What the table promises of every client, and a client that is added to it as docs/adding-a-host.md says."""

from __future__ import annotations

import json

import pytest

from ahp.agents import clients, doctor, install, wing
from ahp.agents.clients import Client, Unreadable
from ahp.protocol.event import _AGENTS
from ahp.protocol.triggers import TRIGGERS
from tests.agents.conftest import Ask, found
from tests.conftest import PROJECT, Repo


def test_the_wing_names_each_client() -> None:
    assert tuple(clients.CLIENTS) == wing.CLIENTS


def test_the_commands_of_each_client_are_known_by_a_variable() -> None:
    assert set(clients.CLIENTS) <= {name for _, name in _AGENTS}


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_a_client_has_all_that_the_table_names(client: str) -> None:
    module = clients.CLIENTS[client]
    assert module.SETTINGS and module.HOME_SETTINGS and module.FOUND
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
    asked = Client().read({"tool_name": "x", "tool_response": response}, "PostToolUse")
    assert (asked.output, asked.is_error) == ("text", False)


def test_a_tool_without_a_name_cannot_be_read() -> None:
    with pytest.raises(Unreadable, match="tool_name"):
        Client().read({}, "PreToolUse")


def test_a_client_added_as_the_page_says_is_asked_installed_and_examined(
    project: Repo, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fresh(Client):
        SETTINGS = HOME_SETTINGS = ".fresh/settings.json"
        FOUND = (".fresh",)

    monkeypatch.setitem(clients.CLIENTS, "fresh", Fresh())
    project.write(".ahp/hooks.yaml", "rules: {r: {at: pre-tool-use, block: tool.name == 'shell', message: no}}\n")
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert ask(payload, "fresh").code == 2 and ask({**payload, "tool_name": "Read"}, "fresh").code == 0
    assert install.install(found(project), "fresh", "").changed
    (check,) = doctor.examine(found(project), "fresh")
    assert check.name == "fresh" and "there is no client" in check.detail  # another process has its own table
    assert install.uninstall(found(project), "fresh")
