"""What figures are made of: how often entries of logs that are alike were there, by the name of their group."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, compress, groupby, repeat
from operator import itemgetter
from typing import Any

from ahp.gate.match import COUNTED
from ahp.insight import columns
from ahp.insight.chronicle import Chronicle
from ahp.insight.columns import Comment, Table
from ahp.insight.groups import ALL, MONDAY, UNTOLD, WEEK, Question, Weeks, agent_of
from ahp.protocol.triggers import TRIGGERS

COMMENTS_KEPT = 20
"""Of each group: the last ones."""
_OF_EVENT = columns.BEGINS | columns.DENIED
_OF_SIGNAL = bytes(marks & ~_OF_EVENT for marks in range(256))


def _by_group() -> dict[str, Counter[Any]]:
    return defaultdict(Counter)


@dataclass
class Tallies:
    """Counted entries; their parts are those of `columns.Signals` and `columns.Episodes`.

    `signals` by group, level, marks, action ("" while unanswered) and whether somebody gave it. `spent` are tenths of a
    millisecond by group (-1: untold), of as many evaluations as were `asked`.
    `evaluations` that asked a rule that is asked for, `undescribed` ones by policies that no log describes, `denied`
    ones. `seconds` and `tries` by group, of the episodes that were fixed. `waived` are a group, and log, rule and
    subject of a waiver. `first` and `last` are seconds since the epoch, 0 where nothing was there.
    """

    signals: Counter[tuple[str, int, int, str, bool]] = field(default_factory=Counter)
    episodes: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    tries: dict[str, Counter[float]] = field(default_factory=_by_group)
    asked: Counter[str] = field(default_factory=Counter)
    spent: dict[str, list[array[int]]] = field(default_factory=lambda: defaultdict(list))
    skipped: Counter[str] = field(default_factory=Counter)
    bypasses: Counter[str] = field(default_factory=Counter)
    waived: set[tuple[str, int, str, str]] = field(default_factory=set)
    comments: dict[str, list[Comment]] = field(default_factory=lambda: defaultdict(list))
    comment_count: Counter[str] = field(default_factory=Counter)
    evaluations: int = 0
    undescribed: int = 0
    denied: int = 0
    first: float = 0.0
    last: float = 0.0

    def evaluated(self, about: _Groups, many: int) -> None:
        """Counts so many evaluations."""
        names, is_unknown, counts = about
        self.undescribed += many * is_unknown
        self.evaluations += many * counts
        for name in names if many else ():
            self.asked[name] += many


def of(logs: Sequence[Chronicle], question: Question) -> Tallies:
    """What a question counts of all logs. A policy is known when one of them describes it."""
    told = Tallies()
    policies = {digest: asked for log in logs for digest, asked in log.policies.items()}

    @cache
    def asked_of(hook: str, policy: str, working: str) -> list[str]:
        rules = {one.rule for digest in (policy, working) for one in policies.get(digest, ()) if one.hook == hook}
        return sorted(filter(question.wants, rules))

    for number, log in enumerate(logs):
        window = Window(log, question)
        window.add_signals(told)
        window.add_episodes(told)
        _add_evaluations(told, window, asked_of, policies)
        window.add_rest(told, number)
    for comments in told.comments.values():
        comments.sort(key=lambda one: one.at)
        del comments[:-COMMENTS_KEPT]
    return told


_Groups = tuple[tuple[str, ...], bool, bool]
"""The groups of an evaluation, whether nobody knows which rules it asked, whether it counts."""


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
        self.rows = self._wanted(self.notes.signals)
        self.now = max(question.now, log.at)
        ends, state = self.notes.episodes.ends, self.notes.episodes.state
        over = (end <= self.now and not stands for end, stands in zip(ends, state, strict=True))
        self.forgotten = {number for number, is_over in enumerate(over) if is_over}
        self._weeks = Weeks()
        self.labels = self._by_place()

    def start(self, table: Any) -> int:
        """The first entry of a table that is not too old."""
        return bisect_left(table.moment, self.begin)

    def _wanted(self, table: Any) -> Sequence[int]:
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
            agents = {actor: agent_of(self.words[actor]) for actor in set(places.actor)}
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
        numbers = [int((at + MONDAY) // WEEK) for at in self.notes.moments.at]  # of which a log has many
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

    def add_signals(self, told: Tallies) -> None:
        """Counts the signals, and the waivers that excused some."""
        signals, rows, actions = self.notes.signals, self.rows, self.notes.actions.words
        names = [*self.groups(signals, rows)]
        marks = bytes(picked(signals, "marks", rows)).translate(_OF_SIGNAL)
        answers: Sequence[int] = picked(signals, "answer", rows)
        if self.forgotten:
            told_nothing = 2 + 2 * self.notes.actions["abort"]
            of = picked(signals, "episode", rows)
            answers = [
                answer or told_nothing * (episode in self.forgotten)
                for answer, episode in zip(answers, of, strict=True)
            ]
        entries = zip(names, picked(signals, "level", rows), marks, answers, strict=True)
        for (name, level, marked, answer), many in Counter(entries).items():
            told.signals[name, level, marked, actions[answer // 2 - 1] if answer else "", bool(answer % 2)] += many

    def episodes(self) -> list[int]:
        """The episodes that a signal opened which is not too old, of a rule that is asked for."""
        episodes, rule = self.notes.episodes, self.notes.signals.rule
        opened = range(bisect_left(episodes.signal, self.first), len(episodes))
        if self.question.rule is None:
            return [*opened]
        return [number for number in opened if self._is_wanted[rule[episodes.signal[number]]]]

    def add_episodes(self, told: Tallies) -> None:
        """Counts the episodes, in the group of the signal that opened each."""
        episodes, numbers = self.notes.episodes, self.episodes()
        if self.question.by == "environment":
            names = [*self.groups(episodes, numbers)]
        else:
            names = [*self.groups(self.notes.signals, [*picked(episodes, "signal", numbers)])]
        state = [
            columns.FORGOTTEN if number in self.forgotten else stands
            for number, stands in zip(numbers, picked(episodes, "state", numbers), strict=True)
        ]
        entries = [*zip(state, picked(episodes, "flags", numbers), strict=True)]
        for (name, (stands, flags)), many in Counter(zip(names, entries, strict=True)).items():
            told.episodes[name, stands, flags] += many
        fixed = {entry for entry in set(entries) if columns.state_of(*entry) == "fixed"}
        is_fixed = [entry in fixed for entry in entries]
        by_name = [*compress(names, is_fixed)]
        for name, took in zip(by_name, compress(picked(episodes, "took", numbers), is_fixed), strict=True):
            told.seconds[name].append(took)
        tries = Counter(zip(by_name, compress(picked(episodes, "tries", numbers), is_fixed), strict=True))
        for (name, count), many in tries.items():
            told.tries[name][count] += many

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
            if (marks & columns.BEGINS or row == self.first) and places.hook[place] in of_calls:
                yield signals.moment[row], place, 1, bool(marks & columns.DENIED)

    def add_rest(self, told: Tallies, log: int) -> None:
        """Counts what was passed over, bypassed, waived and commented on, and tells the time."""
        notes = self.notes
        for table, rows, counted in (
            (notes.skips, self._wanted(notes.skips), told.skipped),
            (notes.bypasses, range(self.start(notes.bypasses), len(notes.bypasses)), told.bypasses),
        ):
            if not (table is notes.bypasses and self.question.by == "rule"):
                counted.update(self.groups(table, rows))
        told.denied += len(notes.refusals) - self.start(notes.refusals)
        known = set(self.rows) if notes.waived or notes.remarks else set()
        for row in notes.waived.keys() & known:
            (name,) = self.groups(notes.signals, [row])
            subject = self.words[notes.places.subject[notes.signals.place[row]]]
            told.waived.add((name, log, self.words[notes.signals.rule[row]], subject))
        for one in notes.remarks:
            if one.moment >= self.begin and self.question.wants(one.comment.rule):
                if one.signal in known:
                    (name,) = self.groups(notes.signals, [one.signal])
                elif self.question.by == "rule":
                    name = one.comment.rule or UNTOLD
                else:
                    name = self.label(one.place, one.moment)
                told.comments[name].append(one.comment)
                told.comment_count[name] += 1
        at = notes.moments.at
        for first in at[self.begin or 1 :][:1]:
            told.first, told.last = min(told.first or first, first), max(told.last, at[-1])

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


def _add_evaluations(
    told: Tallies, window: Window, asked_of: Callable[..., list[str]], policies: Collection[str]
) -> None:
    """Counts how often each group was asked and what that took, and of how many evaluations nobody knows whom."""
    notes, words, question = window.notes, window.words, window.question
    places, evaluations = notes.places, notes.evaluations

    @cache
    def asked_at(hook: int, policy: int, working: int) -> tuple[tuple[str, ...], bool]:
        """The rules asked for that were asked there, and whether nobody knows them."""
        is_unknown = words[policy] not in policies and words[working] not in policies
        return tuple(asked_of(words[hook], words[policy], words[working])), is_unknown

    def groups(about: tuple[tuple[str, ...], bool], name: str) -> _Groups:
        rules, is_unknown = about
        names = rules if question.by == "rule" else (name,) if rules or question.rule is None else ()
        return names, is_unknown, bool(rules) or question.rule is None

    judged = [*map(asked_at, places.hook, places.policy, places.working)]
    numbers: dict[tuple[tuple[tuple[str, ...], bool], str], int] = {}
    labels = window.labels or [""] * len(places)
    of_place = [numbers.setdefault(one, len(numbers)) for one in zip(judged, labels, strict=True)]
    for week, rows in window.runs(evaluations):
        taken = [array("i") for _ in numbers]
        add = [one.append for one in taken]
        cells = map(of_place.__getitem__, picked(evaluations, "place", rows))
        for cell, tenths in zip(cells, picked(evaluations, "tenths", rows), strict=True):
            add[cell](tenths)
        for (about, label), spent in zip(numbers, taken, strict=True):
            alike = groups(about, week or label)
            told.evaluated(alike, len(spent))
            for name in alike[0] if spent else ():
                told.spent[name].append(spent)
    for moment, place, many, is_denied in window.calls():
        told.evaluated(groups(judged[place], window.label(place, moment)), many)
        told.denied += is_denied
