"""The processes that this one was started below, as Linux tells of them (proc(5))."""

import os
from collections.abc import Iterator

_DEEPEST = 100


def have(variable: str) -> bool:
    """Whether a process above this one was started with a value of `variable`.

    A program can drop a variable from its own environment, but not from that of the shell that started it. What cannot
    be read (another user's process, another system than Linux) tells nothing.
    """
    wanted = os.fsencode(variable) + b"="
    for pid in _above(os.getpid()):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                block = file.read()
        except OSError:
            continue
        if any(part.startswith(wanted) and part != wanted for part in block.split(b"\0")):
            return True
    return False


def commands() -> Iterator[list[str]]:
    """The command lines of the processes above this one, the nearest first; an empty one where it cannot be read."""
    for pid in _above(os.getpid()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                yield os.fsdecode(file.read()).removesuffix("\0").split("\0")
        except OSError:
            yield []


def _above(pid: int) -> Iterator[int]:
    for _ in range(_DEEPEST):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The name of the program stands in brackets, and may hold any.
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
        if pid <= 1:
            return
        yield pid
