"""The processes that this one was started below, as Linux tells of them (proc(5))."""

import os
from collections.abc import Iterator

from ahp.system import environ

_DEEPEST = 100


def have(variable: str) -> bool:
    """Whether a process above this one was started with a value of `variable`.

    A program can drop a variable from its own environment, but not from that of the shell that started it. What cannot
    be read (another user's process, another system than Linux) tells nothing.
    """
    wanted = os.fsencode(variable) + b"="
    blocks = [environ.told(pid, "environ").split(b"\0") for pid in _above(os.getpid())]
    return any(part.startswith(wanted) and part != wanted for block in blocks for part in block)


def commands() -> Iterator[list[str]]:
    """The command lines of the processes above this one, the nearest first; an empty one where it cannot be read."""
    return map(environ.arguments, _above(os.getpid()))


def _above(pid: int) -> Iterator[int]:
    for _ in range(_DEEPEST):
        # The name of the program stands in brackets, and may hold any.
        told = environ.told(pid, "stat").rpartition(b")")[2].split()
        pid = int(told[1]) if told else 0
        if pid <= 1:
            return
        yield pid
