"""`actor`: who acts."""

from __future__ import annotations

from typing import Any

from ahp.journal import session_calls
from ahp.protocol.event import Actor


def test_the_actor_is_the_events(make_event: Any, gather: Any) -> None:
    event = make_event(actor=Actor("agent", "claude"))
    assert gather(event, "actor.kind", "actor.name", "actor.verified") == {
        "actor.kind": "agent",
        "actor.name": "claude",
        "actor.verified": False,
    }


def test_an_agent_is_heard_while_a_call_of_its_hook_runs(repo: Any, make_event: Any, gather: Any) -> None:
    agent = Actor("agent", "claude")
    assert "missing" in gather(make_event(actor=agent), "actor.heard")
    repo.write(".git/ahp/agent-hook", "")
    assert "missing" in gather(make_event(), "actor.heard")
    assert gather(make_event(actor=agent), "actor.heard") == {"actor.heard": False}
    session_calls.note(str(repo.root / ".git/ahp"), "s", {}, [], denied=False)
    assert gather(make_event(actor=agent), "actor.heard") == {"actor.heard": True}
