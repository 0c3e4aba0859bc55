"""What is kept of a log changes no figure: it is that of a reading of all, whatever happened to the log meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.insight import kept, overview, stats
from ahp.insight.stats import BY
from ahp.system import clock
from tests.examples import examples

from . import attempts
from .random_log import START, records_of, steps, write
from .reference import Reference
from .test_stats import read_back, shown

DAY = 86400.0
_ASKED = (
    st.sampled_from(BY),
    st.sampled_from([None, None, START + 1, START + 8 * DAY]),
    st.sampled_from([None, None, "size", "shell"]),
    st.sampled_from([0.0, 5 * DAY, 90 * DAY]),
)


@pytest.fixture(autouse=True)
def _everything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "WORTH", 0)


def state(folder: Path) -> Path:
    return Path(str(folder) + kept.PLACE)


def anew(folder: Path, **asked: Any) -> tuple[stats.Stats, overview.Overview]:
    """The figures of a reading of all, of which nothing is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "PLACE", "/nowhere/figures")
        patch.setattr(kept, "WORTH", 1 << 60)
        return told(folder, **asked)


def told(folder: Path, by: str = "rule", **asked: Any) -> tuple[stats.Stats, overview.Overview]:
    of_all = {name: value for name, value in asked.items() if name != "rule"}
    return stats.collect(str(folder), by, **asked), overview.collect(str(folder), **of_all)


def grown(whole: Path, folder: Path, cuts: list[int]) -> Iterator[None]:
    """The log `whole` as it grows in `folder`, torn lines and rotations as they come."""
    found = sorted(whole.glob("signals.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
    parts = [path.read_bytes() for path in (*found, whole / "signals.jsonl")]
    total, live = sum(map(len, parts)), folder / "signals.jsonl"
    folder.mkdir()
    for cut in sorted({*(cut % total for cut in cuts), total}):
        rest = cut
        for serial, part in enumerate(parts, 1):
            have = live.stat().st_size if live.exists() else 0
            if (folder / f"signals.{serial}.jsonl").exists():
                rest -= len(part)
                continue
            with live.open("ab") as file:
                file.write(part[have:rest])
            rest -= len(part)
            if rest <= 0:
                break
            live.rename(folder / f"signals.{serial}.jsonl")
        yield


@examples(60, *HealthCheck)
@given(steps, st.lists(st.integers(0, 1 << 20), max_size=6), *_ASKED)
def test_a_log_that_grows_has_the_figures_of_one_reading(
    made: list[dict[str, Any]], cuts: list[int], by: str, since: float | None, rule: str | None, later: float
) -> None:
    records = records_of(made)
    now = max(clock.parse_iso(r["timestamp"]) for r in records) + later
    asked: Any = {"by": by, "since": since, "rule": rule, "now": now}
    with tempfile.TemporaryDirectory() as top, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "WORTH", 0)
        write(Path(top) / "whole", records, made)
        for _ in grown(Path(top) / "whole", Path(top) / "ahp", cuts):
            found = told(Path(top) / "ahp", **asked)
            assert found == anew(Path(top) / "ahp", **asked)
    reference = Reference(read_back(records), now, by, since or 0.0, rule or "")
    expected = reference.figures()
    assert {one.name: shown(one) for one in found[0].groups if shown(one)} == {k: v for k, v in expected.items() if v}


@examples(30, *HealthCheck)
@given(attempts.attempts, st.lists(st.integers(0, 1 << 20), max_size=6), *_ASKED)
def test_a_log_of_attempts_that_grows(
    made: list[dict[str, Any]], cuts: list[int], by: str, since: float | None, rule: str | None, later: float
) -> None:
    records = attempts.records_of(made)
    now = clock.parse_iso(records[-1]["timestamp"]) + later
    asked: Any = {"by": by, "since": since, "rule": rule, "now": now}
    with tempfile.TemporaryDirectory() as top, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "WORTH", 0)
        write(Path(top) / "whole", records, [])
        for _ in grown(Path(top) / "whole", Path(top) / "ahp", cuts):
            assert told(Path(top) / "ahp", **asked) == anew(Path(top) / "ahp", **asked)


