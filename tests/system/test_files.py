"""Whole reads, atomic replacement, a lock with a deadline."""

from __future__ import annotations

import errno
import os
import posix
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ahp.system import files
from ahp.system.errors import AhpError, Timeout


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\xff" * 1000)
    assert files.read(str(tmp_path / "a")) == b"\0\xff" * 1000
    (tmp_path / "empty").touch()
    assert files.read(str(tmp_path / "empty")) == b""


def test_no_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert files.read(str(tmp_path / "none")) is None
    assert files.read(str(tmp_path / "a" / "below")) is None


def test_past_the_limit_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert files.read(str(tmp_path / "a"), 5) == b"12345"
    with pytest.raises(AhpError, match="has 5 bytes, more than the 4 allowed"):
        files.read(str(tmp_path / "a"), 4)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(AhpError, match="is not a regular file"):
            files.read(str(path))


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(AhpError, match=r"cannot read .*loop"):
        files.read(str(tmp_path / "loop"))


def test_a_file_that_grows_is_read_to_its_end_or_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    real = posix.fstat

    def smaller(fd: int) -> os.stat_result:
        status = list(real(fd))
        status[6] = 2
        return os.stat_result(status)

    monkeypatch.setattr(posix, "fstat", smaller)
    assert files.read(str(tmp_path / "a")) == b"12345678"
    with pytest.raises(AhpError, match="more than the 4 bytes allowed"):
        files.read(str(tmp_path / "a"), 4)


def test_an_error_while_reading_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"1")

    def broken(fd: int, size: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(posix, "read", broken)
    with pytest.raises(AhpError, match="Input/output error"):
        files.read(str(tmp_path / "a"))


def test_what_was_only_read_or_locked_may_fail_to_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    real = os.close

    def close(fd: int) -> None:
        real(fd)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(posix, "close", close)
    assert files.read(str(path)) == files.tail(str(path), 1) == b"x"
    with files.Lock(str(tmp_path / "lock")):
        pass


def test_every_byte_is_written_in_as_many_writes_as_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = posix.write
    monkeypatch.setattr(posix, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    files.replace(str(tmp_path / "a"), b"1234567890")
    assert (tmp_path / "a").read_bytes() == b"1234567890"


def test_replacing_is_atomic_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    files.replace(str(path), b"old")
    assert path.stat().st_mode & 0o777 == 0o600

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(posix, "write", full)
    with pytest.raises(AhpError, match=r"cannot write .*a: No space left on device"):
        files.replace(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_replacing_below_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match="cannot write"):
        files.replace(str(tmp_path / "no" / "a"), b"")


def test_folders_are_made_with_those_above(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c"
    files.make_dirs(str(path))
    files.make_dirs(str(path))
    assert path.is_dir()
    assert path.stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(AhpError, match="cannot make the folder"):
        files.make_dirs(str(tmp_path / "file" / "below"))
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for place in (tmp_path / "link", tmp_path / "link" / "below"):
        with pytest.raises(AhpError, match="link is a link that leads nowhere; remove it"):
            files.make_dirs(str(place))
    with pytest.raises(AhpError, match="cannot make the folder"):
        files.make_dirs("")


def test_a_lock_is_exclusive_between_threads(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    seen: list[str] = []

    def other() -> None:
        try:
            with files.Lock(path, 0.01):
                seen.append("got it")
        except Timeout as error:
            seen.append(str(error))

    with files.Lock(path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [f"{path} is held by another thread for over 0.01 s"]
    with files.Lock(path):
        pass


def test_a_lock_is_exclusive_between_processes_and_falls_with_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    program = (
        "import sys; from ahp.system import files\n"
        "with files.Lock(sys.argv[1], 5.0): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.getcwd()
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Timeout, match=r"is held by another process for over 0.02 s"), files.Lock(path, 0.02):
        raise AssertionError("two hold it")
    holder.kill()
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    with files.Lock(path, 5.0):
        pass


def test_a_lock_that_cannot_be_opened_is_an_error_and_leaves_nothing_locked(tmp_path: Path) -> None:
    path = str(tmp_path / "no" / "lock")
    for _ in range(2):
        with pytest.raises(AhpError, match="cannot lock"), files.Lock(path):
            raise AssertionError("held")


def test_an_error_of_the_system_is_no_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(posix, "lockf", broken)
    with pytest.raises(AhpError, match="No locks available"), files.Lock(str(tmp_path / "lock")):
        raise AssertionError("held")


def test_a_lock_in_a_folder_that_is_not_there_says_just_that(tmp_path: Path) -> None:
    # Whoever makes folders on demand must not mistake another writer's new folder for another error.
    with pytest.raises(files.NoFolder, match="No such file or directory"), files.Lock(str(tmp_path / "no" / "lock")):
        pass
