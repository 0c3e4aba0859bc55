"""The store of a fold in SQLite: `state.db`."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from ahp.journal.answers import RISK, kind_of
from ahp.journal.episodes import Acknowledgement, Act, Attempt, Episode, LoggedSignal
from ahp.system.digest import sha256

VERSION = 5
NAME = "/state.db"
"""Beside the log."""
MEMORY = ":memory:"
"""The path of a store that is not kept."""
FILES = ("", "-wal", "-shm")
"""What the names of a database's files end with."""
_BUSY = 0.1
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE episodes (key TEXT PRIMARY KEY, ends REAL NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE signals (
  nth INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, episode TEXT NOT NULL, subject TEXT NOT NULL,
  kind TEXT NOT NULL, open INTEGER NOT NULL, waits INTEGER NOT NULL, unlogged INTEGER NOT NULL,
  risk INTEGER NOT NULL, waived TEXT NOT NULL, data TEXT NOT NULL
);
CREATE INDEX by_key ON signals (key);
CREATE INDEX open_ends ON signals (key, episode) WHERE open;
CREATE INDEX waiting ON signals (subject, kind) WHERE waits;
CREATE INDEX unlogged ON signals (nth) WHERE unlogged;
CREATE INDEX risks ON signals (nth) WHERE risk;
CREATE INDEX waived ON signals (waived) WHERE waived != '';
"""
_PUT = """
INSERT INTO signals (id, key, episode, subject, kind, open, waits, unlogged, risk, waived, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET episode = excluded.episode, open = excluded.open, waits = excluded.waits,
  unlogged = excluded.unlogged, risk = excluded.risk, data = excluded.data
"""


class Remembered(NamedTuple):
    """The last line of a log that something beside it was made from: number, SHA-256; the log's id, "" if unknown."""

    lines: int
    head: str
    genesis: str


def remembered(path: str) -> Remembered | None:
    """What the state at `path` remembers, None when it does not say."""
    if not os.path.isfile(path):
        return None
    try:
        with closing(SqlStore(path)) as store:
            return remembered_by(store.meta())
    except (sqlite3.Error, OSError):
        return None


def remembered_by(meta: Mapping[str, object]) -> Remembered | None:
    """As `remembered`. A line that was gone when the state was made anew (`as_gone`) counts before the last one."""
    lines, head, genesis = str(meta.get("gone") or "  ").split(" ", 2)
    if head:
        return Remembered(int(lines), head, genesis)
    n, last = meta.get("n"), meta.get("head")
    return Remembered(n, last, str(meta.get("genesis") or "")) if isinstance(n, int) and isinstance(last, str) else None


def as_gone(lost: Remembered | None) -> str:
    """As `remembered_by` reads it from the `gone` of a state that is made anew."""
    return f"{lost.lines} {lost.head} {lost.genesis}" if lost else ""


def forget(path: str) -> None:
    """Lets the state at `path` remember nothing; the next reader makes it anew. Does nothing where that fails."""
    with contextlib.suppress(sqlite3.Error, OSError):
        if os.path.isfile(path):
            with closing(SqlStore(path)) as store, store.transaction():
                store.drop_meta()


def remove(path: str) -> None:
    """Removes the state at `path`, with what SQLite keeps beside it. Raises OSError."""
    for suffix in FILES:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


class SqlStore:
    """An open `state.db`. Raises sqlite3.Error when it is no database, OSError when it is no regular file.

    `unlogged`, `risks`, `enforced` give signals in the order of the log, `latest` the newest first.
    """

    def __init__(self, path: str) -> None:
        if path != MEMORY:
            _begin(path)
        self.boot = _boot()
        self._db = sqlite3.connect(path, timeout=_BUSY, isolation_level=None, cached_statements=64)
        self._episodes: dict[str, Episode | None] = {}
        self._changed: set[str] = set()
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            # Derived: what a loss of power spoils is made anew after the next start of the machine, so that no run
            # waits for the disk (15 ms of the 60 that a firing rule may take).
            self._db.execute(f"PRAGMA synchronous = {'OFF' if self.boot else 'NORMAL'}")
        except sqlite3.Error:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside is kept, or nothing of it. One process at a time."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._flush()
            self._db.execute("COMMIT")
        except BaseException:
            self._episodes.clear()
            self._changed.clear()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def reset(self) -> None:
        """Empties it, inside a transaction."""
        for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            self._db.execute(f'DROP TABLE "{name}"')
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {VERSION}")
        self._episodes.clear()
        self._changed.clear()

    def meta(self) -> dict[str, object]:
        """How far it has read (`checkpoint.Checkpoint`), and `at`; empty before the first time."""
        if self._db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            return {}
        return dict(self._db.execute("SELECT name, value FROM meta").fetchall())

    def put_meta(self, **values: object) -> None:
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def drop_meta(self) -> None:
        self._db.execute("DELETE FROM meta")

    def episode(self, key: str) -> Episode | None:
        if key not in self._episodes:
            row = self._db.execute("SELECT data FROM episodes WHERE key = ?", (_sql(key),)).fetchone()
            self._episodes[key] = episode_of(key, _unsealed(row[0])) if row else None
        return self._episodes[key]

    def put_episode(self, episode: Episode) -> None:
        self._episodes[episode.key] = episode
        self._changed.add(episode.key)

    def drop_episode(self, episode: Episode) -> None:
        self._episodes[episode.key] = None
        self._changed.add(episode.key)

    def ended(self, now: float) -> Iterable[Episode]:
        self._flush()
        keys = self._db.execute("SELECT key FROM episodes WHERE ends <= ?", (now,)).fetchall()
        return [episode for (key,) in keys if (episode := self.episode(_python(key)))]

    def open_keys(self) -> set[str]:
        self._flush()
        return {_python(key) for (key,) in self._db.execute("SELECT key FROM episodes")}

    def signal(self, id: str) -> LoggedSignal | None:
        return next(iter(self._signals("id = ?", id)), None)

    def put_signal(self, signal: LoggedSignal) -> None:
        self._db.execute(
            _PUT,
            (
                _sql(signal.id),
                _sql(signal.key),
                _sql(signal.episode),
                _sql(signal.subject),
                _sql(kind_of(signal.actor)),
                bool(signal.episode) and not signal.action,
                signal.waits,
                signal.unlogged,
                signal.action == RISK,
                _sql(signal.waived),
                _sealed(values_of(signal)),
            ),
        )

    def unanswered(self, episode: Episode) -> Iterable[LoggedSignal]:
        return self._signals("key = ? AND episode = ? AND open", episode.key, episode.id)

    def waiting(self, subject: str, actor_kind: str) -> Iterable[LoggedSignal]:
        return self._signals("subject = ? AND kind = ? AND waits", subject, actor_kind)

    def latest(self, limit: int) -> list[LoggedSignal]:
        rows = self._db.execute("SELECT data FROM signals ORDER BY nth DESC LIMIT ?", (limit,)).fetchall()
        return [signal_of(_unsealed(data)) for (data,) in rows]

    def unlogged(self) -> list[LoggedSignal]:
        return self._signals("unlogged")

    def risks(self) -> list[LoggedSignal]:
        return self._signals("risk")

    def enforced(self, key: str) -> list[LoggedSignal]:
        return [signal for signal in self._signals("key = ?", key) if signal.enforced]

    def enforced_under(self, prefix: str) -> list[LoggedSignal]:
        found = self._signals("key >= ? AND key < ?", _sql(prefix), _sql(prefix) + "\U0010ffff")
        return [signal for signal in found if signal.enforced]

    def waived_as(self, name: str) -> str | None:
        found = self._signals("waived = ? AND waived != ''", name)
        return found[0].rule_digest if found else None

    def find(self, prefix: str, limit: int) -> list[str]:
        query = "SELECT id FROM signals WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
        rows = self._db.execute(query, (_sql(prefix), _sql(prefix) + "\U0010ffff", limit)).fetchall()
        return [_python(id) for (id,) in rows]

    def _signals(self, where: str, *values: str) -> list[LoggedSignal]:
        query = f"SELECT data FROM signals WHERE {where} ORDER BY nth"  # noqa: S608  # the clauses above
        return [signal_of(_unsealed(data)) for (data,) in self._db.execute(query, [_sql(value) for value in values])]

    def _flush(self) -> None:
        for key in self._changed:
            episode = self._episodes[key]
            if episode is None:
                self._db.execute("DELETE FROM episodes WHERE key = ?", (_sql(key),))
            else:
                row = (_sql(key), episode.ends, _sealed(plain_of(episode)))
                self._db.execute("INSERT OR REPLACE INTO episodes VALUES (?, ?, ?)", row)
        self._changed.clear()


def _sealed(value: object) -> str:
    """A row's value with a digest of it: no other program can know what makes a row fit the rest."""
    text = json.dumps(value)
    return json.dumps([value, sha256(text.encode())[:16]])


def _unsealed(data: str) -> Any:
    """What `_sealed` was given. Raises sqlite3.DatabaseError for anything else: the state is made anew then."""
    try:
        value, seal = json.loads(data)
    except (TypeError, ValueError):
        seal = None
    if seal is None or seal != sha256(json.dumps(value).encode())[:16]:
        raise sqlite3.DatabaseError("a row of the state is not as ahp wrote it")
    return value


def _begin(path: str) -> None:
    """Sees to it that a file is there, which only its owner reads. Raises OSError for anything else there."""
    # Never opened here: closing it would drop the locks that SQLite holds on it for another thread.
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise OSError(f"{path} is not a regular file")
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _boot() -> str:
    """The boot id of the machine; "" where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _sql(text: str) -> str:
    """SQLite takes no lone surrogates, and file names may hold them; the escape keeps texts apart and in order."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _python(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "surrogatepass")


def values_of(signal: LoggedSignal) -> list[object]:
    """A signal as plain data."""
    return [getattr(signal, name) for name in LoggedSignal.__slots__]


def signal_of(values: list[object]) -> LoggedSignal:
    """The signal of what `values_of` gave. Raises ValueError, TypeError for anything else."""
    signal = LoggedSignal()
    for name, value in zip(LoggedSignal.__slots__, values, strict=True):
        setattr(signal, name, value)
    signal.act = Act(*signal.act)
    signal.spent = Act(*signal.spent) if signal.spent else None
    serial, offset, length = signal.where
    signal.where = (serial, offset, length)
    return signal


def plain_of(episode: Episode) -> dict[str, object]:
    """An episode as plain data, but for its key."""
    return {
        "id": episode.id,
        "opened": episode.opened,
        "last": episode.last,
        "count": episode.count,
        "issue": episode.issue,
        "rejected": episode.rejected,
        "forget_after": episode.forget_after,
        "paths": sorted(episode.paths),
        "found": sorted(episode.found),
        "landing": _landing(episode),
        "acknowledged": {e: [a.held, a.once, a.used] for e, a in episode.acknowledged.items()},
        "attempts": [_row(attempt) for attempt in episode.attempts],
    }


def _landing(episode: Episode) -> object:
    """Its place among the attempts; whole where so many followed that it is no longer one of them."""
    waits = episode.landing
    if waits is None:
        return None
    return episode.attempts.index(waits) if waits in episode.attempts else _row(waits)


def _row(a: Attempt) -> list[object]:
    return [list(a.act), a.nth, a.excused, a.counted, sorted(a.told)]


def _attempt(row: list[Any]) -> Attempt:
    act, nth, excused, counted, told = row
    return Attempt(Act(*act), nth, excused, counted, [(host, hook) for host, hook in told])


def episode_of(key: str, plain: dict[str, object]) -> Episode:
    """The episode of what `plain_of` gave. Raises ValueError, TypeError, KeyError for anything else."""
    episode = Episode(key, "", 0.0)
    for name in ("id", "opened", "last", "count", "issue", "rejected", "forget_after"):
        setattr(episode, name, plain[name])
    paths, found, landing = plain["paths"], plain["found"], plain["landing"]
    acknowledged, attempts = plain["acknowledged"], plain["attempts"]
    assert isinstance(paths, list) and isinstance(found, list)
    assert isinstance(acknowledged, dict) and isinstance(attempts, list)
    episode.paths, episode.found = set(paths), set(found)
    episode.acknowledged = {e: Acknowledgement(*values) for e, values in acknowledged.items()}
    episode.attempts = [_attempt(row) for row in attempts]
    if isinstance(landing, int):
        episode.landing = episode.attempts[landing]
    elif isinstance(landing, list):
        episode.landing = _attempt(landing)
    return episode
