"""What an index or a state remembers of lines that are gone is kept until the log says so (docs/log.md)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ahp.journal import tables
from ahp.journal.append import Journal
from ahp.journal.state import State
from ahp.journal.verify import verify
from ahp.system import digest

from .written import PROMPT, VERDICT, assert_chained, records


def read(journal: Journal) -> None:
    """Brings the state up to the log's last record."""
    with State.open(journal):
        pass


def written(journal: Journal, lines: int) -> list[bytes]:
    """A log of so many lines, all of which the state has read."""
    for n in range(1, lines):
        journal.append([{**PROMPT, "id": f"{os.path.basename(journal.folder)}{n}"}])
    read(journal)
    return Path(journal.log_path).read_bytes().splitlines(keepends=True)


def cut(journal: Journal, lines: int, *names: str) -> None:
    """Leaves the first lines of the log, and removes files beside it."""
    data = Path(journal.log_path).read_bytes().splitlines(keepends=True)
    Path(journal.log_path).write_bytes(b"".join(data[:lines]))
    for name in names:
        os.unlink(f"{journal.folder}/{name}")


def told(journal: Journal) -> list[tuple[object, object]]:
    """What `cut` records say that the log had, and what was found."""
    return [(record["had"], record["found"]) for record in records(journal) if record["kind"] == "cut"]


def test_a_reader_that_makes_the_state_anew_does_not_forget_what_it_remembered(journal: Journal) -> None:
    data = written(journal, 7)
    cut(journal, 5, "index")
    for _ in range(3):
        read(Journal(journal.folder))
        assert verify(journal).problems == [
            "the log was cut or its end edited: its state remembers 7 lines, and the last one is gone"
        ]
    other = Journal(journal.folder)
    other.append([VERDICT])
    assert other.loss.startswith("the end of the log is gone (of 7 lines 5 are left); that is recorded")
    assert records(other)[-2]["head"] == digest.tagged(data[-1].rstrip(b"\n"))
    for left in ("index", "state.db"):
        read(Journal(journal.folder))
        Path(journal.folder, left).unlink()
        Journal(journal.folder).append([VERDICT])
    assert told(journal) == [(7, 5)]
    assert len(verify(journal).problems) == 1
    assert_chained(journal)


def test_a_gate_that_reads_the_state_first_records_the_loss(journal: Journal) -> None:
    written(journal, 7)
    cut(journal, 5, "index")
    other = Journal(journal.folder)
    with State.open(other) as state:
        state.settle()
        other.append([VERDICT])
    assert told(journal) == [(7, 5)]
    assert other.loss


def test_where_the_index_fits_the_shorter_log_the_state_still_tells(journal: Journal) -> None:
    written(journal, 4)
    kept = Path(journal.log_path).read_bytes(), Path(journal.index_path).read_bytes()
    written(journal, 4)
    for path, data in zip((journal.log_path, journal.index_path), kept, strict=True):
        Path(path).write_bytes(data)
    assert Journal(journal.folder).fitting() is not None
    assert "its state remembers" in verify(journal).problems[0]
    for expected in ([(7, 4)], [(7, 4)]):
        other = Journal(journal.folder)
        with State.open(other) as state:
            state.settle()
            other.append([VERDICT])
        assert told(journal) == expected
    assert len(verify(journal).problems) == 1


def test_the_one_that_remembers_more_is_heard_and_the_other_tells_nothing_more(journal: Journal) -> None:
    written(journal, 7)
    for _ in range(3):
        journal.append([VERDICT])  # the state lags behind
    cut(journal, 5)
    Journal(journal.folder).append([VERDICT])
    assert told(journal) == [(10, 5)]
    for _ in range(2):
        read(journal)
        Path(journal.index_path).unlink()
        Journal(journal.folder).append([VERDICT])
    assert told(journal) == [(10, 5)]


