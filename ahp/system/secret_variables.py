"""Keys of this process's environment, kept from what the same user starts."""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable

_SET_DUMPABLE = 4  # of prctl(2)


def forget(names: Iterable[str]) -> None:
    """Takes variables out of this process: from what it hands on, and from the block that other processes can read.

    The block that a process was started with shows in `/proc/PID/environ` and `ps e`, whatever the process does to its
    variables later, so the values there are overwritten. On Linux the memory of this process is closed to processes of
    the same user, too (prctl(2), PR_SET_DUMPABLE), which also ends core dumps and debuggers. What started this process
    may still have the variables, and root reads everything.
    """
    libc = _libc()
    for name in names:
        if libc is not None and (place := libc.getenv(os.fsencode(name))):
            ctypes.memset(place, 0, len(ctypes.string_at(place)))
        os.environ.pop(name, None)
    if libc is not None and sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # a libc without prctl
            libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _libc() -> ctypes.CDLL | None:
    try:
        libc = ctypes.CDLL(None)
        libc.getenv.restype, libc.getenv.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    except (OSError, AttributeError):  # statically linked
        return None
    return libc
