"""A process that is killed, or whose calls fail, at any of its calls loses and tears nothing (design §7, §11).

The short form stops at some of the calls; AHP_TEST_FAULTS=all stops at every one, and has strace (with SQLite's calls,
too) do so where it is installed.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.journal.repair import differences
from ahp.journal.state import State
from ahp.journal.verify import verify

from . import work
from .calls import ALL, Real, take
from .written import VERDICT, records

STRIDE = 1 if ALL else 59
PROJECT = Path(__file__).resolve().parents[2]


class Faults:
    """Counts the calls of this process to the system, and does `fault` at one of them."""

    def __init__(self, at: int, fault: str, told: int) -> None:
        self.at, self.fault, self.made, self.told = at, fault, 0, told
        take(self.call)

    def call(self, name: str, real: Real, given: tuple[Any, ...], more: dict[str, Any]) -> Any:
        self.made += given[:1] != (self.told,)
        if self.made != self.at or given[:1] == (self.told,):
            return real(*given, **more)
        if self.fault == "killed before":
            os.kill(os.getpid(), signal.SIGKILL)
        if name in ("write", "pwrite") and self.fault in ("half written", "full"):
            real(given[0], given[1][: len(given[1]) // 2], *given[2:])
            if self.fault == "half written":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.fault in ("error", "full"):
            if name == "close":
                real(*given)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        result = real(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)
        return result


@pytest.fixture(scope="module", params=["first", "later"])
def before(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to begin in: without a log, or with one that has a state and an index.

    All modules are loaded then, so that a child makes no calls to import them.
    """
    other = tmp_path_factory.mktemp("loaded") / "ahp"
    told = os.open(os.devnull, os.O_WRONLY)
    work.run(str(other), told)
    os.close(told)
    return other if request.param == "later" else other.parent / "none"


def copied(before: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if before.exists():
        shutil.copytree(before, folder)
        (folder / "index").unlink()  # a copy has other inodes
        with State.open(Journal(str(folder))):
            pass


def forked(folder: Path, told: Path, at: int, fault: str) -> tuple[int, int]:
    """How a child with a fault at its call `at` ended, and how many calls it made when it came to its end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            out = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            faults = Faults(at, fault, out)
            try:
                work.run(str(folder), out)
            finally:
                faults.at = -1
            os.write(writing, str(faults.made).encode())
            code = 0
        except BaseException:  # noqa: BLE001  # this process ends here
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    made = os.read(reading, 20)
    os.close(reading)
    return status, int(made or b"0")


def sound(folder: Path, told: Path) -> None:
    """Nothing that was promised is lost, nothing is told twice, and index and state say what the log says."""
    journal = Journal(str(folder))
    journal.append([VERDICT])
    assert verify(journal).problems == []
    kept = Counter(record["id"] for record in records_of(journal) if record.get("kind") == "signal")
    assert set(told.read_text().split()) <= set(kept)
    assert set(kept.values()) <= {1}
    assert differences(journal) == []
    with State.open(journal) as state:
        assert {key for key in state.store.open_keys() if state.episode(key)} <= journal.index().keys
    leftovers = [name for name in os.listdir(folder) if name.endswith(".tmp") and name.startswith("signals.next")]
    assert len(leftovers) <= 1, leftovers
    journal.close()


def records_of(journal: Journal) -> list[dict[str, Any]]:
    return [record for line in segments.backward(journal.folder) if (record := line.record())]


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("fault", ["killed before", "killed after", "half written", "error", "full"])
def test_a_fault_at_any_call_loses_and_tears_nothing(before: Path, tmp_path: Path, fault: str) -> None:
    folder, told = tmp_path / "ahp", tmp_path / "told"
    copied(before, folder)
    status, calls = forked(folder, told, 0, "")
    assert (status, calls > 60) == (0, True)
    assert len(told.read_text().split()) == work.ROUNDS
    sound(folder, told)
    ended = Counter[int]()
    for at in range(1 + len(fault) % STRIDE, calls + 1, STRIDE):
        copied(before, folder)
        status, _ = forked(folder, told, at, fault)
        ended[os.waitstatus_to_exitcode(status)] += 1
        try:
            sound(folder, told)
        except AssertionError as error:
            raise AssertionError(f"{fault} at call {at} of {calls}") from error
    assert set(ended) <= {0, -signal.SIGKILL}, ended
    if fault.startswith("killed") or ALL:
        assert (ended[-signal.SIGKILL] > 0) is (fault in ("killed before", "killed after", "half written"))


@pytest.mark.no_cover
@pytest.mark.parametrize("writers", [32])
def test_many_writers_lose_and_tear_nothing_over_rotations(tmp_path: Path, writers: int) -> None:
    folder, each = str(tmp_path / "ahp"), 400 if ALL else 12
    children = []
    for writer in range(writers):
        child = os.fork()
        if child == 0:
            journal = Journal(folder, rotate_at=20_000)
            for nth in range(each):
                record = work.signal(f"rule-{writer}", id=f"{writer}-{nth}")
                while True:
                    try:
                        journal.append([record], durable=nth % 10 == 0)
                        break
                    except JournalUnwritable as error:
                        if "held by" not in str(error):
                            os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * writers
    journal = Journal(folder)
    assert verify(journal).problems == []
    written = [r["id"] for r in records(journal) if r["kind"] == "signal"]
    for writer in range(writers):
        mine = [id for id in written if str(id).startswith(f"{writer}-")]
        assert mine == [f"{writer}-{nth}" for nth in range(each)]
    assert len(journal.index().keys) == writers
    assert differences(journal) == []


@pytest.mark.skipif(not (ALL and shutil.which("strace")), reason="AHP_TEST_FAULTS=all, and strace")
@pytest.mark.parametrize("fault", ["signal=SIGKILL", "error=EIO", "error=ENOSPC"])
def test_a_fault_at_any_system_call_on_the_files_loses_and_tears_nothing(
    before: Path, tmp_path: Path, fault: str
) -> None:
    folder, told = tmp_path / "ahp", tmp_path / "told"
    names = ["", "/signals.jsonl", "/signals.1.jsonl", "/signals.2.jsonl", "/signals.3.jsonl", "/signals.next.jsonl"]
    names += ["/index", "/state.db", "/state.db-wal", "/state.db-shm", "/state.db-journal", "/counts"]
    names += ["/signals.lock", "/counts.lock"]
    paths = [word for name in names for word in ("-P", f"{folder}{name}")]

    def traced(*how: str) -> tuple[int, int]:
        copied(before, folder)
        trace = tmp_path / "trace"
        argv = ["strace", "-qq", "-o", str(trace), *paths, *how]
        argv += [sys.executable, "-m", "tests.journal.work", str(folder)]
        with told.open("wb") as out:
            code = subprocess.run(argv, cwd=PROJECT, stdout=out, stderr=subprocess.PIPE, check=False).returncode
        return code, len(trace.read_text().splitlines())

    code, calls = traced()
    assert (code, calls > 150) == (0, True)
    for at in range(1, calls + 1):
        code, _ = traced("-e", f"inject=all:{fault}:when={at}")
        assert code in (0, -signal.SIGKILL, 128 + signal.SIGKILL), f"{fault} at system call {at} of {calls}: {code}"
        try:
            sound(folder, told)
        except AssertionError as error:
            raise AssertionError(f"{fault} at system call {at} of {calls}") from error
