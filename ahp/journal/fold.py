"""Records folded into episodes and answers: what the log means, as a pure function of its lines (design §7, §8).

A fold takes records in the order of the log and keeps its findings in a store. So the same rules serve one reading of
the log (`ahp log`, `ahp stats`) and the state that is kept (`ahp.journal.state`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from ahp.journal import segments
from ahp.journal.answers import AUTOMATIC, kind_of
from ahp.journal.episodes import Act, Episode, LoggedSignal, opened_at
from ahp.journal.index import key_of, opens, window_of
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, digest

_PATHS_KEPT = 4096
PERSON_RESETS = ("retry_after_fix", "apply_suggestion")


class Store(Protocol):
    """Where a fold keeps what it finds. Whatever was changed is put back."""

    def episode(self, key: str) -> Episode | None: ...
    def put_episode(self, episode: Episode) -> None: ...
    def drop_episode(self, episode: Episode) -> None: ...
    def ended(self, now: float) -> Iterable[Episode]: ...
    def signal(self, id: str) -> LoggedSignal | None: ...
    def put_signal(self, signal: LoggedSignal) -> None: ...
    def unanswered(self, episode: Episode) -> Iterable[LoggedSignal]: ...
    def waiting(self, subject: str, actor_kind: str) -> Iterable[LoggedSignal]: ...


class Fold:
    """Feeds records to a store; `at` is the time of the last record."""

    def __init__(self, store: Store, at: float = 0.0) -> None:
        self.store, self.at = store, at
        self._stamp: object = None

    def apply(self, record: Mapping[str, object], where: tuple[int, int, int] = (0, 0, 0)) -> None:
        """Takes up one record; `where` is its file number, offset and length. Unknown kinds are skipped."""
        self.advance(record)
        handle = _HANDLERS.get(str(record.get("kind")))
        if handle:
            handle(self, record, where)

    def advance(self, record: Mapping[str, object]) -> None:
        """Time goes on to that of `record`, and never back."""
        stamp = record.get("timestamp")
        if stamp != self._stamp:  # the records of one event have one stamp
            self._stamp = stamp
            self.at = max(self.at, clock.seconds(stamp) or 0.0)

    def expire(self, now: float) -> None:
        """Closes what nothing reset within `forget_after` (design §8.5)."""
        self.at = max(self.at, now)
        for episode in list(self.store.ended(self.at)):
            self._forget(episode)

    def open(self, key: str) -> Episode | None:
        """The open episode of a key as of now."""
        episode = self.store.episode(key)
        if episode and episode.ends <= self.at:
            self._forget(episode)
            return None
        return episode

    def _signal(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        signal = LoggedSignal.of(record, self.at, where)
        if self.store.signal(signal.id):
            return  # a copied line must not climb a ladder
        self._next_attempt(record, signal.hook, signal.subject, kind_of(signal.actor), signal.act)
        if opens(record):
            episode = self.open(signal.key) or Episode(signal.key, signal.correlation_id or signal.id, self.at)
            signal.episode = episode.id
            signal.nth = episode.take(signal.act, signal.climbs).nth
            episode.issue = str(record.get("issue") or "") or episode.issue
            episode.forget_after = signal.forget_after
            if _has_files(record.get("findings")):
                episode.found.update(signal.paths[: _PATHS_KEPT - len(episode.found)])
            elif signal.paths:
                episode.paths = set(signal.paths)
            self.store.put_episode(episode)
            if signal.modified:
                signal.answer("accept_modification", AUTOMATIC, self.at)
        self.store.put_signal(signal)
        if signal.overrides and signal.past and (overridden := self.store.signal(signal.overrides)):
            # The last attempt on the same HEAD is the one that the commit is made of.
            if overridden.spent is None or overridden.spent.head == signal.act.head is not None:
                overridden.spent = signal.act
            self.store.put_signal(overridden)

    def _verdict(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        actor, subject = kind_of(str(record.get("actor") or "")), str(record.get("subject") or "")
        self._next_attempt(record, str(record.get("hook")), subject, actor)

    def _next_attempt(
        self, record: Mapping[str, object], hook: str, subject: str, actor_kind: str, act: Act | None = None
    ) -> None:
        """What the subject was told before and has not answered is answered by its going on (design §7).

        What it was told in this attempt, which is refused now, led to nothing and counts on no ladder (§8.2).
        """
        trigger = TRIGGERS.get(hook)
        if trigger is None or trigger.post:
            return
        waiting = list(self.store.waiting(subject, actor_kind))
        if not waiting:
            return
        ended = [self.open(signal.key) is None for signal in waiting if signal.episode]
        if any(ended):
            waiting = list(self.store.waiting(subject, actor_kind))  # forgotten before it could be dismissed
        act = act or Act.of(record, self.at)
        for signal in waiting:
            if not signal.act.same(act):
                signal.answer("suggestion_deferred" if signal.intensity == "aid" else "dismiss", AUTOMATIC, self.at)
                self.store.put_signal(signal)
            elif record.get("decision") == "deny":
                self._refused_after(signal)

    def _refused_after(self, signal: LoggedSignal) -> None:
        episode = self.open(signal.key) if signal.episode else None
        if episode and episode.landing and episode.landing.act.same(signal.act):
            episode.landing = None
            self.store.put_episode(episode)

    def _end(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        episode = self.open(key_of(record))
        if episode is None:
            return
        if record.get("reason") != "forgotten":  # else it is already closed, or reopened since
            self._close(episode, "retry_after_fix")

    def _forget(self, episode: Episode) -> None:
        self._close(episode, "abort", episode.ends)

    def _close(self, episode: Episode, action: str, at: float | None = None) -> None:
        for signal in list(self.store.unanswered(episode)):
            signal.answer(action, AUTOMATIC, self.at if at is None else at)
            self.store.put_signal(signal)
        self.store.drop_episode(episode)

    def _response(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        signal = self.store.signal(str(record.get("id")))
        if signal is None:
            return
        action, by = str(record.get("action")), str(record.get("by") or "")
        if by == AUTOMATIC:
            self.open(signal.key)  # where the episode had ended by then, that was the answer
            signal = self.store.signal(signal.id) or signal
            signal.logged = True
            if not signal.action:
                signal.answer(action, by, self.at)
                signal.logged = True
        else:
            details = record.get("details")
            signal.answer(action, by, self.at, dict(details) if isinstance(details, dict) else None)
            self.store.put_signal(signal)
            self._heed(signal, action, kind_of(by))
            return
        self.store.put_signal(signal)

    def _heed(self, signal: LoggedSignal, action: str, by: str) -> None:
        """What an explicit answer changes for the next attempt (design §7, §8.5, §8.6)."""
        episode = self.open(signal.key) if signal.episode else None
        if episode is None or episode.id != signal.episode:
            return
        if action == "acknowledge":
            episode.acknowledge(signal.act.evidence, signal.nth, once=by != "human")
        elif action in ("reject_modification", "accept_modification"):
            episode.rejected = action == "reject_modification"
        elif action in PERSON_RESETS and by == "human" and signal.key.startswith("tool-use|"):
            self._close(episode, "retry_after_fix")
            return
        self.store.put_episode(episode)

    def _clock(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        """A person has set time right: what lies in the future is as old as this record (design §7)."""
        at = clock.seconds(record.get("timestamp"))
        if at is not None:
            self.expire(self.at)  # what had ended by the clock that was wrong does not come back
            self.at = at
            for episode in list(self.store.ended(math.inf)):
                if episode.last > self.at:
                    episode.opened, episode.last = min(episode.opened, self.at), self.at
                    self.store.put_episode(episode)


def _has_files(findings: object) -> bool:
    return isinstance(findings, list) and any(isinstance(one, dict) and "file" in one for one in findings)


_HANDLERS = {
    "signal": Fold._signal,
    "verdict": Fold._verdict,
    "episode-end": Fold._end,
    "response": Fold._response,
    "clock": Fold._clock,
}


_WAITING = ("prompt", "aid")  # whose silence is an answer
_Places = dict[tuple[str, str], dict[str, LoggedSignal]]


class MemoryStore:
    """A store in memory, for one reading of a log."""

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}
        self.signals: dict[str, LoggedSignal] = {}
        self._unanswered: _Places = {}
        self._waiting: _Places = {}

    def episode(self, key: str) -> Episode | None:
        return self.episodes.get(key)

    def put_episode(self, episode: Episode) -> None:
        self.episodes[episode.key] = episode

    def drop_episode(self, episode: Episode) -> None:
        self.episodes.pop(episode.key, None)

    def ended(self, now: float) -> Iterable[Episode]:
        return [episode for episode in self.episodes.values() if episode.ends <= now]

    def signal(self, id: str) -> LoggedSignal | None:
        return self.signals.get(id)

    def put_signal(self, signal: LoggedSignal) -> None:
        self.signals[signal.id] = signal
        if signal.episode:
            _keep(self._unanswered, (signal.key, signal.episode), signal, not signal.action)
        if signal.intensity in _WAITING:
            _keep(self._waiting, (signal.subject, kind_of(signal.actor)), signal, signal.waits)

    def unanswered(self, episode: Episode) -> Iterable[LoggedSignal]:
        return self._unanswered.get((episode.key, episode.id), {}).values()

    def waiting(self, subject: str, actor_kind: str) -> Iterable[LoggedSignal]:
        return self._waiting.get((subject, actor_kind), {}).values()


def _keep(places: _Places, key: tuple[str, str], signal: LoggedSignal, kept: bool) -> None:
    place = places.get(key)
    if place is None:
        if kept:
            places[key] = {signal.id: signal}
    elif kept:
        place[signal.id] = signal
    else:
        place.pop(signal.id, None)
        if not place:
            del places[key]


class PassingStore(MemoryStore):
    """A store in memory that lets go of each signal once the fold has nothing more to say of it."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, list[str]] = {}

    def put_signal(self, signal: LoggedSignal) -> None:
        super().put_signal(signal)
        if signal.episode and signal.key.startswith("tool-use|"):  # an answer may still end its episode
            self._kept.setdefault(signal.episode, []).append(signal.id)
        elif signal.action or not (signal.episode or signal.waits):
            del self.signals[signal.id]

    def drop_episode(self, episode: Episode) -> None:
        super().drop_episode(episode)
        for id in self._kept.pop(episode.id, ()):
            self.signals.pop(id, None)


