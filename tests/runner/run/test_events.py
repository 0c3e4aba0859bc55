"""ahp.runner.run.events"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.run.events import EventLog, plain, read_events
from ahp.system.errors import AhpError


def test_events_are_numbered_lines_that_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "runs" / "1" / "events.jsonl")
    heard: list[dict[str, Any]] = []
    log = EventLog(path, (heard.append,))
    log("state", state="DONE", why="line\nbreak \ud800")
    log("other", value={"a": [1, None]})
    log.close()
    log.close()
    events = read_events(path)
    assert [(e["n"], e["event"]) for e in events] == [(1, "state"), (2, "other")]
    assert events[0]["why"] == "line\nbreak \ud800"
    assert heard == log.seen == events
    assert log.of("other")[0]["value"] == {"a": [1, None]}
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_torn_last_line_is_skipped_and_any_other_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "a"}\n{"event": "b"')
    assert [event["event"] for event in read_events(str(path))] == ["a"]
    for line in ("nonsense", "[]", '{"event": 1}'):
        path.write_text(f'{{"event": "a"}}\n{line}\n')
        with pytest.raises(AhpError, match=r"events\.jsonl:2"):
            read_events(str(path))


def test_missing_and_unwritable_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match="no events"):
        read_events(str(tmp_path / "none"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(AhpError, match="cannot write"):
        EventLog(str(tmp_path / "folder"))
    log = EventLog(str(tmp_path / "events.jsonl"))
    assert log._fd is not None
    os.close(log._fd)
    log._fd = os.open(tmp_path / "events.jsonl", os.O_RDONLY)
    with pytest.raises(AhpError, match="cannot write"):
        log("state")
    log.close()


def test_plain_is_what_json_can_hold() -> None:
    class Text(str):
        pass

    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    assert plain({1: (True, 1.5, float("nan"), {"a"}, Text("x"), Path("p"))}) == {
        "1": [True, 1.5, "nan", ["a"], "x", "p"]
    }
    assert "…" in str(plain(deep))
