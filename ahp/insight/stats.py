"""Figures of a log by rule, or by who, where and when (seed 002 §5.3): what was asked, said, answered and fixed.

Counted are episodes and attempts, not repeats. A quantile is the smallest value that at least so many do not exceed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, compress, repeat
from math import ceil
from operator import itemgetter
from typing import Any, NamedTuple

from ahp.gate.match import COUNTED
from ahp.insight import chronicle, kept, many_logs, reading
from ahp.insight.chronicle import LEVELS, Asked, Chronicle, Comment, Table
from ahp.journal.query import is_meant
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock
from ahp.system.terminal import Seen, unseen

BY = ("rule", "hook", "subject", "actor", "agent")
ALL = "all"
"""One group, named ""."""
UNTOLD = "(unknown)"
PEOPLE = "(people)"
_OF_EVENT = chronicle.BEGINS | chronicle.DENIED
_OF_SIGNAL = bytes(marks & ~_OF_EVENT for marks in range(256))


class Question(NamedTuple):
    """`by` is one of `BY` or `ALL`, `rule` a key, an oracle's name or a pattern, `since` in seconds since the epoch.

    `now` is the time as of which it is asked, in seconds, but never before the last record's.
    An episode counts if it was opened since then, a signal, an answer to it and an evaluation if they came since then.
    """

    by: str = "rule"
    rule: str | None = None
    since: float | None = None
    now: float = 0.0

    def wants(self, rule: str) -> bool:
        """Whether figures of `rule` are asked for."""
        return self.rule is None or is_meant(rule, self.rule)


def _agent_of(actor: str) -> str:
    """The group of an actor among agents: the agent's name, all people as one."""
    kind, _, name = actor.partition(":")
    return {"agent": name or "agent", "human": PEOPLE}.get(kind, kind or UNTOLD)


