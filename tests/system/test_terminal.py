"""One question to the person at the terminal."""

from __future__ import annotations

import os
import pty
import select
import sys

import pytest

from ahp.system import terminal

PROGRAM = """
import sys
from ahp.system import terminal
sys.stdout.write("answer:%s\\n" % terminal.ask("go on?", float(sys.argv[1])))
"""


def asked(typed: bytes, patience: str = "20") -> str:
    """What a process at a terminal of its own answers when somebody types."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, patience])
    seen = b""
    try:
        while select.select([fd], [], [], 20)[0]:
            part = os.read(fd, 4096)
            if not part:
                break
            seen += part
            if b"[y/N]" in seen and typed:
                os.write(fd, typed)
                typed = b""
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(fd)
    assert b"go on? [y/N] " in seen
    return seen.decode().split("answer:")[1].strip()


@pytest.mark.parametrize(
    ("typed", "answer"),
    [(b"y\n", "True"), (b"YES\n", "True"), (b"\n", "False"), (b"no\n", "False"), (b"\x04", "None"), (b"", "None")],
)
def test_yes_is_yes_and_anything_else_is_no(typed: bytes, answer: str) -> None:
    assert asked(typed, "20" if typed else "0.1") == answer


@pytest.fixture
def at_pty(monkeypatch: pytest.MonkeyPatch) -> int:
    """A terminal that `ask` takes for its own; what is written here is typed there."""
    main, side = pty.openpty()
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, *more: side if path == "/dev/tty" else real(path, flags, *more))
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: os.getpgrp())
    return main


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(path: str, flags: int) -> int:
        raise OSError("no such device")

    monkeypatch.setattr(os, "open", none)
    assert terminal.ask("go on?") is None


def test_in_the_background_nobody_is_asked(at_pty: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: 1)
    os.write(at_pty, b"y\n")
    assert terminal.ask("go on?") is None


def test_the_answer_is_read_from_the_terminal(at_pty: int) -> None:
    os.write(at_pty, b"y\n")
    assert terminal.ask("go on?") is True


def test_nobody_answers_in_time(at_pty: int) -> None:
    assert terminal.ask("go on?", -1.0) is None


def test_a_closed_terminal_is_no_answer(at_pty: int) -> None:
    os.write(at_pty, b"\x04")
    assert terminal.ask("go on?", 5.0) is None


def test_a_terminal_that_goes_away_is_no_answer(at_pty: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(fd: int, data: bytes) -> int:
        raise OSError("gone")

    monkeypatch.setattr(os, "write", gone)
    assert terminal.ask("go on?") is None
