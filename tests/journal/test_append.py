"""Appending survives whatever happens to writer, disk, clock and files (issue 4; design §7, §11)."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.system import digest

from .written import PROMPT, VERDICT, assert_chained, raw, records

LIGHT = {"sys", "posix", "time", "errno", "_signal", "_json", "_sha256", "_sha2", "_thread"}


def test_the_first_append_begins_the_log_with_a_genesis_record(journal: Journal) -> None:
    journal.append([VERDICT])
    genesis, verdict = records(journal)
    assert (genesis["kind"], genesis["prev"], "replaces" in genesis) == ("genesis", None, False)
    assert verdict["prev"] == digest.tagged(raw(journal)[0])
    assert journal.index().genesis == genesis["id"]
    assert os.stat(journal.log_path).st_mode & 0o777 == 0o600


def test_keys_keep_their_order_and_prev_comes_last(journal: Journal) -> None:
    journal.append([{"timestamp": "2026-02-09T10:00:00.000Z", **VERDICT}])
    journal.append([{"timestamp": "2099-02-09T10:00:00.000Z", **VERDICT}])
    assert list(records(journal)[-1]) == ["timestamp", *VERDICT, "n", "prev"]
    assert records(journal)[-1]["timestamp"] == "2099-02-09T10:00:00.000Z"


def test_time_never_runs_back(journal: Journal) -> None:
    journal.append([{"timestamp": "2090-01-01T00:00:00.500Z", **VERDICT}])
    journal.append([{"timestamp": "2001-01-01T00:00:00Z", **VERDICT}])
    journal.append([VERDICT])
    journal.append([{"timestamp": "2090-01-01T00:00:01Z", **VERDICT}])
    stamps = [record["timestamp"] for record in records(journal)[1:]]
    assert stamps == ["2090-01-01T00:00:00.500Z"] * 3 + ["2090-01-01T00:00:01Z"]


def test_the_ends_of_episodes_come_before_the_rest_of_an_attempt(journal: Journal) -> None:
    journal.append([VERDICT, {**PROMPT, "kind": "episode-end"}, {**PROMPT, "rule": "other/1"}])
    assert [record["kind"] for record in records(journal)[1:]] == ["episode-end", "verdict", "signal"]


def test_nothing_to_append_writes_nothing(journal: Journal) -> None:
    journal.append([])
    assert not os.path.exists(journal.folder)


@pytest.mark.parametrize("cut", [1, 2, 30, 200])
def test_after_a_torn_line_the_next_record_starts_a_fresh_one(journal: Journal, cut: int) -> None:
    journal.append([PROMPT])
    journal.append([VERDICT])
    with open(journal.log_path, "r+b") as log:
        log.truncate(os.path.getsize(journal.log_path) - cut)
    tail = raw(journal)[-1]
    journal.append([VERDICT])
    written = raw(journal)
    told = [] if cut == 1 else [(3, "cut")]  # the index knew a whole line there
    assert written[-2 - len(told)] == tail
    assert json.loads(written[-1 - len(told)])["prev"] == digest.tagged(tail)
    assert [(record["had"], record["kind"]) for record in map(json.loads, written[-1 - len(told) : -1])] == told
    assert journal.index().has_open("commit", "main", "agent")
    assert_chained(journal)


def test_a_folder_removed_under_a_long_run_is_made_again(journal: Journal) -> None:
    journal.append([VERDICT])
    shutil.rmtree(journal.folder)
    journal.append([PROMPT])
    shutil.rmtree(journal.folder)
    journal.count("pre-tool-use", "agent")
    journal.append([PROMPT])
    assert [record["kind"] for record in records(journal)] == ["genesis", "signal"]


def test_a_short_write_is_completed(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append([VERDICT])
    write = os.write
    monkeypatch.setattr("ahp.journal.append.posix.write", lambda fd, data: write(fd, data[:7]))
    journal.append([VERDICT])
    monkeypatch.undo()
    assert_chained(journal)
    assert len(records(journal)) == 3


def test_a_full_disk_is_told_and_the_next_record_starts_a_fresh_line(journal: Journal) -> None:
    journal.append([VERDICT])
    size = os.path.getsize(journal.log_path)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, size + 50))
        try:
            journal.append([PROMPT])
        except JournalUnwritable as error:
            os._exit(42 if "after 50 of" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    assert os.path.getsize(journal.log_path) == size + 50
    journal.append([PROMPT])
    assert journal.index().has_open("commit", "main", "agent")
    assert [line.record() is None for line in segments.backward(journal.folder)] == [False, True, False, False]
    assert_chained(journal)


def test_a_read_only_folder_refuses_records_and_still_tells_what_is_open(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([PROMPT])
    os.unlink(journal.index_path)

    def refuse(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, mode)

    opened = os.open
    monkeypatch.setattr("ahp.system.files.posix.open", refuse)  # a folder's mode does not stop root
    other = Journal(journal.folder)
    with pytest.raises(JournalUnwritable, match="Permission denied"):
        other.append([VERDICT])
    with pytest.raises(JournalUnwritable, match="Permission denied"):
        other.count("pre-tool-use", "agent")
    assert other.index().has_open("commit", "main", "agent")
    assert other.index().torn is False


@pytest.mark.skipif(os.getuid() == 0, reason="root writes where the mode forbids it")
def test_a_folder_without_write_permission_refuses_records(journal: Journal) -> None:
    journal.append([PROMPT])
    os.chmod(journal.folder, 0o500)
    os.chmod(journal.log_path, 0o400)
    try:
        with pytest.raises(JournalUnwritable):
            Journal(journal.folder).append([VERDICT])
    finally:
        os.chmod(journal.folder, 0o700)


@pytest.mark.parametrize("what", ["directory", "fifo", "link", "folder is a file"])
def test_what_is_no_log_is_refused_at_once(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "ahp"
    if what == "folder is a file":
        folder.write_text("")
    else:
        folder.mkdir()
        log = folder / "signals.jsonl"
        {"directory": log.mkdir, "fifo": lambda: os.mkfifo(log), "link": lambda: log.symlink_to("/dev/null")}[what]()
    with pytest.raises(JournalUnwritable):
        Journal(str(folder)).append([VERDICT])


@pytest.mark.slow
def test_a_held_lock_is_waited_for_and_then_refused(journal: Journal) -> None:
    journal.append([VERDICT])
    with Journal(journal.folder).lock, pytest.raises(JournalUnwritable, match="held"):
        journal.append([VERDICT])
    journal.append([VERDICT])
    assert len(records(journal)) == 3


def test_an_index_that_never_fits_gives_up(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "fitting", lambda self: None)
    with pytest.raises(JournalUnwritable, match="faster than"):
        journal.append([VERDICT])


def test_a_record_that_is_no_json_leaves_the_log_as_it_was(journal: Journal) -> None:
    journal.append([VERDICT])
    with pytest.raises(ValueError, match="JSON"):
        journal.append([{**VERDICT, "facts": {"x": float("nan")}}])
    journal.append([VERDICT])
    assert len(records(journal)) == 3
    assert_chained(journal)


def test_durable_records_are_synced_after_the_lock(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []

    def fsync(fd: int) -> None:
        with Journal(journal.folder).lock:
            synced.append(os.path.samestat(os.fstat(fd), os.stat(journal.log_path)))

    monkeypatch.setattr("ahp.journal.append.posix.fsync", fsync)
    journal.append([VERDICT])
    journal.append([PROMPT], durable=True)
    assert synced == [True]


def test_a_failing_sync_is_told(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(fd: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("ahp.journal.append.posix.fsync", fsync)
    with pytest.raises(JournalUnwritable, match="Input/output"):
        journal.append([PROMPT], durable=True)


def test_files_that_fail_to_close_end_no_process_with_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, told = os.close, []

    def close(fd: int) -> None:
        real(fd)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "unraisablehook", told.append)
    journal = Journal(str(tmp_path / "ahp"))
    journal.append([PROMPT])
    with monkeypatch.context() as patch:
        patch.setattr("posix.close", close)
        journal.append([PROMPT], durable=True)
        del journal
    assert not told


def test_clean_tool_calls_are_entries_of_one_size(journal: Journal) -> None:
    journal.count("pre-tool-use", "agent", "some session\udcff")
    journal.count("x" * 100, "agent")
    data = Path(journal.counts_path).read_bytes()
    assert len(data) == 400
    assert [len(line) for line in data.split(b"\n")] == [199, 199, 0]
    assert not os.path.exists(journal.log_path)


def _python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code, *arguments], stdout=subprocess.PIPE)


PRELUDE = f"""
import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
"""


def test_eight_writers_lose_and_tear_nothing(tmp_path: Path) -> None:
    folder = str(tmp_path / "ahp")
    code = (
        PRELUDE
        + """
