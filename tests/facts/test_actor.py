"""`actor`: who acts."""

from __future__ import annotations

from typing import Any

from ahp.facts import actor
from ahp.protocol.event import Actor


def paths(namespace: Any, name: str) -> list[str]:
    return [f"{name}.{field}" for field in namespace.NAMESPACE.schema]


def test_the_actor_is_the_events(make_event: Any, gather: Any) -> None:
    event = make_event(actor=Actor("agent", "claude"))
    assert gather(event, *paths(actor, "actor")) == {
        "actor.kind": "agent",
        "actor.name": "claude",
        "actor.verified": False,
    }
