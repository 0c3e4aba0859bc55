"""ahp.system.descendants: nothing that a call started outlives it"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.system import descendants, process
from ahp.system.descendants import MARK, Descendants

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="orphans come to a reaper on Linux only")
_WAIT = "while [ ! -s pid ]; do sleep 0.01; done"
# Each writes the id of a sleep to `pid` and ends before it.
LEFT_BEHIND = {
    "background": "sleep 600 & echo $! > pid",
    "subshell": "( sleep 600 & echo $! > pid )",
    "session": f"setsid sh -c 'echo $$ > pid; exec sleep 600' & {_WAIT}",
    "bare environment": f"env -i PATH=$PATH setsid sh -c 'echo $$ > pid; exec sleep 600' & {_WAIT}",
    "ignores signals": "trap '' TERM HUP INT; sleep 600 & echo $! > pid",
}


NAMES = (["sleep"], ["sh"], ["setsid"])  # it may be seen before it has become a sleep


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it went meanwhile; or this system has no /proc
        return not os.path.exists("/proc/self")


def run(command: str, folder: Path) -> int:
    """Runs a command to its end without the process door; the id that it wrote."""
    subprocess.run(["sh", "-c", command], cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return int((folder / "pid").read_text())


@pytest.fixture(autouse=True)
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(MARK, "test")
    yield


@LINUX
@pytest.mark.parametrize("command", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_what_a_command_left_behind_is_ended(tmp_path: Path, command: str) -> None:
    with Descendants("test") as left:
        pid = run(command, tmp_path)
        assert alive(pid)
        assert left.sweep() in NAMES
        assert not alive(pid)
        assert left.sweep() == []


@LINUX
def test_the_end_of_a_run_ends_it_too(tmp_path: Path) -> None:
    with Descendants("test"):
        pid = run(LEFT_BEHIND["session"], tmp_path)
    assert not alive(pid)


@LINUX
def test_what_was_there_before_and_what_is_held_is_left_alone(tmp_path: Path) -> None:
    before = subprocess.Popen(["sleep", "600"])
    holder: list[subprocess.Popen[bytes]] = []
    with Descendants("test") as left:
        ready, go = threading.Event(), threading.Event()

        def hold() -> None:
            holder.append(subprocess.Popen(["sleep", "600"]))
            ready.set()
            go.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        ready.wait()
        assert left.sweep() == []
        assert alive(holder[0].pid)
        assert len(left.sweep(thread)) == 1
        assert not alive(holder[0].pid)
        go.set()
        thread.join()
    assert alive(before.pid)
    before.kill()
    before.wait()


@LINUX
@pytest.mark.parametrize(("mark", "ended"), [("test", True), ("another", False)])
def test_beside_the_main_thread_only_the_mark_tells_whose_an_orphan_is(tmp_path: Path, mark: str, ended: bool) -> None:
    pids: list[int] = []

    def work() -> None:
        with Descendants(mark):
            pids.append(run(LEFT_BEHIND["session"], tmp_path))

    thread = threading.Thread(target=work)
    with Descendants("outer"):
        thread.start()
        thread.join()
        assert alive(pids[0]) is not ended
    assert not alive(pids[0])


@LINUX
def test_what_another_one_has_started_is_left_to_it(tmp_path: Path) -> None:
    with Descendants("test"), Descendants("another") as other:
        pid = run(LEFT_BEHIND["session"], tmp_path)
        assert other.sweep() == []
        assert alive(pid)
    assert not alive(pid)


@LINUX
def test_the_end_of_one_takes_no_orphans_from_another(tmp_path: Path) -> None:
    first, second = Descendants("another"), Descendants("test")
    first.__enter__()
    with second:
        first.__exit__(None, None, None)
        pid = run(LEFT_BEHIND["session"], tmp_path)
        assert second.sweep() in NAMES
        assert not alive(pid)


@LINUX
def test_who_reaps_orphans_is_as_before() -> None:
    former = descendants._reaper(descendants._GET_SUBREAPER)
    with Descendants("test"):
        assert descendants._reaper(descendants._GET_SUBREAPER)
    assert descendants._reaper(descendants._GET_SUBREAPER) is former


def test_without_proc_the_environment_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, f"mark-{tmp_path.name}")
    left = Descendants(f"mark-{tmp_path.name}")
    left._linux = False
    with left:
        pid = run(LEFT_BEHIND["session"], tmp_path)
        assert len(left.sweep()) == 1
    assert not alive(pid)


def test_the_process_door_knows_what_it_waits_for(tmp_path: Path) -> None:
    said: list[object] = []

    def work() -> None:
        said.append(process.capture(["sh", "-c", "echo $$ > pid; sleep 600"], cwd=str(tmp_path), timeout=60).code)

    thread = threading.Thread(target=work)
    thread.start()
    while not process.running() or not (tmp_path / "pid").exists():
        pass
    process.kill_started_by(0)
    assert process.running()
    process.kill_started_by(thread.ident or 0)
    thread.join()
    assert said == [137]
    assert not process.running()


def test_a_mark_within_a_run_begins_with_the_run_s() -> None:
    left, env = descendants.ending({"A": "1", MARK: "outer"})
    assert env["A"] == "1" and env[MARK].startswith("outer.")
    assert descendants.ending({MARK: "outer"})[1] != env
    assert left._mark == env[MARK]
    assert "." not in descendants.ending({})[1][MARK]


@LINUX
def test_the_run_around_ends_what_has_a_mark_within_it(tmp_path: Path) -> None:
    command = f"{MARK}=test.inner setsid sh -c 'echo $$ > pid; exec sleep 600' & {_WAIT}"
    found: list[int] = []

    def work() -> None:  # in another thread than the first only the mark tells
        with Descendants("test"):
            found.append(run(command, tmp_path))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not alive(found[0])
