"""`session`: the agent's session so far."""

from __future__ import annotations

from typing import Any

from ahp.facts import session
from ahp.journal import session_calls
from ahp.protocol.event import Actor


def paths(namespace: Any, name: str) -> list[str]:
    return [f"{name}.{field}" for field in namespace.NAMESPACE.schema]


def test_a_session_has_its_id_and_agent(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", actor=Actor("agent", "codex"), session="s-1")
    facts = gather(event, *paths(session, "session"))
    assert (facts["session.id"], facts["session.agent"]) == ("s-1", "codex")
    assert (facts["session.tool_calls"], facts["session.denied"], facts["session.touched_files_count"]) == (0, 0, 0)
    assert gather(make_event("session-start"), "session.id") == {"session.id": ""}


def test_its_calls_are_counted_and_absent_where_nobody_tells_whose_they_are(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", session="s-1")
    for path, denied in (("a", False), ("a", False), ("b", True), ("c", False)):
        session_calls.note(event.journal, "s-1", {"writes": [path]}, [], denied=denied)
    counts = ["session.tool_calls", "session.denied", "session.touched_files_count"]
    assert list(gather(event, *counts).values()) == [4, 1, 2]
    assert set(gather(make_event("pre-tool-use"), *counts)["missing"]) == set(counts)
