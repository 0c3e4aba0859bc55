"""A long log read by several processes, each of which counts for some of the subjects.

What one subject was told and how it answered hangs on no other: of the records of other subjects a process takes up
only what matters to all of them, which are time, policies and the order of what came. The figures are those of one
reading.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, Self, TypeVar
from zlib import crc32

from ahp.insight import reading
from ahp.insight.chronicle import Chronicle
from ahp.insight.observed_store import ELSEWHERE
from ahp.journal.segments import Segment
from ahp.system import clock, process
from ahp.system.terminal import Seen, unseen

LONG = 16 << 20
"""Bytes of a log from which on it pays to start processes."""
_MOST = 4
_STAMP = len("2026-02-09T10:00:00.123Z")
_Record = Mapping[str, object]


class _Unclear(Exception):
    """The log has something of which only one reading of all can tell."""


class Found(Protocol):
    """What one process found, which takes over what another one did."""

    def join(self, other: Self, /) -> None: ...


F = TypeVar("F", bound=Found)
P = TypeVar("P", bound="Part")


class Task(NamedTuple):
    """What one process reads and counts: part `number` of `many`, of files as long as `sizes` (bytes)."""

    files: list[Segment]
    sizes: list[int]
    now: float
    number: int
    many: int


class Part(Chronicle):
    """The chronicle of some subjects: those of one part of many."""

    def take(self, number: int, many: int) -> None:
        """Counts part `number` of `many` alone. Comes before the first record."""
        self._part, self._parts = number, many
        self._is_mine: dict[object, bool] = {}  # by subject
        self._is_mine[None] = self._is_about_mine({})
        self._passed = ""  # the latest time stamp of what came elsewhere, until something asks for the time
        self._is_timeless = self.since is None and self.group.by != "week"  # nobody asks when an evaluation was

    def apply(self, record: _Record, where: tuple[int, int, int] = (0, 0, 0)) -> None:
        get = record.get
        kind = get("kind")
        try:
            is_mine = self._is_mine[get("subject")]
        except (KeyError, TypeError):
            is_mine = self._is_about_mine(record)
        if kind == "verdict":  # most of a log
            if not is_mine:
                self._passes(record)
                self._judged_last = record
                return
            store = self.store
            if self._is_timeless and store.notes.first and not store.someone_waits(get("subject"), get("actor")):
                self._passes(record)
                self._evaluated(record)
                return
        elif kind == "response":  # tells no subject
            is_mine = self.store.rows.get(hash(str(get("id")))) != ELSEWHERE
        if is_mine and kind != "feedback":
            if self._passed:
                self._catch_up_with(record)
            super().apply(record)
            return
        self._passes(record)
        if kind == "signal":
            self._signal_elsewhere(record)
        elif isinstance(kind, str) and kind in _ELSEWHERE:
            self._catch_up()
            self._record, self.store.row = record, -1
            _ELSEWHERE[kind](self, record)

    def expire(self, now: float) -> None:
        self._catch_up()
        super().expire(now)

    def _is_about_mine(self, record: _Record) -> bool:
        subject = str(record.get("subject") or "")
        known = self._is_mine.get(subject)
        if known is None:
            part = crc32(subject.encode("utf-8", "surrogatepass")) % self._parts
            known = self._is_mine[subject] = part == self._part
        return known

    def _passes(self, record: _Record) -> None:
        """Time goes on elsewhere, which need not be known before something asks for it."""
        stamp = record.get("timestamp")
        if type(stamp) is str and len(stamp) == _STAMP:  # compared as text: most of a log comes through here
            if stamp > self._passed:
                self._passed = stamp
        else:
            self.advance(record)
            self._look_at_clock()

    def _catch_up_with(self, record: _Record) -> None:
        """The time of what came elsewhere, and that of `record`, which mostly is the later one."""
        stamp, before = record.get("timestamp"), self.at
        if type(stamp) is str and len(stamp) == _STAMP and stamp >= self._passed:
            self.advance(record)
        if self.at > before:
            self._passed = ""
            self._look_at_clock()
        else:
            self._catch_up()

    def _catch_up(self) -> None:
        """The time of what came elsewhere. Raises _Unclear where the latest one is no time."""
        if not self._passed:
            return
        if not clock.is_iso(self._passed):
            raise _Unclear
        self.advance({"timestamp": self._passed})
        self._look_at_clock()
        self._passed = ""

    def _signal_elsewhere(self, record: _Record) -> None:
        """Its id is taken, and what came before it is no event that goes on."""
        if self._is_new(record):
            self.store.rows[self._known] = ELSEWHERE
            self._event, self._of_event = (), []

    def _feedback_anywhere(self, record: _Record) -> None:
        """It counts where its signal does."""
        row = self.store.rows.get(hash(str(record.get("id") or "")))
        if row != ELSEWHERE and (row is not None or self._is_about_mine(record)):
            self._feedback_told(record)


_ELSEWHERE: dict[str, Callable[[Part, _Record], None]] = {
    "clock": Part._clock_set,
    "policy": Part._policy_told,
    "feedback": Part._feedback_anywhere,
    "bypass": Part._gone_round,  # the commit that no hook judged may hold what another subject was told of
}


def of(
    make: Callable[[], P], find: Callable[[P], F], folder: str, now: float, seen: Seen = unseen
) -> tuple[P, F] | None:
    """What `find` finds in the chronicles of the log in `folder` that `make` begins, and one of them.

    None where the log is short, with one processor, where a file was pruned meanwhile, and where a process was
    killed, which is logged. Raises AhpError when the log cannot be read or is of a newer format.
    """
    part = make()
    files = reading.files(folder, part.since)
    sizes = [*map(reading.length_of, files)]
    count = min(process.processors(), _MOST)
    if count < 2 or sum(sizes) < LONG:
        return None
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context
    from signal import SIG_IGN, SIGINT, signal

    tasks = [Task(files, sizes, now, number, count) for number in range(count)]
    with ProcessPoolExecutor(count - 1, get_context("fork"), signal, (SIGINT, SIG_IGN)) as pool:
        others = [pool.submit(_counted, make, find, task) for task in tasks[1:]]
        try:
            lines = _read(part, tasks[0], seen)
            told = find(part)
            found = [other.result() for other in others]
        except BrokenProcessPool:
            why = "another one was killed, as for want of memory"
            logging.getLogger(__name__).warning("ahp: the log is read by one process, which takes longer: %s", why)
            return None
        except _Unclear:
            return None
    for more, also in found:
        if also != lines:
            return None
        told.join(more)
    return part, told


def _counted(make: Callable[[], P], find: Callable[[P], F], task: Task) -> tuple[F, int]:
    logging.disable(logging.WARNING)  # what is wrong with a file, the process that reads the first part tells
    part = make()
    lines = _read(part, task)
    return find(part), lines


def _read(part: Part, task: Task, seen: Seen = unseen) -> int:
    """Feeds `part` what the task names. How many lines were read."""
    part.take(task.number, task.many)
    count = 0
    with reading.no_garbage():
        for lines in reading.blocks_of(task.files, task.sizes, seen):
            count += len(lines)
            for line in lines:
                record = reading.decode(line)
                if record:
                    part.apply(record)
    part.expire(task.now)
    return count
