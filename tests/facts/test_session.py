"""`session`: the agent's session so far."""

from __future__ import annotations

from typing import Any

from ahp.facts import session
from ahp.protocol.actor import Actor


def paths(namespace: Any, name: str) -> list[str]:
    return [f"{name}.{field}" for field in namespace.NAMESPACE.schema]


def test_a_session_has_its_id_and_agent(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", actor=Actor("agent", "codex"), session="s-1")
    facts = gather(event, *paths(session, "session"))
    assert (facts["session.id"], facts["session.agent"]) == ("s-1", "codex")
    assert set(facts["missing"]) == {"session.tool_calls", "session.denied", "session.touched_files_count"}
    assert gather(make_event("session-start"), "session.id") == {"session.id": ""}
