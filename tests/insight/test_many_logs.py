"""Many clones read as one: the figures are those of a plain reading of each log, once, whatever copies there are."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.insight import export, many_logs, overview, stats
from ahp.insight.backtest import replay
from ahp.insight.export import COLUMNS
from ahp.insight.stats import BY
from ahp.system import clock
from ahp.system.errors import AhpError
from tests.examples import examples

from .copies import Lines
from .random_log import START, records_of, steps
from .reference import Reference, of_many
from .test_backtest import OLD, policy
from .test_stats import shown

DAY = 86400.0
_cuts = st.lists(st.floats(0, 1), min_size=2, max_size=4)


def write(folder: Path, log: Lines, cuts: list[float], prunes: bool) -> None:
    """Copies that overlap and together have every line: clones of different ages, exports, one clone pruned."""
    size = len(log.lines)
    at = sorted(round(cut * size) for cut in cuts)
    if prunes and len(log.begins) > 1:
        log.to_folder(folder / log.name / "clone" / ".git" / "ahp", len(log.begins) - 1)
        log.to_folder(folder / log.name / "old" / ".git" / "ahp", 0, max(at[-1], log.begins[-1] + 1))
    elif prunes:
        log.to_file(folder / f"{log.name}-first.jsonl", 0, at[-1])
        log.to_file(folder / f"{log.name}-rest.jsonl", at[0])
    else:
        log.to_folder(folder / log.name / ".ahp")
    log.to_file(folder / f"{log.name}-some.jsonl", at[0], at[-1])
    log.to_folder(folder / "backup" / log.name, 0, max(1, at[0]))


@examples(60, *HealthCheck)
@given(
    st.lists(st.tuples(steps, _cuts, st.booleans(), st.sampled_from([None, 1])), min_size=1, max_size=3),
    st.sampled_from(BY),
    st.sampled_from([None, None, START + 1, START + 8 * DAY, START + 20 * DAY]),
    st.sampled_from([None, None, "size"]),
)
def test_figures_are_those_of_a_plain_reading_of_each_log(
    told: list[tuple[Any, ...]], by: str, since: float | None, rule: str | None
) -> None:
    logs = [Lines(f"log{n}", records_of(one[0]), one[0], one[3]) for n, one in enumerate(told)]
    now = max(clock.parse_iso(r["timestamp"]) for log in logs for r in log.records) + 5 * DAY
    with tempfile.TemporaryDirectory() as folder:
        for log, (_, cuts, prunes, _) in zip(logs, told, strict=True):
            write(Path(folder), log, cuts, prunes)
        found = stats.collect("", by, rule=rule, since=since, now=now, from_=[folder])
    references = [Reference(log.records, now, by, since or 0.0, rule or "") for log in logs]
    expected = of_many(references)
    assert [found.evaluations, found.denied] == [*map(sum, zip(*(one.head() for one in references), strict=True))]
    got = {one.name: shown(one) for one in found.groups if shown(one)}
    for figures in (*got.values(), *expected.values()):
        figures["comments"] = sorted(figures.get("comments", []))
    assert got == {name: figures for name, figures in expected.items() if figures != {"comments": []}}


def signals(name: str, *ids: str, format: int | None = 1) -> Lines:
    """A log of one signal each day."""
    about = {"kind": "signal", "hook": "pre-commit", "rule": "size", "subject": "main", "actor": "human:ann"}
    made = [
        {**about, "timestamp": clock.iso(START + n * DAY), "id": id, "intensity": "prompt", "declared": "prompt"}
        for n, id in enumerate(ids)
    ]
    return Lines(name, made, [], format)


def read(*paths: Path) -> list[tuple[str, str]]:
    """Log and id of each signal, in order."""
    found = many_logs.records([str(path) for path in paths])
    return [(log, str(record["id"])) for log, record in found if record["kind"] == "signal"]


def test_a_clone_that_was_copied_with_its_log_is_a_log_of_its_own_from_there(tmp_path: Path) -> None:
    signals("g", "a", "b", "c", "d").to_folder(tmp_path / "1")
    signals("g", "a", "b", "x", "y").to_folder(tmp_path / "2")
    signals("g", "a", "b", "x", "y", "z").to_file(tmp_path / "of-2.jsonl", begin=3)
    fork = "g, fork 1"
    told = [("g", f"g-{id}") for id in "abcd"] + [(fork, f"g-{id}") for id in "xyz"]
    assert sorted(read(tmp_path)) == sorted(told)


def test_one_signal_in_two_logs_is_told_by_the_first(tmp_path: Path) -> None:
    for name in ("1", "2"):
        log = signals("g", "a", "b")
        log.lines[0] = log.lines[0].replace(b'"id": "g"', b'"from": "%s"' % name.encode())
        log.to_folder(tmp_path / name)
    assert [id for _, id in read(tmp_path)] == ["g-a", "g-b"]


def test_the_lines_of_a_parquet_file_are_those_of_the_log(tmp_path: Path) -> None:
    log = signals("g'", "a", "b\udc80", "c")
    log.lines.insert(2, b'{"torn": ')
    log.to_folder(tmp_path / "clone")
    kept = [line for line in log.lines if line != b'{"torn": ']
    export.write(str(tmp_path / "it's.parquet"), "g'", kept, COLUMNS)
    assert read(tmp_path / "it's.parquet") == read(tmp_path / "clone") == read(tmp_path)
    assert [line for lines in export.lines(str(tmp_path / "it's.parquet")) for line in lines] == [
        line[:-1] + b', "log": "g\'"}' for line in kept
    ]


def test_a_parquet_file_of_another_program_is_passed_over(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    signals("g", "a").to_folder(tmp_path / "clone")
    for name, columns in (
        ("a", "1 AS a"),
        ("b", "1 AS log, 'x' AS record"),
        ("c", "NULL::VARCHAR AS log, 'x' AS record"),
    ):
        duckdb.sql(f"COPY (SELECT {columns}) TO '{tmp_path}/{name}.parquet' (FORMAT parquet)")
        with pytest.raises(AhpError, match="there is no log in"):
            read(tmp_path / f"{name}.parquet")
    assert read(tmp_path) == read(tmp_path / "clone")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(AhpError, match=r"cannot read .*a\.parquet"):  # it may have been an export
        read(tmp_path)


def test_columns_of_parquet_can_be_asked(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = str(tmp_path / "a.parquet")
    export.write(path, "g", signals("g", "a").lines, COLUMNS)
    found = duckdb.sql(f"SELECT n, kind, epoch(timestamp), intensity, ms FROM '{path}' ORDER BY n").fetchall()
    assert found == [(1, "genesis", START, None, None), (2, "signal", START, "prompt", None)]


def test_an_interrupted_export_leaves_no_file(tmp_path: Path) -> None:
    def lines() -> Any:
        yield b'{"n": 1}'
        raise AhpError("gone")

    with pytest.raises(AhpError, match="gone"):
        export.write(str(tmp_path / "a.parquet"), "g", lines(), COLUMNS)
    with pytest.raises(AhpError, match="cannot write"):
        export.write(str(tmp_path / "none" / "a.parquet"), "g", [b"{}"] * 10_000, COLUMNS)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match=r"no log in .*no signals\.jsonl and no export"):
        list(many_logs.records([str(tmp_path)]))
    (tmp_path / "a.jsonl").write_text('{"some": "other"}\n')
    with pytest.raises(AhpError, match=r"no log in .*no records"):
        list(many_logs.records([str(tmp_path / "a.jsonl")]))
    (tmp_path / "a.parquet").write_text("rubbish")
    with pytest.raises(AhpError, match=r"cannot read .*a\.parquet"):
        list(many_logs.records([str(tmp_path / "a.parquet")]))
    newer = Lines("g", [], [], 99)
    (tmp_path / "b.jsonl").write_bytes(newer.lines[0] + b"\n")
    with pytest.raises(AhpError, match=r"written by ahp 0\.3\.0"):
        list(many_logs.records([str(tmp_path / "b.jsonl")]))


def test_what_else_lies_beside_a_log_is_none(tmp_path: Path) -> None:
    signals("g", "a").to_folder(tmp_path / "ahp")
    (tmp_path / "ahp" / "runs").mkdir()
    signals("h", "b").to_file(tmp_path / "ahp" / "runs" / "trajectory.jsonl")
    assert read(tmp_path) == [("g", "g-a")]


def test_a_back_test_reads_many(tmp_path: Path) -> None:
    old = policy(OLD)
    about = {"hook": "pre-commit", "host": "git", "subject": "main", "actor": "human:ann", "policy": "sha256:old"}
    for name, day in (("a", 3.0), ("b", 0.0)):
        stamp = clock.iso(START + day * DAY)
        told = {"kind": "policy", "timestamp": stamp, "digest": "sha256:old", "rules": []}
        verdict = {
            **about,
            "kind": "verdict",
            "timestamp": stamp,
            "decision": "allow",
            "facts": {"files.changed_count": 4},
        }
        Lines(name, [told, {**verdict, "attempt": name}], [], 1).to_folder(tmp_path / name)
    done = replay("", policy(OLD.replace("most: 5", "most: 3")), lambda record: old, from_=[str(tmp_path)])
    assert (done.judged, done.begin, done.end) == (2, START, START + 3 * DAY)
    assert [(c.rule, c.before, c.after, c.count) for c in done.decided] == [("size", "silent", "prompt", 2)]
    # The log that is read first, the larger one, has lost its description of the policy.
    lost = [{**verdict, "timestamp": clock.iso(START), "attempt": f"c{n}"} for n in range(9)]
    Lines("c", lost, [], 1).to_folder(tmp_path / "c")
    done = replay("", policy(OLD.replace("most: 5", "most: 3")), lambda record: old, from_=[str(tmp_path)])
    assert (done.judged, done.skipped) == (11, 0)


def test_a_report_reads_many(tmp_path: Path) -> None:
    signals("g", "a", "b").to_folder(tmp_path / "1" / "ahp")
    one = overview.collect(str(tmp_path / "1" / "ahp"), now=START + 90 * DAY)
    assert overview.collect("", now=START + 90 * DAY, from_=[str(tmp_path)]) == one
    signals("h", "a", "b").to_folder(tmp_path / "2")
    both = overview.collect("", now=START + 2 * DAY, from_=[str(tmp_path)])
    assert (both.open_count, [story.tries for story in both.open]) == (2, [2, 2])
    assert sum(both.days.values()) == 4
    later = overview.collect("", now=START + 90 * DAY, from_=[str(tmp_path)])
    assert [story.state for story in later.closed] == ["forgotten", "forgotten"]


def test_progress_ends_with_all_bytes(tmp_path: Path) -> None:
    signals("g", "a", "b").to_folder(tmp_path / "1")
    signals("h", "c").to_file(tmp_path / "2.jsonl")
    told: list[tuple[int, int]] = []
    list(many_logs.records([str(tmp_path)], seen=lambda *one: told.append(one)))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] > 0
