"""The calls of this process to the system, as the tests of faults and of interleavings take hold of them."""

from __future__ import annotations

import os
import posix
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ALL = os.environ.get("AHP_TEST_FAULTS") == "all"
CALLS = ("open", "close", "read", "write", "pread", "pwrite", "fstat", "stat", "lstat", "access")
CALLS += ("rename", "replace", "unlink", "mkdir", "listdir", "fsync", "dup", "lockf", "utime")

Real = Callable[..., Any]
Taken = Callable[[str, Real, tuple[Any, ...], dict[str, Any]], Any]
"""Is given the name of a call, the call, and what it was given; gives what the call gives."""


def take(taken: Taken) -> dict[str, Real]:
    """Has `taken` stand in for each of `CALLS`; gives the real ones."""
    real = {name: getattr(posix, name) for name in CALLS}
    for name in CALLS:
        put(name, _standing_in(name, real[name], taken))
    return real


def put(name: str, call: Real) -> None:
    setattr(posix, name, call)
    setattr(os, name, call)


@contextmanager
def taking(taken: Taken) -> Iterator[None]:
    """As `take`, until the end of the context."""
    real = take(taken)
    try:
        yield
    finally:
        for name, call in real.items():
            put(name, call)


def _standing_in(name: str, real: Real, taken: Taken) -> Real:
    def call(*given: Any, **more: Any) -> Any:
        return taken(name, real, given, more)

    return call


class Stopped:
    """Counts calls to the system; before the call `at`, or in the middle of it where it writes, `other` runs whole."""

    def __init__(self, at: int, other: Callable[[], None]) -> None:
        self.at, self.other = at, other
        self.made, self.name = 0, ""
        self._others = False

    def __call__(self, name: str, real: Real, given: tuple[Any, ...], more: dict[str, Any]) -> Any:
        if self._others:
            return real(*given, **more)
        self.made += 1
        if self.made != self.at:
            return real(*given, **more)
        self.name, self._others = name, True
        half = real(given[0], given[1][: len(given[1]) // 2], *given[2:]) if name in ("write", "pwrite") else None
        self.other()
        self._others = False
        return half if half is not None else real(*given, **more)
