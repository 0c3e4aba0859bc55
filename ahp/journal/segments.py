"""The files of a log and their lines, from either end, whatever their bytes are."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import NamedTuple

from ahp.system import jsontext
from ahp.system.errors import AhpError
from ahp.system.version import __version__

BLOCK = 64 << 10
_OPENING = 1 << 10
LIVE = "signals.jsonl"
FORMAT = 1
"""Of the log as a whole, told by the first record of each file; ahp 0.3 did not write it yet."""
READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_ROTATED = re.compile(r"signals\.([1-9][0-9]{0,8})\.jsonl")


class Segment(NamedTuple):
    """One file of the log: its number in the sequence, from 1, and its path. The live one has the highest number.

    Another process may rotate the log after its files were listed: what is read is the file of this number, whatever
    its name is by then. A file that was removed since is read as an empty one.
    """

    serial: int
    path: str


class Line(NamedTuple):
    """One line: where it is (file number, byte offset), its bytes without the newline, whether it had one."""

    serial: int
    offset: int
    raw: bytes
    ended: bool

    @property
    def end(self) -> int:
        """The offset after the line and its newline."""
        return self.offset + len(self.raw) + self.ended

    def record(self) -> dict[str, object] | None:
        """The record in the line; None for a torn line and anything else that is no JSON object."""
        try:
            value = jsontext.decode(self.raw.decode())
        except ValueError:
            return None
        return value if isinstance(value, dict) else None


def listed(folder: str) -> list[Segment]:
    """The files of the log in `folder`, oldest first; empty where there is none. Raises AhpError when unreadable."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise AhpError(f"cannot list {folder}: {error.strerror}") from None
    rotated = sorted(int(found[1]) for name in names if (found := _ROTATED.fullmatch(name)))
    listed = [Segment(serial, f"{folder}/signals.{serial}.jsonl") for serial in rotated]
    if LIVE in names:
        listed.append(Segment((rotated[-1] if rotated else 0) + 1, f"{folder}/{LIVE}"))
    return listed


def opening(segment: Segment) -> dict[str, object]:
    """The first record of a file, which names its log; empty when it is none. Raises AhpError."""
    first = next(forward_in(segment, block=_OPENING), None)
    return (first.record() if first else None) or {}


def check_format(folder: str) -> None:
    """Raises AhpError when the log in `folder` is of a format that this ahp does not know."""
    for last in listed(folder)[-1:]:
        check_maker(opening(last), last.path)


def check_maker(first: Mapping[str, object], path: str) -> None:
    """Raises AhpError when the first record of the file at `path` tells a format that this ahp does not know."""
    told = first.get("format", FORMAT)
    if not isinstance(told, int) or told > FORMAT:
        by = f"ahp {str(first['ahp'])[:40]}" if "ahp" in first else "a newer ahp"
        raise AhpError(f"{path} was written by {by}, and this is {__version__}; upgrade ahp")


def backward(folder: str) -> Iterator[Line]:
    """Every line of the log, the newest first, read in blocks from the end. Raises AhpError."""
    for part in reversed(listed(folder)):
        yield from backward_in(part)


def backward_in(part: Segment, block: int = BLOCK) -> Iterator[Line]:
    """The lines of one file, the last first. Raises AhpError."""
    with Reader(part) as reader:
        at, rest, ended, step = reader.size, b"", True, block
        if at:
            ended = reader.at(at - 1, 1) == b"\n"
            at -= ended
        else:
            return
        while at:
            step = min(step, at)
            at -= step
            first, *lines = (reader.at(at, step) + rest).split(b"\n")
            # A line longer than a block: read ever more, or putting it together takes quadratic time.
            step = block if lines else step * 2
            end = at + len(first) + 1 + sum(map(len, lines)) + len(lines)
            for raw in reversed(lines):
                end -= len(raw) + 1
                yield Line(part.serial, end, raw, ended)
                ended = True
            rest = first
        yield Line(part.serial, 0, rest, ended)