def test_an_index_that_is_older_than_the_log_does_not_hide_what_the_state_remembers(journal: Journal) -> None:
    written(journal, 4)
    stale = Path(journal.index_path).read_bytes()
    written(journal, 7)
    cut(journal, 6)
    Path(journal.index_path).write_bytes(stale)
    Journal(journal.folder).append([VERDICT])
    assert told(journal) == [(10, 6)]


def test_a_second_cut_is_recorded_too(journal: Journal) -> None:
    written(journal, 7)
    cut(journal, 5, "index")
    written(journal, 4)
    cut(journal, 7, "index")
    read(journal)
    journal.append([VERDICT])
    assert told(journal) == [(7, 5), (9, 7)]


def test_a_state_that_lags_behind_an_edited_line_tells_of_no_cut(journal: Journal) -> None:
    written(journal, 7)
    journal.append([VERDICT])
    data = Path(journal.log_path).read_bytes().splitlines(keepends=True)
    Path(journal.log_path).write_bytes(b"".join([*data[:6], data[6].replace(b"claude", b"cloude"), data[7]]))
    os.unlink(journal.index_path)
    read(journal)
    journal.append([VERDICT])
    assert told(journal) == []
    assert verify(journal).problems == ["signals.jsonl:7: edited: the next line was chained to other bytes"]


@pytest.mark.parametrize("looked", [False, True])
def test_a_state_that_lags_behind_pruned_files_tells_of_no_cut(tmp_path: Path, looked: bool) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=2000)
    data = written(journal, 3)
    for _ in range(30):
        journal.append([VERDICT])
    assert Path(journal.folder, "signals.1.jsonl").read_bytes().startswith(b"".join(data))
    os.unlink(f"{journal.folder}/signals.1.jsonl")
    os.unlink(journal.index_path)
    if looked:
        read(journal)
    journal.append([VERDICT])
    assert told(journal) == []


@pytest.mark.parametrize("looked", [False, True])
def test_a_log_that_vanished_with_its_index_is_replaced_by_one_that_says_so(journal: Journal, looked: bool) -> None:
    written(journal, 4)
    known = records(journal)[0]["id"]
    cut(journal, 4, "index", "signals.jsonl")
    if looked:
        read(Journal(journal.folder))
    assert verify(journal).problems
    Journal(journal.folder).append([VERDICT])
    assert records(journal)[0]["replaces"] == known
    read(journal)
    journal.append([VERDICT])
    assert told(journal) == []
    assert len(verify(journal).problems) == 1


def test_the_state_of_another_log_says_nothing_of_this_one(journal: Journal, tmp_path: Path) -> None:
    written(journal, 7)
    other = Journal(str(tmp_path / "other"))
    written(other, 3)
    shutil.copy(other.log_path, journal.log_path)
    os.unlink(journal.index_path)
    for _ in range(2):
        read(journal)
        Journal(journal.folder).append([VERDICT])
    assert told(journal) == []
    assert verify(journal).problems == []


def test_a_loss_that_the_state_cannot_be_told_of_is_recorded_once_all_the_same(journal: Journal) -> None:
    written(journal, 7)
    cut(journal, 5, "index")
    with closing(sqlite3.connect(f"{journal.folder}/state.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        Journal(journal.folder).append([VERDICT])
    for _ in range(2):
        os.unlink(journal.index_path)
        Journal(journal.folder).append([VERDICT])
    assert told(journal) == [(7, 5)]


def test_a_state_of_an_ahp_that_kept_no_genesis_remembers_too(journal: Journal) -> None:
    written(journal, 7)
    with closing(sqlite3.connect(f"{journal.folder}/state.db")) as db, db:
        db.execute("DELETE FROM meta WHERE name IN ('genesis', 'gone')")
    cut(journal, 5, "index")
    assert tables.remembered(f"{journal.folder}/state.db") is not None
    read(journal)
    journal.append([VERDICT])
    assert told(journal) == [(7, 5)]