def _log(folder: Path, many: int = 12) -> Path:
    """A log of one rule that two subjects are told, commit by commit."""
    records = [
        {"kind": "policy", "timestamp": clock.iso(START), "digest": "p", "rules": [["pre-commit", "size", {}, ""]]}
    ]
    for n in range(many):
        about = {
            "timestamp": clock.iso(START + 60 * n),
            "hook": "pre-commit",
            "host": "git",
            "subject": f"topic-{n % 2}",
        }
        about |= {"actor": "agent:claude", "attempt": f"a{n}", "change": f"c{n}", "policy": "p"}
        said = {"id": f"id{n}", "rule": "size", "intensity": "prompt", "declared": "prompt", "decision": "warn"}
        records += [
            {**about, "kind": "signal", **said},
            {**about, "kind": "verdict", "decision": "warn", "ms": 1.0 + n},
        ]
    write(folder, records, [])
    return folder / "signals.jsonl"


def _append(log: Path, **record: object) -> None:
    text = log.read_text()
    log.write_text(text[: text.rindex("\n") + 1])  # the torn end
    with log.open("a") as file:
        file.write(json.dumps({"timestamp": clock.iso(START + DAY), **record}) + "\n")


def _reads(folder: Path, monkeypatch: pytest.MonkeyPatch, **asked: Any) -> int:
    """How many records a reading looks at; its figures are those of a reading of all."""
    expected, looked = anew(folder, now=START + 2 * DAY, **asked), 0
    decode = kept.decode

    def counted(raw: bytes) -> dict[str, object] | None:
        nonlocal looked
        record = decode(raw)
        looked += record is not None and "kind" in record
        return record

    with monkeypatch.context() as patch:
        patch.setattr(kept, "decode", counted)
        found = stats.collect(str(folder), now=START + 2 * DAY, **asked)
    assert found == expected[0]
    return looked


def test_only_what_came_after_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path / "ahp")
    assert _reads(tmp_path / "ahp", monkeypatch) == 26
    assert _reads(tmp_path / "ahp", monkeypatch) == 0
    _append(log, kind="response", id="id3", action="dismiss", by="human:ann")
    assert _reads(tmp_path / "ahp", monkeypatch) == 1
    log.rename(tmp_path / "ahp" / "signals.1.jsonl")
    log.write_text(json.dumps({"kind": "rotation", "timestamp": clock.iso(START + DAY), "genesis": "g"}) + "\n")
    assert _reads(tmp_path / "ahp", monkeypatch) == 1
    assert _reads(tmp_path / "ahp", monkeypatch, by="subject", rule="size", since=START + 100) == 0
    assert os.stat(state(tmp_path / "ahp")).st_mode & 0o777 == 0o600


def test_a_short_log_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    _log(tmp_path / "ahp")
    assert stats.collect(str(tmp_path / "ahp")).evaluations == 12
    assert not state(tmp_path / "ahp").exists()


def _edited(log: Path) -> None:
    log.write_text(log.read_text().replace("topic-1", "topic-9"))


def _cut(log: Path) -> None:
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-6]))


def _replaced(log: Path) -> None:
    log.write_text(log.read_text().replace('"id": "g"', '"id": "h"'))


def _rotated(log: Path) -> None:
    log.rename(log.parent / "signals.1.jsonl")
    log.write_text(json.dumps({"kind": "rotation", "timestamp": clock.iso(START), "genesis": "g"}) + "\n")


def _pruned(log: Path) -> None:
    _rotated(log)
    (log.parent / "signals.1.jsonl").unlink()


def _rewritten(log: Path) -> None:
    """An earlier line, by a program that writes another file of the same length in its place."""
    text = log.read_text().replace("topic-1", "topic-9", 1)
    (log.parent / "new").write_text(text)
    (log.parent / "new").rename(log)
    _append(log, kind="response", id="id3", action="dismiss", by="human:ann")


def _edited_before(log: Path) -> None:
    _rotated(log)
    stats.collect(str(log.parent))
    _edited(log.parent / "signals.1.jsonl")


