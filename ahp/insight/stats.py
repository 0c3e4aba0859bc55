"""Figures of a log by rule, or by who, where and when (seed 002 §5.3): what was asked, said, answered and mended.

Counted are episodes and attempts, not repeats. A quantile is the smallest value that at least so many do not exceed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from ahp.insight import columns, many_logs, parts, reading, sql_tallies, tallies
from ahp.insight.chronicle import LEVELS, Asked, Chronicle
from ahp.insight.columns import Comment
from ahp.insight.groups import Group
from ahp.insight.parts import Part
from ahp.insight.tallies import Spent, Tallies
from ahp.system import clock
from ahp.system.terminal import Seen, unseen

_EXCUSED = columns.DISMISSED | columns.RISKED | columns.BYPASSED | columns.COMMENTED


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
        half, most = (ordered[bisect_left(counts, ceil(share * counts[-1]))] for share in (0.5, 0.9))
        return cls(counts[-1], half, most)


@dataclass
class Answers:
    """How often an action was the answer: given by somebody, or derived from silence or from what came after."""

    given: int = 0
    derived: int = 0

    @property
    def total(self) -> int:
        return self.given + self.derived


@dataclass
class Figures:
    """The figures of one group.

    `asked` evaluations; `signals` delivered, in `attempts` by the `levels` in force (an aid is an attempt of its own);
    apart from these `shadow` and `waived` signals. `undecided` signals and evaluations that passed the rule over for
    want of a fact, these `passed_over` alone; `climbed` attempts above the rule's own level, `overridden` signals that
    a person let pass. `answers` by action, `unanswered` signals. `bypasses`: commits that no hook judged.

    Of the `episodes` each is one of open, mended, overridden, bypassed, reset (the change shares too little with what
    the signal was about to tell), withdrawn (a person ended it), forgotten. `seconds` and `tries` until mended;
    `reopened` within a day of it. `excused` episodes and waivers are a proxy for false positives: dismissed by a
    person, risk taken, bypassed, commented on, waived. `ms` of the evaluations it was asked in, `spoke_ms` of those it
    spoke in: the log does not tell what one rule costs.
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
    reopened: int = 0
    raised: int = 0
    excuses: dict[str, int] = field(default_factory=dict)
    excused: int = 0
    bypasses: int = 0
    ms: Spread | None = None
    spoke_ms: Spread | None = None
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
    """Reads the log in `folder` once, or those that the folders and files `from_` tell of.

    `rule` is a key, an oracle's name or a pattern, times are in seconds. Raises AhpError when a log cannot be read.
    """
    if not from_:
        chronicle = Chronicle(Group(by), rule=rule, since=since)
        then = clock.now() if now is None else now
        told = sql_tallies.of(chronicle, folder, then, seen)
        if told is not None:
            return summed(chronicle, told)
        begin = partial(Part, Group(by), rule=rule, since=since)
        shared = parts.of(begin, tallies.of, folder, then, seen)
        if shared is not None:
            return summed(*shared)
    chronicle = Chronicle(Group(by), rule=rule, since=since)
    read(chronicle, folder, from_, now, seen)
    return summed(chronicle)


def read(chronicle: Chronicle, folder: str, from_: Sequence[str], now: float | None, seen: Seen) -> None:
    """Feeds the log in `folder` to `chronicle`, or the logs of `from_`, each to one of its own that it then joins.

    Raises AhpError when a log cannot be read.
    """
    chronicles: dict[str, Chronicle] = {}
    with reading.no_garbage():
        if from_:
            for log, record in many_logs.records(from_, chronicle.since, seen):
                one = chronicles.get(log)
                if one is None:
                    one = chronicles[log] = chronicle.beside()
                one.apply(record)
        else:
            for record in reading.records(folder, chronicle.since, seen):
                chronicle.apply(record)
    for one in (chronicle, *chronicles.values()):
        one.expire(clock.now() if now is None else now)
        if one is not chronicle:
            chronicle.join(one)


