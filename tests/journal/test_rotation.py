from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp import __version__
from ahp.journal import segments
from ahp.journal.append import Journal

from .written import PROMPT, VERDICT, assert_chained, records


def test_rotation_goes_on_in_a_new_file_with_an_unbroken_chain(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=2000)
    for n in range(40):
        journal.append([{**PROMPT, "rule": f"r/{n}"}], durable=True)
    serials = [segment.serial for segment in segments.listed(journal.folder)]
    assert serials == list(range(1, len(serials) + 1))
    assert len(serials) > 3
    assert_chained(journal)
    kinds = [record["kind"] for record in records(journal)]
    assert kinds.count("signal") == 40
    assert kinds.count("genesis") == 1
    genesis = records(journal)[0]["id"]
    assert all(record["genesis"] == genesis for record in records(journal) if record["kind"] == "rotation")
    os.unlink(journal.index_path)
    assert len(Journal(journal.folder).index().keys) == 40
    assert Journal(journal.folder, str(genesis)).index().genesis == genesis


@pytest.mark.parametrize("step", ["replace", "first rename", "second rename"])
def test_a_rotation_that_stops_anywhere_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    journal = Journal(str(tmp_path / "ahp"))
    journal.append([PROMPT])
    journal.rotate_at = 1
    rename, calls = os.rename, []

    def failing(a: str, b: str) -> None:
        calls.append(b)
        if len(calls) == ["replace", "first rename", "second rename"].index(step) + 1:
            raise OSError(28, "No space left on device")
        rename(a, b)

    monkeypatch.setattr("posix.rename", failing)
    monkeypatch.setattr("os.rename", failing)
    journal.append([VERDICT])
    monkeypatch.undo()
    journal.rotate_at = 1 << 20
    other = Journal(journal.folder)
    other.append([VERDICT])
    assert_chained(other)
    kinds = [record["kind"] for record in records(other)]
    assert kinds == ["genesis", "signal", "verdict", *(["rotation"] if step == "second rename" else []), "verdict"]
    assert not any("missing" in record for record in records(other))
    assert other.index().has_open("commit", "main", "agent")


@pytest.mark.parametrize("leftover", [None, b"", b'{"prev": "sha256:other"}\n'])
def test_a_live_file_removed_after_a_rotation_is_noted_as_missing(tmp_path: Path, leftover: bytes | None) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=600)
    for _ in range(6):
        journal.append([PROMPT])
    os.unlink(journal.log_path)
    if leftover is not None:
        Path(journal.folder, "signals.next.jsonl").write_bytes(leftover)
    journal.rotate_at = 1 << 20
    journal.append([VERDICT])
    rotation, loss = records(journal)[-3:-1]
    assert rotation["missing"] is True
    assert (loss["kind"], loss["had"]) == ("cut", 7 + len(segments.listed(journal.folder)) - 1)
    assert rotation["genesis"] == records(journal)[0]["id"]
    assert_chained(journal)
    assert journal.index().has_open("commit", "main", "agent")


def test_every_file_names_the_format_and_the_ahp_that_wrote_it(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=600)
    for _ in range(6):
        journal.append([VERDICT])
    told = [segments.opening(segment) for segment in segments.listed(journal.folder)]
    assert len(told) > 1
    assert {(first["format"], first["ahp"]) for first in told} == {(segments.FORMAT, __version__)}


def test_what_a_killed_rotation_left_half_written_is_removed(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=600)
    journal.append([VERDICT])
    left = Path(journal.folder, "signals.next.jsonl.99.abc.tmp")
    left.write_bytes(b"{")
    while not Path(journal.folder, "signals.1.jsonl").exists():
        journal.append([VERDICT])
    assert not left.exists()
