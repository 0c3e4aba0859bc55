"""One asking of the gate."""

from __future__ import annotations

from ahp.protocol.actor import Actor
from ahp.protocol.event import Event, PushRef


def test_an_event_is_its_slots() -> None:
    event = Event("pre-push", "git", Actor("human"), root="/r", journal="/j", env={}, deadline=1.0)
    assert (event.mode, event.subject, event.view, event.given) == ("real", "", None, None)
    assert all(hasattr(event, name) for name in Event.__slots__)
    ref = PushRef("a", "1", "b", "2")
    assert [getattr(ref, name) for name in ("local_ref", "local_oid", "remote_ref", "remote_oid")] == [
        "a",
        "1",
        "b",
        "2",
    ]
