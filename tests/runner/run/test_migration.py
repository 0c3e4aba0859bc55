"""ahp.runner.run.migration: a run that a former version of ahp began"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.run import migration
from ahp.runner.run.events import VERSION, EventLog, read_events
from ahp.runner.run.restored_run import RestoredRun
from ahp.system.errors import AhpError
from tests.runner.run.test_resume import direct
from tests.runner.runs import call

ADDED = {"run_start": ("policy",), "run_resume": ("version", "changed"), "tool_call": ("id", "left")}


def of_version_2(event: dict[str, Any]) -> dict[str, Any]:
    """The event as version 2 wrote it."""
    kept = {name: value for name, value in event.items() if name not in ADDED.get(event["event"], ())}
    return {**kept, "version": 2} if event["event"] == "run_start" else kept


def written(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_run_of_version_2_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    direct(path, call(n=1))
    old = [of_version_2(event) for event in read_events(str(path)) if event["event"] != "snapshot"]
    written(path, old)
    _, _, ran = direct(path, call(n=2), resumes=True)  # and stops again
    assert ran == [2]
    turn, model, _ = direct(path, "done", resumes=True)
    assert (turn.stop_reason, len(model.requests)) == ("DONE", 1)
    assert [event.get("version") for event in read_events(str(path)) if event["event"] in ADDED][:1] == [2]
    resumed = [event["version"] for event in read_events(str(path)) if event["event"] == "run_resume"]
    assert resumed == [VERSION, VERSION]


def test_a_run_of_version_2_that_it_resumed_itself_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    direct(path, call(n=1))
    direct(path, call(n=2), resumes=True)
    written(path, [of_version_2(event) for event in read_events(str(path)) if event["event"] != "snapshot"])
    assert RestoredRun(read_events(str(path))).requests == 4
    assert direct(path, "done", resumes=True)[0].ok


@pytest.mark.parametrize(
    ("version", "said"),
    [(VERSION + 1, "of a newer ahp; resume it with that one"), (1, "of another ahp$"), ("x", "of another ahp$")],
)
def test_a_run_of_an_unknown_version_is_not_resumed(tmp_path: Path, version: object, said: str) -> None:
    path = tmp_path / "run" / "events.jsonl"
    direct(path, call(n=1))
    first, *rest = read_events(str(path))
    written(path, [{**first, "version": version}, *rest])
    before = path.read_bytes()
    with pytest.raises(AhpError, match=said):
        direct(path, "done", resumes=True)
    assert path.read_bytes() == before


def test_every_version_but_the_last_has_a_way_to_the_next() -> None:
    assert sorted(migration._STEPS) == list(range(min(migration._STEPS), VERSION))
    assert migration.upgraded({"event": "tool_call"}, VERSION) == {"event": "tool_call"}


def test_a_log_that_holds_a_run_takes_no_other_one(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    direct(path, "done")
    before = path.read_bytes()
    with pytest.raises(AhpError, match="holds a run already: resume that"):
        EventLog(str(path))
    assert path.read_bytes() == before
    EventLog(str(path), resumes=True).close()  # the refused one has left it
