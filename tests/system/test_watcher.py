"""ahp.system.descendants: what a process started ends with it, also when it is killed outright"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ahp.system import descendants, process
from ahp.system.descendants import MARK, Descendants, Watcher
from tests.system.test_descendants import LEFT_BEHIND, LINUX, alive

PROGRAM = """\
import subprocess, sys, time
from ahp.system import descendants as module
module._SCRIPT = module._SCRIPT.replace("/proc/self/environ", sys.argv[1])
descendants, env = module.ending({"PATH": "/usr/bin:/bin"})
with descendants:
    subprocess.run(["sh", "-c", sys.argv[2]], env=env, stdout=subprocess.DEVNULL)
    print(flush=True)
    time.sleep(600)
"""


@LINUX
@pytest.mark.parametrize("command", [one for name, one in LEFT_BEHIND.items() if name != "bare environment"])
@pytest.mark.parametrize("environ", ["/proc/self/environ", "/nowhere"], ids=["proc", "ps"])
def test_what_bears_the_mark_ends_with_a_process_that_is_killed(tmp_path: Path, command: str, environ: str) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", PROGRAM, environ, command]
    with subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"\n"
        pid = int((tmp_path / "pid").read_text())
        assert alive(pid)
        program.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    while alive(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


@LINUX
def test_the_shell_ends_with_what_it_watches_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "none")
    before = descendants.waiting()
    with Descendants("outer") as outer:
        [shell] = descendants.waiting() - before
        with Descendants("outer.inner") as inner, Descendants("another"):
            assert len(descendants.waiting() - before) == 2  # the inner one's programs bear the outer one's mark
            assert inner.sweep() == outer.sweep() == []
        assert alive(shell)
    assert not alive(shell)
    assert descendants.waiting() == before


def test_without_a_shell_there_is_no_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(argv: list[str], env: dict[str, str]) -> tuple[int, int]:
        raise process.NotStarted("no shell")

    monkeypatch.setattr(process, "beside", none)
    one = Watcher("A", "b")
    one.begin()
    one.end()
    assert not descendants.waiting()


def test_somebody_else_may_have_collected_the_shell() -> None:
    one = Watcher("A", "b")
    one.begin()
    os.kill(one._pid, signal.SIGKILL)
    os.waitpid(one._pid, 0)
    one.end()
    one.end()


def test_a_shell_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    (tmp_path / "no").write_bytes(b"\x7fELF")
    (tmp_path / "no").chmod(0o755)
    with pytest.raises(process.NotStarted, match="cannot start"):
        process.beside([str(tmp_path / "no")], {})
