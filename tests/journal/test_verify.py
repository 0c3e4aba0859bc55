"""What a check of the chain finds, and what it says it cannot find (design §7)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.journal.append import Journal
from ahp.journal.verify import anchor, verify
from ahp.system.errors import AhpError

VERDICT = {"hook": "pre-commit", "kind": "verdict", "decision": "allow", "subject": "main", "actor": "human:ann"}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(str(tmp_path / "ahp"))
    for n in range(9):
        journal.append([{**VERDICT, "subject": f"s{n}"}])
    return journal


def edit(journal: Journal, change: Callable[[list[bytes]], list[bytes]]) -> list[str]:
    path = Path(journal.log_path)
    path.write_bytes(b"\n".join(change(path.read_bytes().splitlines())) + b"\n")
    os.unlink(journal.index_path)
    return verify(journal).problems


def test_an_untouched_log_is_as_it_was_written(journal: Journal) -> None:
    report = verify(journal)
    assert (report.lines, report.problems) == (10, [])
    assert report.notes == ["no anchor given: whether the end was cut off, or all written anew, cannot be told"]


def test_an_edited_line_is_named(journal: Journal) -> None:
    told = edit(journal, lambda lines: [*lines[:4], lines[4].replace(b"allow", b"allov"), *lines[5:]])
    assert told == ["signals.jsonl:5: edited: the next line was chained to other bytes"]


def test_an_inserted_line_is_named(journal: Journal) -> None:
    told = edit(journal, lambda lines: [*lines[:4], lines[3].replace(b"s2", b"s9"), *lines[4:]])
    assert told == ["signals.jsonl:5: inserted"]


def test_inserted_garbage_is_named(journal: Journal) -> None:
    told = edit(journal, lambda lines: [*lines[:4], b"garbage", *lines[4:]])
    assert told == ["signals.jsonl:5: inserted"]


def test_a_copied_line_is_named(journal: Journal) -> None:
    told = edit(journal, lambda lines: [*lines[:7], lines[3], *lines[7:]])
    assert told == ["signals.jsonl:8: inserted: a copy of signals.jsonl:4"]


@pytest.mark.parametrize("count", [1, 3])
def test_missing_lines_are_counted_where_they_were(journal: Journal, count: int) -> None:
    told = edit(journal, lambda lines: [*lines[:4], *lines[4 + count :]])
    assert told == [f"signals.jsonl:5: {count} missing before this line"]


def test_reordered_lines_are_named(journal: Journal) -> None:
    told = edit(journal, lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]])
    assert told == [
        "signals.jsonl:5: reordered: it was written after signals.jsonl:6",
        "signals.jsonl:6: reordered: lines after it were written before it",
    ]


def test_a_line_without_its_link_is_named(journal: Journal) -> None:
    told = edit(journal, lambda lines: [*lines[:4], b'{"kind": "verdict"}', *lines[5:]])
    assert "signals.jsonl:5: inserted or edited: it names no line before it" in told


def test_a_missing_beginning_is_told(journal: Journal) -> None:
    assert edit(journal, lambda lines: lines[1:])[0] == "signals.jsonl:1: the log's beginning is missing"


def test_a_cut_tail_needs_an_anchor(journal: Journal) -> None:
    kept = anchor(journal)
    assert verify(journal, [kept]).problems == []
    assert edit(journal, lambda lines: lines[:-2]) == []
    report = verify(journal, [f" {kept}\n"])
    assert report.problems == [
        "the anchor's line 10 is not in the log: its end was cut off or written anew, or a copy of this clone kept it"
    ]
    assert report.notes == []


def test_the_index_left_behind_remembers_a_longer_log(journal: Journal) -> None:
    size = os.path.getsize(journal.log_path)
    last = Path(journal.log_path).read_bytes().splitlines()[-1]
    os.truncate(journal.log_path, size - len(last) - 1)
    assert verify(journal).problems == [
        "the log was cut or its end edited: its index remembers 10 lines, and the last one is gone",
    ]


def test_an_end_that_an_editor_wrote_to_a_new_file_is_told(journal: Journal) -> None:
    data = Path(journal.log_path).read_bytes()
    os.rename(journal.log_path, journal.log_path + "~")
    Path(journal.log_path).write_bytes(data.replace(b"s8", b"other"))
    (told,) = verify(journal).problems
    assert told.startswith("the log was cut or its end edited")


def test_a_log_written_anew_is_not_the_anchors(journal: Journal) -> None:
    kept = anchor(journal)
    for name in os.listdir(journal.folder):
        os.unlink(f"{journal.folder}/{name}")
    journal.append([VERDICT])
    assert "the anchor is of the log" in verify(journal, [kept]).problems[0]


def test_a_log_that_vanished_is_told(journal: Journal) -> None:
    known = journal.index().genesis
    os.unlink(journal.log_path)
    installed = Journal(journal.folder, known)
    assert f"not the log that was installed here ({known})" in verify(installed).problems[0]
    assert verify(installed).lines == 0
    installed.append([VERDICT])
    assert verify(journal).problems == [f"signals.jsonl:1: this log replaces {known}, which vanished"]


def test_what_records_tell_is_shown_without_what_moves_the_cursor(journal: Journal) -> None:
    odd = "\x1b[2J\u202e\r\n" + "x" * 2000
    names = ("by", "lines", "was", "had", "id", "replaces")
    journal.append([{"kind": kind, **dict.fromkeys(names, odd)} for kind in ("prune", "clock", "cut")])
    for id in ("plain", odd):
        anchor = f"ahp1:{id}:3:{'0' * 64}".replace("\n", " ")
        report = verify(journal, [anchor])
        told = [*report.problems, *report.notes]
        assert len(told) == 4 and all(one.isprintable() and len(one) < 300 for one in told), told


def test_a_torn_line_is_a_note(journal: Journal) -> None:
    os.truncate(journal.log_path, os.path.getsize(journal.log_path) - 20)
    os.unlink(journal.index_path)  # which a killed writer would not have written
    journal.append([VERDICT])
    report = verify(journal)
    assert report.problems == []
    assert report.notes[0] == "signals.jsonl:10: a torn line, as a crash or a full disk leaves it"


def test_the_chain_goes_on_over_rotated_files(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=1500)
    for _ in range(40):
        journal.append([VERDICT])
    assert verify(journal, [anchor(journal)]).problems == []
    os.unlink(journal.folder + "/signals.3.jsonl")
    told = verify(journal).problems
    assert told[0] == "signals.3.jsonl is missing"
    assert told[1].endswith("missing before this line")
    os.unlink(journal.log_path)
    journal.append([VERDICT])
    assert any("followed by records that are gone" in problem for problem in verify(journal).problems)


@pytest.mark.parametrize("text", ["", "ahp1:x", "ahp2:a:1:b", "ahp1:a:one:b"])
def test_what_is_no_anchor_is_refused(journal: Journal, text: str) -> None:
    with pytest.raises(AhpError, match="not an anchor"):
        verify(journal, [text])


def test_no_log_has_no_head(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match="no log"):
        anchor(Journal(str(tmp_path / "ahp")))
    assert verify(Journal(str(tmp_path / "ahp"))).problems == []


def test_an_index_that_cannot_be_read_tells_nothing(journal: Journal) -> None:
    os.unlink(journal.index_path)
    os.symlink("/nowhere", journal.index_path)
    assert verify(journal).problems == []
