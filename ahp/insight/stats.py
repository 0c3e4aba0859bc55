"""Figures of a log by rule, or by who, where and when (seed 002 §5.3): what was asked, said, answered and fixed.

Counted are episodes and attempts, not repeats. A quantile is the smallest value that at least so many do not exceed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from math import ceil
from typing import NamedTuple

from ahp.insight import chronicle, kept, many_logs, reading
from ahp.insight.chronicle import LEVELS, Asked, Chronicle, Comment
from ahp.insight.window import UNTOLD, Question, Window, picked
from ahp.system import clock
from ahp.system.terminal import Seen, unseen

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
    waivers are a proxy for false positives: dismissed by a person, risk taken, bypassed, commented on, waived. `ms` of
    the evaluations it was asked in: the log does not tell what one rule costs.
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
    ms: Spread | None = None
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
        self._spent: dict[str, list[array[int]]] = defaultdict(list)  # tenths of a millisecond, -1: untold
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
        """Counts how often each group was asked and what that took, and of how many evaluations nobody knows whom."""
        words, places, evaluations = window.words, window.notes.places, window.notes.evaluations

        @cache
        def asked_at(hook: int, policy: int, working: int) -> _Asked:
            digests = words[policy], words[working]
            rules = {one.rule for told in digests for one in self.policies.get(told, ()) if one.hook == words[hook]}
            return tuple(sorted(filter(self.question.wants, rules))), self.policies.keys().isdisjoint(digests)

        judged = [*map(asked_at, places.hook, places.policy, places.working)]
        numbers: dict[tuple[_Asked, str], int] = {}
        labels = window.labels or [""] * len(places)
        of_place = [numbers.setdefault(one, len(numbers)) for one in zip(judged, labels, strict=True)]
        for week, rows in window.runs(evaluations):
            taken = [array("i") for _ in numbers]
            add = [one.append for one in taken]
            cells = map(of_place.__getitem__, picked(evaluations, "place", rows))
            for cell, tenths in zip(cells, picked(evaluations, "tenths", rows), strict=True):
                add[cell](tenths)
            for (about, label), spent in zip(numbers, taken, strict=True):
                for name in self._evaluated(about, week or label, len(spent)):
                    self._spent[name].append(spent)
        for moment, place, many, is_denied in window.calls():
            self._evaluated(judged[place], window.label(place, moment), many)
            self.denied += is_denied

    def _evaluated(self, about: _Asked, label: str, many: int) -> Iterable[str]:
        """Counts so many evaluations that are alike; gives their groups."""
        rules, is_unknown = about
        counts = bool(rules) or self.question.rule is None
        names: Iterable[str] = rules if self.question.by == "rule" else (label,) if counts else ()
        self.undescribed += many * is_unknown
        self.evaluations += many * counts
        for name in names if many else ():
            self.of(name).asked += many
        return names if many else ()

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
                    name = one.comment.rule or UNTOLD if by == "rule" else window.label(one.place, one.moment)
                self.of(name).comments.append(one.comment)
                self.of(name).comment_count += 1

    def stats(self, in_force: list[Asked]) -> Stats:
        """What came of it."""
        spreads: dict[tuple[int, ...], Spread | None] = {}
        for name, figures in self.found.items():
            alike = tuple(map(id, self._spent[name]))  # as for rules that were always asked together
            if alike not in spreads:
                values = chain.from_iterable(self._spent[name])
                spreads[alike] = _milliseconds(Spread.of(Counter(tenths for tenths in values if tenths >= 0)))
            figures.ms, figures.seconds = spreads[alike], Spread.of(self._seconds[name])
            figures.tries = Spread.of(self._tries[name])
            figures.comments = sorted(figures.comments, key=lambda one: one.at)[-COMMENTS_KEPT:]
            figures.levels = {word: figures.levels[word] for word in LEVELS if word in figures.levels}
            figures.answers = dict(
                sorted(figures.answers.items(), key=lambda one: (-one[1].given - one[1].derived, one[0]))
            )
            figures.states, figures.excuses = _most_first(figures.states), _most_first(figures.excuses)
        ordered = sorted(self.found.values(), key=lambda one: (-one.episodes, -one.attempts, -one.signals, one.name))
        if self.question.by == "week":
            ordered.sort(key=lambda one: one.name)
        counts = self.evaluations, self.denied, self.undescribed
        return Stats(self.question.by, self.begin, self.end, *counts, ordered, in_force)


def _milliseconds(tenths: Spread | None) -> Spread | None:
    return Spread(tenths.count, tenths.median / 10, tenths.p90 / 10) if tenths else None


def _most_first(counted: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))
