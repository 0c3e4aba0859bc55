"""Episodes: a rule's signals on a subject, from the first violation to a reset (design §1, §8)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ahp.journal.answers import AUTOMATIC
from ahp.journal.index import forget_after, key_of
from ahp.protocol.triggers import FORGET_AFTER

SAME_ATTEMPT = 600.0
"""Within how many seconds two askings about one change may be one attempt (design §8.2)."""


class Act(NamedTuple):
    """What an attempt is recognised by: time (seconds), host, hook, a token, digests of the change and the evidence.

    `head` is the commit it started from ("" before the first one), None where that does not tell whether the action
    happened: an issue step, a tool call. `given_up` is the token of an earlier attempt, let past, that no
    commit came of.
    """

    at: float
    host: str
    hook: str
    token: str
    change: str
    evidence: str
    head: str | None = None
    given_up: str = ""

    @classmethod
    def of(cls, record: Mapping[str, object], at: float) -> Act:
        """From a signal or verdict record."""
        return cls.told(at, record, _texts(record, _ACT))

    @classmethod
    def told(cls, at: float, record: Mapping[str, object], texts: list[str]) -> Act:
        """From the texts of a record, in the order of the fields after `at`."""
        return cls._make((at, *texts) if "head" in record else (at, *texts[:-2], None, ""))

    def near(self, other: Act) -> bool:
        """Whether `other` follows within the window and is about the same change."""
        return bool(self.change) and self.change == other.change and 0 <= other.at - self.at <= SAME_ATTEMPT

    def same(self, other: Act) -> bool:
        """Whether both are one attempt, whichever rules spoke.

        One event, one git command (its hooks ask one after the other about one change), or one change that several
        hosts tell of. The same hook of the same host asks about the same change only when the action is tried again.
        """
        if self.token and other.token and self.host == other.host:
            return self.token == other.token
        if (self.host, self.hook) == (other.host, other.hook):
            return self.at == other.at
        return self.near(other)


def told_as(evidence: str, change: str) -> str:
    """By what it is recognised that a rule spoke of a commit: digests of its evidence and of the commit's change."""
    return f"{evidence} {change}"


class LoggedSignal:
    """A signal record's bare bones. `where` is the file number, offset and length of its line.

    `past`: the action was not denied; `climbs`: the signal counts (design §8.2); `nth`: how many attempts had counted
    before; `overrides`: the signal whose `proceed_with_risk` let this one pass; `spent`:
    the attempt that used up its own; `waived`: the name of the waiver that excused it; `rule_digest`: the rule as it
    was then; `content`: what the change was to it, which an override is bound to. `action` is "" until it is answered,
    `logged` whether an automatic answer was appended to the log.
    """

    __slots__ = (
        "act",
        "action",
        "actor",
        "answered",
        "by",
        "climbs",
        "content",
        "correlation_id",
        "details",
        "enforced",
        "episode",
        "forget_after",
        "hook",
        "id",
        "intensity",
        "key",
        "logged",
        "modified",
        "nth",
        "overridable",
        "overrides",
        "past",
        "paths",
        "rule",
        "rule_digest",
        "source",
        "spent",
        "subject",
        "waived",
        "where",
    )

    def __init__(self) -> None:
        self.id = self.hook = self.intensity = self.source = self.rule = self.subject = self.actor = ""
        self.correlation_id = self.key = self.episode = self.overrides = ""
        self.waived = self.rule_digest = self.content = ""
        self.spent: Act | None = None
        self.act = Act(0.0, "", "", "", "", "")
        self.enforced = self.past = self.climbs = self.modified = self.overridable = False
        self.nth, self.forget_after = 0, FORGET_AFTER
        self.paths: list[str] = []
        self.where = (0, 0, 0)
        self.action = self.by = ""
        self.answered = 0.0
        self.details: dict[str, object] | None = None
        self.logged = False

    @classmethod
    def of(cls, record: Mapping[str, object], at: float, where: tuple[int, int, int]) -> LoggedSignal:
        """From a signal record (docs/log.md lists its keys)."""
        get = record.get
        signal = cls.__new__(cls)  # a long log has many: each slot is set once
        (
            signal.id,
            signal.hook,
            signal.intensity,
            signal.source,
            signal.rule,
            signal.subject,
            signal.actor,
            signal.correlation_id,
            signal.overrides,
            signal.waived,
            signal.rule_digest,
            signal.content,
            *act,
        ) = _texts(record, _SIGNAL)
        signal.act = Act.told(at, record, act)
        signal.id = signal.id or id_of(record, where)
        signal.episode = signal.action = signal.by = ""
        signal.nth, signal.answered, signal.logged = 0, 0.0, False
        signal.spent = signal.details = None
        signal.key, signal.where = key_of(record), where
        decision, intensity = get("decision"), signal.intensity
        signal.enforced = enforced = not (get("shadow") or get("waived"))
        signal.past = past = enforced and decision != "deny" and (decision is not None or intensity != "block")
        climbs = past and intensity in ("prompt", "control")
        signal.climbs = climbs and not get("undecidable") and get("counted") is not False
        signal.modified = (
            past and decision == "allow_with_modification" and intensity == "control" and not get("advises")
        )
        signal.forget_after = forget_after(record)
        signal.overridable = get("overridable") is not False
        paths = get("paths")
        signal.paths = list(map(str, paths)) if isinstance(paths, list) else []
        return signal

    @property
    def waits(self) -> bool:
        """Whether the subject's next attempt answers it: an aid, or a prompt gone past."""
        told = self.enforced and not self.action
        return told and (self.intensity == "aid" or (self.intensity == "prompt" and self.past))

    @property
    def unlogged(self) -> bool:
        """Whether it has an automatic answer that the log does not have yet."""
        return self.by == AUTOMATIC and not self.logged

    def answer(self, action: str, by: str, at: float, details: dict[str, object] | None = None) -> None:
        """Takes an answer; an earlier one is replaced (design §7)."""
        self.action, self.by, self.answered, self.details, self.logged = action, by, at, details, False


def id_of(record: Mapping[str, object], where: tuple[int, int, int]) -> str:
    """The id of a signal record; of one without, where it is."""
    return str(record.get("id") or "{}:{}".format(*where))


_ACT = ("host", "hook", "attempt", "change", "evidence", "head", "given_up")
_SIGNAL = (
    *("id", "hook", "intensity", "source", "rule", "subject", "actor", "correlation_id", "overrides"),
    *("waived", "digest", "content", *_ACT),
)
_NOTHING = ("",) * len(_SIGNAL)


def _texts(record: Mapping[str, object], names: tuple[str, ...]) -> list[str]:
    """The values of `names` as text, "" for None and what is not there."""
    values = list(map(record.get, names, _NOTHING))
    try:
        "".join(values)  # type: ignore[arg-type]  # the quickest way to ask whether each is text
    except TypeError:
        return ["" if value is None else str(value) for value in values]
    return values  # type: ignore[return-value]


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
