"""Appending survives whatever happens to writer, disk, clock and files (issue 4; design §7, §11)."""

from __future__ import annotations

import itertools
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

from ahp.journal import index as indexes
from ahp.journal import lines
from ahp.journal.append import Journal, JournalUnwritable
from ahp.system import clock, digest
from ahp.system.errors import AhpError

VERDICT = {"hook": "pre-commit", "kind": "verdict", "decision": "allow", "subject": "main", "actor": "human:ann"}
PROMPT = {
    "hook": "pre-commit",
    "intensity": "prompt",
    "kind": "signal",
    "id": "11111111-0000-4000-8000-000000000000",
    "rule": "size/1",
    "subject": "main",
    "actor": "agent:claude",
}
LIGHT = {"sys", "posix", "time", "errno", "_signal", "_json", "_sha256", "_sha2", "_thread"}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "ahp"))


def raw(journal: Journal) -> list[bytes]:
    return [line.raw for line in reversed(list(lines.backward(journal.folder)))]


def records(journal: Journal) -> list[dict[str, object]]:
    return [json.loads(line) for line in raw(journal)]


def assert_chained(journal: Journal) -> None:
    written = raw(journal)
    assert json.loads(written[0])["prev"] is None
    for before, line in itertools.pairwise(written):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        assert record["prev"] == digest.tagged(before)


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


def test_the_index_tells_what_is_open_for_whom(journal: Journal) -> None:
    journal.append([PROMPT])
    index = journal.index()
    assert index.keys == {"commit|size/1|main|agent"}
    assert index.has_open("commit", "main", "agent")
    assert not index.has_open("commit", "main", "human")
    assert not index.has_open("push", "main", "agent")
    assert not index.has_open("commit", "ain", "agent")
    journal.append([{**PROMPT, "kind": "episode-end"}])
    assert not journal.index().has_open("commit", "main", "agent")


@pytest.mark.parametrize(
    "more", [{"intensity": "aid"}, {"shadow": True}, {"waived": True}, {"hook": "pre-tool-use", "target": "shell rm"}]
)
def test_what_a_clean_evaluation_cannot_close_is_not_listed(journal: Journal, more: dict[str, object]) -> None:
    journal.append([{**PROMPT, **more}])
    assert journal.index().keys == set()


def test_an_aid_waits_for_its_session_or_its_subject(journal: Journal) -> None:
    aid = {**PROMPT, "intensity": "aid", "pending": True}
    journal.append([{**aid, "id": "a", "session": "s|1\t%"}, {**aid, "id": "b"}])
    for index in (journal.index(), Journal(journal.folder).index()):
        assert index.has_pending("s|1\t%", "elsewhere")
        assert index.has_pending(None, "main")
        assert not index.has_pending("s2", "elsewhere")
    journal.append([{"kind": "delivery", "ids": ["a", "unknown"]}])
    assert not journal.index().has_pending("s|1\t%", "elsewhere")
    assert journal.index().has_pending("s|1\t%", "main")


@pytest.mark.parametrize("text", ["", "a|b", "100%", "\n\t", "\udcff", "日本", "%41;", "\u202e|"])
def test_a_key_has_one_line_and_comes_back(text: str, journal: Journal) -> None:
    assert indexes.unescape(indexes.escape(text)) == text
    assert indexes.escape(text).isprintable()
    journal.append([{**PROMPT, "subject": text, "rule": text}])
    assert Journal(journal.folder).index().has_open("commit", text, "agent")


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "flipped", "other format", "other log", "body"])
def test_a_damaged_index_is_made_anew_and_never_means_nothing_open(journal: Journal, damage: str) -> None:
    journal.append([PROMPT, {**PROMPT, "rule": "mended/1"}, {**PROMPT, "intensity": "aid", "pending": True}])
    journal.append([{**PROMPT, "rule": "mended/1", "kind": "episode-end"}, VERDICT])
    path = Path(journal.index_path)
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "other log":
        os.rename(journal.log_path, journal.log_path + ".old")
        Path(journal.log_path).write_bytes(Path(journal.log_path + ".old").read_bytes())
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[:100],
                "flipped": data.replace(b" 0 1 ", b" 0 7 ", 1),
                "other format": data.replace(b"ahp-index-1", b"ahp-index-0", 1),
                "body": data[: indexes.HEADER] + data[indexes.HEADER :].swapcase(),
            }[damage]
        )
    other = Journal(journal.folder)
    assert other.index().keys == {"commit|size/1|main|agent"}
    assert other.index().has_pending(None, "main")
    other.append([VERDICT])
    assert_chained(other)
    assert other.fitting() is not None


