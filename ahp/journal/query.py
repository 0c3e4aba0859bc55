"""Reading the log for people and programs: filtered, folded to one record a signal, or followed (design §7)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from ahp.journal import checkpoint, segments
from ahp.journal.append import FORGET_AFTER
from ahp.journal.fold import Fold, MemoryStore
from ahp.journal.logged_signal import LoggedSignal
from ahp.system import clock

SHOWN = ("signal", "bypass")
_POLL = 0.2


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


def folded(
    folder: str,
    wanted: Filter = Filter(),  # noqa: B008  # immutable
    *,
    limit: int | None = None,
    forget_after: float = FORGET_AFTER,
    now: float | None = None,
) -> tuple[list[dict[str, object]], bool]:
    """The last `limit` wanted records, oldest first, each signal with its answer; and whether there are more.

    Reads back only as far as that takes. An answer that nobody typed shows from when it holds, appended or not.
    Raises AhpError when the log cannot be read.
    """
    at = clock.now() if now is None else now
    return checkpoint.steadily(lambda: _folded(folder, wanted, limit, forget_after, at))


def follow(folder: str, wanted: Filter, begin: tuple[int, int]) -> Iterator[dict[str, object]]:
    """Wanted records, and answers to signals, as they are appended after file number and offset `begin`; endless."""
    serial, offset = begin
    kinds = wanted._replace(kinds=(*wanted.kinds, "response"))
    while True:
        for part in segments.listed(folder):
            if part.serial < serial:
                continue
            if part.serial > serial:
                serial, offset = part.serial, 0
            for line in segments.forward_in(part, offset):
                if not line.ended:
                    break
                offset = line.end
                record = line.record()
                if record is not None and kinds.takes(record):
                    yield record
        time.sleep(_POLL)


def end(folder: str) -> tuple[int, int]:
    """File number and offset where the next record will be. Raises AhpError."""
    last = next(segments.backward(folder), None)
    return (last.serial, last.end if last.ended else last.offset) if last else (1, 0)


def time_of(record: Mapping[str, object]) -> float | None:
    """A record's time stamp in seconds since the epoch, None when it has none."""
    stamp = record.get("timestamp")
    return clock.parse_iso(stamp) if isinstance(stamp, str) and clock.is_iso(stamp) else None


def show(record: Mapping[str, object], signal: LoggedSignal | None) -> dict[str, object]:
    """A record as it is shown: without its place in the chain, a signal with its answer so far."""
    shown = {name: value for name, value in record.items() if name not in ("prev", "n")}
    if signal is None or not signal.action:
        return shown
    answer: dict[str, object] = {"by": signal.by, "consumed_at": clock.iso(signal.answered)}
    if signal.details:
        answer["details"] = signal.details
    return {**shown, "consumed": True, "action": signal.action, **answer}


def _folded(
    folder: str, wanted: Filter, limit: int | None, forget_after: float, now: float
) -> tuple[list[dict[str, object]], bool]:
    begin, more = _begin(folder, wanted, limit)
    store = MemoryStore()
    fold = _Keeping(store, forget_after, wanted)
    checkpoint.read_into(fold, folder, begin)
    fold.expire(now)
    kept = fold.kept[-limit:] if limit is not None else fold.kept
    return [show(record, store.signal(id) if id else None) for id, record in kept], more


class _Keeping(Fold):
    """A fold that remembers the wanted records it has seen, with their signal's id."""

    def __init__(self, store: MemoryStore, forget_after: float, wanted: Filter) -> None:
        super().__init__(store, forget_after)
        self._wanted = wanted
        self.kept: list[tuple[str, Mapping[str, object]]] = []

    def apply(self, record: Mapping[str, object], where: tuple[int, int, int] = (0, 0, 0)) -> None:
        super().apply(record, where)
        if self._wanted.takes(record):
            is_signal = record.get("kind") == "signal"
            self.kept.append((LoggedSignal.of(record, 0.0, where).id if is_signal else "", record))


def _begin(folder: str, wanted: Filter, limit: int | None) -> tuple[tuple[int, int], bool]:
    """Where to begin so that the last `limit` wanted records are read; whether there are more before."""
    begin, found = (1, 0), 0
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
