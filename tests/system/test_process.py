"""The one door to processes."""

from __future__ import annotations

import errno
import os
import posix
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.system import descendants, environ, process
from ahp.system.errors import OutputLimit, Timeout
from tests.attended import attended
from tests.system.test_descendants import alive

SH = {"PATH": os.defpath + ":/usr/bin:/bin"}


def sh(script: str, *arguments: str, **how: object) -> process.Result:
    return process.capture(["sh", "-c", script, "sh", *arguments], **{"timeout": 20.0, "env": SH, **how})  # type: ignore[arg-type]


def test_what_it_prints_and_how_it_ends() -> None:
    result = sh("echo out; echo err >&2; exit 7")
    assert (result.code, result.out, result.err) == (7, b"out\n", b"err\n")


def test_input_of_any_size_goes_in_while_output_comes_out() -> None:
    data = bytes(range(256)) * 4096
    assert sh("cat", stdin=data).out == data


def test_a_command_may_leave_its_input_unread() -> None:
    assert sh("exec <&-; sleep 0.05; echo done", stdin=b"x" * (1 << 20)).out == b"done\n"


def test_without_input_it_reads_nothing() -> None:
    assert sh("cat; echo end").out == b"end\n"


@pytest.mark.parametrize("name", ["with space", "quote'\"", "-rf", "new\nline", "\udcff"])
def test_the_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert os.fsdecode(sh("pwd", cwd=str(tmp_path / name)).out) == str(tmp_path / name) + "\n"


def test_arguments_and_variables_keep_their_bytes() -> None:
    result = sh('printf "%s|%s" "$1" "$X"', "\udcff", env={**SH, "X": "\udcfe"})
    assert result.out == b"\xff|\xfe"


def test_a_signal_is_128_and_its_number() -> None:
    assert sh("kill -TERM $$").code == 128 + signal.SIGTERM


def test_what_it_had_printed_goes_with_the_error() -> None:
    for script, how in (("yes", {"limit": 100}), ("echo y; sleep 600", {"timeout": 0.2})):
        with pytest.raises((OutputLimit, Timeout)) as raised:
            sh(script, **how)
        assert set(raised.value.printed.split()) <= {b"y"}
        assert raised.value.printed or "limit" not in how


def test_who_asks_hears_of_the_group_before_what_is_left_in_it_is_ended(tmp_path: Path) -> None:
    left: list[list[str]] = []
    script = "sleep 600 & echo $! > pid; sleep 600 & true"
    sh(f"cd {tmp_path}; {script}", ended=lambda group: left.append(descendants.end_group(group)))
    [names] = left
    assert len(names) == 2
    assert {*names} <= {"sleep", "sh"}
    sh("true", ended=lambda group: left.append(descendants.end_group(group)))
    assert left[1] == []


