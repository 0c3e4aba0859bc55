"""Single keys that a person presses at the terminal, without echo."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from typing import Any

UP, DOWN, ENTER, ESCAPE = "up", "down", "enter", "escape"
_NAMES = {b"\x1b[A": UP, b"\x1bOA": UP, b"\x1b[B": DOWN, b"\x1bOB": DOWN, b"\r": ENTER, b"\n": ENTER}
_LONGEST = 64  # bytes that are read at once


class Keyboard:
    """The keys of standard input, which must be a terminal; a context manager that gives it back as it was."""

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before: list[Any] = []
        self._left = b""

    def __enter__(self) -> Keyboard:
        self._before = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd)
        return self

    def __exit__(self, *_: object) -> None:
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def key(self, patience: float) -> str:
        """The next key: `up`, `down`, `enter`, `escape` or a character; "" after `patience` seconds without one.

        Raises EOFError when the terminal is gone.
        """
        if not self._left:
            if not select.select([self._fd], [], [], patience)[0]:
                return ""
            self._left = os.read(self._fd, _LONGEST)
            if not self._left:
                raise EOFError
        for sequence, name in _NAMES.items():
            if self._left.startswith(sequence):
                self._left = self._left[len(sequence) :]
                return name
        if self._left[:1] == b"\x1b":  # alone, or a key that is not known: what belongs to it is no character
            self._left = b""
            return ESCAPE
        pressed = self._left.decode("utf-8", "replace")[0]
        self._left = self._left[len(pressed.encode()) :]
        return pressed
