"""ahp.runner.run.events"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog, plain, read_events
from ahp.runner.scripted import AnyArgs, ScriptedModel
from ahp.runner.tools.tool import FunctionTool, tool
from ahp.system.errors import AhpError
from tests.conftest import Repo
from tests.runner.runs import call, nowhere
from tests.runner.scripted_gate import ScriptedGate


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


def test_what_a_power_cut_must_not_take_back_is_on_the_disk_before_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run" / "events.jsonl"
    synced: list[int] = []

    def fsync(fd: int) -> None:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            synced.append(os.fstat(fd).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    at_work: list[tuple[int, int]] = []

    def look(args: Any, context: Any) -> str:
        at_work.append((synced[-1], path.stat().st_size))
        return "seen"

    log = EventLog(str(path))
    config = AgentConfig(enable_planning=False)
    tool = FunctionTool("look", "looks", AnyArgs, look)
    Agent(ScriptedModel([call(), "done"]), [tool], gate=ScriptedGate(), config=config, root=nowhere(), events=log).run(
        "t"
    )
    log.close()
    # Right before the tool works the disk has that it may have; behind it, that it has.
    assert at_work[0][0] == at_work[0][1]
    ends = {}
    size = 0
    for line in path.read_bytes().splitlines(keepends=True):
        size += len(line)
        ends[json.loads(line)["event"]] = size
    assert {ends["run_start"], ends["tool_result"], ends["answered"], ends["run_end"]} <= set(synced)


def test_a_disk_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EventLog(str(tmp_path / "run" / "events.jsonl"))

    def fsync(fd: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(AhpError, match="cannot be kept on the disk: Input/output error"):
        log("run_start")
    log.close()


def test_an_agent_writes_one_run_into_a_log_that_it_was_given() -> None:
    agent = Agent(ScriptedModel(["one", "two"]), gate=ScriptedGate(), root=nowhere(), events=EventLog())
    agent.config = AgentConfig(enable_planning=False)
    assert agent.run("a").ok
    with pytest.raises(AhpError, match="hold a run already"):
        agent.run("b")


def test_a_person_reads_that_the_events_of_a_run_were_removed(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "events.jsonl"

    def removes() -> str:
        path.unlink()
        return "removed"

    log = EventLog(str(path))
    config = AgentConfig(enable_planning=False)
    tools = [tool(name="look", kind="read")(removes)]
    model = ScriptedModel([call(), "done"])
    try:
        turn = Agent(model, tools, gate=ScriptedGate(), config=config, root=nowhere(), events=log).run("it")
    finally:
        log.close()
    assert turn.ok
    assert turn.notes == ["The events of this run were removed while it went on: it can be neither shown nor resumed."]
    assert not EventLog().removed


def test_the_events_of_a_run_in_a_project_are_none_of_its_files(repo: Repo) -> None:
    EventLog(str(repo.root / "runs" / "1" / "events.jsonl")).close()
    (repo.root / "mine").mkdir()
    EventLog(str(repo.root / "mine" / "events.jsonl")).close()
    EventLog(str(repo.root / ".git" / "ahp" / "runs" / "1" / "events.jsonl")).close()
    assert repo.git("status", "--short").split() == ["??", "mine/"]
    assert not (repo.root / ".git" / "ahp" / "runs" / "1" / ".gitignore").exists()
