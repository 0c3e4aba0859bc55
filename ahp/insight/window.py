"""What figures are asked for: of which rules, since when, and by what a record tells of who, where and when; and the
part of a log that this is about.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, compress, groupby, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from ahp.gate.match import COUNTED
from ahp.insight import chronicle
from ahp.insight.chronicle import Chronicle, Table
from ahp.protocol.triggers import TRIGGERS

BY = ("rule", "hook", "subject", "actor", "agent", "environment", "week")
ALL = "all"
"""One group, named ""."""
UNTOLD = "(unknown)"
PEOPLE = "(people)"
_OF_EVENT = chronicle.BEGINS | chronicle.DENIED
_OF_SIGNAL = bytes(marks & ~_OF_EVENT for marks in range(256))
_DAY = 86400
_WEEK = 7 * _DAY
_MONDAY = 3 * _DAY
"""Seconds from a Monday to the epoch, a Thursday."""


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
        return self.rule is None or fnmatchcase(rule, self.rule) or rule.partition("/")[0] == self.rule


def _agent_of(actor: str) -> str:
    """The group of an actor among agents: the agent's name, all people as one."""
    kind, _, name = actor.partition(":")
    return {"agent": name or "agent", "human": PEOPLE}.get(kind, kind or UNTOLD)


class _Weeks(dict[int, str]):
    """The weeks of ISO 8601 in UTC by their number: `weeks[(at + _MONDAY) // _WEEK]` of a time in seconds."""

    def __missing__(self, number: int) -> str:
        name = self[number] = time.strftime("%G-W%V", time.gmtime(number * _WEEK - _MONDAY))
        return name


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
        self._weeks = _Weeks()
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
        """The group of each place, where that is the same at any time and for any rule."""
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
        by = self.question.by
        if by == "week":
            return map(self._by_moment.__getitem__, picked(table, "moment", rows))
        if by in ("rule", "environment") and by in vars(table):
            return map(self._named.__getitem__, picked(table, by, rows))
        return map(self.labels.__getitem__, picked(table, "place", rows))

    @cached_property
    def _by_moment(self) -> list[str]:
        """The week of each moment."""
        numbers = [int((at + _MONDAY) // _WEEK) for at in self.notes.moments.at]  # of which a log has many
        runs = ((self._weeks[number], len([*run])) for number, run in groupby(numbers))
        return [*chain.from_iterable(repeat(name, many) for name, many in runs)]

    def runs(self, table: Any) -> Iterator[tuple[str, range]]:
        """The entries that are not too old: by week, where these are asked for, in the order of the log."""
        start, end = self.start(table), len(table)
        if self.question.by != "week":
            yield "", range(start, end)
            return
        moment = 0
        for week, run in groupby(self._by_moment):
            moment += len([*run])
            stop = bisect_left(table.moment, moment, start)
            yield week, range(start, stop)
            start = stop

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
        if self.question.by == "environment":
            names = self.groups(episodes, numbers)
        else:
            names = self.groups(self.notes.signals, [*picked(episodes, "signal", numbers)])
        states = (
            chronicle.FORGOTTEN if number in self.forgotten else state
            for number, state in zip(numbers, picked(episodes, "state", numbers), strict=True)
        )
        flags, tries, took = (picked(episodes, name, numbers) for name in ("flags", "tries", "took"))
        return [*zip(names, states, flags, tries, strict=True)], took

    def calls(self) -> Iterator[tuple[int, int, int, bool]]:
        """The tool calls that no verdict tells of: moment, place, how many, whether refused.

        Of one that a rule spoke of its first signal tells.
        """
        calls, signals, places = self.notes.calls, self.notes.signals, self.notes.places
        for row in range(self.start(calls), len(calls)):
            yield calls.moment[row], calls.place[row], calls.many[row], False
        of_calls = {number for number, word in enumerate(self.words) if is_of_calls(word)}
        if not of_calls.intersection(places.hook):
            return
        for row in range(self.first, len(signals)):
            marks, place = signals.marks[row], signals.place[row]
            if (marks & chronicle.BEGINS or row == self.first) and places.hook[place] in of_calls:
                yield signals.moment[row], place, 1, bool(marks & chronicle.DENIED)

    def label(self, place: int, moment: int) -> str:
        """The group of what was logged at a place and a moment."""
        if self.question.by == "week":
            return self._by_moment[moment]
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