class Window:
    """The part of a log that a question is about: `begin` is its first moment, `rows` its signals, `first` the first
    signal that is not too old, whatever its rule.

    The fold forgets an episode when something is logged after its end; what has ended since is `forgotten`.
    """

    def __init__(self, log: Chronicle, question: Question) -> None:
        self.log, self.notes, self.question = log, log.notes, question
        self.words = log.notes.names.words
        self._named = [word or UNTOLD for word in self.words]
        self.begin = _begin(log.notes.moments.at, question.since)
        self.first = self.start(self.notes.signals)
        self._is_wanted = [*map(question.wants, self.words)] if question.rule is not None else []
        self.rows = self.wanted(self.notes.signals)
        self.now = max(question.now, log.at)
        ends, state = self.notes.episodes.ends, self.notes.episodes.state
        over = (end <= self.now and not stands for end, stands in zip(ends, state, strict=True))
        self.forgotten = {number for number, is_over in enumerate(over) if is_over}
        self.labels = self._by_place()

    def start(self, table: Any) -> int:
        """The first entry of a table that is not too old."""
        return bisect_left(table.moment, self.begin)

    def wanted(self, table: Any) -> Sequence[int]:
        """The entries that are not too old, and of a rule that is asked for."""
        rows = range(self.start(table), len(table))
        if self.question.rule is None:
            return rows
        return [*compress(rows, map(self._is_wanted.__getitem__, table.rule[rows.start :]))]

    def _by_place(self) -> list[str]:
        """The group of each place, where that is the same for any rule."""
        by, places = self.question.by, self.notes.places
        if by == ALL:
            return [""] * len(places)
        if by == "agent":
            agents = {actor: _agent_of(self.words[actor]) for actor in set(places.actor)}
            return [agents[actor] for actor in places.actor]
        if by in vars(places):
            return [self._named[word] for word in getattr(places, by)]
        return []

    def groups(self, table: Table, rows: Sequence[int]) -> Iterator[str]:
        """The groups of entries."""
        if self.question.by == "rule":
            return map(self._named.__getitem__, picked(table, "rule", rows))
        return map(self.labels.__getitem__, picked(table, "place", rows))

    def signals(self) -> Iterator[tuple[str, int, int, int]]:
        """Of each signal its group, and its entries in the columns of level, marks (of itself) and answer."""
        signals, rows = self.notes.signals, self.rows
        marks = bytes(picked(signals, "marks", rows)).translate(_OF_SIGNAL)
        answers: Iterable[int] = picked(signals, "answer", rows)
        if self.forgotten:
            told_nothing = 2 + 2 * self.notes.actions["abort"]
            of = picked(signals, "episode", rows)
            answers = (
                answer or told_nothing * (episode in self.forgotten)
                for answer, episode in zip(answers, of, strict=True)
            )
        return zip(self.groups(signals, rows), picked(signals, "level", rows), marks, answers, strict=True)

    def episodes(self) -> list[int]:
        """The episodes that a signal opened which is not too old, of a rule that is asked for."""
        episodes, rule = self.notes.episodes, self.notes.signals.rule
        opened = range(bisect_left(episodes.signal, self.first), len(episodes))
        if self.question.rule is None:
            return [*opened]
        return [number for number in opened if self._is_wanted[rule[episodes.signal[number]]]]

    def outcomes(self) -> tuple[list[tuple[str, int, int, int]], Sequence[float]]:
        """Of each episode its group, which is that of the signal that opened it, and its entries in the columns of
        state, flags and tries; and in that of seconds.
        """
        episodes, numbers = self.notes.episodes, self.episodes()
        names = self.groups(self.notes.signals, [*picked(episodes, "signal", numbers)])
        states = (
            chronicle.FORGOTTEN if number in self.forgotten else state
            for number, state in zip(numbers, picked(episodes, "state", numbers), strict=True)
        )
        flags, tries, took = (picked(episodes, name, numbers) for name in ("flags", "tries", "took"))
        return [*zip(names, states, flags, tries, strict=True)], took

    def calls(self) -> Iterator[tuple[int, int, bool]]:
        """The tool calls that no verdict tells of: place, how many, whether refused.

        Of one that a rule spoke of its first signal tells.
        """
        calls, signals, places = self.notes.calls, self.notes.signals, self.notes.places
        for row in range(self.start(calls), len(calls)):
            yield calls.place[row], calls.many[row], False
        of_calls = {number for number, word in enumerate(self.words) if is_of_calls(word)}
        if not of_calls.intersection(places.hook):
            return
        for row in range(self.first, len(signals)):
            marks, place = signals.marks[row], signals.place[row]
            if (marks & chronicle.BEGINS or row == self.first) and places.hook[place] in of_calls:
                yield place, 1, bool(marks & chronicle.DENIED)

    def label(self, place: int) -> str:
        """The group of what was logged at a place, "" of figures by rule."""
        return self.labels[place] if self.labels else ""


def _begin(at: Sequence[float], since: float | None) -> int:
    """The first moment since a time: a person may have set the clock back, and what came before that is older."""
    begin = len(at)
    if since is None:
        return 0
    while begin and at[begin - 1] >= since:
        begin -= 1
    return begin


def picked(table: Table, column: str, rows: Sequence[int]) -> Sequence[Any]:
    """The values of entries in a column."""
    values = getattr(table, column)
    if isinstance(rows, range):
        return values[rows.start : rows.stop]  # type: ignore[no-any-return]
    if len(rows) > 1:
        return itemgetter(*rows)(values)  # type: ignore[no-any-return]
    return [values[row] for row in rows]


def is_of_calls(word: str) -> bool:
    """Whether a hook is one of tool calls, sessions and what people type."""
    trigger = TRIGGERS.get(word)
    return trigger is not None and trigger.family in COUNTED


SLOW_TRIES = 3
"""Attempts from which on a fix took many."""
_SHARES = (0.5, 0.9)
COMMENTS_KEPT = 20
"""Of each group: the last ones."""
_EXCUSES = {
    "dismissed": chronicle.DISMISSED,
    "risk taken": chronicle.RISKED,
    "bypassed": chronicle.BYPASSED,
    "feedback": chronicle.COMMENTED,
}
_EXCUSED = sum(_EXCUSES.values())


