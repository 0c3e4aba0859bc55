from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ahp.insight import reading
from ahp.journal.append import Journal
from ahp.journal.decoding import decode
from ahp.system import clock, jsontext
from ahp.system.errors import AhpError
from ahp.system.terminal import unseen
from tests.journal.story import DAY, START, Story


def stamps(folder: str, since: float | None = None) -> list[str]:
    return [str(record["timestamp"])[:10] for record in reading.records(folder, since)]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=1))
    for _ in range(4):
        story.signal()
        story.now += 10 * DAY
    return story


def test_all_files_are_read_in_order(story: Story) -> None:
    found = stamps(story.journal.folder)
    assert found == sorted(found)
    assert len(set(found[1:])) == 4


def test_files_that_can_tell_nothing_of_the_time_asked_for_are_not_read(story: Story) -> None:
    assert clock.iso(START)[:10] in stamps(story.journal.folder, START + 20 * DAY)
    assert clock.iso(START)[:10] not in stamps(story.journal.folder, START + 30 * DAY)
    assert stamps(story.journal.folder, START + 400 * DAY)


def test_what_is_remembered_for_longer_is_read_for_longer(story: Story) -> None:
    story.signal(forget_after=60 * DAY)
    assert clock.iso(START)[:10] in stamps(story.journal.folder, START + 40 * DAY)


def test_progress_ends_with_all_bytes(story: Story) -> None:
    told: list[tuple[int, int]] = []
    list(reading.records(story.journal.folder, seen=lambda done, total: told.append((done, total))))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] == sum(p.stat().st_size for p in Path(story.journal.folder).glob("*.jsonl"))


def test_a_file_that_is_rotated_meanwhile_is_read_once(tmp_path: Path) -> None:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=1 << 30))
    story.signal()
    records = reading.records(story.journal.folder)
    first = next(records)
    story.journal.rotate_at = 1
    story.signal()
    assert [r["kind"] for r in (first, *records)][:2] == ["genesis", "signal"]


def test_no_log_has_no_records_and_a_newer_one_is_refused(tmp_path: Path) -> None:
    assert list(reading.records(str(tmp_path))) == []
    (tmp_path / "signals.jsonl").write_text('{"kind": "genesis", "format": 99, "ahp": "9.0"}\n')
    with pytest.raises(AhpError, match=r"written by ahp 9\.0.*upgrade ahp"):
        list(reading.records(str(tmp_path)))


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 1, "b": [1.5, null, true]}',
        b'{"a": "caf\xc3\xa9", "b": "\\ud83d\\ude00"}',
        b'{"a": "lone \\udc80"}',
        b'{"a": "bytes \xff"}',
        b'{"a": NaN}',
        b'{"a": 1} x',
        b'{"a": "torn',
        b"",
        b"[1]",
        b'{"a": 1, "a": 2}',
    ],
)
def test_a_line_is_read_as_the_rest_of_ahp_reads_it(line: bytes) -> None:
    try:
        known = jsontext.decode(line.decode())
    except ValueError:
        known = None
    assert decode(line) == (known if isinstance(known, dict) else None)


def test_a_log_is_read_without_orjson_too(story: Story) -> None:
    code = (
        "import json, sys; sys.modules['orjson'] = None\n"
        "from ahp.insight import reading; print(json.dumps([*reading.records(sys.argv[1])]))"
    )
    done = subprocess.run([sys.executable, "-c", code, story.journal.folder], capture_output=True, check=True)
    told = [*reading.records(story.journal.folder)]
    assert json.loads(done.stdout) == told and told


def test_a_file_that_is_rotated_before_its_length_is_looked_at_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=1 << 30))
    for _ in range(5):
        story.signal()
    files = reading.files(story.journal.folder)
    story.journal.rotate_at = 1
    story.signal()
    monkeypatch.setattr(reading, "files", lambda folder, since=None: files)
    assert [r["kind"] for r in reading.records(story.journal.folder)].count("signal") >= 5


def test_a_file_that_is_pruned_or_cut_meanwhile_is_told(story: Story, caplog: pytest.LogCaptureFixture) -> None:
    listed = reading.files(story.journal.folder)
    sizes = [*map(reading.length_of, listed)]
    Path(listed[1].path).unlink()
    Path(listed[2].path).write_bytes(Path(listed[2].path).read_bytes()[: sizes[2] // 2])
    lines = [line for block in reading.blocks_of(listed, sizes, unseen) for line in block]
    assert len(lines) < len([*reading.records(story.journal.folder)]) + 2
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith(f"ahp: {listed[1].path} was removed or cut while the log was read")
    assert listed[2].path in second
