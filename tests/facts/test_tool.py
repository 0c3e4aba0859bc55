"""`tool`: the call as the client's adapter read it."""

from __future__ import annotations

from typing import Any

from ahp.facts import tool


def test_the_tool_call_is_what_the_adapter_read(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", tool={"name": "shell", "command": "ls"})
    facts = gather(event, "tool.name", "tool.command", "tool.output")
    assert facts["tool.name"] == "shell" and facts["tool.command"] == "ls"
    assert facts["missing"] == {"tool.output": ("the client does not tell tool.output", "")}
    assert gather(make_event(), "tool.name")["missing"]["tool.name"] == ("no tool call was given", "")


def test_every_canonical_tool_is_in_the_schema() -> None:
    assert tool.NAMESPACE.schema["name"]["enum"] == list(tool.NAMES)
