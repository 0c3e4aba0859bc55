"""One pass over a log: the journal's own fold (episodes, attempts, answers), watched, and noted in columns.

What an episode, an attempt and an answer is, is the journal's word (docs/log.md); here is only noted. One kind is
added: a push that is refused for its commits is on no ladder, so that the journal has no episode of it. What is asked
of it (`ahp.insight.stats.Question`) matters later, so that one reading answers every question.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias, cast

from ahp.insight.reading import event_of
from ahp.journal import index as indexes
from ahp.journal.answers import AUTOMATIC, RISK, kind_of
from ahp.journal.episodes import Attempt, Episode, LoggedSignal
from ahp.journal.fold import Fold, PassingStore
from ahp.journal.tables import episode_of, plain_of, signal_of, values_of
from ahp.protocol.signals import LEVEL_OF, strength, strongest

# What is told of a signal beside its level; the last two tell of its event, whatever the rule.
ATTEMPT, SHADOW, WAIVED, UNDECIDED, CLIMBED, OVERRIDDEN, BEGINS, DENIED = (1 << n for n in range(8))

# What happened in an episode, whatever it ended with.
DISMISSED, RISKED, PASSED, BYPASSED, COMMENTED, REOPENED = (1 << n for n in range(6))

OPEN, FIXED, RESET, WITHDRAWN, FORGOTTEN = range(5)
"""How an episode stands. `RESET`: a change shares too little with it to say whether it was fixed."""
_STATES = {OPEN: "open", FIXED: "fixed", RESET: "reset", WITHDRAWN: "withdrawn", FORGOTTEN: "forgotten"}


def state_of(state: int, flags: int) -> str:
    """How an episode stands, in a word. An override or a bypass is no fix."""
    if state != FIXED:
        return _STATES[state]
    return "overridden" if flags & PASSED else "bypassed" if flags & BYPASSED else _STATES[FIXED]


class Comment(NamedTuple):
    """What somebody wrote for the author of a rule; `id` is the signal's, `at` seconds since the epoch."""

    at: float
    rule: str
    by: str
    id: str
    text: str


class Remark(NamedTuple):
    """A comment as it is noted: its moment, the number of its signal (-1: not known), the place it names itself."""

    moment: int
    signal: int
    place: int
    comment: Comment


class Names(dict[str, int]):
    """Words as numbers, from 0, in the order they came: `names[word]` gives a new word the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.words)
        self.words.append(word)
        return number


Byte: TypeAlias = "array[int]"
Whole: TypeAlias = "array[int]"
Signed: TypeAlias = "array[int]"
Digest: TypeAlias = "array[int]"
Real: TypeAlias = "array[float]"
_CODES = {"Byte": "B", "Whole": "I", "Signed": "i", "Digest": "Q", "Real": "d"}  # as `array` names them


class Table:
    """Columns of one length, each of the type that it is declared with. An entry is known by its number."""

    def __init__(self) -> None:
        for name, told in type(self).__annotations__.items():
            setattr(self, name, array(_CODES[told]))

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))


class Moments(Table):
    """When something was logged: the log's own time in seconds since the epoch, once each time that goes on."""

    at: Real


class Places(Table):
    """What the records of an evaluation tell of where and by which policies, as numbers of words ("" for untold)."""

    hook: Whole
    subject: Whole
    actor: Whole
    policy: Whole
    working: Whole


class Signals(Table):
    """An entry a signal: `episode` -1 without one, `id` eight bytes of its id's digest.

    An `answer` is twice the number of its action, from 1, and one more when somebody gave it; 0: none yet.
    """

    place: Whole
    rule: Whole
    moment: Whole
    episode: Signed
    id: Digest
    level: Byte
    marks: Byte
    answer: Whole


class Episodes(Table):
    """An entry an episode: the signal that opened it, attempts, seconds until it ended, how it stands, what happened
    in it; `ends` is when it is forgotten (seconds since the epoch).
    """

    signal: Whole
    tries: Whole
    took: Real
    ends: Real
    state: Byte
    flags: Byte


class Calls(Table):
    """An entry for so many tool calls that no verdict tells of."""

    place: Whole
    moment: Whole
    many: Whole


class Skips(Table):
    """An entry a rule that a verdict passed over undecided."""

    place: Whole
    moment: Whole
    rule: Whole


class Events(Table):
    """An entry a verdict, one that refused, or a commit that no hook judged."""

    place: Whole
    moment: Whole


