"""Taking from root, as which tests may run, the right to write where nobody may."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_LIBC = ctypes.CDLL(None, use_errno=True)
_OVERRIDES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_VERSION = 0x20080522


def drop_for_good() -> None:
    """For `preexec_fn`: what is started may write only what an ordinary user may."""
    if os.geteuid() == 0 and sys.platform == "linux":
        for number in (1, 2):
            if _LIBC.prctl(24, number, 0, 0, 0):  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "prctl")


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """The same for this thread, for a while; what it starts gets its rights back when it is root's."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root's rights can be laid down on Linux only")
    before = _get()
    _set([before[0] & ~_OVERRIDES, *before[1:]])
    try:
        yield
    finally:
        _set(before)


def _get() -> list[int]:
    header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert _LIBC.capget(header, data) == 0
    return list(data)


def _set(values: list[int]) -> None:
    header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)(*values)
    assert _LIBC.capset(header, data) == 0