def summed(chronicle: Chronicle, told: Tallies | None = None) -> Stats:
    """The figures of what a chronicle has noted; of `told`, where that was counted for it already."""
    told = tallies.of(chronicle) if told is None else told
    found: dict[str, Figures] = {}

    def of(name: str) -> Figures:
        return found.setdefault(name, Figures(name))

    total, undescribed = _evaluations(chronicle, told, of)
    _signals(told, of)
    _episodes(told, of)
    for name, many in told.skipped.items():
        of(name).undecided += many
        of(name).passed_over += many
    for name, many in told.bypasses.items() if chronicle.group.by != "rule" else ():
        of(name).bypasses += many
    for name, comments in told.comments.items():
        of(name).comments, of(name).comment_count = comments, told.comment_count[name]
    for name, _ in told.waived:
        of(name).excuses["waived"] = of(name).excuses.get("waived", 0) + 1
        of(name).excused += 1
    for figures in found.values():
        figures.levels = {word: figures.levels[word] for word in LEVELS if word in figures.levels}
        figures.answers = dict(sorted(figures.answers.items(), key=lambda one: (-one[1].total, one[0])))
        figures.states, figures.excuses = _most_first(figures.states), _most_first(figures.excuses)
    in_force = [asked for digest in chronicle.in_force for asked in chronicle.policies.get(digest, ())]
    wanted = [asked for asked in dict.fromkeys(in_force) if chronicle.wants(asked.rule)]
    ordered = sorted(found.values(), key=lambda one: (-one.episodes, -one.attempts, -one.signals, one.name))
    if chronicle.group.by == "week":
        ordered.sort(key=lambda one: one.name)
    return Stats(chronicle.group.by, told.first, told.last, total, told.denied, undescribed, ordered, wanted)


def _most_first(counted: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))


def _evaluations(chronicle: Chronicle, told: Tallies, of: Callable[[str], Figures]) -> tuple[int, int]:
    """Notes how often each group was asked and what that took.

    How many evaluations asked a rule that is wanted, and of how many nobody knows which rules they asked.
    """
    total = undescribed = 0

    @cache
    def asked_of(hook: str, *digests: str) -> list[str]:
        rules = {one.rule for digest in digests for one in chronicle.policies.get(digest, ()) if one.hook == hook}
        return sorted(filter(chronicle.wants, rules))

    spent: dict[str, list[Spent]] = {}
    for (group, hook, policy, working), taken in told.evaluations.items():
        evaluations = sum(sum(many) for _, many in taken)
        if policy not in chronicle.policies and working not in chronicle.policies:
            undescribed += evaluations
        asked = asked_of(hook, policy, working)
        total += evaluations if asked or chronicle.wanted is None else 0
        if chronicle.group.by == "rule":
            names = asked
        elif asked or chronicle.wanted is None:
            names = [group]
        else:
            names = []
        for name in names:
            spent.setdefault(name, []).extend(taken)
    for name, listed in spent.items():
        figures, counted = of(name), Counter[int]()
        for tenths, many in listed:
            for value, often in zip(tenths, many, strict=True):
                counted[value] += often
        values = {value / 10: often for value, often in counted.items() if value >= 0}
        figures.asked, figures.ms = counted.total(), Spread.of(values)
    return total, undescribed


def _signals(told: Tallies, of: Callable[[str], Figures]) -> None:
    for (name, level, marks, action, is_given), many in told.signals.items():
        figures = of(name)
        figures.undecided += many * bool(marks & columns.UNDECIDED)
        if marks & (columns.SHADOW | columns.WAIVED):
            figures.shadow += many * bool(marks & columns.SHADOW)
            figures.waived += many * bool(marks & columns.WAIVED)
            continue
        figures.signals += many
        figures.overridden += many * bool(marks & columns.OVERRIDDEN)
        word = LEVELS[level]
        if marks & columns.ATTEMPT or word == "aid":
            figures.attempts += many
            figures.levels[word] = figures.levels.get(word, 0) + many
            figures.climbed += many * bool(marks & columns.CLIMBED)
        if action:
            answers = figures.answers.setdefault(action, Answers())
            answers.given += many * is_given
            answers.derived += many * (not is_given)
        else:
            figures.unanswered += many
    for name, values in told.spoken.items():
        of(name).spoke_ms = Spread.of({tenths / 10: many for tenths, many in values.items()})


def _episodes(told: Tallies, of: Callable[[str], Figures]) -> None:
    for (name, state, flags), many in told.episodes.items():
        figures, word = of(name), columns.state_of(state, flags)
        figures.episodes += many
        figures.states[word] = figures.states.get(word, 0) + many
        figures.reopened += many * (word == "mended" and bool(flags & columns.REOPENED))
        figures.raised += many * bool(flags & columns.RAISED)
        figures.excused += many * bool(flags & _EXCUSED)
        for excuse, flag in _EXCUSES.items():
            if flags & flag:
                figures.excuses[excuse] = figures.excuses.get(excuse, 0) + many
    for name, seconds in told.seconds.items():
        of(name).seconds = Spread.of(seconds)
    for name, tries in told.tries.items():
        of(name).tries = Spread.of(tries)


_EXCUSES = {
    "dismissed": columns.DISMISSED,
    "risk taken": columns.RISKED,
    "bypassed": columns.BYPASSED,
    "feedback": columns.COMMENTED,
}
