"""The chronicle of a log, kept beside it so that the next reading begins where this one ended.

What is kept belongs to the code that made it and to the lines that it was made from: it names the log, its earlier
files as they were, and the digest of the last line that was read. Where one of these differs, the log is read anew; so
`cache/` may be deleted at any time. Whether earlier lines are what they were, `ahp log verify` tells, from the log.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Sequence
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from ahp.insight import reading
from ahp.insight.chronicle import Chronicle, Comment, Notes, Remark
from ahp.journal import segments
from ahp.journal.decoding import decode
from ahp.journal.fold import Checkpoint
from ahp.journal.recovery import genesis_of
from ahp.journal.segments import Segment
from ahp.system import digest, files
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen, unseen

PLACE = "/cache/figures"
"""In the folder of a log."""
WORTH = 1 << 20
"""Bytes that have to be new before they are kept: reading so many takes no longer than writing what is kept."""
_LIMIT = 4 << 30
_MAGIC = b"ahp figures"
_MAKING = ("insight", "journal", "protocol")  # the rooms that say what a record means


class _File(NamedTuple):
    """A file of the log as it was: what was only appended to is the same file, longer."""

    serial: int
    inode: int
    size: int
    changed: int  # nanoseconds

    @classmethod
    def of(cls, segment: Segment) -> _File:
        with segments.Reader(segment) as reader:
            if reader.fd < 0:
                return cls(segment.serial, 0, 0, 0)
            status = os.fstat(reader.fd)
            return cls(segment.serial, status.st_ino, status.st_size, status.st_mtime_ns)


def chronicle(folder: str, path: str, seen: Seen = unseen) -> Chronicle:
    """What the log in `folder` tells, up to its last line; `path` is where that is kept, "" for nowhere.

    Raises AhpError when the log cannot be read or is of a newer format.
    """
    listed = reading.files(folder)
    found = [_File.of(segment) for segment in listed]
    known, mark = _load(path, listed, found) or (Chronicle(), Checkpoint(0, 0, 0, ""))
    total = sum(file.size for file in found)
    done = begin = sum(file.size for file in found if file.serial < mark.serial) + mark.end
    is_whole, rest = True, b""
    for segment, file in zip(listed, found, strict=True):
        if segment.serial < mark.serial:
            continue
        if segment.serial > mark.serial:
            _take(known, [rest])  # the end of a file that nobody writes any more
            mark = Checkpoint(segment.serial, 0, 0, "")
        rest, last, end = b"", b"", mark.end
        for at, lines, ended in segments.blocks_in(segment, mark.end):
            rest = b"" if ended else lines.pop()  # it may go on
            _take(known, lines)
            if lines:
                last, end = lines[-1], at + sum(map(len, lines)) + len(lines)
            seen(min(done + end - mark.end, total), total)
        done += end - mark.end + len(rest)
        if end > mark.end:
            mark = Checkpoint(segment.serial, end - len(last) - 1, end, digest.sha256(last))
        if end + len(rest) < file.size:
            reading.tell_short(segment)
            is_whole = False
    if path and is_whole and done - begin >= WORTH:
        _save(path, known, mark, listed, found)
    _take(known, [rest])
    seen(total, total)
    return known


def _take(known: Chronicle, lines: Sequence[bytes]) -> None:
    if any(lines):
        known.store.wake()
    for record in filter(None, map(decode, lines)):
        known.apply(record)


def _save(path: str, known: Chronicle, mark: Checkpoint, listed: Sequence[Segment], found: Sequence[_File]) -> None:
    notes, data = known.notes, list[bytes]()
    columns = {f"{name}.{key}": one for name, table in notes.tables().items() for key, one in vars(table).items()}
    for column in columns.values():
        data.append(column.tobytes())
    told = {
        "made": _made(),
        "log": _name(listed),
        "mark": mark,
        "files": found,
        "chronicle": known.kept(),
        "names": notes.names.words,
        "actions": notes.actions.words,
        "waived": list(notes.waived.items()),
        "remarks": notes.remarks,
        "columns": {name: len(column) for name, column in columns.items()},
    }
    data = [json.dumps(told).encode() + b"\n", *data, known.store.kept()]
    check = reduce(lambda sum, part: crc32(part, sum), data, 0)
    try:
        files.make_dirs(os.path.dirname(path))
        files.replace(path, b"".join([b"%s %08x\n" % (_MAGIC, check), *data]))
    except AhpError:
        return  # nothing is lost: the next reading takes longer


def _load(path: str, listed: Sequence[Segment], found: Sequence[_File]) -> tuple[Chronicle, Checkpoint] | None:
    """What was kept, and the last line that it knows; None where that is not whole or does not fit the log."""
    try:
        data = files.read(path, _LIMIT) if path else None
    except AhpError:
        return None
    if data is None:
        return None
    head, body = data[: len(_MAGIC) + 10], memoryview(data)[len(_MAGIC) + 10 :]
    if head != b"%s %08x\n" % (_MAGIC, crc32(body)):
        return None
    end = data.find(b"\n", len(head)) - len(head)
    try:
        told: dict[str, Any] = decode(bytes(body[:end])) or {}
        if told["made"] != _made() or told["log"] != _name(listed):
            return None
        mark = Checkpoint(*told["mark"])
        if not _fits(mark, [_File(*one) for one in told["files"]], listed, found):
            return None
        notes, unsettled = _notes(told, body[end + 1 :])
        known = Chronicle(notes)
        known.store.asleep = unsettled
        known.restore(told["chronicle"])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):  # only somebody who wrote there is to blame
        return None
    return known, mark


def _fits(mark: Checkpoint, known: Sequence[_File], listed: Sequence[Segment], found: Sequence[_File]) -> bool:
    """Whether the files of the log are those that were known, at most with more behind the last line."""
    if [one for one in known if one.serial < mark.serial] != [one for one in found if one.serial < mark.serial]:
        return False
    then, now = ({one.serial: one for one in files}.get(mark.serial) for files in (known, found))
    if then is None or now is None or then.inode != now.inode or (then.size == now.size and then != now):
        return False
    segment = next(one for one in listed if one.serial == mark.serial)
    with segments.Reader(segment) as reader:
        line = reader.at(mark.start, mark.end - mark.start)
    return not mark.head or (line[-1:] == b"\n" and digest.sha256(line[:-1]) == mark.head)


def _notes(told: Any, data: memoryview) -> tuple[Notes, bytes]:
    """The notes that were kept, and what lies behind their columns."""
    notes, at = Notes(), 0
    for name in told["names"]:
        notes.names[name]
    for name in told["actions"]:
        notes.actions[name]
    columns = {f"{name}.{key}": one for name, table in notes.tables().items() for key, one in vars(table).items()}
    for name, length in told["columns"].items():
        column = columns[name]
        del column[:]
        size = length * column.itemsize
        column.frombytes(data[at : at + size])
        at += size
    notes.waived = dict(told["waived"])
    notes.remarks = [
        Remark(moment, signal, place, Comment(*comment)) for moment, signal, place, comment in told["remarks"]
    ]
    return notes, bytes(data[at:])


def _name(listed: Sequence[Segment]) -> str:
    """The genesis id of the log, "" where its first file tells none."""
    return next((genesis_of(segment) for segment in listed[:1]), "")


@cache
def _made() -> str:
    """What wrote what is kept: the code, and how this machine lays out numbers."""
    top = Path(__file__).parents[1]
    sources = sorted(path for room in _MAKING for path in (top / room).glob("*.py"))
    code = digest.sha256(b"\0".join([path.read_bytes() for path in sources]))
    return f"{code} {sys.byteorder} {array('I').itemsize}"