@dataclass(frozen=True)
class Spread:
    """How values are spread: how many there are, the median, the ninth decile."""

    count: int
    median: float
    p90: float

    @classmethod
    def of(cls, values: Mapping[float, int]) -> Spread | None:
        """Of values with how often each was there; None of no values."""
        ordered = sorted(values)
        counts = list(accumulate(map(values.__getitem__, ordered)))
        if not counts:
            return None
        half, most = (ordered[bisect_left(counts, ceil(share * counts[-1]))] for share in _SHARES)
        return cls(counts[-1], half, most)


@dataclass
class Answers:
    """How often an action was the answer: given by somebody, or derived from silence or from what came after."""

    given: int = 0
    derived: int = 0


@dataclass
class Figures:
    """The figures of one group.

    `asked` evaluations; `signals` delivered, in `attempts` by the `levels` in force (an aid is an attempt of its own);
    apart from these `shadow` and `waived` signals. `undecided` signals and evaluations that passed the rule over for
    want of a fact, these `passed_over` alone; `climbed` attempts above the rule's own level, `overridden` signals that
    a person let pass. `answers` by action, `unanswered` signals. `bypasses`: commits that no hook judged.

    Of the `episodes` each is one of open, fixed, overridden, bypassed, reset (the change shares too little with what
    the signal was about to tell), withdrawn (a person ended it), forgotten. `seconds` and `tries` until fixed, of them
    `at_once` by the first try, `slow` by `SLOW_TRIES` or more; `reopened` within a day of it. `excused` episodes and
    waivers are a proxy for false positives: dismissed by a person, risk taken, bypassed, commented on, waived.
    """

    name: str
    asked: int = 0
    signals: int = 0
    attempts: int = 0
    levels: dict[str, int] = field(default_factory=dict)
    shadow: int = 0
    waived: int = 0
    undecided: int = 0
    passed_over: int = 0
    climbed: int = 0
    overridden: int = 0
    answers: dict[str, Answers] = field(default_factory=dict)
    unanswered: int = 0
    episodes: int = 0
    states: dict[str, int] = field(default_factory=dict)
    seconds: Spread | None = None
    tries: Spread | None = None
    at_once: int = 0
    slow: int = 0
    reopened: int = 0
    excuses: dict[str, int] = field(default_factory=dict)
    excused: int = 0
    bypasses: int = 0
    comment_count: int = 0
    comments: list[Comment] = field(default_factory=list)

    def share(self, *states: str) -> float:
        """The part of the closed episodes that ended so, 0 to 1; 0 of none."""
        closed = self.episodes - self.states.get("open", 0)
        return sum(self.states.get(state, 0) for state in states) / closed if closed else 0.0


class Stats(NamedTuple):
    """The figures of a log: one entry a group, those of most episodes first.

    `begin` and `end` are the times of the first and the last record (seconds since the epoch), 0 where there was none;
    `evaluations` are those that asked a rule that is asked for, `denied` all that were refused; `undescribed` ones were
    by policies that the log does not describe any more, so that nobody knows which rules they asked. `in_force` are the
    rules of the policies that judged last.
    """

    by: str
    begin: float
    end: float
    evaluations: int
    denied: int
    undescribed: int
    groups: list[Figures]
    in_force: list[Asked]


def collect(
    folder: str,
    by: str = "rule",
    *,
    rule: str | None = None,
    since: float | None = None,
    now: float | None = None,
    from_: Sequence[str] = (),
    seen: Seen = unseen,
) -> Stats:
    """The figures of the log in `folder`, or of those that the folders and files `from_` tell of.

    What is kept of a reading lies in `folder` (`ahp.insight.kept`). `rule` is a key, an oracle's name or a pattern,
    times are in seconds. Raises AhpError when a log cannot be read.
    """
    with reading.no_garbage():
        return summed(read(folder, from_, seen), Question(by, rule, since, clock.now() if now is None else now))


