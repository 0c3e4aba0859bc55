"""Episodes and answers as of the last record, kept in SQLite so that the log is read only once (design §3, §7).

Everything here is derived. A `state.db` that is missing, corrupt, of another version, or that does not fit the log is
made anew from as much of the log as can matter now; one that cannot be written is replaced by one in memory. Only
what it remembers of lines that are gone from the log (`ahp.journal.recovery`) is kept until the log says so.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TypeVar

from ahp.journal import counts, recovery, segments, tables
from ahp.journal.answers import AUTOMATIC, SKIP_LASTS
from ahp.journal.append import Journal
from ahp.journal.episodes import Episode, LoggedSignal, told_as
from ahp.journal.fold import Checkpoint, Fold, MemoryStore, holds, read_into, window
from ahp.journal.index import episode_key, unescape
from ahp.protocol import records
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, patience

SKIPS = "/skips"
"""Beside the log: a file as old as the last skip that a person gave (`ahp.journal.skips`)."""
_T = TypeVar("_T")


class State:
    """Episodes and answers as of the last record of a journal; a context manager.

    `read_to` is the number of the file that the last record is in, and the offset after it.
    """

    def __init__(
        self,
        journal: Journal,
        store: tables.SqlStore,
        fold: Fold,
        read_to: tuple[int, int],
        lost: tables.Remembered | None,
        now: float,
        path: str,
    ) -> None:
        self.journal, self.store, self._fold, self.read_to, self._asked = journal, store, fold, read_to, now
        self._lost, self._path = lost, path

    @classmethod
    def open(cls, journal: Journal, now: float | None = None, path: str = "") -> State:
        """The state of `journal`, brought up to its last record and to `now` (seconds; default: the clock).

        `path` is where it is kept, other than beside the log. Raises AhpError when the log cannot be read.
        """
        now = clock.now() if now is None else now
        patience.doing = "the log"
        try:
            return cls._open(journal, now, path or journal.folder + tables.NAME)
        finally:
            patience.doing = ""

    @classmethod
    def _open(cls, journal: Journal, now: float, path: str) -> State:
        for attempt in range(2):
            try:
                return cls(journal, *_synchronised(journal, path), now, path)
            except sqlite3.OperationalError:
                break  # locked, or nothing can be written here
            except sqlite3.Error:
                if attempt or not _discard(path):
                    break
            except OSError:
                break
        return cls(journal, *_in_memory(journal), now, path)

    def __enter__(self) -> State:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self.store.close()

    @property
    def now(self) -> float:
        """The time it speaks of, in seconds: never before the last record's (design §7)."""
        return max(self._fold.at, self._asked)

    def episode(self, key: str) -> Episode | None:
        """The open episode of a key (`ahp.journal.index.episode_key`), None when there is none or it is forgotten."""
        episode = self._ask(lambda store: store.episode(key))
        return None if episode is None or episode.ends <= self.now else episode

    def signal(self, id: str) -> LoggedSignal | None:
        """A signal by its whole id."""
        return self._ask(lambda store: store.signal(id))

    def find(self, prefix: str) -> list[str]:
        """Up to five ids that begin with `prefix`, sorted."""
        return self._ask(lambda store: store.find(prefix, 5))

    def latest(self, limit: int) -> list[LoggedSignal]:
        """The last `limit` signals, newest first."""
        return self._ask(lambda store: store.latest(limit))

    def open_episodes(self) -> list[tuple[Episode, LoggedSignal]]:
        """The open episodes, each with its last enforced signal; the one that signalled last comes first."""
        found = []
        for key in self._ask(lambda store: store.open_keys()):
            episode = self.episode(key)
            signals = [signal for signal in self.enforced(key) if episode and signal.episode == episode.id]
            if episode and signals:
                found.append((episode, signals[-1]))
        return sorted(found, key=lambda pair: (pair[0].last, pair[1].where), reverse=True)

    def record(self, signal: LoggedSignal) -> dict[str, object]:
        """The record of a signal as the log has it; empty when its file is gone."""
        serial, offset, _ = signal.where
        for part in segments.listed(self.journal.folder):
            if part.serial == serial:
                line = next(segments.forward_in(part, offset), None)
                return (line.record() if line else None) or {}
        return {}

    def risks_taken(self, rule: str | None) -> list[LoggedSignal]:
        """The signals of a rule (None: of all) that a person answered with `proceed_with_risk`, newest first."""
        return [signal for signal in reversed(self._ask(lambda store: store.risks())) if rule in (None, signal.rule)]

    def may_have_skips(self) -> bool:
        """Whether the log is worth reading for what a person skips in advance: one look at a file."""
        try:
            return os.stat(self.journal.folder + SKIPS).st_mtime > self.now - SKIP_LASTS
        except OSError:
            return False

    def signalled_paths(self, family: str, rule: str, subject: str, actor_kind: str) -> set[str]:
        """The paths of a rule's enforced signals on a subject that the state still knows, of closed episodes too."""
        key = episode_key(family, rule, subject, actor_kind)
        return {path for signal in self.enforced(key) for path in signal.paths}

    def enforced(self, key: str) -> list[LoggedSignal]:
        """The enforced signals of an episode's key that the state still knows, in the order of the log."""
        return self._ask(lambda store: store.enforced(key))

    def told(self, rule: str) -> set[tuple[str, str]]:
        """What a rule said of commits so far, of any subject: (rule digest, `told_as` or a finding's fingerprint)."""
        found: set[tuple[str, str]] = set()
        for family in ("commit", "push"):
            prefix = episode_key(family, rule, "", "").removesuffix("||") + "|"
            for signal in self._ask(lambda store, prefix=prefix: store.enforced_under(prefix)):  # type: ignore[misc]
                record = self.record(signal)
                marks = [told_as(signal.act.evidence, signal.act.change), *_list(record, "told")]
                marks += [str(one.get("fingerprint")) for one in _list(record, "findings") if isinstance(one, dict)]
                found.update((signal.rule_digest, str(mark)) for mark in marks)
        return found

    def waived_as(self, name: str) -> str | None:
        """The rule digest of the first signal that the waiver `name` excused, None when it has excused none."""
        return self._ask(lambda store: store.waived_as(name))

    def settle(self) -> int:
        """Appends what was derived: ends of forgotten episodes, automatic answers, counted tool calls. And that the
        log's end is gone, where only the state remembered it: no writer asks that as long as the index fits.

        Gives the number of records; 0 when another process has just written. Raises JournalUnwritable.
        """
        index = self.journal.index()
        made_from = (index.serial, index.size)
        found: list[dict[str, object]] = []
        if made_from == self.read_to:
            found = self._ask(lambda store: self._derived(store, index.keys))
            lines, lost, self._lost = index.count, self._lost, None
            if lost is not None:
                found.append(recovery.record(lost, lines))
            if not self.journal.append(found, after=made_from):
                found = []
            elif lost is not None:
                self.journal.loss = recovery.sentence(lost, lines)
        return len(found) + counts.fold(self.journal)

    def _derived(self, store: tables.SqlStore, keys: set[str]) -> list[dict[str, object]]:
        stamp = clock.iso(self.now)
        gone = (keys - store.open_keys()) | {episode.key for episode in store.ended(self.now)}
        answers = [_automatic(signal, self.now) for signal in store.unlogged()]
        return [_end(key, stamp) for key in sorted(gone)] + answers

    def _ask(self, question: Callable[[tables.SqlStore], _T]) -> _T:
        """The answer of the store; where a page or a row of the database cannot be read, that of one in memory. The
        next who opens it makes it anew.
        """
        try:
            return question(self.store)
        except sqlite3.Error as error:
            self.close()
            if not isinstance(error, sqlite3.OperationalError):
                _discard(self._path)
            self.store, self._fold, self.read_to, _ = _in_memory(self.journal)
            return question(self.store)


