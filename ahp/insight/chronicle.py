"""One pass over a log: the journal's own fold (episodes, attempts, answers), watched, and noted in columns.

What an episode, an attempt and an answer is, is the journal's word alone (docs/log.md); here is only counted.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from ahp.gate.match import COUNTED
from ahp.insight import columns
from ahp.insight.columns import Comment, Names, Notes, Place, tenths_of
from ahp.insight.groups import UNTOLD, Group
from ahp.insight.observed_store import REOPENED_WITHIN, ObservedStore
from ahp.insight.reading import event_of
from ahp.journal.answers import AUTOMATIC, RISK, kind_of
from ahp.journal.episodes import Episode
from ahp.journal.fold import Fold
from ahp.protocol.signals import LEVEL_OF, strength, strongest
from ahp.protocol.triggers import TRIGGERS

LEVELS = ("", *LEVEL_OF)
NUMBER_OF = {level: number for number, level in enumerate(LEVELS)}
_CLIMBED = {(level, declared) for level in LEVEL_OF for declared in LEVEL_OF if strength(level) > strength(declared)}
_SWEPT_EVERY = 4096  # signals
_LONGEST = 1 << 30  # milliseconds
_NOWHERE = (0, 0, 0)  # nobody asks where a line is


class Asked(NamedTuple):
    """A rule of a policy at a trigger, and the strongest level that it has in any environment."""

    hook: str
    rule: str
    level: str


class Chronicle(Fold):
    """Feeds the records of a log to the fold and notes what happened since `since` (seconds since the epoch).

    `group` names the group that a record counts in, `rule` the rules wanted: a key, an oracle's name or a pattern. An
    episode counts if it was opened since then, a signal, an answer to it and an evaluation if they came since then.
    """

    store: ObservedStore

    def __init__(
        self, group: Group, *, rule: str | None = None, since: float | None = None, names: Names | None = None
    ) -> None:
        super().__init__(ObservedStore())
        self.group, self.wanted, self.since = group, rule, since
        self._is_by_rule, self._key = group.by == "rule", group.key
        self.names = Names() if names is None else names
        self.policies: dict[str, list[Asked]] = {}
        """The rules of each policy by its digest."""
        self.counts_verdicts = True
        """Whether evaluations are counted; without, a verdict still tells of its event's signals and what follows."""
        self._judged_last: Mapping[str, object] = {}  # the last verdict
        self._spent: dict[tuple[int, object, object, object], array[float]] = {}  # by what verdicts tell of a place
        self._untold = self.names[UNTOLD]
        self._record: Mapping[str, object] = {}
        self._is_wanted: dict[str, bool] = {}
        self._event: tuple[object, ...] = ()
        self._of_event: list[int] = []
        self._signals = 0
        self._counts = since is None  # what happens now

    def beside(self) -> Chronicle:
        """One for another log, that has the same numbers for names and knows the policies that any of them tells of."""
        other = Chronicle(self.group, rule=self.wanted, since=self.since, names=self.names)
        other.policies, other.store.actions = self.policies, self.store.actions
        return other

    def join(self, other: Chronicle) -> None:
        """Takes over what one `beside` has noted."""
        if other.notes.last > self.notes.last:
            self._judged_last = other._judged_last
        self.notes.join(other.notes)

    @property
    def notes(self) -> Notes:
        """What was noted so far."""
        return self.store.notes

    @property
    def in_force(self) -> tuple[str, str]:
        """The digests of the policies that judged last: the committed one and the work tree's."""
        told = self._judged_last
        return str(told.get("policy") or ""), str(told.get("working") or "")

    def wants(self, rule: str) -> bool:
        """Whether figures of `rule` are asked for."""
        if self.wanted is None:
            return True
        known = self._is_wanted.get(rule)
        if known is None:
            known = self._is_wanted[rule] = fnmatchcase(rule, self.wanted) or rule.partition("/")[0] == self.wanted
        return known

    def apply(self, record: Mapping[str, object], where: tuple[int, int, int] = (0, 0, 0)) -> None:
        """Takes up one record. Unknown kinds are skipped."""
        kind = record.get("kind")
        if record.get("timestamp") != self._stamp:
            self.advance(record)
            self._look_at_clock()
        if kind == "verdict":  # most of a log
            self._verdict_told(record)
            return
        note = _NOTES.get(kind) if isinstance(kind, str) else None
        if note is not None:
            self._record, self.store.row = record, -1
            note(self, record)

    def _look_at_clock(self) -> None:
        self._counts = self.since is None or self.at >= self.since
        if self._counts:
            notes = self.store.notes
            notes.first, notes.last = notes.first or self.at, self.at

    def _number(self, record: Mapping[str, object]) -> int:
        """The number of the group that a record counts in."""
        told = record.get(self._key) if self._key else None
        known = self.names.get(told) if type(told) is str else None
        return self.names[self.group.of(record, self.at)] if known is None else known

    def _end_told(self, record: Mapping[str, object]) -> None:
        self._end(record, _NOWHERE)

    def _signal_told(self, record: Mapping[str, object]) -> None:
        if not self._is_new(record):
            return  # a copied line
        rule = str(record.get("rule") or "")
        if self._counts:
            self._begin(record)
        row = self._row(record, rule) if self._counts and self.wants(rule) else -1
        self.store.rows[self._known] = self.store.row = row
        self._signal(record, (0, self._signals, 0))

    def _is_new(self, record: Mapping[str, object]) -> bool:
        """Whether no signal before had this id, whose hash is `_known` then."""
        self._known = hash(str(record.get("id") or f"0:{self._signals + 1}"))
        if self._known in self.store.rows:
            return False
        self._signals += 1
        if self._signals % _SWEPT_EVERY == 0:
            self.expire(self.at)
            self.store.forget_ends(self.at - REOPENED_WITHIN)
        return True

    def _row(self, record: Mapping[str, object], rule: str) -> int:
        get = record.get
        level = str(get("intensity"))
        marks = columns.CLIMBED if (level, str(get("declared"))) in _CLIMBED else 0
        if get("shadow"):
            marks |= columns.SHADOW
        if get("undecidable"):
            marks |= columns.UNDECIDED
        if get("overrides"):
            marks |= columns.OVERRIDDEN
        if get("waived"):
            marks |= columns.WAIVED
        row = self.store.notes.signals.add(self._number(record), NUMBER_OF.get(level, 0), marks)
        if marks & columns.WAIVED:
            self.notes.waived[row] = self.waiver(rule, str(get("subject")))
        self._of_event.append(row)
        return row

    def _begin(self, record: Mapping[str, object]) -> None:
        """Notes the event of a signal. Of a tool call no verdict tells: its first signal does, whatever its rule."""
        event = event_of(record)
        if event == self._event:
            return
        self._event, self._of_event = event, []
        trigger = TRIGGERS.get(str(record.get("hook")))
        if trigger and trigger.family in COUNTED:
            self._called(record, str(record.get("policy") or ""), 1)
            self.notes.denied += record.get("decision") == "deny"

    def waiver(self, rule: str, subject: str) -> int:
        """What the waived signals of a rule about a subject have in common, in this log."""
        return hash((id(self), rule, subject))

    def _called(self, record: Mapping[str, object], policy: str, calls: int) -> None:
        self.notes.calls[Place(self._place_group(record), str(record.get("hook")), policy, "")] += calls

    def _place_group(self, record: Mapping[str, object]) -> int:
        """An evaluation is no rule's own: the policies tell later which were asked."""
        return self._untold if self._is_by_rule else self._number(record)

    def _verdict_told(self, record: Mapping[str, object]) -> None:
        get = record.get
        if self.store.someone_waits(get("subject"), get("actor")):
            self._record, self.store.row = record, -1
            self._verdict(record, _NOWHERE)
        self._evaluated(record)

    def _evaluated(self, record: Mapping[str, object]) -> None:
        """Counts the evaluation that a verdict tells of."""
        get = record.get
        self._judged_last = record
        ms = get("ms")
        if type(ms) is not float or not 0 <= ms < _LONGEST:
            ms = _milliseconds(ms)
        if self._of_event and event_of(record) == self._event:
            self._judged(record, tenths_of(ms))
            self._of_event = []
        if not (self._counts and self.counts_verdicts):
            return
        group = self._untold if self._is_by_rule else self._number(record)
        place = group, get("hook"), get("policy"), get("working")
        try:
            self._spent[place].append(ms)
        except (KeyError, TypeError):
            self._spent_at(place).append(ms)
        if get("decision") == "deny":
            self.notes.denied += 1
        if skipped := get("skipped"):
            self._skipped(record, skipped)

    def _spent_at(self, told: tuple[int, object, object, object]) -> array[float]:
        """The milliseconds of the evaluations at a place, which a verdict tells of in any words or none."""
        group, hook, policy, working = told
        place = group, str(hook), str(policy or ""), str(working or "")
        spent = self.notes.evaluations.setdefault(place, array("d"))
        if all(word is None or type(word) is str for word in told[1:]):
            self._spent[told] = spent  # found again without a look at its words
        return spent

    def _skipped(self, record: Mapping[str, object], skipped: object) -> None:
        for one in skipped if isinstance(skipped, list) else ():
            rule = str(one.get("rule")) if isinstance(one, dict) else ""
            if rule and self.wants(rule):
                self.notes.skipped[self._number({**record, "rule": rule})] += 1

    def _judged(self, record: Mapping[str, object], tenths: int) -> None:
        """What the verdict tells of the signals of its event."""
        signals, episodes = self.notes.signals, self.notes.episodes
        for row in self._of_event:
            signals.tenths[row] = tenths
            if self.group.by == "environment":  # only verdicts tell it
                signals.group[row] = self._number(record)
                number = self.store.episode_of.get(row, -1)
                if number >= 0 and episodes.group[number] == self._untold:
                    episodes.group[number] = signals.group[row]

    def _count_told(self, record: Mapping[str, object]) -> None:
        calls = record.get("calls")
        for one in calls if isinstance(calls, list) and self._counts else ():
            if isinstance(one, dict) and isinstance(many := one.get("calls"), int) and 0 < many < 1 << 31:
                self._called({**one, "subject": one.get("session")}, str(one.get("policy") or ""), many)

    def _policy_told(self, record: Mapping[str, object]) -> None:
        rules = record.get("rules")
        told = [one for one in rules if isinstance(one, list) and len(one) > 2] if isinstance(rules, list) else []
        asked = [Asked(str(hook), str(rule), _strongest(levels)) for hook, rule, levels, *_ in told]
        self.policies[str(record.get("digest"))] = list(dict.fromkeys(asked))

    def _response_told(self, record: Mapping[str, object]) -> None:
        self._response(record, _NOWHERE)
        by = str(record.get("by") or "")
        if by == AUTOMATIC:
            return
        action, row = str(record.get("action")), self.store.rows.get(hash(str(record.get("id"))), -1)
        if row >= 0:
            self.store.answer(row, action, is_given=True)
            is_opinion = action == "dismiss" and kind_of(by) == "human"
            self.store.flag(row, columns.RISKED if action == RISK else columns.DISMISSED * is_opinion)

    def _feedback_told(self, record: Mapping[str, object]) -> None:
        rule, text = str(record.get("rule") or ""), record.get("feedback")
        if not (self._counts and self.wants(rule) and isinstance(text, str)):
            return
        id, by = str(record.get("id") or ""), str(record.get("by") or "")
        row = self.store.rows.get(hash(id), -1)
        self.store.flag(row, columns.COMMENTED)
        group = self.notes.signals.group[row] if row >= 0 else self._number({**record, "actor": by})
        self.notes.comment(group, Comment(self.at, rule, by, id, text))

    def _bypass_told(self, record: Mapping[str, object]) -> None:
        if self._counts:
            self.notes.bypasses[self._number(record)] += 1
        self._gone_round(record)

    def _gone_round(self, record: Mapping[str, object]) -> None:
        self.expire(self.at)  # what is forgotten was not gone round
        for number in self.store.about(str(record.get("change") or "")):
            self.notes.flag(number, columns.BYPASSED)

    def _clock_set(self, record: Mapping[str, object]) -> None:
        self._clock(record, _NOWHERE)
        self._look_at_clock()
        if not self._counts:  # what came before was before that time after all
            self.store.begin_anew()
            self._spent.clear()
            self._event, self._of_event = (), []

    def _close(self, episode: Episode, action: str, at: float | None = None) -> None:
        state = columns.FORGOTTEN if action == "abort" else columns.WITHDRAWN
        if action != "abort" and self._record.get("kind") == "episode-end":
            state = columns.MENDED if _is_about_it(self._record) else columns.RESET
        self.store.close(episode, state, self.at if at is None else at)
        super()._close(episode, action, at)


def _strongest(levels: object) -> str:
    named = levels.values() if isinstance(levels, dict) else ()
    return strongest([level for level in named if level in LEVEL_OF])


def _is_about_it(record: Mapping[str, object]) -> bool:
    """Whether what the signal was about has changed: one file of several that it was about is too little to tell."""
    covered, files = record.get("covered"), record.get("files")
    return not (covered == 1 and isinstance(files, int) and files > 1)


def _milliseconds(told: object) -> float:
    """What a record tells of them, -1 where that is nothing."""
    if type(told) is float or type(told) is int:
        return told if 0 <= told < _LONGEST else -1
    return -1


_NOTES: dict[str, Callable[[Chronicle, Mapping[str, object]], None]] = {
    "verdict": Chronicle._verdict_told,
    "signal": Chronicle._signal_told,
    "response": Chronicle._response_told,
    "episode-end": Chronicle._end_told,
    "clock": Chronicle._clock_set,
    "policy": Chronicle._policy_told,
    "count": Chronicle._count_told,
    "feedback": Chronicle._feedback_told,
    "bypass": Chronicle._bypass_told,
}
