from __future__ import annotations

import os
from pathlib import Path

from ahp.journal.episodes import new_id
from ahp.journal.fold import Fold, MemoryStore, read_into, window

from .story import DAY, KEY, Story


def test_a_ladder_that_went_on_is_not_forgotten_with_its_first_rung(story: Story) -> None:
    first = None
    for _ in range(5):
        with story.state() as state:
            episode = state.episode(KEY)
        first = episode.id if episode else new_id(story.now)
        story.signal(correlation_id=first)
        story.now += 10 * DAY
    assert story.count() == 5
    os.unlink(story.journal.folder + "/state.db")
    assert story.count() == 5


def test_a_rebuild_reads_back_forget_after_only(story: Story) -> None:
    for _ in range(50):
        story.signal(rule="old/1")
    story.now += 30 * DAY
    story.signal()
    os.unlink(story.journal.folder + "/index")
    with story.state() as state:
        assert len(state.find("")) == 1
    assert window(story.journal.folder)[1] > 1000


def test_an_episode_that_is_remembered_longer_is_read_from_its_beginning(story: Story) -> None:
    more = {"forget_after": 60 * DAY, "correlation_id": new_id(story.now)}
    story.signal(**more)
    story.now += 20 * DAY
    story.signal(**more)
    story.now += 20 * DAY
    story.signal(subject="other", forget_after=60 * DAY)
    for lost in ("state.db", "index"):
        os.unlink(f"{story.journal.folder}/{lost}") if os.path.exists(f"{story.journal.folder}/{lost}") else None
    assert story.count() == 2
    assert story.journal.index().has_open("commit", "main", "agent")


def test_overlapping_ladders_do_not_lead_back_to_the_first_line(story: Story) -> None:
    for n in range(60):  # each ladder goes on while the next one begins
        ids = {name: new_id(story.now) for name in ("a", "b")}
        story.signal(subject=f"s{n}", correlation_id=ids["a"])
        story.now += 2 * DAY
        story.signal(subject=f"s{n}", correlation_id=ids["a"])
        story.signal(subject=f"s{n + 1}", correlation_id=ids["b"])
    store = MemoryStore()
    read_into(Fold(store), story.journal.folder, window(story.journal.folder))
    assert 20 < len(store.signals) < 40


def test_a_torn_last_line_waits_and_a_whole_one_counts(story: Story) -> None:
    story.signal()
    story.signal()
    path = story.journal.log_path
    whole = Path(path).read_bytes()
    os.truncate(path, len(whole) - 1)
    assert story.count() == 2
    os.truncate(path, len(whole) - 20)
    assert story.count() == 1
    story.signal()
    assert story.count() == 2
    assert story.count() == 2


def test_a_newline_that_comes_later_is_no_line(story: Story) -> None:
    story.signal()
    whole = Path(story.journal.log_path).read_bytes()
    os.truncate(story.journal.log_path, len(whole) - 1)
    assert story.count() == 1
    story.signal()
    assert story.count() == 2
    with story.state() as state:
        assert len(state.find("")) == 2
