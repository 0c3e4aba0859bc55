"""Figures of a log by rule, or by who, where and when (seed 002 §5.3): what was asked, said, answered and fixed.

Counted are episodes and attempts, not repeats. A quantile is the smallest value that at least so many do not exceed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from math import ceil
from typing import NamedTuple

from ahp.insight import columns, kept, many_logs, reading, tallies
from ahp.insight.chronicle import LEVELS, Asked, Chronicle
from ahp.insight.columns import Comment
from ahp.insight.groups import Question
from ahp.insight.tallies import Tallies
from ahp.system import clock
from ahp.system.terminal import Seen, unseen

SLOW_TRIES = 3
"""Attempts from which on a fix took many."""
_SHARES = (0.5, 0.9)
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
    """The figures of what chronicles have noted."""
    told = tallies.of(logs, question)
    found: dict[str, Figures] = {}

    def of(name: str) -> Figures:
        return found.setdefault(name, Figures(name))

    spreads: dict[tuple[int, ...], Spread | None] = {}
    for name, asked in told.asked.items():
        alike = tuple(map(id, told.spent[name]))  # as for rules that were always asked together
        if alike not in spreads:
            values = chain.from_iterable(told.spent[name])
            spreads[alike] = _milliseconds(Spread.of(Counter(tenths for tenths in values if tenths >= 0)))
        of(name).asked, of(name).ms = asked, spreads[alike]
    _signals(told, of)
    _episodes(told, of)
    for name, many in told.skipped.items():
        of(name).undecided += many
        of(name).passed_over += many
    for name, many in told.bypasses.items():
        of(name).bypasses += many
    for name, comments in told.comments.items():
        of(name).comments, of(name).comment_count = comments, told.comment_count[name]
    for name, *_ in told.waived:
        of(name).excuses["waived"] = of(name).excuses.get("waived", 0) + 1
        of(name).excused += 1
    for figures in found.values():
        figures.levels = {word: figures.levels[word] for word in LEVELS if word in figures.levels}
        figures.answers = dict(
            sorted(figures.answers.items(), key=lambda one: (-one[1].given - one[1].derived, one[0]))
        )
        figures.states, figures.excuses = _most_first(figures.states), _most_first(figures.excuses)
    ordered = sorted(found.values(), key=lambda one: (-one.episodes, -one.attempts, -one.signals, one.name))
    if question.by == "week":
        ordered.sort(key=lambda one: one.name)
    head = told.first, told.last, told.evaluations, told.denied, told.undescribed
    return Stats(question.by, *head, ordered, _in_force(logs, question))


def _in_force(logs: Sequence[Chronicle], question: Question) -> list[Asked]:
    """The rules of the policies that judged last."""
    policies = {digest: asked for log in logs for digest, asked in log.policies.items()}
    last = max(logs, key=lambda log: log.notes.moments.at[-1], default=None)
    asked = [one for digest in (last.in_force if last else ()) for one in policies.get(digest, ())]
    return [one for one in dict.fromkeys(asked) if question.wants(one.rule)]


def _milliseconds(tenths: Spread | None) -> Spread | None:
    return Spread(tenths.count, tenths.median / 10, tenths.p90 / 10) if tenths else None


def _most_first(counted: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))


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


def _episodes(told: Tallies, of: Callable[[str], Figures]) -> None:
    for (name, state, flags), many in told.episodes.items():
        figures, word = of(name), columns.state_of(state, flags)
        figures.episodes += many
        figures.states[word] = figures.states.get(word, 0) + many
        figures.reopened += many * (word == "fixed" and bool(flags & columns.REOPENED))
        figures.excused += many * bool(flags & _EXCUSED)
        for excuse, flag in _EXCUSES.items():
            if flags & flag:
                figures.excuses[excuse] = figures.excuses.get(excuse, 0) + many
    for name, seconds in told.seconds.items():
        of(name).seconds = Spread.of(Counter(seconds))
    for name, tries in told.tries.items():
        of(name).tries = Spread.of(tries)
        of(name).at_once = sum(many for count, many in tries.items() if count <= 1)
        of(name).slow = sum(many for count, many in tries.items() if count >= SLOW_TRIES)


_EXCUSES = {
    "dismissed": columns.DISMISSED,
    "risk taken": columns.RISKED,
    "bypassed": columns.BYPASSED,
    "feedback": columns.COMMENTED,
}
