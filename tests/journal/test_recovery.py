from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ahp.journal import index as indexes
from ahp.journal import query, segments
from ahp.journal.append import Journal
from ahp.journal.state import State
from ahp.journal.verify import verify
from ahp.system import clock, digest
from ahp.system.errors import AhpError

from .written import PROMPT, VERDICT, assert_chained, records


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "flipped", "other format", "other log", "body"])
def test_a_damaged_index_is_made_anew_and_never_means_nothing_open(journal: Journal, damage: str) -> None:
    journal.append([PROMPT, {**PROMPT, "rule": "mended/1"}])
    journal.append([{**PROMPT, "rule": "mended/1", "kind": "episode-end"}, VERDICT])
    path = Path(journal.index_path)
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "other log":
        os.rename(journal.log_path, journal.log_path + ".old")
        Path(journal.log_path).write_bytes(Path(journal.log_path + ".old").read_bytes())
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[:100],
                "flipped": data.replace(b" 0 1 ", b" 0 7 ", 1),
                "other format": data.replace(indexes.FORMAT.encode(), b"ahp-index-0", 1),
                "body": data[: indexes.HEADER] + data[indexes.HEADER :].swapcase(),
            }[damage]
        )
    other = Journal(journal.folder)
    assert other.index().keys == {"commit|size/1|main|agent"}
    other.append([VERDICT])
    assert_chained(other)
    assert other.fitting() is not None


def test_a_crash_between_log_and_index_is_caught_up_from_where_the_index_was(journal: Journal) -> None:
    journal.append([VERDICT])
    stale = Path(journal.index_path).read_bytes()
    journal.append([PROMPT])
    Path(journal.index_path).write_bytes(stale)
    other = Journal(journal.folder)
    assert other.index().has_open("commit", "main", "agent")
    other.append([VERDICT])
    assert_chained(other)


def test_an_end_before_the_last_signal_does_not_close_it_when_the_index_is_lost(journal: Journal) -> None:
    journal.append([{**PROMPT, "kind": "episode-end"}])
    journal.append([PROMPT])
    journal.append([{**PROMPT, "id": "later"}])
    os.unlink(journal.index_path)
    assert Journal(journal.folder).index().has_open("commit", "main", "agent")


def test_a_whole_line_that_lacks_only_its_newline_still_counts(journal: Journal) -> None:
    journal.append([PROMPT])
    with open(journal.log_path, "r+b") as log:
        log.truncate(os.path.getsize(journal.log_path) - 1)
    assert journal.index().has_open("commit", "main", "agent")
    assert journal.index().torn
    journal.append([VERDICT])
    assert [record["kind"] for record in records(journal)] == ["genesis", "signal", "verdict"]


def test_a_vanished_log_is_not_taken_for_a_fresh_start(journal: Journal) -> None:
    journal.append([VERDICT])
    known = str(records(journal)[0]["id"])
    assert not Journal(journal.folder, known).tampered(journal.index())
    for name in os.listdir(journal.folder):
        os.unlink(f"{journal.folder}/{name}")
    installed = Journal(journal.folder, known)
    assert installed.tampered(installed.index())
    installed.append([VERDICT])
    assert records(installed)[0]["replaces"] == known
    assert installed.tampered(installed.index())


@pytest.mark.parametrize("how", ["unlink", "truncate"])
def test_without_a_known_genesis_the_index_left_behind_tells_of_the_loss(journal: Journal, how: str) -> None:
    journal.append([VERDICT])
    known = records(journal)[0]["id"]
    if how == "unlink":
        os.unlink(journal.log_path)
    else:
        os.truncate(journal.log_path, 0)
    journal.append([VERDICT])
    assert records(journal)[0]["replaces"] == known
    assert_chained(journal)


@pytest.mark.parametrize("stamp", ["zzzz", "9999-99-99T00:00:00Z", 5, "2026-01-01T00:00:00.1\u0662Z"])
def test_a_time_stamp_that_is_none_does_not_stop_the_clock(journal: Journal, stamp: object) -> None:
    journal.append([VERDICT])
    with open(journal.log_path, "a") as log:
        log.write(json.dumps({**VERDICT, "timestamp": stamp}) + "\n")
    journal.append([{**VERDICT, "timestamp": "2090-01-01T00:00:00.000Z"}])
    assert records(journal)[-1]["timestamp"] == "2090-01-01T00:00:00.000Z"


