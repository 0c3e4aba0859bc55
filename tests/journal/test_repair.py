from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from ahp.journal.answers import AnswerRefused
from ahp.journal.append import Journal
from ahp.journal.repair import ahead, differences, rebuild, set_clock
from ahp.journal.verify import verify
from ahp.system import clock, terminal

from .story import AGENT, DAY, PERSON, Story
from .written import PROMPT, VERDICT

STRANGE = "a row of the state is not as ahp wrote it"


def forge(story: Story, statement: str) -> None:
    with closing(sqlite3.connect(story.journal.folder + "/state.db")) as db, db:
        db.execute(statement)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM episodes", "commit|size/1|main|agent"),
        ("UPDATE episodes SET data = json_set(data, '$[0].count', 0)", STRANGE),
        ("UPDATE episodes SET data = json_set(data, '$[0].attempts', json('[]'))", STRANGE),
    ],
)
def test_a_state_that_was_forged_is_told_and_made_anew(story: Story, statement: str, told: str) -> None:
    for _ in range(2):
        story.signal()
    assert story.count() == 2
    assert differences(story.journal) == []
    forge(story, statement)
    assert differences(story.journal) == [told]
    rebuild(story.journal)
    assert story.count() == 2
    assert differences(story.journal) == []


def test_a_forged_answer_is_told(story: Story) -> None:
    id = story.signal("block")
    story.count()
    forge(story, "UPDATE signals SET risk = 1, data = replace(data, '\"\"', '\"proceed_with_risk\"')")
    assert differences(story.journal) == [STRANGE]
    with story.state() as state:
        (seen,) = state.risks_taken(None) or [state.signal(id)]
        assert seen is not None and seen.action == ""


def test_an_answer_that_is_not_in_the_log_is_told(story: Story) -> None:
    ids = sorted([str(story.signal(subject=f"s{n}")) for n in range(3)])
    story.count()
    forge(story, "DELETE FROM signals")
    assert differences(story.journal) == [id if len(id) <= 8 else id[:7] + "…" for id in ids]


def test_a_clock_that_was_once_ahead_is_told_and_set_right_by_a_person(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 73 * 365 * DAY)
    journal.append([PROMPT])
    monkeypatch.setattr(clock, "now", lambda: now)
    journal.append([VERDICT])
    assert ahead(journal) == pytest.approx(73 * 365 * DAY, abs=1)
    assert any("26645 days ahead of the clock" in note for note in verify(journal).notes)
    with pytest.raises(AnswerRefused, match="only a person"):
        set_clock(journal, AGENT)
    monkeypatch.setattr(terminal, "ask", lambda question, patience: False)
    with pytest.raises(AnswerRefused, match="the answer was no"):
        set_clock(journal, PERSON)
    monkeypatch.setattr(terminal, "ask", lambda question, patience: True)
    assert set_clock(journal, PERSON)
    assert not set_clock(journal, PERSON)
    journal.append([VERDICT])
    assert journal.index().last == clock.iso(now)
    report = verify(journal)
    assert report.problems == []
    assert any("human:ann set the clock right" in note for note in report.notes)
    assert not any("ahead of the clock" in note for note in report.notes)
