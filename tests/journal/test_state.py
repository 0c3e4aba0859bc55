"""The state is what the log says, whatever happens to `state.db` (issue 4; design §7, §8)."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from ahp.journal.append import Journal
from ahp.journal.index import episode_key
from ahp.journal.state import State
from ahp.journal.tables import SqlStore
from ahp.system import clock, patience

from .story import DAY, KEY, PERSON, START, Story, kinds


def test_a_clock_set_forward_for_one_reading_forgets_nothing(story: Story) -> None:
    story.signal()
    before = story.now
    story.now += 100 * DAY
    assert story.count() is None
    story.now = before
    assert story.count() == 1


def test_who_waits_is_not_told_of_the_log_once_it_is_read(story: Story) -> None:
    with story.state():
        assert patience.doing == ""


def test_a_clock_that_jumps_back_does_not_move_time_back(story: Story) -> None:
    story.signal()
    story.now -= 5 * DAY
    story.signal()
    with story.state() as state:
        assert state.now == pytest.approx(START, abs=0.01)
    assert story.count() == 2


EDITS = {
    "an attempt less": "UPDATE episodes SET data = json_set(data, '$[0].attempts', json('[]'))",
    "another count": "UPDATE episodes SET data = json_set(data, '$[0].count', 0)",
    "another signal": "UPDATE signals SET data = json_set(data, '$[0][3]', 'x')",
    "no row": "UPDATE episodes SET data = '[]'",
}


@pytest.mark.parametrize(
    "damage", ["deleted", "garbage", "older version", "other tables", "other log", "directory", "link", *EDITS]
)
def test_state_is_made_anew_from_the_log(story: Story, damage: str, tmp_path: Path) -> None:
    story.signal()
    story.signal()
    assert story.count() == 2
    path = Path(story.journal.folder, "state.db")
    if damage == "older version":
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version = 99")
        db.commit()
        db.close()
    elif damage == "other tables":
        db = sqlite3.connect(path)
        db.execute("DROP TABLE signals")
        db.commit()
        db.close()
    elif damage in EDITS:
        db = sqlite3.connect(path)
        db.execute(EDITS[damage])
        db.commit()
        db.close()
    elif damage == "other log":
        log = Path(story.journal.log_path)
        log.write_bytes(log.read_bytes().replace(b"size/1", b"size/2"))
    else:
        path.unlink()
        if damage == "garbage":
            path.write_bytes(b"no database" * 1000)
        elif damage == "directory":
            path.mkdir()
        elif damage == "link":
            path.symlink_to(tmp_path / "elsewhere")
    assert story.count("commit|size/2|main|agent" if damage == "other log" else KEY) == 2
    story.signal(rule="size/2" if damage == "other log" else "size/1")
    assert story.count("commit|size/2|main|agent" if damage == "other log" else KEY) == 3
    assert not (tmp_path / "elsewhere").exists()


def test_a_locked_state_is_gone_round(story: Story) -> None:
    story.signal()
    assert story.count() == 1
    db = sqlite3.connect(story.journal.folder + "/state.db", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    story.signal()
    try:
        assert story.count() == 2
        with story.state() as state:
            id = state.find("")[0]
            assert state.signal(id) is not None
            assert state.record(state.signal(id))["id"] == id  # type: ignore[arg-type]
            assert state.signalled_paths("commit", "size/1", "main", "agent") == {"a.py"}
            assert state.waived_as("w") is None
            assert state.risks_taken(None) == []
            assert state.settle() == 1
    finally:
        db.close()


def test_every_reader_knows_how_long_a_signal_is_remembered(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.signal(forget_after=DAY)
    story.signal(subject="long", forget_after=60 * DAY)
    resets: list[int] = []
    reset = SqlStore.reset
    story.now += 2 * DAY
    assert (story.count(), story.count(episode_key("commit", "size/1", "long", "agent"))) == (None, 1)
    monkeypatch.setattr(SqlStore, "reset", lambda self: (resets.append(1), reset(self)))
    story.now += 50 * DAY
    assert (story.count(), story.count(episode_key("commit", "size/1", "long", "agent"))) == (None, 1)
    assert not resets


def lose(story: Story, *names: str) -> None:
    for name in names:
        Path(story.journal.folder, name).unlink(missing_ok=True)


@pytest.mark.parametrize("lost", [("state.db",), ("state.db", "index")])
def test_a_signal_of_longer_memory_is_found_behind_records_without(story: Story, lost: tuple[str, ...]) -> None:
    id = story.signal(forget_after=60 * DAY)
    story.respond(id, "acknowledge")
    story.now += 16 * DAY
    assert story.count() == 1
    for _ in range(2):
        story.clean(subject="other", ends=False)
        lose(story, *lost)
        assert story.count() == 1
    with Path(story.journal.log_path).open() as log:
        assert ['"window": 5184000.0' in line for line in log][-2:] == [True, True]
    story.now += 60 * DAY
    story.clean(subject="other", ends=False)
    assert '"window"' not in Path(story.journal.log_path).read_text().splitlines()[-1]


@pytest.mark.parametrize("lost", [("state.db",), ("state.db", "index")])
def test_a_signal_of_shorter_memory_hides_no_older_one(story: Story, lost: tuple[str, ...]) -> None:
    story.signal()
    story.now += 8 * DAY
    story.signal(subject="short", forget_after=3 * DAY)
    assert story.count() == 1
    lose(story, *lost)
    assert story.count() == 1
    assert story.journal.index().has_open("commit", "main", "agent")


@pytest.mark.parametrize("boot", ["another", ""])
def test_after_a_start_of_the_machine_state_is_made_anew(
    story: Story, monkeypatch: pytest.MonkeyPatch, boot: str
) -> None:
    story.signal()
    assert story.count() == 1
    monkeypatch.setattr("ahp.journal.tables._boot", lambda: boot)
    resets: list[int] = []
    reset = SqlStore.reset
    monkeypatch.setattr(SqlStore, "reset", lambda store: resets.append(1) or reset(store))
    assert story.count() == 1
    assert story.count() == 1
    assert resets == [1]


def test_state_follows_a_log_over_rotations(tmp_path: Path) -> None:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=3000))
    for n in range(1, 15):
        story.signal()
        assert story.count() == n
    os.unlink(story.journal.folder + "/state.db")
    assert story.count() == 14
    with story.state() as state:
        id = state.find("")[0]
        signal = state.signal(id)
        assert signal and state.record(signal)["id"] == id
    os.unlink(story.journal.folder + "/signals.1.jsonl")
    with story.state() as state:
        assert not all(state.record(signal) for signal in state.latest(14))


def test_ids_are_found_by_any_unique_beginning(story: Story) -> None:
    ids = sorted(story.signal() for _ in range(20))
    with story.state() as state:
        for id in ids:
            assert state.find(id) == [id]
        assert state.find("") == ids[:5]
        assert state.find("zzz") == []
        assert state.find("é") == []


def test_a_taken_risk_is_kept_until_it_is_spent(story: Story) -> None:
    block = story.signal("block")
    story.respond(block, "proceed_with_risk", PERSON, reason="hotfix")
    with story.state() as state:
        (taken,) = state.risks_taken("size/1")
        assert (taken.spent, taken.details) == (None, {"reason": "hotfix"})
        assert state.risks_taken("other/1") == []
    story.signal("block", decision="deny", overrides=block)
    assert story.seen(block).spent is None
    story.signal("block", decision="warn", overrides=block, attempt="spender")
    spent = story.seen(block).spent
    assert spent is not None and spent.token == "spender"
    story.signal("block", decision="warn", overrides=block, attempt="other")
    assert story.seen(block).spent == spent


def test_the_first_use_of_a_waiver_is_remembered(story: Story) -> None:
    story.signal("block", waived="size/1 main 2026-03-01", digest="sha256:first")
    story.signal("block", waived="size/1 main 2026-03-01", digest="sha256:second")
    with story.state() as state:
        assert state.waived_as("size/1 main 2026-03-01") == "sha256:first"
        assert state.waived_as("") is None


def test_settling_appends_each_answer_once_and_only_on_what_was_read(story: Story) -> None:
    story.signal()
    story.signal()
    with story.state() as state:
        story.signal()
        assert state.settle() == 0
    with story.state() as state:
        assert state.settle() == 2
    with story.state() as state:
        assert state.settle() == 0
    assert kinds(story).count("response") == 2


def test_settling_tells_when_somebody_was_quicker(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.signal()
    story.signal()
    with story.state() as state:
        monkeypatch.setattr(Journal, "append", lambda *a, **k: False)
        assert state.settle() == 0


def test_the_clock_is_used_when_no_time_is_given(story: Story) -> None:
    story.now = clock.now() - 1000
    story.signal()
    with State.open(story.journal) as state:
        assert state.now == pytest.approx(clock.now(), abs=60)


def test_a_page_that_cannot_be_read_is_read_from_the_log(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    id = story.signal()

    def fail(*_: object) -> None:
        raise sqlite3.DatabaseError("disk I/O error")

    with story.state() as state:
        monkeypatch.setattr(state.store, "episode", fail)
        monkeypatch.setattr(state.store, "signal", fail)
        episode = state.episode(KEY)
        assert episode is not None and episode.count == 1
        seen = state.signal(id)
        assert seen is not None and seen.rule == "size/1"
