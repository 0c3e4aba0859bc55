"""One pass over a log: the journal's own fold (episodes, attempts, answers), watched, and noted in columns.

What an episode, an attempt and an answer is, is the journal's word alone (docs/log.md); here is only noted. What is
asked of it (`ahp.insight.window.Question`) matters later, so that one reading answers every question.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

from ahp.insight import columns
from ahp.insight.columns import Comment, Notes, Remark
from ahp.insight.observed_store import REOPENED_WITHIN, ObservedStore, key_of
from ahp.insight.reading import event_of
from ahp.journal.answers import AUTOMATIC, RISK, kind_of
from ahp.journal.episodes import Episode
from ahp.journal.fold import Fold
from ahp.protocol.signals import LEVEL_OF, strength, strongest

LEVELS = ("", *LEVEL_OF)
_NUMBER_OF = {level: number for number, level in enumerate(LEVELS)}
_CLIMBED = {(level, declared) for level in LEVEL_OF for declared in LEVEL_OF if strength(level) > strength(declared)}
_SWEPT_EVERY = 4096  # signals
_LONGEST = 1 << 27  # milliseconds
_NOWHERE = (0, 0, 0)  # nobody asks where a line is
_PLACE = ("hook", "subject", "actor", "environment", "policy", "working")


class Asked(NamedTuple):
    """A rule of a policy at a trigger, and the strongest level that it has in any environment."""

    hook: str
    rule: str
    level: str


class Chronicle(Fold):
    """Feeds the records of a log to the fold and notes what happened."""

    store: ObservedStore

    def __init__(self, notes: Notes | None = None) -> None:
        super().__init__(ObservedStore(notes))
        self.notes = self.store.notes
        self.policies: dict[str, list[Asked]] = {}
        """The rules of each policy by its digest."""
        self._record: Mapping[str, object] = {}
        self._event: tuple[object, ...] = ()
        self._of_event: list[int] = []
        self._numbers: dict[Any, int] = cast("dict[Any, int]", self.notes.names)
        self._numbers[None] = 0  # untold

    @cached_property
    def _places(self) -> dict[tuple[int | None, ...], int]:
        places = self.notes.places
        return dict(zip(zip(*vars(places).values(), strict=True), range(len(places)), strict=True))

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
        at = self.notes.moments.at
        if self.at != at[-1]:
            at.append(self.at)

    @property
    def in_force(self) -> tuple[str, str]:
        """The digests of the policies that judged last: the committed one and the work tree's."""
        places, words, judged = self.notes.places, self.notes.names.words, self.notes.evaluations.place
        return (words[places.policy[judged[-1]]], words[places.working[judged[-1]]]) if judged else ("", "")

    @property
    def _moment(self) -> int:
        return len(self.notes.moments.at) - 1

    def _place(self, record: Mapping[str, object]) -> int:
        """The number of the place that a record tells of."""
        told = map(record.get, _PLACE)
        try:
            return self._places[tuple(map(self._numbers.get, told))]
        except (KeyError, TypeError):
            return self._new_place(record)

    def _new_place(self, record: Mapping[str, object]) -> int:
        """The same of a place that is new, or told in values that are no text."""
        names, places = self.notes.names, self.notes.places
        told = tuple([names[str(record.get(key) or "")] for key in _PLACE])
        if told not in self._places:
            self._places[told] = len(places)
            for column, word in zip(vars(places).values(), told, strict=True):
                column.append(word)
        return self._places[told]

    def _end_told(self, record: Mapping[str, object]) -> None:
        self.store.someone_waits(record.get("subject"), record.get("actor"))
        self._end(record, _NOWHERE)

    def _signal_told(self, record: Mapping[str, object]) -> None:
        store, signals = self.store, self.notes.signals
        key = key_of(str(record.get("id") or f"0:{len(signals) + 1}"))
        if key in store.rows:
            return  # a copied line
        store.row = store.rows[key] = len(signals)
        store.someone_waits(record.get("subject"), record.get("actor"))
        store.message = sys.intern(str(record.get("message") or ""))  # many are alike
        self._add(record, key)
        if len(signals) % _SWEPT_EVERY == 0:
            self.expire(self.at)
            store.forget_ends(self.at - REOPENED_WITHIN)
        self._signal(record, (0, len(signals), 0))

    def _add(self, record: Mapping[str, object], key: int) -> None:
        get, notes = record.get, self.notes
        row, level = self.store.row, str(get("intensity"))
        marks = columns.CLIMBED if (level, str(get("declared"))) in _CLIMBED else 0
        if get("shadow"):
            marks |= columns.SHADOW
        if get("undecidable"):
            marks |= columns.UNDECIDED
        if get("overrides"):
            marks |= columns.OVERRIDDEN
        if get("decision") == "deny":
            marks |= columns.DENIED
        if waiver := get("waived"):
            marks |= columns.WAIVED
            notes.waived[row] = str(waiver)
        event = event_of(record)
        if event != self._event:
            marks |= columns.BEGINS
            self._event, self._of_event = event, []
        self._of_event.append(row)
        signals, place = notes.signals, self._place(record)
        signals.place.append(place)
        signals.rule.append(notes.names[str(get("rule") or "")])
        signals.moment.append(self._moment)
        signals.environment.append(notes.places.environment[place])
        signals.episode.append(-1)
        signals.id.append(key)
        signals.level.append(_NUMBER_OF.get(level, 0))
        signals.marks.append(marks)
        signals.answer.append(0)

    def _verdict_told(self, record: Mapping[str, object]) -> None:
        get, notes = record.get, self.notes
        if self.store.someone_waits(get("subject"), get("actor")):
            self._record, self.store.row = record, -1
            self._verdict(record, _NOWHERE)
        place, moment, ms = self._place(record), len(notes.moments.at) - 1, get("ms")
        tenths = _tenths_of(ms) if type(ms) is float or type(ms) is int else -1
        evaluations = notes.evaluations
        evaluations.place.append(place)
        evaluations.moment.append(moment)
        evaluations.tenths.append(tenths)
        if self._of_event and event_of(record) == self._event:
            self._judged(place)
            self._of_event = []
        if get("decision") == "deny":
            notes.refusals.place.append(place)
            notes.refusals.moment.append(moment)
        if skipped := get("skipped"):
            self._skipped(place, skipped)

    def _skipped(self, place: int, skipped: object) -> None:
        skips = self.notes.skips
        for one in skipped if isinstance(skipped, list) else ():
            rule = str(one.get("rule")) if isinstance(one, dict) else ""
            if rule:
                skips.place.append(place)
                skips.moment.append(self._moment)
                skips.rule.append(self.notes.names[rule])

    def _judged(self, place: int) -> None:
        """What the verdict tells of the signals of its event."""
        signals, episodes = self.notes.signals, self.notes.episodes
        environment = self.notes.places.environment[place]
        for row in self._of_event:
            signals.environment[row] = environment
            number = signals.episode[row]
            if number >= 0 and not self.notes.names.words[episodes.environment[number]]:
                episodes.environment[number] = environment

    def _count_told(self, record: Mapping[str, object]) -> None:
        told, calls = record.get("calls"), self.notes.calls
        for one in told if isinstance(told, list) else ():
            if isinstance(one, dict) and isinstance(many := one.get("calls"), int) and 0 < many < 1 << 31:
                calls.place.append(self._place({**one, "subject": one.get("session"), "working": None}))
                calls.moment.append(self._moment)
                calls.many.append(many)

    def _policy_told(self, record: Mapping[str, object]) -> None:
        rules = record.get("rules")
        told = [one for one in rules if isinstance(one, list) and len(one) > 2] if isinstance(rules, list) else []
        asked = [Asked(str(hook), str(rule), _strongest(levels)) for hook, rule, levels, *_ in told]
        self.policies[str(record.get("digest"))] = list(dict.fromkeys(asked))

    def _response_told(self, record: Mapping[str, object]) -> None:
        row = self.store.find_row(str(record.get("id")))
        self._response(record, _NOWHERE)
        action, by = str(record.get("action")), str(record.get("by") or "")
        if row >= 0 and by != AUTOMATIC:
            self.store.answer(row, action, is_given=True)
            is_opinion = action == "dismiss" and kind_of(by) == "human"
            self.store.flag(row, columns.RISKED if action == RISK else columns.DISMISSED * is_opinion)

    def _feedback_told(self, record: Mapping[str, object]) -> None:
        rule, text = str(record.get("rule") or ""), record.get("feedback")
        if not isinstance(text, str):
            return
        id, by = str(record.get("id") or ""), str(record.get("by") or "")
        row = self.store.find_row(id)
        self.store.flag(row, columns.COMMENTED)
        place = self._place({**record, "actor": by})
        self.notes.remarks.append(Remark(self._moment, row, place, Comment(self.at, rule, by, id, text)))

    def _bypass_told(self, record: Mapping[str, object]) -> None:
        self.notes.bypasses.place.append(self._place(record))
        self.notes.bypasses.moment.append(self._moment)
        self.expire(self.at)  # what is forgotten was not gone round
        for number in self.store.about(str(record.get("change") or "")):
            self.notes.flag(number, columns.BYPASSED)

    def _clock_set(self, record: Mapping[str, object]) -> None:
        self._clock(record, _NOWHERE)
        self._look_at_clock()

    def _close(self, episode: Episode, action: str, at: float | None = None) -> None:
        state = columns.FORGOTTEN if action == "abort" else columns.WITHDRAWN
        if action != "abort" and self._record.get("kind") == "episode-end":
            state = columns.FIXED if _is_about_it(self._record) else columns.RESET
        self.store.close(episode, state, self.at if at is None else at)
        super()._close(episode, action, at)

    def kept(self) -> dict[str, object]:
        """All but the notes and what the store keeps, as plain data."""
        return {"at": self.at, "event": self._event, "of_event": self._of_event, "policies": self.policies}

    def restore(self, told: Mapping[str, Any]) -> None:
        """Takes up what `kept` gave. Raises ValueError, TypeError, KeyError for anything else."""
        self.at, self._event, self._of_event = float(told["at"]), tuple(told["event"]), list(told["of_event"])
        self.policies = {digest: [Asked(*one) for one in asked] for digest, asked in told["policies"].items()}


def _strongest(levels: object) -> str:
    named = levels.values() if isinstance(levels, dict) else ()
    return strongest([level for level in named if level in LEVEL_OF])


def _is_about_it(record: Mapping[str, object]) -> bool:
    """Whether what the signal was about has changed: one file of several that it was about is too little to tell."""
    covered, files = record.get("covered"), record.get("files")
    return not (covered == 1 and isinstance(files, int) and files > 1)


@lru_cache(maxsize=1 << 16)
def _tenths_of(ms: float) -> int:
    """Milliseconds as the figures have them: whole tenths, -1 where they are none."""
    return round(ms * 10) if 0 <= ms < _LONGEST else -1


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