def test_at_the_timeout_the_whole_tree_dies(tmp_path: Path, an_hour_passes_at: Callable[[Path], None]) -> None:
    pids = tmp_path / "pids"
    an_hour_passes_at(pids)
    with pytest.raises(Timeout, match=r"sh did not finish within 600 s"):
        sh('sleep 600 & echo $! $$ >"$1"; wait', str(pids), timeout=600.0)
    for pid in pids.read_text().split():
        deadline = time.monotonic() + 60
        while alive(int(pid)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not alive(int(pid))


def test_the_timeout_holds_when_the_pipes_are_closed() -> None:
    with pytest.raises(Timeout):
        sh("exec >&- 2>&-; sleep 60", timeout=0.2)


def test_a_descendant_that_keeps_the_pipes_is_not_waited_for() -> None:
    started = time.monotonic()
    result = sh("sleep 600 & echo done", timeout=600.0)
    assert (result.code, result.out) == (0, b"done\n")
    assert time.monotonic() - started < 300


def test_results_past_the_limit_are_refused_and_complaints_dropped() -> None:
    with pytest.raises(OutputLimit, match="sh printed more than 1000 bytes"):
        sh("while :; do echo 0123456789; done", limit=1000)
    result = sh("i=0; while [ $i -lt 2000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo ok", limit=100)
    assert (result.code, result.out) == (0, b"ok\n")


def test_what_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(process.NotStarted, match="cannot start no-such: no such program on PATH"):
        process.capture(["no-such"], timeout=1.0, env=SH)
    (tmp_path / "text").write_text("\x00\x01")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(process.NotStarted, match="cannot start"):
        process.capture([str(tmp_path / "text")], timeout=1.0, env=SH)
    with pytest.raises(process.NotStarted, match="cannot start"):
        process.capture(["sh", "nul\0"], timeout=1.0, env=SH)


def test_programs_are_found_as_the_shell_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    path = {"PATH": f"/none:{tmp_path}"}
    assert process.find("tool", path) is None
    (tmp_path / "tool").chmod(0o755)
    assert process.find("tool", path) == f"{tmp_path}/tool"
    assert process.find("folder", path) is None
    assert process.find(f"{tmp_path}/tool", {}) == f"{tmp_path}/tool"
    assert process.find("./none", {}) is None
    monkeypatch.chdir(tmp_path)
    assert process.find("tool", {"PATH": ""}) == "./tool"


def test_nothing_of_it_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    sh("echo x")
    with pytest.raises(process.NotStarted):
        process.capture(["sh", "\0"], timeout=1.0, env=SH)
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_somebody_else_may_have_waited_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real, taken = posix.waitpid, []

    def stolen(pid: int, options: int) -> tuple[int, int]:
        if not taken:
            taken.append(real(pid, 0))
        return real(pid, options)

    monkeypatch.setattr(posix, "waitpid", stolen)
    assert sh("echo x").out == b"x\n"


def test_the_environment_is_this_process_s_unless_given() -> None:
    assert process.capture(["sh", "-c", "echo $PATH"], timeout=9.0).out.decode().strip() == environ.current()["PATH"]


def test_other_repositories_get_an_environment_without_this_one() -> None:
    env = {"PATH": "p", "GIT_DIR": "d", "GIT_INDEX_FILE": "i", "GIT_SSH_COMMAND": "s", "GIT_CONFIG_COUNT": "1"}
    assert environ.scrubbed(env) == {"PATH": "p", "GIT_SSH_COMMAND": "s"}


def test_a_full_pipe_is_tried_again_and_another_error_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    real, errors = posix.write, [OSError(errno.EAGAIN, "again")]

    def hesitant(fd: int, data: bytes) -> int:
        if errors:
            raise errors.pop()
        return real(fd, data)

    monkeypatch.setattr(posix, "write", hesitant)
    assert sh("cat", stdin=b"x").out == b"x"
    errors.append(OSError(errno.EIO, "broken"))
    with pytest.raises(OSError, match="broken"):
        sh("cat", stdin=b"x")


def test_a_signal_that_interrupts_nothing_reaches_an_attached_command() -> None:
    waits = threading.Event()
    other = threading.Thread(target=waits.wait)
    other.start()
    ends = "import os, signal, sys, time; signal.signal(15, lambda *_: sys.exit(5)); signal.pthread_sigmask(1, [15]);"
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # the other thread takes it, as any thread may
    try:
        assert process.attached([sys.executable, "-c", f"{ends} os.kill({os.getpid()}, 15); time.sleep(60)"], SH) == 5
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        waits.set()
        other.join()


def test_an_attached_command_has_our_streams(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert process.attached(["sh", "-c", "echo out; exit 3"], SH) == 3
    assert capfd.readouterr().out == "out\n"
    assert process.attached(["sh", "-c", "kill -TERM $$"], SH) == 128 + signal.SIGTERM
    # Sent to us alone, as by a supervisor, it ends the command; what we do at it is afterwards as before.
    command = f"trap 'exit 5' TERM; kill -TERM {os.getpid()}; while :; do sleep 0.01; done"
    assert process.attached(["sh", "-c", command], SH) == 5
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    real, interrupts = posix.waitpid, [KeyboardInterrupt()]

    def interrupted(pid: int, options: int) -> tuple[int, int]:
        if interrupts:
            raise interrupts.pop()
        return real(pid, options)

    monkeypatch.setattr(posix, "waitpid", interrupted)
    assert process.attached(["sh", "-c", "exit 4"], SH) == 4


def test_an_attached_command_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(process.NotStarted, match="no such program"):
        process.attached(["no-such"], SH)
    (tmp_path / "text").write_text("\x00\x01")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(process.NotStarted, match="cannot start"):
        process.attached([str(tmp_path / "text")], SH)


TRIES = """
from ahp.system import process
print(process.capture(["sh", "-c", "(: >/dev/tty) 2>/dev/null && echo open || echo none"], timeout=60.0).out.decode())
"""


def test_a_command_has_no_terminal_of_ours(tmp_path: Path) -> None:
    # It could type there what a person is then taken to have typed, and would be stopped where it asks.
    code, said = attended([sys.executable, "-c", TRIES], tmp_path)
    assert (code, said.split()) == (0, ["none"])


@pytest.mark.parametrize("knows_sessions", [True, False])
def test_a_command_beside_has_no_streams_of_ours_and_a_group_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows_sessions: bool
) -> None:
    spawn = posix.posix_spawn

    def older(*given: Any, setsid: bool = False, **more: Any) -> int:
        if setsid:
            raise NotImplementedError
        return spawn(*given, **more)

    if not knows_sessions:
        monkeypatch.setattr(posix, "posix_spawn", older)
    said = tmp_path / "said"
    pid, pipe = process.beside(["sh", "-c", f"cat; echo told >&2; ps -o pgid= -p $$ >'{said}'"], SH)
    os.close(pipe)
    os.waitpid(pid, 0)
    assert int(said.read_text()) == pid
    group, own = sh("ps -o pgid= -p $$; echo $$").out.split()
    assert group == own


def test_who_waits_for_it_may_end_it(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def check() -> None:
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise Enough

    for command in ("echo $$ > pid; sleep 600", "echo $$ > pid; exec sleep 600 >&- 2>&-"):
        (tmp_path / "pid").unlink(missing_ok=True)
        with pytest.raises(Enough):
            process.capture(["sh", "-c", command], cwd=str(tmp_path), timeout=600, check=check)
        assert not alive(int((tmp_path / "pid").read_text()))
