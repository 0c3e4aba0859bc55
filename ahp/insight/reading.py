"""The records of a log from its first file to its last, with how far the reading is."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain

from ahp.journal import segments
from ahp.journal.decoding import decode
from ahp.journal.index import window_of
from ahp.journal.segments import Segment
from ahp.system import clock, terminal
from ahp.system.terminal import Seen, unseen


def records(folder: str, since: float | None = None, seen: Seen = unseen) -> Iterator[dict[str, object]]:
    """Every record of the log in `folder`, oldest first; torn lines are skipped, a rotation meanwhile is followed.

    With `since` (seconds since the epoch) it begins with the last file before which nothing was open that still was
    then. Raises AhpError when the log cannot be read or is of a newer format.
    """
    return chain.from_iterable(filter(None, map(decode, lines)) for lines in blocks(folder, since, seen))


def blocks(folder: str, since: float | None = None, seen: Seen = unseen) -> Iterator[list[bytes]]:
    """As `records`, the lines in their order, many at once."""
    wanted = files(folder, since)
    return blocks_of(wanted, [*map(length_of, wanted)], seen)


def blocks_of(wanted: Sequence[Segment], sizes: Sequence[int], seen: Seen) -> Iterator[list[bytes]]:
    """The lines of files that were as long as `sizes` (bytes). One that turns out to be shorter was pruned or cut
    meanwhile, which is logged.
    """
    total, done = sum(sizes), 0
    for segment, size in zip(wanted, sizes, strict=True):
        end = 0
        for begin, lines, _ in segments.blocks_in(segment):
            seen(min(done + begin, total), total)
            end = begin + sum(map(len, lines)) + len(lines)
            yield lines
        if end < size:
            tell_short(segment)
        done += size
    seen(total, total)


def tell_short(segment: Segment) -> None:
    """Logs that a file is not as long any more as when the reading began."""
    told = f"{segment.path} was removed or cut while the log was read: what it told is not counted"
    logging.getLogger(__name__).warning("ahp: %s", told)


@contextmanager
def shown() -> Iterator[Seen]:
    """Tells a person at a terminal how much of a log is read: call it with bytes."""
    with terminal.progress("reading the log, MB") as seen:
        yield lambda done, total: seen(done >> 20, total >> 20)


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


def files(folder: str, since: float | None = None) -> list[Segment]:
    """The files that `records` reads, oldest first. Raises AhpError as it does."""
    segments.check_format(folder)
    found = segments.listed(folder)
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


def length_of(segment: Segment) -> int:
    """The bytes of a file of the log, wherever a rotation has moved it; 0 when it was pruned. Raises AhpError."""
    with segments.Reader(segment) as file:
        return file.size


def event_of(record: Mapping[str, object]) -> tuple[object, ...]:
    """What the signals of one event and its verdict have in common."""
    get = record.get
    return get("timestamp"), get("hook"), get("host"), get("attempt"), str(get("subject") or ""), get("actor")