def _end(key: str, stamp: str) -> dict[str, object]:
    family, rule, subject, actor, *target = [unescape(part) for part in key.split("|")]
    hook = next((trigger.name for trigger in TRIGGERS.values() if trigger.family == family), family)
    more = {"target": target[0]} if target else {}
    return records.other(
        "episode-end", stamp, hook=hook, rule=rule, subject=subject, actor=actor, reason="forgotten", **more
    )


def _automatic(signal: LoggedSignal, now: float) -> dict[str, object]:
    of: dict[str, object] = {name: getattr(signal, name) for name in ("hook", "intensity", "source", "id")}
    # Derived under a clock that ran ahead, it must not take the log there again after a person set that right.
    return records.response(of, clock.iso(min(signal.answered, now)), signal.action, AUTOMATIC)


_Read = tuple[tables.SqlStore, Fold, tuple[int, int], tables.Remembered | None]
"""A store and its fold, how far it has read, and what the state remembers that is gone from the log."""


def _synchronised(journal: Journal, path: str) -> _Read:
    """The fold over `state.db`, brought up to the last record. Raises sqlite3.Error, OSError, AhpError."""
    segments.check_format(journal.folder)
    store = tables.SqlStore(path)
    try:
        with store.transaction():
            known = store.meta()
            fold = Fold(store, float(str(known.get("at", 0.0))))
            mark = _mark(known)
            fits = known.get("boot") == store.boot and mark is not None and holds(mark, journal.folder)
            lost, is_whole = None, fits and "genesis" in known and not known.get("gone")
            if not is_whole and (memory := tables.remembered_by(known)):
                lost = memory if recovery.is_gone(journal.folder, memory) else None
            if fits and mark is not None:
                read = read_into(fold, journal.folder, (mark.serial, mark.end))
            else:
                read = _made_anew(store, fold, journal.folder)
            if read.head:
                store.put_meta(at=fold.at, boot=store.boot, **read._asdict())
            if not is_whole:
                store.put_meta(genesis=recovery.log_of(journal.folder), gone=tables.as_gone(lost))
        return store, fold, (read.serial, read.end), lost
    except BaseException:
        store.close()
        raise