def test_a_crash_between_log_and_index_is_caught_up_from_where_the_index_was(journal: Journal) -> None:
    journal.append([VERDICT])
    stale = Path(journal.index_path).read_bytes()
    journal.append([PROMPT])
    Path(journal.index_path).write_bytes(stale)
    other = Journal(journal.folder)
    assert other.index().has_open("commit", "main", "agent")
    other.append([VERDICT])
    assert_chained(other)


def test_an_end_before_the_last_signal_does_not_close_it_when_the_index_is_lost(journal: Journal) -> None:
    journal.append([{**PROMPT, "kind": "episode-end"}])
    journal.append([{**PROMPT, "pending": True}])
    journal.append([{**PROMPT, "id": "later"}])
    os.unlink(journal.index_path)
    assert Journal(journal.folder).index().has_open("commit", "main", "agent")
    assert Journal(journal.folder).index().has_pending(None, "main")


@pytest.mark.parametrize("cut", [1, 2, 30, 200])
def test_after_a_torn_line_the_next_record_starts_a_fresh_one(journal: Journal, cut: int) -> None:
    journal.append([PROMPT])
    journal.append([VERDICT])
    with open(journal.log_path, "r+b") as log:
        log.truncate(os.path.getsize(journal.log_path) - cut)
    tail = raw(journal)[-1]
    journal.append([VERDICT])
    written = raw(journal)
    assert written[-2] == tail
    assert json.loads(written[-1])["prev"] == digest.tagged(tail)
    assert journal.index().has_open("commit", "main", "agent")
    assert_chained(journal)


def test_a_whole_line_that_lacks_only_its_newline_still_counts(journal: Journal) -> None:
    journal.append([PROMPT])
    with open(journal.log_path, "r+b") as log:
        log.truncate(os.path.getsize(journal.log_path) - 1)
    assert journal.index().has_open("commit", "main", "agent")
    assert journal.index().torn
    journal.append([VERDICT])
    assert [record["kind"] for record in records(journal)] == ["genesis", "signal", "verdict"]


def test_a_vanished_log_is_not_taken_for_a_fresh_start(journal: Journal) -> None:
    journal.append([VERDICT])
    known = str(records(journal)[0]["id"])
    assert not Journal(journal.folder, known).tampered(journal.index())
    for name in os.listdir(journal.folder):
        os.unlink(f"{journal.folder}/{name}")
    installed = Journal(journal.folder, known)
    assert installed.tampered(installed.index())
    installed.append([VERDICT])
    assert records(installed)[0]["replaces"] == known
    assert installed.tampered(installed.index())


@pytest.mark.parametrize("how", ["unlink", "truncate"])
def test_without_a_known_genesis_the_index_left_behind_tells_of_the_loss(journal: Journal, how: str) -> None:
    journal.append([VERDICT])
    known = records(journal)[0]["id"]
    if how == "unlink":
        os.unlink(journal.log_path)
    else:
        os.truncate(journal.log_path, 0)
    journal.append([VERDICT])
    assert records(journal)[0]["replaces"] == known
    assert_chained(journal)


def test_a_removed_index_is_noticed_although_it_was_kept_open(journal: Journal) -> None:
    journal.append([VERDICT])
    os.unlink(journal.index_path)
    other = Journal(journal.folder)
    other.append([PROMPT])
    journal.append([VERDICT])
    assert other.index().has_open("commit", "main", "agent")
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
    assert [line.record() is None for line in lines.backward(journal.folder)] == [False, True, False, False]
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


def test_a_held_lock_is_waited_for_and_then_refused(journal: Journal) -> None:
    journal.append([VERDICT])
    with Journal(journal.folder).lock(), pytest.raises(JournalUnwritable, match="held"):
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
        with Journal(journal.folder).lock():
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


def test_clean_tool_calls_are_entries_of_one_size(journal: Journal) -> None:
    journal.count("pre-tool-use", "agent", "some session\udcff")
    journal.count("x" * 100, "agent")
    data = Path(journal.counts_path).read_bytes()
    assert len(data) == 128
    assert [len(line) for line in data.split(b"\n")] == [63, 63, 0]
    assert not os.path.exists(journal.log_path)


