"""What earlier records of a subject still know."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.protocol import records
from ahp.protocol.event import Actor, Event, Workspace


def clean(subject: str, facts: dict[str, object]) -> dict[str, object]:
    event = Event("pre-commit", "git", Actor("human"), Workspace("", "", {}), 0.0, subject=subject)
    return records.verdict("2026-02-09T10:00:00.000Z", event, "allow", "sha256:p", facts, 1.0)


def test_a_fact_of_this_subject_is_remembered(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.append([clean("a", {"tests.total": 3}), clean("b", {"note": "tests.total"})])
    assert segments.had_fact(str(tmp_path), "a", "tests.total")
    assert not segments.had_fact(str(tmp_path), "b", "tests.total")
    assert not segments.had_fact(str(tmp_path), "a", "tests.failed")


def test_it_looks_back_only_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(str(tmp_path))
    journal.append([clean("a", {"tests.total": 3}), clean("a", {}), clean("a", {})])
    monkeypatch.setattr(segments, "_LINES", 2)
    assert not segments.had_fact(str(tmp_path), "a", "tests.total")


def test_without_a_log_nothing_is_remembered(tmp_path: Path) -> None:
    assert not segments.had_fact(str(tmp_path), "a", "tests.total")
