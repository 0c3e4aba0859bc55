"""Figures counted by several processes are those of one (issue 16)."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.insight import overview, parts, reading, stats
from ahp.insight.groups import BY
from ahp.insight.parts import Task
from ahp.insight.stats import Figures, Stats
from ahp.insight.tallies import Tallies
from ahp.system import clock, process
from ahp.system.errors import AhpError
from tests.examples import examples

from . import random_log
from .random_log import POLICY, START

Record = dict[str, Any]
DAY = 86400.0
counted = parts._counted


def alone_and_shared(folder: Path, count: int = 3, **asked: Any) -> tuple[Stats, Stats | None]:
    """By one process, and by `count`, None where these do not tell of this log."""
    alone, shared = _both(partial(stats.collect, str(folder), **asked), count)
    _sort_comments(alone.groups, shared.groups if shared else [])
    return alone, shared


def _both(collect: Callable[[], Any], count: int) -> tuple[Any, Any]:
    told: list[object] = []

    def noted(*arguments: Any) -> object:
        told.append(of(*arguments))
        return told[-1]

    of = parts.of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "LONG", 0)
        patch.setattr(parts, "of", noted)
        patch.setattr(process, "processors", lambda: count)
        shared = collect()
        patch.setattr(parts, "of", lambda *_: None)
        alone = collect()
    return alone, shared if told[0] else None


def _sort_comments(*groups: list[Figures]) -> None:
    for figures in chain(*groups):
        figures.comments.sort()  # of one moment, about several subjects, they come in any order


@examples(25, *HealthCheck)
@given(
    random_log.steps,
    st.sampled_from(BY),
    st.sampled_from([None, None, START + 1, START + 8 * DAY]),
    st.sampled_from([None, None, "size", "shell"]),
    st.sampled_from([0.0, 5 * DAY, 90 * DAY]),
    st.sampled_from([3, 4]),
)
def test_figures_of_logs_of_anything(
    steps: list[Record], by: str, since: float | None, rule: str | None, later: float, count: int
) -> None:
    records = random_log.records_of(steps)
    now = max(clock.parse_iso(r["timestamp"]) for r in records) + later
    with tempfile.TemporaryDirectory() as folder:
        random_log.write(Path(folder) / "ahp", records, steps)
        alone, shared = alone_and_shared(Path(folder) / "ahp", count, by=by, since=since, rule=rule, now=now)
        asked: Any = {"since": since, "rule": rule, "now": now}
        all_told, in_parts = _both(partial(overview.collect, folder + "/ahp", **asked), count)
    assert shared == alone
    for told in (all_told, in_parts):
        _sort_comments(told.rules.groups, told.actors.groups, [told.whole])
    assert in_parts == all_told


def _log(folder: Path, *more: Record) -> None:
    """A signal to each of four subjects, and the same evaluation's verdict, then the records `more`."""
    told: list[Record] = [
        {"kind": "policy", "timestamp": clock.iso(START), "digest": POLICY, "rules": [["pre-commit", "size", {}, ""]]}
    ]
    for n, subject in enumerate(("main", "FEAT-1", "FEAT-2", "FEAT-3")):
        about = {"timestamp": clock.iso(START + n), "hook": "pre-commit", "host": "git", "subject": subject}
        about |= {"actor": "agent:claude", "attempt": f"a{n}", "change": f"c{n}", "policy": POLICY}
        said = {"id": f"id{n}", "rule": "size", "intensity": "prompt", "declared": "prompt", "decision": "warn"}
        told += [{**about, "kind": "signal", **said}, {**about, "kind": "verdict", "decision": "warn", "ms": 5.0}]
    random_log.write(folder, [*told, *more], [])


def test_what_is_said_of_signals_counts_once(tmp_path: Path) -> None:
    said = {"kind": "feedback", "timestamp": clock.iso(START + 9), "rule": "size", "by": "human:ann"}
    more = [{**said, "id": id, "feedback": f"about {id}"} for id in ("id0", "id1", "id2", "id3", "unknown")]
    answers = [{**said, "kind": "response", "id": f"id{n}", "action": "dismiss"} for n in range(4)]
    _log(tmp_path / "ahp", *more, *answers)
    for count in (2, 3, 4):
        alone, shared = alone_and_shared(tmp_path / "ahp", count)
        assert shared == alone
        assert len(alone.groups[0].comments) == 5
        assert alone.groups[0].answers["dismiss"].given == 4


