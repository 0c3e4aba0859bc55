"""The records of a log from its first file to its last, with how far the reading is."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ahp.journal import segments
from ahp.journal.index import window_of
from ahp.journal.segments import Segment
from ahp.system import clock, jsontext


def records(
    folder: str, since: float | None = None, seen: Callable[[int, int], None] = lambda done, total: None
) -> Iterator[dict[str, object]]:
    """Every record of the log in `folder`, oldest first; torn lines are skipped, a rotation meanwhile is followed.

    With `since` (seconds since the epoch) it begins with the last file before which nothing was open that still was
    then. `seen` is told the bytes read and their sum. Raises AhpError when the log cannot be read or is of a newer
    format.
    """
    segments.check_format(folder)
    wanted = _from(segments.listed(folder), since)
    total, done = sum(map(_size, wanted)), 0
    for serial in [segment.serial for segment in wanted]:
        for segment in segments.listed(folder):  # looked up again: the live file may have been rotated since
            if segment.serial != serial:
                continue
            for begin, lines, _ in segments.blocks_in(segment):
                seen(min(done + begin, total), total)
                for raw in lines:
                    record = _decode(raw)
                    if type(record) is dict:
                        yield record
            done += _size(segment)
    seen(total, total)


@contextmanager
def no_garbage() -> Iterator[None]:
    """Reading a log makes no cycles; looking for them all the while would take a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _plainly(raw: bytes) -> object:
    try:
        return jsontext.decode(raw.decode())
    except ValueError:
        return None


def _quickly(raw: bytes) -> object:
    """As `_plainly`, which has the last word: orjson refuses lone surrogates, and file names may hold them."""
    try:
        return loads(raw)
    except ValueError:
        return _plainly(raw)


try:
    from orjson import loads

    _decode = _quickly
except ImportError:  # without the extra `insight`
    _decode = _plainly


def _from(found: list[Segment], since: float | None) -> list[Segment]:
    if since is None or not found:
        return found
    openings = [segments.opening(segment) for segment in found]
    closings = [next(segments.backward_in(segment), None) for segment in found]
    ends = openings + [(line.record() if line else None) or {} for line in closings]
    remembered = max(map(window_of, ends))  # each record tells while something is remembered for longer
    begin = 0
    for at, record in enumerate(openings):
        opened = clock.seconds(record.get("timestamp"))
        if opened is not None and opened <= since - remembered:
            begin = at
    return found[begin:]


def _size(segment: Segment) -> int:
    try:
        return os.stat(segment.path).st_size
    except OSError:  # rotated or pruned meanwhile
        return 0
