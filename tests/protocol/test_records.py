from __future__ import annotations

from ahp.protocol import records
from ahp.protocol.event import Actor, Event, PushRef, Workspace
from ahp.protocol.signals import Signal
from tests.protocol.test_signals import HEADER


def test_records_begin_with_the_seed_s_six_keys() -> None:
    six = ("timestamp", "hook", "intensity", "source", "consumed", "action")
    line = records.signal(Signal(HEADER, {"hook": "pre-commit"}, {}), rule="o/r")
    assert tuple(line)[:6] == six
    assert (line["consumed"], line["action"], line["kind"], line["rule"]) == (False, None, "signal", "o/r")
    answer = records.response(line, "later", "abort", "human:ann", details={})
    assert tuple(answer)[:6] == six
    assert (answer["timestamp"], answer["consumed"], answer["action"], answer["id"]) == ("later", True, "abort", "i")
    assert answer["by"] == "human:ann"


def test_other_records() -> None:
    assert records.other("bypass", "t", commit="c") == {"timestamp": "t", "kind": "bypass", "commit": "c"}
    assert "bypass" in records.KINDS


def test_a_verdict_record_tells_what_a_back_test_asks_for() -> None:
    where = Workspace("/r", "/r/.git/ahp", {})
    event = Event("commit-msg", "git", Actor("agent", "claude"), where, 0.0, "real", "main")
    event.session, event.attempt, event.issue, event.draft = "s", "git:1", "FEAT-1", b"fix: x\n"
    told = records.verdict("t", event, "warn", "sha256:p", {"a": 1}, 12.345, environment="ci", dropped=[], skipped=None)
    assert told == {
        "timestamp": "t",
        "hook": "commit-msg",
        "kind": "verdict",
        "decision": "warn",
        "subject": "main",
        "host": "git",
        "actor": "agent:claude",
        "session": "s",
        "attempt": "git:1",
        "policy": "sha256:p",
        "facts": {"a": 1},
        "ms": 12.3,
        "agent": "claude",
        "issue": "FEAT-1",
        "environment": "ci",
        "message": records.message_digest(b"fix: x"),
    }
    event.push = PushRef("refs/heads/a", "1" * 40, "refs/heads/b", "0" * 40)
    pushed = records.verdict("t", event, "allow", "p", {}, 1)
    assert (pushed["head"], pushed["target"]) == ("1" * 40, "refs/heads/b")


def test_the_draft_of_a_message_and_the_commit_have_one_digest() -> None:
    draft = b"\nfix: x  \n\n\nbody\n# Please enter\n# ------------------------ >8 ------------------------\ndiff\n"
    assert records.message_digest(draft) == records.message_digest(b"fix: x\n\nbody\n")
    assert records.message_digest(draft) != records.message_digest(b"fix: y\n\nbody\n")