journal = Journal(sys.argv[1], rotate_at=20000)
for n in range(60):
    record = {"kind": "signal", "hook": "pre-commit", "rule": sys.argv[2], "id": f"{sys.argv[2]}-{n}", "actor": "human"}
    while True:
        try:
            journal.append([record, {**record, "kind": "verdict"}])
            break
        except JournalUnwritable as error:
            if "held by" not in str(error):
                raise
"""
    )
    writers = [_python(code, folder, str(n)) for n in range(8)]
    assert [writer.wait() for writer in writers] == [0] * 8
    journal = Journal(folder)
    assert_chained(journal)
    written = records(journal)
    for writer in range(8):
        mine = [r["id"] for r in written if r["kind"] == "signal" and r["rule"] == str(writer)]
        assert mine == [f"{writer}-{n}" for n in range(60)]
    assert len(journal.index().keys) == 8
    journal.append([VERDICT])
    assert_chained(journal)


def test_threads_of_one_process_lose_nothing(journal: Journal) -> None:
    shared = [
        threading.Thread(target=lambda: [journal.append([VERDICT], durable=True) for _ in range(30)]) for _ in "12"
    ]
    for thread in shared:
        thread.start()
    for thread in shared:
        thread.join()
    assert len(records(journal)) == 61
    assert_chained(journal)


@pytest.mark.slow
def test_two_hundred_killed_writers_lose_no_record_that_was_appended(tmp_path: Path) -> None:
    folder, told = str(tmp_path / "ahp"), tmp_path / "told"
    journal = Journal(folder)
    journal.append([VERDICT])
    told.touch()
    killed = 0
    for attempt in range(200):
        child = os.fork()
        if child == 0:
            out = os.open(told, os.O_WRONLY | os.O_APPEND)
            mine = Journal(folder, rotate_at=60_000)
            for n in range(10_000):
                name = f"{attempt}.{n}"
                mine.append([{**PROMPT, "id": name, "rule": name}, VERDICT])
                os.write(out, (name + "\n").encode())
            os._exit(0)
        time.sleep(0.002 + (attempt % 17) / 4000)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert killed == 200
    promised = told.read_text().split()
    journal = Journal(folder)
    journal.append([VERDICT])
    assert_chained(journal)
    kept = [line.record() for line in segments.backward(folder)]
    names = {record["id"] for record in kept if record and record["kind"] == "signal"}
    assert set(promised) <= names
    assert len(promised) > 200
    assert {f"commit|{name}|main|agent" for name in names} == set(journal.index().keys)


def test_a_quiet_append_imports_nothing_beyond_the_allow_list(journal: Journal) -> None:
    journal.append([VERDICT])
    code = (
        "import sys; before = set(sys.modules)\n"
        + PRELUDE
        + "Journal(sys.argv[1]).append([{'kind': 'verdict', 'hook': 'pre-commit'}])\n"
        + "Journal(sys.argv[1]).index(); Journal(sys.argv[1]).count('pre-tool-use', 'agent', 's')\n"
        + "print(*sorted(set(sys.modules) - before))"
    )
    ran = _python(code, journal.folder)
    loaded = ran.communicate()[0].decode().split()
    assert ran.returncode == 0
    assert [name for name in loaded if name not in LIGHT and not name.startswith("ahp")] == []
    assert "ahp.journal.recovery" not in loaded
