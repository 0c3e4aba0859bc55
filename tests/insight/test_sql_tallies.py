"""Figures by SQL are those of the fold, whatever the log holds (issue 16)."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.insight import sql_tallies, stats
from ahp.insight.groups import BY
from ahp.insight.stats import Stats
from ahp.journal.segments import Segment
from ahp.system import clock
from ahp.system.errors import AhpError
from tests.examples import examples

from . import attempts, random_log
from .random_log import POLICY, START

Record = dict[str, Any]
DAY = 86400.0
_ASKED = (
    st.sampled_from(BY),
    st.sampled_from([None, None, START + 1, START + 8 * DAY]),
    st.sampled_from([None, None, "size", "shell"]),
    st.sampled_from([0.0, 5 * DAY, 90 * DAY]),
)


def both(
    folder: Path, by: str = "rule", since: float | None = None, rule: str | None = None, now: float = START
) -> tuple[Stats, Stats | None]:
    """By the fold, and by SQL, None where it does not tell of this log."""
    told: list[object] = []

    def noted(*arguments: Any) -> object:
        told.append(of(*arguments))
        return told[-1]

    of = sql_tallies.of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql_tallies, "LONG", 0)
        patch.setattr(sql_tallies, "of", noted)
        quick = stats.collect(str(folder), by, rule=rule, since=since, now=now)
        patch.setattr(sql_tallies, "of", lambda *_: None)
        return stats.collect(str(folder), by, rule=rule, since=since, now=now), quick if told[0] else None


@examples(20, *HealthCheck)
@given(random_log.steps, *_ASKED)
def test_figures_of_logs_of_anything(
    steps: list[Record], by: str, since: float | None, rule: str | None, later: float
) -> None:
    records = random_log.records_of(steps)
    now = max(clock.parse_iso(r["timestamp"]) for r in records) + later
    with tempfile.TemporaryDirectory() as folder:
        random_log.write(Path(folder) / "ahp", records, steps)
        fold, quick = both(Path(folder) / "ahp", by, since, rule, now)
    assert quick in (fold, None)


@examples(30, *HealthCheck)
@given(attempts.attempts, *_ASKED)
def test_figures_of_logs_of_attempts(
    told: list[Record], by: str, since: float | None, rule: str | None, later: float
) -> None:
    records = attempts.records_of(told)
    with tempfile.TemporaryDirectory() as folder:
        random_log.write(Path(folder) / "ahp", records, [])
        now = clock.parse_iso(records[-1]["timestamp"]) + later
        fold, quick = both(Path(folder) / "ahp", by, since, rule, now)
    assert quick == fold


def _log(folder: Path, *more: Record) -> list[Record]:
    """Two attempts, of which the first was told something, and records after them; all records."""
    records: list[Record] = [
        {"kind": "policy", "timestamp": clock.iso(START), "digest": POLICY, "rules": [["pre-commit", "size", {}, ""]]}
    ]
    for n, decision in enumerate(("warn", "allow")):
        about = {"timestamp": clock.iso(START + n), "hook": "pre-commit", "host": "git", "subject": "main"}
        about |= {"actor": "agent:claude", "attempt": f"a{n}", "change": f"c{n}", "policy": POLICY}
        if decision == "warn":
            said = {"id": "s", "rule": "size", "intensity": "prompt", "declared": "prompt", "decision": decision}
            records.append({**about, "kind": "signal", **said})
        records.append({**about, "kind": "verdict", "decision": decision, "ms": 5.0})
    random_log.write(folder, [*records, *more], [])
    return records


def _later(**told: object) -> Record:
    return {"timestamp": clock.iso(START + 9), **told}


def test_what_is_torn_blank_or_no_record_is_passed_over(tmp_path: Path) -> None:
    _log(tmp_path / "ahp")
    with (tmp_path / "ahp" / "signals.jsonl").open("ab") as file:
        file.write(b'\n\n  \t\n[1]\n"text"\n\xff\xfe\n\x00\x00\n{"n": 1}\n{"kind": "signal", "id"')
    fold, quick = both(tmp_path / "ahp")
    assert quick == fold and fold.evaluations == 2
    assert quick.groups[0].answers["dismiss"].derived == 1


UNCLEAR: dict[str, Callable[[list[Record]], Record]] = {
    "time was set back by a person": lambda _: _later(kind="clock", was="x", by="human:ann"),
    "time runs back": lambda records: {**records[1], "id": "t", "timestamp": clock.iso(START - 1)},
    "no time": lambda records: {**records[1], "id": "t", "timestamp": "yesterday"},
    "a copied line": lambda records: {**records[1], "timestamp": clock.iso(START + 9)},
    "a verdict told twice": lambda records: records[2] | {"timestamp": records[1]["timestamp"]},
    "what only Python reads": lambda records: records[1] | {"id": "t", "paths": ["\udcff"]} | _later(),
}


@pytest.mark.parametrize("what", UNCLEAR)
def test_a_log_that_sql_does_not_follow_is_one_for_the_fold(tmp_path: Path, what: str) -> None:
    more = UNCLEAR[what](_log(tmp_path / "known"))
    _log(tmp_path / "ahp", more)
    fold, quick = both(tmp_path / "ahp")
    assert quick is None and fold.evaluations


def test_a_short_log_or_one_without_duckdb_is_one_for_the_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _log(tmp_path / "ahp")
    monkeypatch.setattr(sql_tallies, "_Reading", None)  # would fail
    assert stats.collect(str(tmp_path / "ahp")).evaluations == 2
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert both(tmp_path / "ahp")[1] is None


def test_it_is_told_when_duckdb_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _log(tmp_path / "ahp")
    monkeypatch.setattr(sql_tallies, "_MEMORY", 1 << 20)
    fold, quick = both(tmp_path / "ahp")
    assert quick is None and fold.evaluations == 2
    assert "without DuckDB, which takes longer: Out of Memory Error" in caplog.text


def test_a_file_that_is_pruned_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _log(tmp_path / "ahp")
    here = f"{tmp_path}/ahp/signals"
    listed = [Segment(1, here + ".1.jsonl"), Segment(2, here + ".jsonl")]
    monkeypatch.setattr(sql_tallies.reading, "files", lambda *_: listed)
    fold, quick = both(tmp_path / "ahp")
    assert quick == fold and fold.evaluations == 2
    assert f"{listed[0].path} was removed or cut while the log was read" in caplog.text


def test_a_newer_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ahp").mkdir()
    told = {"kind": "genesis", "timestamp": clock.iso(START), "id": "g", "format": 99, "ahp": "9.0"}
    (tmp_path / "ahp" / "signals.jsonl").write_text(json.dumps(told) + "\n")
    with pytest.raises(AhpError, match=r"written by ahp 9\.0"):
        both(tmp_path / "ahp")


def test_the_bar_goes_on_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_tallies, "LONG", 0)
    records = random_log.records_of([])
    steps = [{"torn": 0, "rotates": True}]
    random_log.write(tmp_path / "ahp", [*records, *_log(tmp_path / "known")], steps)
    seen: list[tuple[int, int]] = []
    stats.collect(str(tmp_path / "ahp"), seen=lambda done, total: seen.append((done, total)))
    assert len(seen) > 2 and seen == sorted(seen) and seen[-1][0] == seen[-1][1]