def _in_memory(journal: Journal) -> _Read:
    store = tables.SqlStore(tables.MEMORY)
    fold = Fold(store)
    with store.transaction():
        read = _made_anew(store, fold, journal.folder)
    return store, fold, (read.serial, read.end), None


_MANY = 20_000  # signals in memory


class Filling(MemoryStore):
    """A store in memory that hands its signals on to `store` whenever there are `most`, and all of it with `write`: a
    row is written once then, and not at each change.
    """

    def __init__(self, store: tables.SqlStore, most: int) -> None:
        super().__init__()
        self._store, self._most, self._is_begun = store, most, False

    def signal(self, id: str) -> LoggedSignal | None:
        return super().signal(id) or (self._store.signal(id) if self._is_begun else None)

    def put_signal(self, signal: LoggedSignal) -> None:
        super().put_signal(signal)
        if len(self.signals) >= self._most:
            self._write_signals()

    def write(self) -> None:
        self._write_signals()
        for episode in self.episodes.values():
            self._store.put_episode(episode)

    def _write_signals(self) -> None:
        for signal in self.signals.values():
            self._store.put_signal(signal)
        self.signals.clear()
        self._is_begun = True


def _made_anew(store: tables.SqlStore, fold: Fold, folder: str) -> Checkpoint:
    """Fills the store from as much of the log as can matter now. Raises sqlite3.Error, AhpError."""
    store.reset()
    filling = Filling(store, _MANY)
    first = Fold(filling)
    read = read_into(first, folder, window(folder))
    filling.write()
    fold.at = first.at
    return read


def _mark(known: dict[str, object]) -> Checkpoint | None:
    serial, start, end, head = (known.get(name) for name in Checkpoint._fields[:4])
    if isinstance(serial, int) and isinstance(start, int) and isinstance(end, int) and isinstance(head, str):
        return Checkpoint(serial, start, end, head)
    return None


def _discard(path: str) -> bool:
    """Removes a database that is none; whether that was possible."""
    try:
        tables.remove(path)
    except OSError:
        return False
    return True


def _list(record: Mapping[str, object], name: str) -> list[object]:
    value = record.get(name)
    return value if isinstance(value, list) else []
