"""Reading the log into a fold, from where the last reading ended."""

from __future__ import annotations

import math
from typing import NamedTuple

from ahp.journal import segments
from ahp.journal.episodes import opened_at
from ahp.journal.fold import Fold
from ahp.journal.index import window_of
from ahp.system import clock, digest

# A gate mints an episode's id a moment after the time stamp of the signal that opened it.
_OPENING_MARGIN = 60.0


class Checkpoint(NamedTuple):
    """The last line that was read: file number, where it starts and ends (newline included), SHA-256, line number."""

    serial: int
    start: int
    end: int
    head: str
    n: int = 0


def read_into(fold: Fold, folder: str, begin: tuple[int, int], until: tuple[int, int] | None = None) -> Checkpoint:
    """Feeds the records from file number and offset `begin` on, before `until` if given, to `fold`.

    Gives the last line it took. A last line that is no record yet is left for the next time. Raises AhpError.
    """
    mark = Checkpoint(begin[0], begin[1], begin[1], "")
    for part in segments.listed(folder):
        if part.serial < begin[0]:
            continue
        for line in segments.forward_in(part, begin[1] if part.serial == begin[0] else 0):
            if until is not None and (line.serial, line.offset) >= until:
                return mark
            if not line.raw and line.offset == mark.end and mark.head:
                mark = mark._replace(end=line.end)  # the newline that the last line had lacked
                continue
            record = line.record()
            if record is None and not line.ended:
                break
            if record is not None:
                fold.apply(record, (part.serial, line.offset, len(line.raw)))
            n = record.get("n") if record else None
            mark = Checkpoint(
                part.serial, line.offset, line.end, digest.sha256(line.raw), n if isinstance(n, int) else 0
            )
    return mark


def holds(mark: Checkpoint, folder: str) -> bool:
    """Whether the log still has the line that `mark` names, where it names it."""
    for part in segments.listed(folder):
        if part.serial == mark.serial:
            line = next(segments.forward_in(part, mark.start), None)
            return line is not None and digest.sha256(line.raw) == mark.head
    return False


def window(folder: str) -> tuple[int, int]:
    """File number and offset of the first line that can matter now.

    What was forgotten before the last record does not matter, but ladders that began before and went on since do: their
    ids tell when they were opened. What lies between is read for their sake and extends nothing.
    """
    begin, last, horizon, since = (1, 0), 0.0, math.inf, math.inf
    for line in segments.backward(folder):
        record = line.record()
        at = clock.seconds(record.get("timestamp")) if record else None
        if record is None or at is None:
            continue
        last = last or at
        horizon = min(horizon, last - window_of(record))
        since = min(since, horizon)
        if at < since:
            return begin
        begin = (line.serial, line.offset)
        if at >= horizon and record.get("kind") == "signal":
            opened = opened_at(str(record.get("correlation_id")))
            since = since if opened is None else min(since, opened - _OPENING_MARGIN)
    first = next(iter(segments.listed(folder)), None)
    return (first.serial if first else 1, 0)
