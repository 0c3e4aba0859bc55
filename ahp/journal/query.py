"""Reading the log for people and programs: filtered, folded to one record a signal, or followed (design §7)."""

from __future__ import annotations

import itertools
import math
import time
from array import array
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from ahp.journal import checkpoint, segments
from ahp.journal.answers import AUTOMATIC
from ahp.journal.append import Journal
from ahp.journal.episodes import Episode
from ahp.journal.fold import Fold, MemoryStore
from ahp.journal.logged_signal import LoggedSignal
from ahp.journal.rotation import genesis_of
from ahp.journal.state import State
from ahp.system import clock

SHOWN = ("signal", "bypass", "install")
_POLL = 0.2
_DAY = 86400.0


class Filter(NamedTuple):
    """Which records are wanted; None for any. Times in seconds since the epoch, `since` included, `until` not.

    `rule` is a key, an oracle's name or a pattern with `*`; `actor` a kind (`agent`) or an actor (`agent:claude`).
    """

    kinds: tuple[str, ...] = SHOWN
    rule: str | None = None
    subject: str | None = None
    hook: str | None = None
    intensity: str | None = None
    actor: str | None = None
    since: float | None = None
    until: float | None = None

    def takes(self, record: Mapping[str, object]) -> bool:
        """Whether a record is wanted."""
        if record.get("kind") not in self.kinds:
            return False
        for name in ("subject", "hook", "intensity"):
            wanted = getattr(self, name)
            if wanted is not None and record.get(name) != wanted:
                return False
        rule, actor = str(record.get("rule") or ""), str(record.get("actor") or "")
        if self.rule is not None and not (fnmatchcase(rule, self.rule) or rule.partition("/")[0] == self.rule):
            return False
        if self.actor is not None and self.actor not in (actor, actor.partition(":")[0]):
            return False
        at = time_of(record)
        return (self.since is None or (at is not None and at >= self.since)) and (
            self.until is None or (at is not None and at < self.until)
        )


class Answer(NamedTuple):
    """What a signal was answered with, by whom (`ahp`: nobody typed it), when (seconds)."""

    action: str
    by: str
    at: float
    details: dict[str, object] | None = None


def folded(
    folder: str,
    wanted: Filter = Filter(),  # noqa: B008  # immutable
    *,
    limit: int | None = None,
    now: float | None = None,
    until: tuple[int, int] | None = None,
) -> tuple[Iterator[dict[str, object]], bool]:
    """The last `limit` wanted records, oldest first, each signal with its answer; and whether there are more.

    With `until` those before that file number and offset, from which `follow` goes on.

    Reads back only as far as that takes, and twice: first for the answers, then record by record, so that a log of any
    length can be shown. An answer that nobody typed shows from when it holds, appended or not. Raises AhpError when the
    log cannot be read or is of a newer format.
    """
    segments.check_format(folder)
    begin, more = _begin(folder, wanted, limit)
    answers: _Answers | None = None
    if "signal" in wanted.kinds:
        answers = _answers(folder, begin, clock.now() if now is None else now)
    shown = _records(folder, begin, wanted, answers, until)
    return (itertools.islice(shown, limit) if limit is not None else shown), more


class Open(NamedTuple):
    """What is open now: whose ladder, how often it was gone past, until when it is remembered, its last signal."""

    rule: str
    subject: str
    actor: str
    intensity: str
    went_past: int
    since: str
    ends: str
    id: str
    message: str


def open_now(journal: Journal, wanted: Filter) -> list[Open]:
    """The open episodes whose last signal is wanted, the one that signalled last first. Raises AhpError."""
    with State.open(journal) as state:
        found = [(episode, state.record(signal)) for episode, signal in state.open_episodes()]
    wanted = wanted._replace(kinds=("signal",))
    return [_open(episode, record) for episode, record in found if wanted.takes(record)]


def _open(episode: Episode, record: Mapping[str, object]) -> Open:
    rule, subject, actor, intensity, id, message = (
        str(record.get(name) or "") for name in ("rule", "subject", "actor", "intensity", "id", "message")
    )
    since, ends = clock.iso(episode.opened), clock.iso(episode.ends)
    return Open(rule, subject, actor, intensity, episode.went_past, since, ends, id, message)


def follow(folder: str, wanted: Filter, begin: tuple[int, int]) -> Iterator[dict[str, object]]:
    """Wanted records, and answers to signals, as they are appended after file number and offset `begin`; endless.

    Where the log is begun anew meanwhile, all of that one; where its end is cut off, what comes after the cut.
    """
    serial, offset = begin
    kinds = wanted._replace(kinds=(*wanted.kinds, "response"))
    log = _name(folder)
    last = next((segments.line_before(part, offset) for part in segments.listed(folder) if part.serial == serial), None)
    while True:
        name = _name(folder)
        if log and name and name != log:
            serial, offset = 1, 0
        log = name or log
        for part in segments.listed(folder):
            if part.serial < serial:
                continue
            if part.serial > serial:
                serial, offset = part.serial, 0
            elif offset and segments.line_before(part, offset) != last:
                offset = _end_of(next(segments.backward_in(part), None))
                last = segments.line_before(part, offset)
            for line in segments.forward_in(part, offset):
                if not line.ended:
                    break
                offset, last = line.end, line.raw
                record = line.record()
                if record is not None and kinds.takes(record):
                    yield record
        time.sleep(_POLL)


def _name(folder: str) -> str:
    """The id of the log's genesis as its last file tells it, "" where there is none."""
    return next((genesis_of(part) for part in reversed(segments.listed(folder))), "")


def end(folder: str) -> tuple[int, int]:
    """File number and offset where the next record will be. Raises AhpError."""
    last = next(segments.backward(folder), None)
    return (last.serial, _end_of(last)) if last else (1, 0)


