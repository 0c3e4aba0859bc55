"""The logs of many clones read as one: folders with logs, files of them, and exports.

An episode belongs to the log that tells of it, so records come with the name of their log. What several copies tell of
one log counts once: a record is known by its number in the chain and its bytes. A copy that goes on otherwise than the
others (a clone that was copied with its log) is a log of its own from there.
"""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ahp.insight import export, kept, reading
from ahp.insight.chronicle import Chronicle
from ahp.insight.export import LOG, as_logged
from ahp.journal import segments
from ahp.journal.decoding import decode
from ahp.journal.recovery import genesis_told
from ahp.journal.segments import Segment
from ahp.system import clock
from ahp.system.digest import sha256
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen, unseen

Lines = Callable[[float | None], Iterable[list[bytes]]]
"""The lines of a source, many at once, from what may matter since a time on."""
_PAGE = 64


def records(
    from_: Sequence[str], since: float | None = None, seen: Seen = unseen
) -> Iterator[tuple[str, dict[str, object]]]:
    """Every record that the folders and files `from_` tell of, each once, with the name of its log; in order within it.

    Folders are searched for logs and exports. `since` and `seen` as in `reading.records`. Raises AhpError where a path
    has no log, cannot be read or is of a newer format, or is Parquet and DuckDB (extra `insight`) is missing.
    """
    yield from _records(_sources(from_), since, seen)


def chronicles(from_: Sequence[str], folder: str, seen: Seen = unseen) -> Iterable[Chronicle]:
    """What each of the logs tells that the folders and files `from_` tell of.

    What was read of the log of a clone is kept in `folder`, where that is there: nobody's copy of a log says how it is
    to be read. Copies and exports complete each other, so those are read whole. Raises AhpError as `records` does.
    """
    sources = _sources(from_)
    if all(os.path.isdir(one.path) for one in sources) and len({one.log for one in sources}) == len(sources):
        total, done, found = sum(one.size for one in sources), 0, []
        for one in sources:
            at = sha256(os.path.realpath(one.path).encode("utf-8", "surrogateescape"))[:16]
            place = f"{folder}{kept.PLACE}-{at}" if os.path.isdir(folder) else ""
            found.append(kept.chronicle(one.path, place, lambda at, _: seen(min(done + at, total), total)))  # noqa: B023
            done += one.size
        seen(total, total)
        ids = [id for one in found for id in one.notes.signals.id]
        if len(set(ids)) == len(ids):
            return found
    made: dict[str, Chronicle] = defaultdict(Chronicle)
    for log, record in _records(sources, None, seen):
        made[log].apply(record)
    return made.values()


def _records(found: Sequence[Source], since: float | None, seen: Seen) -> Iterator[tuple[str, dict[str, object]]]:
    sources = sorted(found, key=lambda one: (one.first, -one.size, one.path))
    copies = _Copies() if len(sources) > 1 else None
    if not all(os.path.isdir(one.path) for one in sources) or len({one.log for one in sources}) < len(sources):
        since = None  # copies complete each other only when each is read from its beginning
    total, done = sum(source.size for source in sources), 0
    for source in sources:
        log = place = source.log
        for lines in source.lines(since):
            for raw in lines:
                record = decode(raw)
                if record is None:
                    continue
                if (named := _named(record, source.path)) and named != log:
                    log = place = named
                is_new = True
                if copies is not None:
                    place, is_new = copies.take(log, place, record, as_logged(raw, record))
                if is_new:
                    record.pop(LOG, None)
                    yield place, record
            done += sum(map(len, lines)) + len(lines)
            seen(min(done, total), total)
    seen(total, total)


class Source(NamedTuple):
    """A log's folder, or a file with records of one or several logs.

    `log` is the name of its first record's log, the path where that tells none, `first` the record's number.
    """

    path: str
    log: str
    first: int
    size: int
    lines: Lines