class Notes:
    """What the reading of a log has noted."""

    def __init__(self) -> None:
        self.names, self.actions = Names(), Names()
        self.names[""]  # is number 0
        self.moments, self.places = Moments(), Places()
        self.moments.at.append(0.0)  # what comes before any time is told
        self.signals, self.episodes = Signals(), Episodes()
        self.calls, self.skips = Calls(), Skips()
        self.evaluations, self.bypasses, self.refusals = Events(), Events(), Events()
        self.waived: dict[int, str] = {}
        """The waiver by the number of the signal."""
        self.remarks: list[Remark] = []

    def flag(self, episode: int, flag: int) -> None:
        """Notes what happened in an episode; none for a negative number."""
        if episode >= 0:
            self.episodes.flags[episode] |= flag

    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return {name: table for name, table in vars(self).items() if isinstance(table, Table)}


REOPENED_WITHIN = 86400.0
"""Seconds after it was fixed within which a rule that signals to the same subject again flaps."""
_CHANGES = 64
_REFUSED = "refused "


class _Open:
    """An open episode: its number in the notes, its last attempt, the changes it was about."""

    __slots__ = ("changes", "episode", "last", "number")

    def __init__(self, episode: Episode, number: int) -> None:
        self.episode, self.number = episode, number
        self.last: Attempt | None = None
        self.changes: set[str] = set()


def key_of(id: str) -> int:
    """By what the signal of an id is known; a state that was kept finds it again."""
    return int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class ObservedStore(PassingStore):
    """Keeps a few bytes of a signal that is answered.

    `row` is the number of the signal that is being read, else -1.
    """

    def __init__(self, notes: Notes | None = None) -> None:
        super().__init__()
        self.notes = notes or Notes()
        self.row = -1
        self._open: dict[str, _Open] = {}
        self.fixed: dict[str, tuple[float, int]] = {}
        """By key: when, and which episode."""
        self.refused: set[str] = set()
        """The keys of the open episodes of pushes that were refused for their commits."""
        self.asleep = b""
        """What `kept` gave, until something new comes."""

    @cached_property
    def rows(self) -> dict[int, int]:
        """The numbers of the signals by what their ids are known by; where nothing new came, nobody asks."""
        return dict(zip(self.notes.signals.id, range(len(self.notes.signals)), strict=True))

    def someone_waits(self, subject: object, actor: object) -> bool:
        """Whether a signal to what a record names so is answered by its going on."""
        if type(subject) is not str or type(actor) is not str:
            subject, actor = str(subject or ""), str(actor or "")
        return (subject, kind_of(actor)) in self._waiting

    def find_row(self, id: str) -> int:
        """The number of the signal with an id, -1 for none."""
        return self.rows.get(key_of(id), -1)

    def answer(self, row: int, action: str, is_given: bool) -> None:
        """Notes the answer of a signal; `is_given` by somebody."""
        self.notes.signals.answer[row] = 2 + 2 * self.notes.actions[action] + is_given

    def flag(self, row: int, flag: int) -> None:
        """Notes what happened in the episode of a signal; none for a negative number."""
        if row >= 0:
            self.notes.flag(self.notes.signals.episode[row], flag)

    def about(self, change: str) -> set[int]:
        """The numbers of the open episodes that were about a change."""
        return {known.number for known in self._open.values() if change in known.changes}

    def put_episode(self, episode: Episode) -> None:
        super().put_episode(episode)
        known = self._open.get(episode.key)
        if known is None or known.episode is not episode:
            known = self._open[episode.key] = _Open(episode, self._begun(episode))
            if episode.key.startswith(_REFUSED):
                self.refused.add(episode.key)
        attempt = episode.attempts[-1] if episode.attempts else None
        if attempt is not known.last:
            known.last = attempt
            if self.row >= 0:
                self.notes.signals.marks[self.row] |= ATTEMPT
            self.notes.episodes.tries[known.number] += 1
        self.notes.episodes.ends[known.number] = episode.ends

    def _begun(self, episode: Episode) -> int:
        before, number = self.fixed.pop(episode.key, (0.0, -1))
        if episode.opened - before <= REOPENED_WITHIN:
            self.notes.flag(number, REOPENED)
        episodes = self.notes.episodes
        episodes.signal.append(self.row)
        episodes.tries.append(0)
        episodes.took.append(0.0)
        episodes.ends.append(0.0)
        episodes.state.append(OPEN)
        episodes.flags.append(0)
        return len(episodes) - 1

    def put_signal(self, signal: LoggedSignal) -> None:
        super().put_signal(signal)
        row = self.rows.get(key_of(signal.id), -1)
        if row >= 0:
            if row == self.row and self.notes.signals.episode[row] < 0:
                self._belongs(signal)
            if signal.action and signal.by == AUTOMATIC:
                self.answer(row, signal.action, is_given=False)

    def _belongs(self, signal: LoggedSignal) -> None:
        known = self._open.get(signal.key) if signal.episode else None
        if known is None:
            return
        self.notes.signals.episode[self.row] = known.number
        marks = self.notes.signals.marks[self.row]
        if marks & OVERRIDDEN:
            self.notes.flag(known.number, PASSED)
        change = signal.act.change
        if change and len(known.changes) < _CHANGES and signal.key not in self.refused:  # no commit goes round a push
            known.changes.add(change)

    def close(self, episode: Episode, state: int, at: float) -> None:
        """Notes how an episode ended, and when (seconds)."""
        known = self._open.pop(episode.key, None)
        self.refused.discard(episode.key)
        if known is None:
            return
        episodes, number = self.notes.episodes, known.number
        episodes.state[number], episodes.took[number] = state, round(max(0.0, at - episode.opened), 3)
        if state == FIXED:
            self.fixed[episode.key] = (at, number)

    def forget_ends(self, before: float) -> None:
        """Lets go of what was fixed too long before to be opened again by the same trouble."""
        self.fixed = {key: told for key, told in self.fixed.items() if told[0] >= before}

    def kept(self) -> bytes:
        """What may still change."""
        if self.asleep:
            return self.asleep
        about = [[key, plain_of(one.episode), one.number, sorted(one.changes)] for key, one in self._open.items()]
        return json.dumps([about, [*map(values_of, self.signals.values())], self.fixed]).encode()

    def wake(self) -> None:
        """Takes up what is asleep."""
        opened, signals, fixed = json.loads(self.asleep) if self.asleep else ([], [], self.fixed)
        self.asleep = b""
        self.fixed = {key: (at, number) for key, (at, number) in fixed.items()}
        for key, plain, number, changes in opened:
            episode = episode_of(key, plain)
            known = self._open[key] = _Open(episode, number)
            known.last = episode.attempts[-1] if episode.attempts else None
            known.changes = set(changes)
            super().put_episode(episode)
        self.refused = {key for key in self._open if key.startswith(_REFUSED)}
        for values in signals:
            super().put_signal(signal_of(values))


