"""The calls of a session, as the session's facts read them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from ahp.journal import session_calls
from ahp.system import clock, files
from ahp.system.errors import Timeout

from .calls import Stopped, taking


def test_what_is_noted_is_read_again(tmp_path: Path) -> None:
    folder = str(tmp_path / "ahp")
    call: dict[str, object] = {"native_name": "Write", "input": {"x": "\ud800"}, "writes": ["a", "b"]}
    session_calls.note(folder, "s", call, [], denied=False)
    session_calls.note(folder, "s", {"native_name": "Bash", "input": {}}, ["r/1"], denied=True)
    one, other = session_calls.read(folder, "s")
    assert (one.denied, one.rules, one.writes, one.digest) == (False, [], ["a", "b"], session_calls.digest_of(call))
    assert (other.denied, other.rules, other.writes) == (True, ["r/1"], []) and other.at >= one.at
    assert session_calls.read(folder, "another") == []
    assert (tmp_path / "ahp/sessions/s").stat().st_mode & 0o777 == 0o600


def test_torn_lines_and_lines_of_others_are_skipped(tmp_path: Path) -> None:
    folder = str(tmp_path)
    session_calls.note(folder, "s", {}, [], denied=True)
    path = tmp_path / "sessions" / "s"
    path.write_bytes(b"torn\n[1]\n[1, 2, 3, 4, 5]\n" + path.read_bytes() + b'[1, true, "x", [')
    assert [call.denied for call in session_calls.read(folder, "s")] == [True]


def test_what_a_session_is_to_be_told_is_told_once_whoever_comes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.Lock.__init__, "__defaults__", (0.0,))
    for comes in ("keeps", "takes"):
        for at in range(1, 12):
            folder, kept, told = str(tmp_path / f"{comes}-{at}"), ["first"], list[str]()

            def takes(folder: str = folder, told: list[str] = told) -> None:
                told.append(session_calls.take(folder, "s"))

            def keeps(folder: str = folder, kept: list[str] = kept) -> None:
                with contextlib.suppress(Timeout):
                    session_calls.keep(folder, "s", "second")
                    kept.append("second")

            session_calls.keep(folder, "s", "first")
            with taking(Stopped(at, takes if comes == "takes" else keeps)):
                told.append(session_calls.take(folder, "s"))
            told.append(session_calls.take(folder, "s"))
            assert sorted("\n".join(told).split()) == kept, (comes, at)


def test_of_a_long_session_the_last_calls_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_calls, "_LIMIT", 100)
    for _ in range(20):
        session_calls.note(str(tmp_path), "s", {}, [], denied=False)
    assert 0 < len(session_calls.read(str(tmp_path), "s")) < 3


TURN = {
    10.0: "begun",
    20.0: False,  # a call that runs until 30
    30.0: "called",
    40.0: True,  # one that is refused runs no time
    50.0: False,
    60.0: False,
    70.0: "called",
    80.0: "secret",
    90.0: "called",
    100.0: "ended",
    120.0: "begun",
}


def written(folder: Path, session: str, told: dict[float, object]) -> None:
    """A session as its lines tell it: a mark, or whether a call was refused."""
    (folder / "sessions").mkdir(exist_ok=True)
    lines = [[at, what, *([] if isinstance(what, str) else ["digest", [], []])] for at, what in told.items()]
    (folder / "sessions" / session).write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_what_changed_in_a_turn_while_no_call_ran_is_unexplained(tmp_path: Path) -> None:
    assert session_calls.unexplained(str(tmp_path), {"a": 1.0}) == []
    written(tmp_path, "s", TURN)
    times = {
        "before": 5,
        "thinking": 15,
        "call": 25,
        "refused": 45,
        "nested": 65,
        "still": 85,
        "last": 95,
        "person": 110,
    }
    found = session_calls.unexplained(str(tmp_path), {name: float(at) for name, at in times.items()})
    assert found == ["thinking", "refused", "last"]
    written(tmp_path, "other", {1.0: "begun", 94.0: False, 96.0: "called"})
    assert "last" not in session_calls.unexplained(str(tmp_path), {"last": 95.0})


def test_a_call_whose_end_nobody_tells_runs_for_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "s", {10.0: "begun", 20.0: False})
    for now, runs in ((21.0, True), (3619.0, True), (3621.0, False)):
        monkeypatch.setattr(clock, "now", lambda now=now: now)
        assert session_calls.is_one_running(str(tmp_path)) is runs
    written(tmp_path, "s", {10.0: "begun", 20.0: False, 22.0: "called"})
    monkeypatch.setattr(clock, "now", lambda: 23.0)
    assert not session_calls.is_one_running(str(tmp_path))