def test_rotation_goes_on_in_a_new_file_with_an_unbroken_chain(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=2000)
    for n in range(40):
        journal.append([{**PROMPT, "rule": f"r/{n}"}], durable=True)
    assert [part.serial for part in lines.parts(journal.folder)] == list(range(1, len(lines.parts(journal.folder)) + 1))
    assert len(lines.parts(journal.folder)) > 3
    assert_chained(journal)
    kinds = [record["kind"] for record in records(journal)]
    assert kinds.count("signal") == 40
    assert kinds.count("genesis") == 1
    genesis = records(journal)[0]["id"]
    assert all(record["genesis"] == genesis for record in records(journal) if record["kind"] == "rotation")
    os.unlink(journal.index_path)
    assert len(Journal(journal.folder).index().keys) == 40
    assert Journal(journal.folder, str(genesis)).index().genesis == genesis


@pytest.mark.parametrize("step", ["replace", "first rename", "second rename"])
def test_a_rotation_that_stops_anywhere_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    journal = Journal(str(tmp_path / "ahp"))
    journal.append([PROMPT])
    journal.rotate_at = 1
    rename, calls = os.rename, []

    def failing(a: str, b: str) -> None:
        calls.append(b)
        if len(calls) == ["replace", "first rename", "second rename"].index(step) + 1:
            raise OSError(28, "No space left on device")
        rename(a, b)

    monkeypatch.setattr("posix.rename", failing)
    monkeypatch.setattr("os.rename", failing)
    journal.append([VERDICT])
    monkeypatch.undo()
    journal.rotate_at = 1 << 20
    other = Journal(journal.folder)
    other.append([VERDICT])
    assert_chained(other)
    kinds = [record["kind"] for record in records(other)]
    assert kinds == ["genesis", "signal", "verdict", *(["rotation"] if step == "second rename" else []), "verdict"]
    assert not any("missing" in record for record in records(other))
    assert other.index().has_open("commit", "main", "agent")


@pytest.mark.parametrize("leftover", [None, b"", b'{"prev": "sha256:other"}\n'])
def test_a_live_file_removed_after_a_rotation_is_noted_as_missing(tmp_path: Path, leftover: bytes | None) -> None:
    journal = Journal(str(tmp_path / "ahp"), rotate_at=600)
    for _ in range(6):
        journal.append([PROMPT])
    os.unlink(journal.log_path)
    if leftover is not None:
        Path(journal.folder, "signals.next.jsonl").write_bytes(leftover)
    journal.rotate_at = 1 << 20
    journal.append([VERDICT])
    rotation = records(journal)[-2]
    assert rotation["missing"] is True
    assert rotation["genesis"] == records(journal)[0]["id"]
    assert_chained(journal)
    assert journal.index().has_open("commit", "main", "agent")


@pytest.mark.parametrize("stamp", ["zzzz", "9999-99-99T00:00:00Z", 5, "2026-01-01T00:00:00.1\u0662Z"])
def test_a_time_stamp_that_is_none_does_not_stop_the_clock(journal: Journal, stamp: object) -> None:
    journal.append([VERDICT])
    with open(journal.log_path, "a") as log:
        log.write(json.dumps({**VERDICT, "timestamp": stamp}) + "\n")
    journal.append([{**VERDICT, "timestamp": "2090-01-01T00:00:00.000Z"}])
    assert records(journal)[-1]["timestamp"] == "2090-01-01T00:00:00.000Z"


def test_a_look_back_ends_where_everything_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ahp"
    folder.mkdir()
    old, new = "2020-01-01T00:00:00.000Z", clock.iso(clock.now())
    text = [json.dumps({**PROMPT, "timestamp": old})] + [json.dumps({**VERDICT, "timestamp": old})] * 5000
    text.append(json.dumps({**PROMPT, "rule": "new/1", "timestamp": new, "n": 5002}))
    (folder / "signals.jsonl").write_text("\n".join(text) + "\n")
    decoded = []
    monkeypatch.setattr(lines.Line, "record", lambda line: decoded.append(line) or json.loads(line.raw))
    assert Journal(str(folder)).index().keys == {"commit|new/1|main|agent"}
    assert len(decoded) < 20


def test_an_unreadable_log_is_an_error_not_an_empty_one(journal: Journal) -> None:
    os.makedirs(journal.log_path)
    with pytest.raises(AhpError, match="regular"):
        journal.index()


def test_no_log_means_nothing_open_and_makes_nothing(journal: Journal) -> None:
    assert journal.index().keys == set()
    assert not os.path.exists(journal.folder)


def _python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code, *arguments], stdout=subprocess.PIPE)


PRELUDE = f"""
import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from ahp.journal.append import Journal, JournalUnwritable
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
    kept = [line.record() for line in lines.backward(folder)]
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
    assert "ahp.journal.heal" not in loaded