def test_an_id_that_another_subject_had_before_is_a_copy(tmp_path: Path) -> None:
    again = {"timestamp": clock.iso(START + 9), "hook": "pre-commit", "host": "git", "subject": "FEAT-1"}
    again |= {"kind": "signal", "id": "id0", "rule": "size", "intensity": "prompt", "declared": "prompt"}
    _log(tmp_path / "ahp", again, {**again, "subject": "main", "id": "id1"})
    alone, shared = alone_and_shared(tmp_path / "ahp", 3, now=START + 10)
    assert shared == alone and alone.groups[0].signals == 4


def test_times_that_are_none(tmp_path: Path) -> None:
    stamps = ("yesterday", clock.iso(START + 20), clock.iso(START + 10), "3000-99-99T99:99:99.999Z")
    verdicts = [
        {"kind": "verdict", "timestamp": stamp, "subject": subject, "hook": "pre-commit", "policy": POLICY}
        for stamp in stamps
        for subject in ("main", "FEAT-1", "FEAT-2", "FEAT-3", 5, [])
    ]
    _log(tmp_path / "told" / "ahp", *verdicts[:-6])
    alone, shared = alone_and_shared(tmp_path / "told" / "ahp", 4)
    assert shared == alone and shared.end == START + 20
    _log(tmp_path / "ahp", *verdicts)
    alone, shared = alone_and_shared(tmp_path / "ahp", 4)
    assert shared is None and alone.end == START + 20


def test_a_short_log_or_one_processor_is_one_for_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _log(tmp_path / "ahp")
    monkeypatch.setattr(parts, "Task", None)  # would fail
    assert stats.collect(str(tmp_path / "ahp")).evaluations == 4
    assert alone_and_shared(tmp_path / "ahp", 1)[1] is None


def test_a_file_that_is_pruned_before_all_have_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _log(tmp_path / "ahp")
    monkeypatch.setattr(parts, "_counted", _fewer)
    assert alone_and_shared(tmp_path / "ahp")[1] is None


def test_a_file_that_is_gone_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _log(tmp_path / "ahp")
    monkeypatch.setattr(parts, "LONG", 0)
    monkeypatch.setattr(process, "processors", lambda: 3)
    monkeypatch.setattr(reading, "length_of", lambda segment: 1 << 30)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's own, so that it goes to standard error
    assert stats.collect(str(tmp_path / "ahp")).evaluations == 4
    assert capfd.readouterr().err.count("was removed or cut") == 1


def _fewer(make: Any, find: Any, task: Task) -> tuple[Tallies, int]:
    told, lines = counted(make, find, task)
    return told, lines - 1


def test_it_is_told_when_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _log(tmp_path / "ahp")
    monkeypatch.setattr(parts, "_counted", _killed)
    alone, shared = alone_and_shared(tmp_path / "ahp")
    assert shared is None and alone.evaluations == 4
    assert "read by one process, which takes longer: another one was killed" in caplog.text


def _killed(make: Any, find: Any, task: Task) -> tuple[Tallies, int]:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_a_log_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    _log(tmp_path / "ahp")
    (tmp_path / "ahp" / "signals.jsonl").rename(tmp_path / "elsewhere")
    (tmp_path / "ahp" / "signals.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AhpError, match="is a symbolic link"):
        alone_and_shared(tmp_path / "ahp")


def test_what_is_appended_meanwhile_is_not_read(tmp_path: Path) -> None:
    _log(tmp_path / "ahp")
    files = reading.files(str(tmp_path / "ahp"))
    sizes = [*map(reading.size_of, files)]
    read = [line for lines in reading.blocks_of(files, sizes, lambda done, total: None) for line in lines]
    with (tmp_path / "ahp" / "signals.jsonl").open("ab") as file:
        file.write(b'now whole"}\n{"kind": "verdict"}\n')
    assert [line for lines in reading.blocks_of(files, sizes, lambda done, total: None) for line in lines] == read[:-1]
