"""One logged signal: what it was about, whether it counts, what it waits for."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.journal.episodes import Act, LoggedSignal

RECORD: dict[str, Any] = {
    "timestamp": "2026-02-09T10:00:00.000Z",
    "kind": "signal",
    "hook": "pre-commit",
    "intensity": "prompt",
    "source": "size",
    "rule": "size/1",
    "id": "1",
    "subject": "main",
    "actor": "agent:claude",
    "decision": "warn",
}


def logged(**more: Any) -> LoggedSignal:
    return LoggedSignal.of({**RECORD, **more}, 100.0, (1, 20, 300))


@pytest.mark.parametrize(
    ("more", "past", "climbs", "modified"),
    [
        ({}, True, True, False),
        ({"decision": "deny"}, False, False, False),
        ({"intensity": "block", "decision": "deny"}, False, False, False),
        ({"intensity": "block", "decision": None}, False, False, False),
        ({"decision": None}, True, True, False),
        ({"intensity": "aid", "decision": "suggest"}, True, False, False),
        ({"undecidable": True}, True, False, False),
        ({"counted": False}, True, False, False),
        ({"shadow": True}, False, False, False),
        ({"waived": "w"}, False, False, False),
        ({"intensity": "control", "decision": "allow_with_modification"}, True, True, True),
        ({"intensity": "control", "decision": "allow_with_modification", "advises": True}, True, True, False),
        ({"intensity": "control", "decision": "deny"}, False, False, False),
    ],
)
def test_what_goes_past_and_what_counts(more: dict[str, Any], past: bool, climbs: bool, modified: bool) -> None:
    signal = logged(**more)
    assert (signal.past, signal.climbs, signal.modified) == (past, climbs, modified)


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        ({}, True),
        ({"intensity": "aid"}, True),
        ({"intensity": "block", "decision": "deny"}, False),
        ({"decision": "deny"}, False),
        ({"shadow": True, "intensity": "aid"}, False),
    ],
)
def test_what_the_next_attempt_answers(more: dict[str, Any], waits: bool) -> None:
    signal = logged(**more)
    assert signal.waits is waits
    signal.answer("acknowledge", "human:ann", 101.0)
    assert (signal.waits, signal.unlogged) == (False, False)
    signal.answer("dismiss", "ahp", 101.0)
    assert (signal.waits, signal.unlogged) == (False, True)


def test_a_record_of_anything_makes_a_signal() -> None:
    odd = LoggedSignal.of({"paths": "a", "forget_after": "soon", "rule": 7}, 1.0, (2, 30, 4))
    assert (odd.id, odd.rule, odd.paths, odd.forget_after) == ("2:30", "7", [], 14 * 86400.0)
    assert logged(forget_after=60, paths=["a", 1]).forget_after == 60.0
    assert logged(paths=["a", 1]).paths == ["a", "1"]


def act(at: float = 0.0, **more: Any) -> Act:
    return Act.of({"host": "git", "hook": "pre-commit", "attempt": "", "change": "c", "evidence": "e", **more}, at)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (act(attempt="t"), act(9.0, attempt="t", change="d"), True),
        (act(attempt="t"), act(9.0, attempt="u"), False),
        (act(attempt="t"), act(9.0, attempt="u", host="claude"), True),
        (act(), act(0.0), True),
        (act(), act(9.0), False),
        (act(), act(600.0, hook="commit-msg"), True),
        (act(), act(601.0, hook="commit-msg"), False),
        (act(9.0), act(0.0, hook="commit-msg"), False),
        (act(), act(9.0, hook="commit-msg", change="d"), False),
        (act(change=""), act(9.0, hook="commit-msg", change=""), False),
    ],
)
def test_what_is_one_attempt(one: Act, other: Act, same: bool) -> None:
    assert one.same(other) is same


def test_only_commits_and_pushes_tell_what_they_start_from() -> None:
    assert (act().head, act(head="").head, act(head="h").head) == (None, "", "h")