@pytest.mark.parametrize("change", [_edited, _cut, _replaced, _pruned, _rewritten, _edited_before])
def test_a_log_whose_lines_changed_is_read_anew(tmp_path: Path, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path / "ahp")
    stats.collect(str(tmp_path / "ahp"))
    change(log)
    records = [line for path in log.parent.glob("signals*.jsonl") for line in path.read_text().splitlines()]
    assert _reads(tmp_path / "ahp", monkeypatch) >= len(records) - 1


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-9]),
        lambda path: path.write_bytes(b"rubbish\n" * 99),
        lambda path: _flip(path, 40),
        lambda path: _flip(path, -40),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), os.mkfifo(path)),
    ],
)
def test_what_is_kept_and_broken_counts_as_none(tmp_path: Path, damage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _log(tmp_path / "ahp")
    stats.collect(str(tmp_path / "ahp"))
    damage(state(tmp_path / "ahp"))
    assert _reads(tmp_path / "ahp", monkeypatch) == 26


def test_what_other_code_kept_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _log(tmp_path / "ahp")
    stats.collect(str(tmp_path / "ahp"))
    monkeypatch.setattr(kept, "_made", lambda: "another ahp")
    assert _reads(tmp_path / "ahp", monkeypatch) == 26


def test_where_nothing_can_be_written_the_log_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _log(tmp_path / "ahp")
    (tmp_path / "ahp" / "cache").write_text("in the way")
    assert [_reads(tmp_path / "ahp", monkeypatch) for _ in range(2)] == [26, 26]


def test_a_line_that_is_being_written_counts_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path / "ahp")
    stats.collect(str(tmp_path / "ahp"))
    _append(log, kind="bypass", change="c1", subject="main")
    log.write_bytes(log.read_bytes()[:-1])  # whole, but for its end
    assert [_reads(tmp_path / "ahp", monkeypatch, by="subject") for _ in range(2)] == [1, 1]
    with log.open("ab") as file:
        file.write(b"\n")
    assert [_reads(tmp_path / "ahp", monkeypatch, by="subject") for _ in range(2)] == [1, 0]


def test_the_last_line_of_an_earlier_file_counts_without_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(tmp_path / "ahp")
    _append(log, kind="bypass", change="c1", subject="main")
    log.write_bytes(log.read_bytes()[:-1])
    _rotated(log)
    assert [_reads(tmp_path / "ahp", monkeypatch, by="subject") for _ in range(2)] == [28, 0]


def test_names_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path / "ahp")
    told = {"kind": "signal", "hook": "pre-commit", "subject": "\udcff", "rule": "\ud800", "actor": "agent:\udc80"}
    _append(log, **told, id="\udcfe", intensity="prompt", declared="prompt", message="\udcfd")
    stats.collect(str(tmp_path / "ahp"))
    _append(log, kind="response", id="\udcfe", action="dismiss", by="human:ann")
    assert _reads(tmp_path / "ahp", monkeypatch, by="subject") == 1


_READ = """
import sys
from ahp.insight import kept, stats
kept.WORTH = 0
for _ in range(20):
    print(stats.collect(sys.argv[1], now=1e10))
"""


def test_several_processes_at_once(tmp_path: Path) -> None:
    log = _log(tmp_path / "ahp", 40)
    command = [sys.executable, "-c", _READ, str(tmp_path / "ahp")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for n in range(30):
        with log.open("a") as file:
            if n == 0:
                file.write("\n")
            file.write(json.dumps({"kind": "verdict", "timestamp": clock.iso(START + DAY), "policy": "p"}) + "\n")
        state(tmp_path / "ahp").unlink(missing_ok=n % 2 == 0) if state(tmp_path / "ahp").exists() else None
    for process in running:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and output.count("Stats(") == 20
    last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    assert last == str(anew(tmp_path / "ahp", now=1e10)[0])


def test_of_many_logs_each_is_kept_by_who_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        log = _log(tmp_path / "logs" / name)
        log.write_text(log.read_text().replace('"id": "g"', f'"id": "{name}"').replace('"id": "id', f'"id": "{name}'))
    from_ = [str(tmp_path / "logs")]
    before = stats.collect("", from_=from_, now=START + DAY)
    (tmp_path / "mine").mkdir()
    assert [stats.collect(str(tmp_path / "mine"), from_=from_, now=START + DAY) for _ in range(2)] == [before] * 2
    assert len([*(tmp_path / "mine" / "cache").iterdir()]) == 2
    assert not [*(tmp_path / "logs").rglob("cache")]
    assert _reads(tmp_path / "mine", monkeypatch, from_=from_) == 0
    monkeypatch.setattr(kept, "PLACE", "/elsewhere")
    assert _reads(tmp_path / "mine", monkeypatch, from_=from_) == 52
