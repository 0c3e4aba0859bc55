"""Reading the log for people and programs: filtered, folded to one record a signal, or followed (design §7)."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from ahp.journal import segments
from ahp.journal.answers import AUTOMATIC, kind_of
from ahp.journal.append import Journal
from ahp.journal.decoding import decode
from ahp.journal.episodes import Episode, LoggedSignal, id_of
from ahp.journal.fold import Fold, PassingStore
from ahp.journal.recovery import log_of
from ahp.journal.state import State
from ahp.system import clock

SHOWN = ("signal", "bypass", "install")
_POLL = 0.2
_DAY = 86400.0


def is_meant(rule: str, by: str) -> bool:
    """Whether a rule is meant by a key, an oracle's name or a pattern with `*`."""
    return fnmatchcase(rule, by) or rule.partition("/")[0] == by


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
        if not self.wants(rule):
            return False
        if self.actor is not None and self.actor not in (actor, actor.partition(":")[0]):
            return False
        at = time_of(record)
        return (self.since is None or (at is not None and at >= self.since)) and (
            self.until is None or (at is not None and at < self.until)
        )

    def wants(self, rule: str) -> bool:
        """Whether records of a rule are wanted."""
        return self.rule is None or is_meant(rule, self.rule)


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

    Reads back only as far as that takes: first for the answers, then the wanted records, so that a log of any length
    can be shown. An answer that nobody typed shows from when it holds, appended or not. Raises AhpError when the log
    cannot be read or is of a newer format.
    """
    segments.check_format(folder)
    begin, more = _begin(folder, wanted, limit)
    if "signal" in wanted.kinds:
        shown = _answered(folder, _answers(folder, begin, wanted, clock.now() if now is None else now, until))
    else:
        shown = _records(folder, begin, wanted, until)
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
    log = log_of(folder)
    last = next((segments.line_before(part, offset) for part in segments.listed(folder) if part.serial == serial), None)
    while True:
        name = log_of(folder)
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
    folder: str, begin: tuple[int, int], wanted: Filter, until: tuple[int, int] | None
) -> Iterator[dict[str, object]]:
    """The wanted records that take no answer."""
    for serial, offset, lines in _blocks(folder, begin):
        for raw in lines:
            if until is not None and (serial, offset) >= until:
                return
            offset += len(raw) + 1
            if (record := decode(raw)) and wanted.takes(record):
                yield show(record, None)


def _blocks(folder: str, begin: tuple[int, int]) -> Iterator[tuple[int, int, list[bytes]]]:
    """The lines from a place in the log on, many at once: file number, and the offset of the first."""
    for part in segments.listed(folder):
        if part.serial >= begin[0]:
            for offset, lines, _ in segments.blocks_in(part, begin[1] if part.serial == begin[0] else 0):
                yield part.serial, offset, lines


def _answers(
    folder: str, begin: tuple[int, int], wanted: Filter, now: float, until: tuple[int, int] | None = None
) -> _Answers:
    store = _Answers()
    fold = _Telling(store, wanted)
    kinds = frozenset(wanted.kinds)
    for serial, offset, lines in _blocks(folder, begin):
        for record, length in zip(map(decode, lines), map(len, lines), strict=True):
            if record:
                where = serial, offset, length
                fold.apply(record, where)
                kind = record.get("kind")
                if kind in kinds and wanted.takes(record) and (until is None or where[:2] < until):
                    id = id_of(record, where) if kind == "signal" else ""
                    store.places.setdefault(serial, []).append((offset, length, id))
            offset += length + 1
    fold.expire(now)
    return store


def _answered(folder: str, answers: _Answers) -> Iterator[dict[str, object]]:
    """The wanted records, with the answers of signals. A file that was pruned meanwhile has none any more."""
    for segment in segments.listed(folder):
        with segments.Reader(segment) as reader:
            for offset, length, id in answers.places.pop(segment.serial, ()):
                if record := decode(reader.at(offset, length)):
                    yield show(record, answers.answers.get(id))


class _Answers(PassingStore):
    """What signals were answered with, by their ids: the last answer given, else what was derived.

    `places` are the wanted records by the number of their file: offset, length, the id of a signal, "" of the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[int, list[tuple[int, int, str]]] = {}
        self.answers: dict[str, Answer] = {}
        self.subjects: Counter[str] = Counter()
        """Whom a signal was told to that the next attempt answers."""

    def put_signal(self, signal: LoggedSignal) -> None:
        who = signal.subject, kind_of(signal.actor)
        waited = who in self._waiting
        super().put_signal(signal)
        self.subjects[signal.subject] += (who in self._waiting) - waited
        if not self.subjects[signal.subject]:
            del self.subjects[signal.subject]
        if signal.action and signal.by == AUTOMATIC:
            self.answers[signal.id] = Answer(signal.action, AUTOMATIC, signal.answered)


class _Telling(Fold):
    """A fold of the signals that may be wanted. Of others it only knows that their subject went on.

    It closes what is forgotten day by day, as nobody may ask for those episodes again.
    """

    store: _Answers
    _day = 0

    def __init__(self, store: _Answers, wanted: Filter) -> None:
        super().__init__(store)
        self._wants, self._subject = cache(wanted.wants), wanted.subject
        self._ids: dict[int, bool] = {}  # by the hash of that of a signal: whether it may be wanted

    def _may_be_wanted(self, record: Mapping[str, object]) -> bool:
        """By its rule and its subject: no episode or answer of others hangs on them."""
        return self._wants(str(record.get("rule") or "")) and self._subject in (None, record.get("subject"))

    def apply(self, record: Mapping[str, object], where: tuple[int, int, int] = (0, 0, 0)) -> None:
        get = record.get
        kind, subject = get("kind"), get("subject") or ""
        if get("timestamp") != self._stamp:
            self.advance(record)
            if self.at // _DAY != self._day:
                self._day = int(self.at // _DAY)
                self.expire(self.at)
        if kind == "verdict":
            if str(subject) in self.store.subjects:
                self._verdict(record, where)
        elif kind == "signal":
            id, is_wanted = hash(id_of(record, where)), self._may_be_wanted(record)
            if id in self._ids:
                return  # a copied line
            self._ids[id] = is_wanted
            if is_wanted:
                self._signal(record, where)
            elif str(subject) in self.store.subjects:
                told = LoggedSignal.of(record, self.at, where)
                self._next_attempt(record, told.hook, told.subject, kind_of(told.actor), told.act)
        elif kind == "response":
            if self._ids.get(hash(str(get("id") or ""))):
                self._answer_told(record, where)
        elif kind == "clock" or self._may_be_wanted(record):
            super().apply(record, where)

    def _answer_told(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        self._response(record, where)
        by, details = str(record.get("by") or ""), record.get("details")
        if by != AUTOMATIC:
            more = dict(details) if isinstance(details, dict) else None
            self.store.answers[str(record.get("id"))] = Answer(str(record.get("action")), by, self.at, more)


def _begin(folder: str, wanted: Filter, limit: int | None) -> tuple[tuple[int, int], bool]:
    """Where to begin so that the last `limit` wanted records are read; whether there are more before."""
    if limit is None and wanted.since is None:
        return (1, 0), False
    begin, found = end(folder), 0
    for line in segments.backward(folder):
        record = decode(line.raw)
        at = time_of(record) if record else None
        if wanted.since is not None and at is not None and at < wanted.since:
            return begin, False
        if record is not None and wanted.takes(record):
            if found == limit:
                return begin, True
            found += 1
        begin = (line.serial, line.offset)
    return begin, False