def _end_of(last: segments.Line | None) -> int:
    """Where the line after `last`, the last one of a file, begins; one that is not whole yet is still to come."""
    return 0 if last is None else last.end if last.ended else last.offset


def time_of(record: Mapping[str, object]) -> float | None:
    """A record's time stamp in seconds since the epoch, None when it has none."""
    return clock.seconds(record.get("timestamp"))


def show(record: Mapping[str, object], answer: Answer | None) -> dict[str, object]:
    """A record as it is shown: without its place in the chain, a signal with its answer so far."""
    shown = {name: value for name, value in record.items() if name not in ("prev", "n")}
    if answer is None:
        return shown
    told: dict[str, object] = {"by": answer.by, "consumed_at": clock.iso(answer.at)}
    if answer.details:
        told["details"] = answer.details
    return {**shown, "consumed": True, "action": answer.action, **told}


def _records(
    folder: str, begin: tuple[int, int], wanted: Filter, answers: _Answers | None, until: tuple[int, int] | None
) -> Iterator[dict[str, object]]:
    words = [f'"{kind}"'.encode() for kind in {*wanted.kinds, "signal"}]
    for segment in segments.listed(folder):
        if segment.serial < begin[0]:
            continue
        nth = answers.first.get(segment.serial, math.inf) if answers else math.inf
        for line in segments.forward_in(segment, begin[1] if segment.serial == begin[0] else 0):
            if until is not None and (line.serial, line.offset) >= until:
                return
            record = line.record() if _may_tell(line.raw, words) else None
            if record is None:
                continue
            is_signal = record.get("kind") == "signal"
            if wanted.takes(record):
                yield show(record, answers.of(nth, str(record.get("id"))) if answers and is_signal else None)
            nth += is_signal


def _may_tell(raw: bytes, words: list[bytes]) -> bool:
    """Whether a line may be of one of the kinds that `words` are in quotes: a word may also be written as escapes."""
    return b"\\" in raw or any(word in raw for word in words)


def _answers(folder: str, begin: tuple[int, int], now: float) -> _Answers:
    store = _Answers()
    fold = _Counting(store)
    checkpoint.read_into(fold, folder, begin)
    fold.expire(now)
    return store


class _Answers(MemoryStore):
    """A store that lets go of signals that are answered: what remains of one is a few bytes.

    `nth` is the number of the signal record that is being read, from 0, `first` that of the first one by file number:
    a file that is pruned between the two readings must not shift the answers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.nth = -1
        self.first: dict[int, int] = {}
        self.explicit: dict[str, Answer] = {}
        self._derived = bytearray()
        self._times = array("d")
        self._number: dict[str, int] = {}
        self._kept: dict[str, list[str]] = {}

    def of(self, nth: float, id: str) -> Answer | None:
        """The answer of the signal record `nth` with this id: the last one given, else what was derived."""
        given = self.explicit.get(id)
        if given or nth >= len(self._derived) or not self._derived[int(nth)]:
            return given
        return Answer(_DERIVED[self._derived[int(nth)] - 1], AUTOMATIC, self._times[int(nth)])

    def begin(self, serial: int) -> None:
        """The next signal record is read, in the file of this number."""
        self.nth += 1
        self.first.setdefault(serial, self.nth)
        self._derived.append(0)
        self._times.append(0.0)

    def put_signal(self, signal: LoggedSignal) -> None:
        nth = self._number.setdefault(signal.id, self.nth)
        super().put_signal(signal)
        if signal.action and signal.by == AUTOMATIC and signal.action in _DERIVED:
            self._derived[nth], self._times[nth] = _DERIVED.index(signal.action) + 1, signal.answered
        if signal.episode and signal.key.startswith("tool-use|"):  # an answer may still end its episode
            self._kept.setdefault(signal.episode, []).append(signal.id)
        elif signal.action or not (signal.episode or signal.waits):
            self._forget(signal.id)

    def drop_episode(self, episode: Episode) -> None:
        super().drop_episode(episode)
        for id in self._kept.pop(episode.id, ()):
            self._forget(id)

    def _forget(self, id: str) -> None:
        self.signals.pop(id, None)
        self._number.pop(id, None)


_DERIVED = ("accept_modification", "retry_after_fix", "dismiss", "suggestion_deferred", "abort")


class _Counting(Fold):
    """A fold that counts the signal records, and keeps what people and agents answered.

    It closes what is forgotten day by day, as nobody may ask for those episodes again.
    """

    store: _Answers
    _day = 0

    def apply(self, record: Mapping[str, object], where: tuple[int, int, int] = (0, 0, 0)) -> None:
        if record.get("kind") == "signal":
            self.store.begin(where[0])
        if self.at // _DAY != self._day:
            self._day = int(self.at // _DAY)
            self.expire(self.at)
        super().apply(record, where)
        by = str(record.get("by") or "")
        if record.get("kind") == "response" and by != AUTOMATIC:
            details = record.get("details")
            given = Answer(str(record.get("action")), by, self.at, dict(details) if isinstance(details, dict) else None)
            self.store.explicit[str(record.get("id"))] = given


def _begin(folder: str, wanted: Filter, limit: int | None) -> tuple[tuple[int, int], bool]:
    """Where to begin so that the last `limit` wanted records are read; whether there are more before."""
    if limit is None and wanted.since is None:
        return (1, 0), False
    begin, found = end(folder), 0
    for line in segments.backward(folder):
        record = line.record()
        at = time_of(record) if record else None
        if wanted.since is not None and at is not None and at < wanted.since:
            return begin, False
        if record is not None and wanted.takes(record):
            if found == limit:
                return begin, True
            found += 1
        begin = (line.serial, line.offset)
    return begin, False