LEVELS = ("", *LEVEL_OF)
_NUMBER_OF = {level: number for number, level in enumerate(LEVELS)}
_CLIMBED = {(level, declared) for level in LEVEL_OF for declared in LEVEL_OF if strength(level) > strength(declared)}
_SWEPT_EVERY = 4096  # signals
_NOWHERE = (0, 0, 0)  # nobody asks where a line is
_PLACE = ("hook", "subject", "actor", "policy", "working")


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
        self._end(record, _NOWHERE)

    def _signal_told(self, record: Mapping[str, object]) -> None:
        store, signals = self.store, self.notes.signals
        key = key_of(str(record.get("id") or f"0:{len(signals) + 1}"))
        if key in store.rows:
            return  # a copied line
        store.row = store.rows[key] = len(signals)
        self._add(record, key)
        if len(signals) % _SWEPT_EVERY == 0:
            self.expire(self.at)
            store.forget_ends(self.at - REOPENED_WITHIN)
        self._signal(record, (0, len(signals), 0))
        if record.get("commits") is not None and record.get("intensity") == "block":
            self._commits_refused(record)

    def _commits_refused(self, record: Mapping[str, object]) -> None:
        """Notes that a push was refused for its commits, or that it goes past after that."""
        key = _REFUSED + indexes.key_of(record)
        episode = self.open(key)
        if record.get("shadow") or record.get("waived") or (episode is None and record.get("decision") != "deny"):
            return
        signal = LoggedSignal.of(record, self.at, _NOWHERE)
        episode = episode or Episode(key, signal.id, self.at)
        signal.key, signal.episode, episode.forget_after = key, episode.id, signal.forget_after
        episode.take(signal.act, past=False)
        self.store.put_episode(episode)
        self.store.put_signal(signal)

    def _commits_passed(self, record: Mapping[str, object]) -> None:
        """Ends what pushes of the same were refused for: this one was not."""
        at = indexes.episode_key("", "", str(record.get("subject") or ""), kind_of(str(record.get("actor") or "")))
        for key in [key for key in self.store.refused if key.endswith(at[1:])]:
            if episode := self.open(key):
                self._record, self.store.row = record, -1
                self._close(episode, "retry_after_fix")

    def _add(self, record: Mapping[str, object], key: int) -> None:
        get, notes = record.get, self.notes
        row, level = self.store.row, str(get("intensity"))
        marks = CLIMBED if (level, str(get("declared"))) in _CLIMBED else 0
        if get("shadow"):
            marks |= SHADOW
        if get("undecidable"):
            marks |= UNDECIDED
        if get("overrides"):
            marks |= OVERRIDDEN
        if get("decision") == "deny":
            marks |= DENIED
        if waiver := get("waived"):
            marks |= WAIVED
            notes.waived[row] = str(waiver)
        event = event_of(record)
        if event != self._event:
            marks |= BEGINS
            self._event = event
        signals, place = notes.signals, self._place(record)
        signals.place.append(place)
        signals.rule.append(notes.names[str(get("rule") or "")])
        signals.moment.append(self._moment)
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
        place, moment = self._place(record), len(notes.moments.at) - 1
        notes.evaluations.place.append(place)
        notes.evaluations.moment.append(moment)
        if get("decision") == "deny":
            notes.refusals.place.append(place)
            notes.refusals.moment.append(moment)
        elif self.store.refused and get("hook") == "pre-push":
            self._commits_passed(record)
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
            self.store.flag(row, RISKED if action == RISK else DISMISSED * is_opinion)

    def _feedback_told(self, record: Mapping[str, object]) -> None:
        rule, text = str(record.get("rule") or ""), record.get("feedback")
        if not isinstance(text, str):
            return
        id, by = str(record.get("id") or ""), str(record.get("by") or "")
        row = self.store.find_row(id)
        self.store.flag(row, COMMENTED)
        place = self._place({**record, "actor": by})
        self.notes.remarks.append(Remark(self._moment, row, place, Comment(self.at, rule, by, id, text)))

    def _bypass_told(self, record: Mapping[str, object]) -> None:
        self.notes.bypasses.place.append(self._place(record))
        self.notes.bypasses.moment.append(self._moment)
        self.expire(self.at)  # what is forgotten was not gone round
        for number in self.store.about(str(record.get("change") or "")):
            self.notes.flag(number, BYPASSED)

    def _clock_set(self, record: Mapping[str, object]) -> None:
        self._clock(record, _NOWHERE)
        self._look_at_clock()

    def _close(self, episode: Episode, action: str, at: float | None = None) -> None:
        state = FORGOTTEN if action == "abort" else WITHDRAWN
        if action != "abort" and self._record.get("kind") in ("episode-end", "verdict"):
            state = FIXED if _is_about_it(self._record) else RESET
        self.store.close(episode, state, self.at if at is None else at)
        super()._close(episode, action, at)

    def kept(self) -> dict[str, object]:
        """All but the notes and what the store keeps, as plain data."""
        return {"at": self.at, "event": self._event, "policies": self.policies}

    def restore(self, told: Mapping[str, Any]) -> None:
        """Takes up what `kept` gave. Raises ValueError, TypeError, KeyError for anything else."""
        self.at, self._event = float(told["at"]), tuple(told["event"])
        self.policies = {digest: [Asked(*one) for one in asked] for digest, asked in told["policies"].items()}


def _strongest(levels: object) -> str:
    named = levels.values() if isinstance(levels, dict) else ()
    return strongest([level for level in named if level in LEVEL_OF])


def _is_about_it(record: Mapping[str, object]) -> bool:
    """Whether what the signal was about has changed: one file of several that it was about is too little to tell."""
    covered, files = record.get("covered"), record.get("files")
    return not (covered == 1 and isinstance(files, int) and files > 1)


_NOTES: dict[str, Callable[[Chronicle, Mapping[str, object]], None]] = {
    "signal": Chronicle._signal_told,
    "response": Chronicle._response_told,
    "episode-end": Chronicle._end_told,
    "clock": Chronicle._clock_set,
    "policy": Chronicle._policy_told,
    "count": Chronicle._count_told,
    "feedback": Chronicle._feedback_told,
    "bypass": Chronicle._bypass_told,
}