def read(folder: str, from_: Sequence[str], seen: Seen) -> list[Chronicle]:
    """The chronicle of the log in `folder`, or those of the logs of `from_`. Raises AhpError for one it cannot read."""
    with reading.no_garbage():
        if from_:
            return list(many_logs.chronicles(from_, folder, seen))
        return [kept.chronicle(folder, folder + kept.PLACE, seen)]


def summed(logs: Sequence[Chronicle], question: Question) -> Stats:
    """The figures of what chronicles have noted. A policy is known when one of them describes it."""
    policies = {digest: asked for log in logs for digest, asked in log.policies.items()}
    last = max(logs, key=lambda log: log.notes.moments.at[-1], default=None)
    judged = [one for digest in (last.in_force if last else ()) for one in policies.get(digest, ())]
    told = _Sum(question, policies)
    for log in logs:
        told.add(Window(log, question))
    return told.stats([one for one in dict.fromkeys(judged) if question.wants(one.rule)])


_Asked = tuple[tuple[str, ...], bool]
"""The rules asked for that an evaluation asked, and whether nobody knows them."""


class _Sum:
    """Figures that grow log by log."""

    def __init__(self, question: Question, policies: Mapping[str, Sequence[Asked]]) -> None:
        self.question, self.policies = question, policies
        self.begin = self.end = 0.0
        self.evaluations = self.denied = self.undescribed = 0
        self.found: dict[str, Figures] = {}
        self._seconds: dict[str, Counter[float]] = defaultdict(Counter)
        self._tries: dict[str, Counter[float]] = defaultdict(Counter)

    def of(self, name: str) -> Figures:
        """The figures of a group."""
        return self.found.setdefault(name, Figures(name))

    def add(self, window: Window) -> None:
        """Takes up a log."""
        self._add_signals(window)
        self._add_episodes(window)
        self._add_evaluations(window)
        self._add_rest(window)
        at = window.notes.moments.at
        for first in at[window.begin or 1 :][:1]:
            self.begin, self.end = min(self.begin or first, first), max(self.end, at[-1])

    def _add_signals(self, window: Window) -> None:
        actions = window.notes.actions.words
        for (name, level, marks, answer), many in Counter(window.signals()).items():
            figures, word = self.of(name), LEVELS[level]
            figures.undecided += many * bool(marks & chronicle.UNDECIDED)
            if marks & (chronicle.SHADOW | chronicle.WAIVED):
                figures.shadow += many * bool(marks & chronicle.SHADOW)
                figures.waived += many * bool(marks & chronicle.WAIVED)
                continue
            figures.signals += many
            figures.overridden += many * bool(marks & chronicle.OVERRIDDEN)
            if marks & chronicle.ATTEMPT or word == "aid":
                figures.attempts += many
                figures.levels[word] = figures.levels.get(word, 0) + many
                figures.climbed += many * bool(marks & chronicle.CLIMBED)
            if answer:
                answers = figures.answers.setdefault(actions[answer // 2 - 1], Answers())
                answers.given += many * (answer % 2)
                answers.derived += many * (1 - answer % 2)
            else:
                figures.unanswered += many

    def _add_episodes(self, window: Window) -> None:
        episodes, seconds = window.outcomes()
        fixed = set()
        for one, many in Counter(episodes).items():
            name, state, flags, tries = one
            figures, word = self.of(name), chronicle.state_of(state, flags)
            figures.episodes += many
            figures.states[word] = figures.states.get(word, 0) + many
            figures.excused += many * bool(flags & _EXCUSED)
            for excuse, flag in _EXCUSES.items():
                if flags & flag:
                    figures.excuses[excuse] = figures.excuses.get(excuse, 0) + many
            if word == "fixed":
                fixed.add(one)
                figures.reopened += many * bool(flags & chronicle.REOPENED)
                figures.at_once += many * (tries <= 1)
                figures.slow += many * (tries >= SLOW_TRIES)
                self._tries[name][tries] += many
        for one, took in zip(episodes, seconds, strict=True):
            if one in fixed:
                self._seconds[one[0]][took] += 1

    def _add_evaluations(self, window: Window) -> None:
        """Counts how often each group was asked, and of how many evaluations nobody knows whom."""
        words, places, evaluations = window.words, window.notes.places, window.notes.evaluations

        @cache
        def asked_at(hook: int, policy: int, working: int) -> _Asked:
            digests = words[policy], words[working]
            rules = {one.rule for told in digests for one in self.policies.get(told, ()) if one.hook == words[hook]}
            return tuple(sorted(filter(self.question.wants, rules))), self.policies.keys().isdisjoint(digests)

        judged = [*map(asked_at, places.hook, places.policy, places.working)]
        rows = range(window.start(evaluations), len(evaluations))
        labels = repeat("", len(rows)) if self.question.by == "rule" else window.groups(evaluations, rows)
        alike = Counter(zip(picked(evaluations, "place", rows), labels, strict=True))
        for (place, label), many in alike.items():
            self._evaluated(judged[place], label, many)
        for place, many, is_denied in window.calls():
            self._evaluated(judged[place], window.label(place), many)
            self.denied += is_denied

    def _evaluated(self, about: _Asked, label: str, many: int) -> None:
        """Counts so many evaluations that are alike."""
        rules, is_unknown = about
        counts = bool(rules) or self.question.rule is None
        names: Iterable[str] = rules if self.question.by == "rule" else (label,) if counts else ()
        self.undescribed += many * is_unknown
        self.evaluations += many * counts
        for name in names if many else ():
            self.of(name).asked += many

    def _add_rest(self, window: Window) -> None:
        """What was passed over, bypassed, refused, waived and commented on."""
        notes, words, by = window.notes, window.words, self.question.by
        for name, many in Counter(window.groups(notes.skips, window.wanted(notes.skips))).items():
            self.of(name).undecided += many
            self.of(name).passed_over += many
        bypasses = range(window.start(notes.bypasses), len(notes.bypasses))
        for name in window.groups(notes.bypasses, bypasses) if by != "rule" else ():
            self.of(name).bypasses += 1
        self.denied += len(notes.refusals) - window.start(notes.refusals)
        known = set(window.rows) if notes.waived or notes.remarks else set()
        waived = sorted(notes.waived.keys() & known)
        subjects = (words[notes.places.subject[notes.signals.place[row]]] for row in waived)
        rules = (words[notes.signals.rule[row]] for row in waived)
        for name, *_ in set(zip(window.groups(notes.signals, waived), rules, subjects, strict=True)):
            self.of(name).excuses["waived"] = self.of(name).excuses.get("waived", 0) + 1
            self.of(name).excused += 1
        for one in notes.remarks:
            if one.moment >= window.begin and self.question.wants(one.comment.rule):
                if one.signal in known:
                    (name,) = window.groups(notes.signals, [one.signal])
                else:
                    name = one.comment.rule or UNTOLD if by == "rule" else window.label(one.place)
                self.of(name).comments.append(one.comment)
                self.of(name).comment_count += 1

    def stats(self, in_force: list[Asked]) -> Stats:
        """What came of it."""
        for name, figures in self.found.items():
            figures.seconds, figures.tries = Spread.of(self._seconds[name]), Spread.of(self._tries[name])
            figures.comments = sorted(figures.comments, key=lambda one: one.at)[-COMMENTS_KEPT:]
            figures.levels = {word: figures.levels[word] for word in LEVELS if word in figures.levels}
            figures.answers = dict(
                sorted(figures.answers.items(), key=lambda one: (-one[1].given - one[1].derived, one[0]))
            )
            figures.states, figures.excuses = _most_first(figures.states), _most_first(figures.excuses)
        ordered = sorted(self.found.values(), key=lambda one: (-one.episodes, -one.attempts, -one.signals, one.name))
        counts = self.evaluations, self.denied, self.undescribed
        return Stats(self.question.by, self.begin, self.end, *counts, ordered, in_force)


def _most_first(counted: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))