def test_a_look_back_ends_where_everything_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ahp"
    folder.mkdir()
    old, new = "2020-01-01T00:00:00.000Z", clock.iso(clock.now())
    text = [json.dumps({**PROMPT, "timestamp": old})] + [json.dumps({**VERDICT, "timestamp": old})] * 5000
    text.append(json.dumps({**PROMPT, "rule": "new/1", "timestamp": new, "n": 5002}))
    (folder / "signals.jsonl").write_text("\n".join(text) + "\n")
    decoded = []
    monkeypatch.setattr(segments.Line, "record", lambda line: decoded.append(line) or json.loads(line.raw))
    assert Journal(str(folder)).index().keys == {"commit|new/1|main|agent"}
    assert len(decoded) < 20


def test_an_unreadable_log_is_an_error_not_an_empty_one(journal: Journal) -> None:
    os.makedirs(journal.log_path)
    with pytest.raises(AhpError, match="regular"):
        journal.index()


def test_no_log_means_nothing_open_and_makes_nothing(journal: Journal) -> None:
    assert journal.index().keys == set()
    assert not os.path.exists(journal.folder)


@pytest.mark.parametrize("left", ["index", "state", "both"])
def test_a_cut_end_is_recorded_by_the_next_writer_and_told_for_ever(journal: Journal, left: str) -> None:
    for n in range(6):
        journal.append([{**PROMPT, "id": str(n)}])
    with State.open(journal):
        pass
    data = Path(journal.log_path).read_bytes().splitlines(keepends=True)
    Path(journal.log_path).write_bytes(b"".join(data[:-2]))
    for name in {"index": ["state.db"], "state": ["index"], "both": []}[left]:
        os.unlink(f"{journal.folder}/{name}")
    other = Journal(journal.folder)
    assert other.index().count == 5  # a reader forgets nothing by looking
    assert other.index().count == 5
    assert other.loss == ""
    other.append([VERDICT])
    assert other.loss.startswith("the end of the log is gone (of 7 lines 5 are left); that is recorded")
    cut = records(other)[-2]
    assert (cut["kind"], cut["had"], cut["found"]) == ("cut", 7, 5)
    assert cut["head"] == digest.tagged(data[-1].rstrip(b"\n"))
    for _ in range(3):
        other.append([VERDICT])
    assert [record["kind"] for record in records(other)].count("cut") == 1
    (told,) = verify(other).problems
    assert told.startswith("signals.jsonl:6: the log was cut before this line: it had 7 lines")


def test_a_log_that_was_copied_or_written_by_another_process_was_not_cut(journal: Journal) -> None:
    journal.append([PROMPT])
    index = Path(journal.index_path).read_bytes()
    journal.append([VERDICT])
    Path(journal.index_path).write_bytes(index)  # killed between log and index
    os.rename(journal.log_path, journal.log_path + "~")
    shutil.copy(journal.log_path + "~", journal.log_path)
    other = Journal(journal.folder)
    other.append([VERDICT])
    assert [record["kind"] for record in records(other)] == ["genesis", "signal", "verdict", "verdict"]


def test_a_log_of_a_newer_format_is_refused_with_a_sentence(journal: Journal) -> None:
    journal.append([VERDICT])
    path = Path(journal.log_path)
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 9').replace(b'"ahp": "', b'"ahp": "9.'))
    for ask in (
        journal.index,
        lambda: journal.append([VERDICT]),
        lambda: State.open(journal),
        lambda: verify(journal),
        lambda: query.folded(journal.folder),
    ):
        with pytest.raises(AhpError, match=r"was written by ahp 9\..*; upgrade ahp"):
            ask()
    path.write_bytes(path.read_bytes().replace(b'"ahp"', b'"by"'))
    with pytest.raises(AhpError, match="was written by a newer ahp, and this is"):
        query.folded(journal.folder)


def test_a_log_that_names_no_format_is_of_the_first_one(journal: Journal) -> None:
    journal.append([PROMPT])
    path = Path(journal.log_path)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    del lines[0]["format"], lines[0]["ahp"]
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    os.unlink(journal.index_path)
    journal.append([VERDICT])
    assert journal.index().has_open("commit", "main", "agent")


def test_the_policies_that_a_log_describes_are_known_again_when_the_index_is_lost(journal: Journal) -> None:
    for n in range(40):
        journal.append([{"kind": "policy", "digest": f"sha256:{n}"}])
    known = journal.index().policies
    assert list(known) == [f"sha256:{n}" for n in range(8, 40)]
    os.unlink(journal.index_path)
    assert set(Journal(journal.folder).index().policies) == set(known)
