"""One question to the person at the terminal; tables and progress, drawn there and plain elsewhere."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys

import pytest
from rich.cells import cell_len
from rich.text import Text

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
    monkeypatch.setattr(
        os, "open", lambda path, flags, *more: os.dup(side) if path == "/dev/tty" else real(path, flags, *more)
    )
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


class Screen(io.StringIO):
    """A terminal of 60 columns."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        return [line.rstrip() for line in Text.from_ansi(self.getvalue()).plain.splitlines()]


def on_screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """From now on this process has that terminal. (No fixture: pytest puts its streams in place after those.)"""
    screen = Screen()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, screen)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return screen


HOSTILE = "[red]x[/red] \x1b[2J\u202e\udce9"
ROWS = [("block", "7", "a " * 40 + "end"), ("allow", "12", HOSTILE)]


def test_a_piped_table_has_whole_lines_and_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.table(ROWS, ("level", "n", "what"), numbers=[1], styles={"block": "red"}, indent=2)
    assert capsys.readouterr().out.splitlines() == [
        "  level   n  what",
        "  block   7  " + "a " * 40 + "end",
        "  allow  12  [red]x[/red] \ufffd[2J\ufffd\ufffd",
    ]
    terminal.table([("two\nlines", "x")])
    terminal.table([])
    assert capsys.readouterr().out == "two lines  x\n"


def test_at_a_terminal_the_last_column_wraps_in_its_own_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    terminal.table([*ROWS, ("wide", "1", "漢字" * 30)], ("level", "n", "what"), numbers=[1], indent=2)
    lines = screen.lines()
    assert lines[:3] == ["  level   n  what", "  block   7  " + "a " * 23 + "a", "             " + "a " * 16 + "end"]
    assert lines[3] == "  allow  12  [red]x[/red] \ufffd[2J\ufffd\ufffd"
    assert len(lines) == 7 and all(cell_len(line) <= 60 for line in lines)
    assert "".join(lines[4:]).count("漢") == 30


def test_where_the_last_column_would_be_thin_its_cells_are_below_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("11-24 10:00", "prompt ", "a1b2c3d4", "size/1  topic-14  agent:claude\nsplit it into two commits, please")]
    terminal.table([*rows, ("", "block  ", "", "no")], styles={"prompt": "red"}, indent=2)
    assert screen.lines() == [
        "  11-24 10:00  prompt   a1b2c3d4",
        "    size/1  topic-14  agent:claude",
        "    split it into two commits, please",
        "  block",
        "    no",
    ]
    assert "\x1b[31mprompt" in screen.getvalue()


@pytest.mark.parametrize("plain", [False, True])
def test_a_styled_word_is_coloured_unless_nobody_wants_colour(monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    screen = on_screen(monkeypatch)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    terminal.table([("block", "block it")], styles={"block": "red"})
    assert ("\x1b[31mblock" in screen.getvalue()) is not plain
    assert screen.getvalue().count("\x1b[31m") == (not plain)
    terminal.table([])
    assert len(screen.lines()) == 1


def test_progress_is_drawn_at_a_terminal_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with terminal.progress("[b]looking[/b]") as seen:
        seen(2, 7)
    assert screen.getvalue() == ""  # it was done before two seconds were over
    monkeypatch.setattr(terminal, "_UNSEEN", 0.0)
    with terminal.progress("[b]looking[/b]") as seen:
        seen(3, 7)
    assert "[b]looking[/b]" in screen.getvalue() and "3/7" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")


def test_nobody_waits_for_a_library_that_draws_when_nobody_looks_on() -> None:
    program = (
        "import sys; from ahp.system import terminal; terminal.table([('a', 'b')])\n"
        "with terminal.progress('x') as seen: seen(1, 2)\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("a  b\nFalse\n", "")


def test_one_of_the_choices_is_taken_and_anything_else_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    typed, asked = ["x", "", "P"], list[str]()
    monkeypatch.setattr(terminal, "line", lambda question: asked.append(question) or typed.pop(0))
    assert terminal.choose("what now?", {"p": "pass", "s": "stop"}) == "p"
    offered = "\n[p] pass, [s] stop?"
    assert asked == [
        f"{question}{offered}" for question in ("what now?", "'x' is none of these:", "'' is none of these:")
    ]
    typed = ["Stop"]
    assert terminal.choose("what now?", {"p": "pass", "s": "stop"}) == "s"


def test_a_line_is_read_as_text(at_pty: int) -> None:
    os.write(at_pty, "  weil es so ist: 天\n".encode())
    assert terminal.line("why?", 20) == "weil es so ist: 天"


def test_nobody_chooses_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_terminal", lambda: None)
    assert terminal.choose("what now?", {"p": "pass"}) is None


def test_prose_wraps_at_blanks_and_only_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "git: no such program on PATH for facts.ruff"
    assert terminal.prose(text) == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "24")
    assert terminal.prose(text) == "git: no such program on\n  PATH for facts.ruff"
