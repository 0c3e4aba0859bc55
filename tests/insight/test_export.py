"""`ahp log export`: every record, in forms that other programs read."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from ahp.cli import log as command
from ahp.insight import export, many_logs
from ahp.system import clock, digest
from ahp.system.errors import AhpError

from .copies import Lines
from .random_log import START

DAY = 86400.0


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lines:
    told = {
        "kind": "signal",
        "hook": "pre-commit",
        "rule": "size",
        "intensity": "block",
        "subject": "=cmd|'/c calc'!A0",
    }
    told |= {
        "actor": "human:é\udc80",
        "forget_after": 90 * DAY,
        "message": 'a "word", and more',
        "ms": 1.5,
        "shadow": True,
    }
    records = [{**told, "timestamp": clock.iso(START + n * DAY), "id": f"{n}"} for n in range(4)]
    made = Lines("g", records, [{"torn": 3, "rotates": False}, {"torn": 0, "rotates": True}])
    made.to_folder(tmp_path / ".ahp")
    monkeypatch.chdir(tmp_path)
    return made


def exported(*arguments: str) -> str:
    done = CliRunner().invoke(command.command, ["export", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_json_lines_are_those_of_the_log_with_its_name(lines: Lines) -> None:
    found = [json.loads(line) for line in exported().splitlines()]
    assert found == [{**record, "log": "g"} for record in lines.records]


def test_what_is_no_file_or_ahps_own_is_not_replaced(lines: Lines, tmp_path: Path) -> None:
    log = tmp_path / ".ahp" / "signals.jsonl"
    before = log.read_bytes()
    (tmp_path / "link.jsonl").symlink_to("elsewhere")
    (tmp_path / "folder").symlink_to(".ahp")
    for form in ("jsonl", "parquet"):
        for place in ("/dev/null", "link.jsonl", ".", ".ahp/signals.jsonl", ".ahp/index", "folder/signals.lock"):
            done = CliRunner().invoke(command.command, ["export", "--format", form, "-o", place])
            said = str(done.exception) + done.output
            assert "and no regular file" in said or "would be among the files of the log" in said
    assert (log.read_bytes(), sorted(path.name for path in tmp_path.iterdir())) == (
        before,
        [".ahp", "folder", "link.jsonl"],
    )


def test_a_log_record_has_the_line_and_what_is_asked_for_most(lines: Lines) -> None:
    told = [export.told("g", json.dumps(record).encode(), record) for record in lines.records]
    assert [json.loads(one.body) for one in told] == lines.records
    last = told[-1]
    assert (last.nanoseconds, last.severity) == (int((START + 3 * DAY) * 1e9), "ERROR")
    assert (last.attributes["ahp.rule"], last.attributes["ahp.n"]) == ("size", len(lines.records))
    assert (last.attributes["ahp.ms"], last.attributes["ahp.shadow"]) == (1.5, True)
    assert len({one.attributes["log.record.uid"] for one in told}) == len(lines.records)


def test_what_the_protocol_cannot_hold_does_not_stop_the_rest(tmp_path: Path) -> None:
    times = ("9999-12-31T00:00:00.000Z", "1950-01-01T00:00:00.000Z", clock.iso(START))
    for time in times:
        raw = json.dumps({"kind": "\ud800", "timestamp": time, "n": "\ud800" * 9}).encode()
        told = export.told("g", raw, json.loads(raw))
        assert told.nanoseconds == (START * 1e9 if time == times[-1] else 0)
        assert told.event == "ahp.\\ud800" and told.attributes[export.UID] == f"g::{digest.sha256(raw)[:16]}"


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_an_export_is_read_as_the_log_is(lines: Lines, form: str, tmp_path: Path) -> None:
    path = tmp_path / "out" / f"log.{form}"
    path.parent.mkdir()
    assert exported("--format", form, "-o", str(path)) == ""
    assert [record for _, record in many_logs.records([str(path)])] == lines.records
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_what_cannot_be_written_is_told(lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AhpError, match=r"cannot write .*none/a: No such file"):
        exported("-o", str(tmp_path / "none" / "a"))
    (tmp_path / "out").mkdir()
    with monkeypatch.context() as patch:
        for name in ("unlink", "replace"):
            patch.setattr(os, name, _read_only)
        for form in ("jsonl", "parquet"):
            with pytest.raises(AhpError, match=r"cannot write .*out/a: Read-only file system"):
                exported("--format", form, "-o", str(tmp_path / "out" / "a"))
    refused = CliRunner().invoke(command.command, ["export", "--format", "parquet"])
    assert refused.exit_code == 2
    assert "-o FILE" in refused.output


def _read_only(*given: object, **more: object) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_what_duckdb_says_is_told_in_one_line(lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_MEMORY", "1MB")
    with pytest.raises(AhpError, match=r"cannot write .*a\.parquet: Out of Memory") as caught:
        exported("--format", "parquet", "-o", str(tmp_path / "a.parquet"))
    assert "\n" not in str(caught.value) and not [*tmp_path.glob("a.parquet*")]


def test_without_a_log_there_is_nothing_to_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AhpError, match="no log yet"):
        exported()
    (tmp_path / ".ahp").mkdir()
    (tmp_path / ".ahp" / "signals.jsonl").write_text('{"kind": "verdict"}\n')
    with pytest.raises(AhpError, match="its beginning, which names it, is missing: ahp log verify"):
        exported()
