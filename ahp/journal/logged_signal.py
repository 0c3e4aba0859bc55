"""One logged signal as the fold knows it: what it was about, and its answer so far."""

from __future__ import annotations

from collections.abc import Mapping
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