def _sources(from_: Sequence[str]) -> list[Source]:
    found: dict[str, Source] = {}
    for path in from_:
        here = list(_within(path)) if os.path.isdir(path) else [_file(path)]
        sources = [one for one in here if one is not None]
        if not sources:
            what = (
                "no signals.jsonl and no export (.jsonl, .parquet)"
                if os.path.isdir(path)
                else "no records as jsonl or Parquet"
            )
            raise AhpError(f"there is no log in {path}: it has {what}")
        found |= {os.path.realpath(one.path): one for one in sources}
    return list(found.values())


def _within(top: str) -> Iterator[Source | None]:
    for folder, folders, names in os.walk(top, onerror=_refuse):
        folders.sort()
        if parts := segments.listed(folder):
            folders.clear()  # what else ahp keeps there is no log
            size = sum(map(reading.length_of, parts))
            yield _source(folder, segments.opening(parts[0]), size, partial(reading.blocks, folder))
            continue
        for name in sorted(names):
            if name.endswith((".jsonl", export.ENDING)):
                yield _file(f"{folder}/{name}")


def _refuse(error: OSError) -> None:
    raise AhpError(f"cannot read {error.filename}: {error.strerror}")


def _file(path: str) -> Source | None:
    """None where the first record is none of a log."""
    first = next((decode(line) for lines in _lines(path, None) for line in lines), None) or {}
    is_log = _named(first, path) or (_number(first) and clock.is_iso(first.get("timestamp")))
    return _source(path, first, reading.length_of(Segment(0, path)), partial(_lines, path)) if is_log else None


def _lines(path: str, since: float | None) -> Iterator[list[bytes]]:
    if path.endswith(export.ENDING):
        yield from export.lines(path)
    else:
        for _, lines, _ in segments.blocks_in(Segment(0, path)):
            yield lines


def _source(path: str, first: Mapping[str, object], size: int, lines: Lines) -> Source:
    return Source(path, _named(first, path) or os.path.realpath(path), _number(first) or 0, size, lines)


def _named(record: Mapping[str, object], path: str) -> str:
    """The log that a record names, "" where it names none. Raises AhpError for a newer format."""
    log = record.get(LOG)
    if isinstance(log, str):
        return log
    if record.get("kind") not in ("genesis", "rotation"):
        return ""
    segments.check_maker(record, path)
    return genesis_told(record)


def _number(record: Mapping[str, object]) -> int | None:
    n = record.get("n")
    return n if type(n) is int and 0 < n < 1 << 53 else None


class _Copies:
    """What was read of each log so far: a digest of each line by its number, and which log told of a signal first."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, int], array[int]] = {}  # in pages: a forged number costs no more than one
        self._forks: dict[str, list[str]] = {}
        self._told: dict[int, str] = {}

    def take(self, log: str, place: str, record: Mapping[str, object], raw: bytes) -> tuple[str, bool]:
        """The log that a record continues, and whether it is new there.

        `place` is that of the record before it in its source: `log`, or one that forked off it.
        """
        n = _number(record)
        if n is not None:
            own = hash(raw) or 1
            for at in (place, *self._forks.get(log, ())):
                known = self._line(at, n)
                if known == own:
                    return at, False
                if not known and at == place:
                    break
            else:
                forks = self._forks.setdefault(log, [])
                place = f"{log}, fork {len(forks) + 1}"
                forks.append(place)
            page = self._lines.get((place, n // _PAGE))
            if page is None:
                page = self._lines[place, n // _PAGE] = array("q", bytes(8 * _PAGE))
            page[n % _PAGE] = own
        if record.get("kind") != "signal" or not (id := record.get("id")):
            return place, True
        return place, self._told.setdefault(hash(str(id)), place) == place

    def _line(self, place: str, n: int) -> int:
        page = self._lines.get((place, n // _PAGE))
        return page[n % _PAGE] if page is not None else 0
