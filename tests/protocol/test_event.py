"""One asking of the gate."""

from __future__ import annotations

from ahp.protocol.event import Actor, Event, PushRef, Workspace


def test_an_event_is_its_slots() -> None:
    where = Workspace("/r", "/j", {"A": "b"}, genesis="g", user_policy="/u")
    event = Event("pre-push", "git", Actor("human"), where, 1.0)
    assert (event.mode, event.subject, event.view, event.given) == ("real", "", None, None)
    assert all(hasattr(event, name) for name in Event.__slots__)
    assert all(getattr(event, name) == getattr(where, name) for name in Workspace.__slots__)
    other = event.but(subject="main", root="/s")
    assert (other.subject, other.root, other.trigger, other.env) == ("main", "/s", "pre-push", {"A": "b"})
    assert (event.subject, event.root) == ("", "/r")
    ref = PushRef("a", "1", "b", "2")
    assert [getattr(ref, name) for name in ("local_ref", "local_oid", "remote_ref", "remote_oid")] == [
        "a",
        "1",
        "b",
        "2",
    ]
