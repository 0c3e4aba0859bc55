"""The person at the terminal: one question on /dev/tty, never on standard input (design §9)."""

import os
import select
import time

_PATIENCE = 30.0


def ask(question: str, patience: float = _PATIENCE) -> bool | None:
    """The answer to a yes-or-no question: True, False, or None when nobody can be asked or answers in time (seconds).

    Asks only when this process group is in the terminal's foreground: a background job would be stopped by reading.
    """
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(fd) != os.getpgrp():
            return None
        os.write(fd, f"{question} [y/N] ".encode())
        return _answer(fd, time.monotonic() + patience)
    except OSError:
        return None
    finally:
        os.close(fd)


def _answer(fd: int, deadline: float) -> bool | None:
    typed = b""
    while b"\n" not in typed and len(typed) < 100:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            os.write(fd, b"\n")
            return None
        part = os.read(fd, 100)
        if not part:
            return None
        typed += part
    return typed.strip().lower() in (b"y", b"yes")