# A gate mints an episode's id a moment after the time stamp of the signal that opened it.
_OPENING_MARGIN = 60.0


class Checkpoint(NamedTuple):
    """The last line that was read: file number, where it starts and ends (newline included), SHA-256, line number."""

    serial: int
    start: int
    end: int
    head: str
    n: int = 0


def read_into(fold: Fold, folder: str, begin: tuple[int, int], until: tuple[int, int] | None = None) -> Checkpoint:
    """Feeds the records from file number and offset `begin` on, before `until` if given, to `fold`.

    Gives the last line it took. A last line that is no record yet is left for the next time. Raises AhpError.
    """
    mark = Checkpoint(begin[0], begin[1], begin[1], "")
    for part in segments.listed(folder):
        if part.serial < begin[0]:
            continue
        for line in segments.forward_in(part, begin[1] if part.serial == begin[0] else 0):
            if until is not None and (line.serial, line.offset) >= until:
                return mark
            if not line.raw and line.offset == mark.end and mark.head:
                mark = mark._replace(end=line.end)  # the newline that the last line had lacked
                continue
            record = line.record()
            if record is None and not line.ended:
                break
            if record is not None:
                fold.apply(record, (part.serial, line.offset, len(line.raw)))
            n = record.get("n") if record else None
            mark = Checkpoint(
                part.serial, line.offset, line.end, digest.sha256(line.raw), n if isinstance(n, int) else 0
            )
    return mark


def holds(mark: Checkpoint, folder: str) -> bool:
    """Whether the log still has the line that `mark` names, where it names it."""
    for part in segments.listed(folder):
        if part.serial == mark.serial:
            line = next(segments.forward_in(part, mark.start), None)
            return line is not None and digest.sha256(line.raw) == mark.head
    return False


def window(folder: str) -> tuple[int, int]:
    """File number and offset of the first line that can matter now.

    What was forgotten before the last record does not matter, but ladders that began before and went on since do: their
    ids tell when they were opened. What lies between is read for their sake and extends nothing.
    """
    begin, last, horizon, since = (1, 0), 0.0, math.inf, math.inf
    for line in segments.backward(folder):
        record = line.record()
        at = clock.seconds(record.get("timestamp")) if record else None
        if record is None or at is None:
            continue
        last = last or at
        horizon = min(horizon, last - window_of(record))
        since = min(since, horizon)
        if at < since:
            return begin
        begin = (line.serial, line.offset)
        if at >= horizon and record.get("kind") == "signal":
            opened = opened_at(str(record.get("correlation_id")))
            since = since if opened is None else min(since, opened - _OPENING_MARGIN)
    first = next(iter(segments.listed(folder)), None)
    return (first.serial if first else 1, 0)
