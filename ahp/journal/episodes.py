"""Episodes: a rule's signals on a subject, from the first violation to a reset (design §1, §8)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from ahp.journal.logged_signal import Act
from ahp.protocol.triggers import FORGET_AFTER

_ATTEMPTS_KEPT = 8


class Attempt:
    """One attempt within an episode: what it was, which hooks told of it, where on the ladder it stood.

    `nth` is how many attempts had counted before it; `excused` whether an acknowledgement keeps it from counting;
    `told` the (host, hook) pairs that asked about it.
    """

    __slots__ = ("act", "counted", "excused", "nth", "told")

    def __init__(
        self, act: Act, nth: int, excused: bool, counted: bool = False, told: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.act, self.nth, self.excused, self.counted = act, nth, excused, counted
        self.told = tuple(told) or ((act.host, act.hook),)

    def covers(self, act: Act) -> bool:
        """Whether `act` is this attempt: another hook of a git command, or another host's word of it (§8.2)."""
        if act.token and self.act.token:
            if act.token == self.act.token:
                return True
            if act.host == self.act.host:
                return False
        same_host = act.host in [host for host, _ in self.told]
        if same_host and act.token and self.act.token:
            return False
        if (act.host, act.hook) in self.told or not self.act.near(act):
            return False
        return same_host or act.evidence == self.act.evidence


class Acknowledgement:
    """Evidence that does not climb again: `held` is where the ladder stands for it, `once` for an agent's."""

    __slots__ = ("held", "once", "used")

    def __init__(self, held: int, once: bool, used: bool = False) -> None:
        self.held, self.once, self.used = held, once, used


class Episode:
    """A rule's signals on a subject since the first violation (design §1).

    `id` is the `correlation_id` of its signals, `opened` and `last` are seconds since the epoch, `count` is how many
    attempts went past it, `forget_after` (seconds) when it ends by itself, `issue` what it is about, `rejected` whether
    its modification was refused. A reset is about the same thing: `found` are the files of findings, `paths` those of
    the last signal without any. `landing` is the last attempt that was let past, while nothing tells yet whether the
    commit came about.
    """

    __slots__ = (
        "acknowledged",
        "attempts",
        "count",
        "forget_after",
        "found",
        "id",
        "issue",
        "key",
        "landing",
        "last",
        "opened",
        "paths",
        "rejected",
    )

    def __init__(self, key: str, id: str, opened: float) -> None:
        self.key, self.id, self.opened, self.last = key, id, opened, opened
        self.forget_after = FORGET_AFTER
        self.count, self.rejected, self.issue = 0, False, ""
        self.attempts: list[Attempt] = []
        self.landing: Attempt | None = None
        self.found: set[str] = set()
        self.paths: set[str] = set()
        self.acknowledged: dict[str, Acknowledgement] = {}

    @property
    def ends(self) -> float:
        """When it is forgotten, in seconds since the epoch, unless a signal comes before."""
        return self.last + self.forget_after

    @property
    def went_past(self) -> int:
        """How many attempts went past it, the one included of which only the next attempt will tell."""
        return self.count + (self.landing is not None and not self.landing.excused)

    def place(self, act: Act) -> Attempt:
        """Where `act` stands: the attempt it belongs to, else a new one that is not yet part of the episode."""
        for attempt in reversed(self.attempts):
            if attempt.covers(act):
                return attempt
        landed = self._landed(act)
        held = self.acknowledged.get(act.evidence) if act.evidence else None
        if held and not held.used:
            uses_it_up = held.once and landed and landed.excused and landed.act.evidence == act.evidence
            if not uses_it_up:
                return Attempt(act, held.held, excused=True)
        return Attempt(act, self.count + (landed is not None and not landed.excused), excused=False)

    def take(self, act: Act, past: bool) -> Attempt:
        """Adds an attempt; one that was let past counts, at once or when a later one starts from another commit."""
        attempt = self.place(act)
        if attempt not in self.attempts:
            if landed := self._landed(act):
                self._pass_by(landed)
                self.landing = None
            self.attempts = [*self.attempts[1 - _ATTEMPTS_KEPT :], attempt]
            # A person's word holds until the facts change; an agent's is remembered, for it is good only once.
            if self.acknowledged:
                self.acknowledged = {e: a for e, a in self.acknowledged.items() if a.once or e == act.evidence}
        if (act.host, act.hook) not in attempt.told:
            attempt.told += ((act.host, act.hook),)
        self.last = max(self.last, act.at)
        if past:
            self.let_past(attempt)
        return attempt

    def let_past(self, attempt: Attempt) -> None:
        """Nothing of the gate stopped the action of `attempt`.

        Whether a commit then came about shows when HEAD has moved: another hook, a person who left the editor or a
        remote may still have stopped it (design §8.2).
        """
        if attempt.act.head is None:
            self._pass_by(attempt)
        else:
            self.landing = attempt

    def _landed(self, act: Act) -> Attempt | None:
        """The attempt that came about: `act` starts from another commit, and knows of none that was given up."""
        waits = self.landing
        if waits is None or act.head is None or waits.act.head == act.head:
            return None
        return None if act.given_up and act.given_up == waits.act.token else waits

    def _pass_by(self, attempt: Attempt) -> None:
        """The action of `attempt` went past: it counts, once, unless excused."""
        if attempt.excused:
            if (held := self.acknowledged.get(attempt.act.evidence)) and held.once:
                held.used = True
        elif not attempt.counted:
            attempt.counted = True
            self.count += 1

    def acknowledge(self, evidence: str, held: int, once: bool) -> None:
        """Takes an acknowledgement; an agent's second one of the same evidence says nothing new (design §8.6)."""
        if evidence and not (once and evidence in self.acknowledged):
            self.acknowledged[evidence] = Acknowledgement(held, once)


def new_id(now: float) -> str:
    """An id for a new episode that tells when it was opened (a UUID of version 7, RFC 9562).

    That is how a state that is made anew knows how far back the ladders it finds half-way began.
    """
    random = uuid.uuid4().int
    return str(uuid.UUID(int=(int(now * 1000) & (1 << 48) - 1) << 80 | 7 << 76 | random & ~(0xFFFFFFFFFFFFF << 76)))


def opened_at(correlation_id: str) -> float | None:
    """When the episode of an id was opened, in seconds since the epoch; None for ids that do not tell."""
    try:
        told = uuid.UUID(correlation_id)
    except ValueError:
        return None
    return (told.int >> 80) / 1000 if told.version == 7 else None