def forward_in(part: Segment, offset: int = 0, block: int = BLOCK * 4) -> Iterator[Line]:
    """The lines of one file from byte `offset` on, which must begin a line. Raises AhpError."""
    for begin, lines, ended in blocks_in(part, offset, block):
        at = begin
        for raw in lines:
            yield Line(part.serial, at, raw, ended)
            at += len(raw) + 1


def blocks_in(part: Segment, offset: int = 0, block: int = BLOCK * 4) -> Iterator[tuple[int, list[bytes], bool]]:
    """As `forward_in`, many lines at once: where the first begins, their bytes, whether each ended. Raises AhpError."""
    with Reader(part) as reader:
        rest, begin, at = b"", offset, offset
        while data := reader.at(at, block):
            at += len(data)
            lines = BytesIO(data).readlines()  # which finds their ends several times as fast as `split`
            lines[0] = rest + lines[0]
            rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
            if lines:
                yield begin, [line[:-1] for line in lines], True
                begin = at - len(rest)
            block = BLOCK * 4 if lines else block * 2
        if rest:
            yield begin, [rest], False


def count(folder: str) -> int:
    """How many lines the chain has, by the last record that has a number, and the lines after it. Raises AhpError."""
    after = 0
    for line in backward(folder):
        record = line.record()
        number = record.get("n") if record else None
        if isinstance(number, int) and 0 < number < 1 << 53:
            return number + after
        after += 1
    return after


def line_before(part: Segment, end: int) -> bytes | None:
    """The bytes of the line whose newline is the byte before `end`; None when no line ends there. Raises AhpError."""
    with Reader(part) as reader:
        if not 0 < end <= reader.size or reader.at(end - 1, 1) != b"\n":
            return None
        end, step = end - 1, BLOCK
        while True:
            begin = max(0, end - step)
            data = reader.at(begin, end - begin)
            if begin == 0 or b"\n" in data:
                return data.rpartition(b"\n")[2]
            step *= 2


class Reader:
    """A file of the log, open as `fd` (-1: it was removed since), read by position."""

    def __init__(self, part: Segment) -> None:
        self._part = part
        self.path, self.fd, self.size = part.path, -1, 0

    def __enter__(self) -> Reader:
        try:
            self.fd = self._open()
        except FileNotFoundError:
            return self
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise AhpError(
                    f"{self.path} is a symbolic link, which ahp does not follow; put the file in its place"
                ) from None
            raise AhpError(f"cannot read {self.path}: {error.strerror}") from None
        try:
            status = os.fstat(self.fd)
        except OSError as error:
            os.close(self.fd)
            raise AhpError(f"cannot read {self.path}: {error.strerror}") from None
        if not stat.S_ISREG(status.st_mode):
            os.close(self.fd)
            raise AhpError(f"{self.path} is not a regular file; move it away")
        self.size = status.st_size
        return self

    def _open(self) -> int:
        """A descriptor of the file of this number, which has its own name from a rotation on. Raises OSError."""
        folder, _, name = self.path.rpartition("/")
        if name == LIVE:
            own = f"{folder}/signals.{self._part.serial}.jsonl"
            with contextlib.suppress(FileNotFoundError):
                fd = os.open(self.path, READ)
                if not os.path.lexists(own):
                    return fd
                os.close(fd)
            self.path = own
        return os.open(self.path, READ)

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            with contextlib.suppress(OSError):  # of what was only read, nothing can be lost
                os.close(self.fd)

    def at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset`."""
        if self.fd < 0:
            return b""
        try:
            return os.pread(self.fd, length, offset)
        except OSError as error:
            raise AhpError(f"cannot read {self.path}: {error.strerror}") from None


_LINES = 2000


def had_fact(folder: str, subject: str, path: str) -> bool:
    """Whether one of the last 2,000 records of the log has a value of the fact `path` for this subject.

    Raises AhpError when the log cannot be read.
    """
    marks = [jsontext.encode(text).encode() for text in (path, subject)]
    for number, line in enumerate(backward(folder)):
        if number >= _LINES:
            return False
        if not all(mark in line.raw for mark in marks):
            continue
        record = line.record() or {}
        facts = record.get("facts")
        if record.get("subject") == subject and isinstance(facts, dict) and path in facts:
            return True
    return False
