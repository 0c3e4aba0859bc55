from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.journal import segments
from ahp.journal.answers import AnswerRefused
from ahp.journal.append import Journal
from ahp.journal.repair import prune
from ahp.journal.verify import anchor, verify
from ahp.system import clock, terminal
from ahp.system.errors import AhpError

from .calls import Real, taking
from .story import AGENT, DAY, PERSON
from .written import VERDICT


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A log of several files, written over a year that ends now."""
    now = clock.now()
    journal = Journal(str(tmp_path / "ahp"), rotate_at=1500)
    for days in range(360, 0, -10):
        monkeypatch.setattr(clock, "now", lambda at=now - days * DAY: at)
        journal.append([VERDICT])
    monkeypatch.setattr(clock, "now", lambda: now)
    return journal


def names(journal: Journal) -> list[str]:
    return [os.path.basename(segment.path) for segment in segments.listed(journal.folder)]


def test_a_person_is_asked_at_the_terminal(old: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(old)
    for answer, said in ((None, "run in a terminal: ahp log prune"), (False, "the answer was no")):
        monkeypatch.setattr(terminal, "ask", lambda question, patience, answer=answer: answer)
        with pytest.raises(AhpError, match=said):
            prune(old, clock.now() - 100 * DAY, PERSON)
    assert names(old) == before


@pytest.mark.usefixtures("person")
def test_old_files_go_and_the_chain_is_told(old: Journal) -> None:
    before, kept = names(old), anchor(old)
    pruned = prune(old, clock.now() - 100 * DAY, PERSON)
    assert pruned.files and before[: len(pruned.files)] == pruned.files
    assert names(old)[: len(before) - len(pruned.files)] == before[len(pruned.files) :]
    report = verify(old, [kept])
    assert report.problems == []
    assert any(note.endswith(f"human:ann pruned the log up to its line {pruned.lines}") for note in report.notes)
    first = segments.opening(segments.listed(old.folder)[0])
    assert clock.parse_iso(str(first["timestamp"])) < clock.now() - 90 * DAY
    os.unlink(old.folder + "/" + names(old)[0])
    assert "the log's beginning is missing" in verify(old).problems[0]


@pytest.mark.usefixtures("person")
def test_what_a_killed_pruning_left_goes_the_next_time(old: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: str) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("ahp.journal.repair.os.unlink", fail)
        with pytest.raises(AhpError, match="run the command again"):
            prune(old, clock.now() - 100 * DAY, PERSON)
    assert verify(old).problems == []
    assert prune(old, clock.now() - 100 * DAY, PERSON).files
    assert verify(old).problems == []


@pytest.mark.usefixtures("person")
def test_a_pruning_that_was_killed_between_two_files_is_no_tampering(old: Journal) -> None:
    gone: list[str] = []

    class Killed(BaseException):
        pass

    def unlink(name: str, real: Real, given: tuple[Any, ...], more: dict[str, Any]) -> Any:
        if name == "unlink" and len(gone) == 2:
            raise Killed
        gone.extend(given[:1] if name == "unlink" else ())
        return real(*given, **more)

    with taking(unlink), pytest.raises(Killed):
        prune(old, clock.now() - 100 * DAY, PERSON)
    assert len(gone) == 2
    assert verify(old).problems == []
    os.unlink(segments.listed(old.folder)[1].path)
    assert verify(old).problems


def test_nothing_old_means_nothing_to_prune(old: Journal) -> None:
    before = names(old)
    assert prune(old, clock.now() - 400 * DAY, PERSON) == ([], 0)
    assert names(old) == before


def test_an_agent_prunes_nothing(old: Journal) -> None:
    with pytest.raises(AnswerRefused, match="only a person"):
        prune(old, 0.0, AGENT)


def test_the_last_ninety_days_stay(old: Journal) -> None:
    with pytest.raises(AhpError, match="the last 90 days"):
        prune(old, clock.now() - 89 * DAY, PERSON)
