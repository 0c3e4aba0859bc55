"""What figures are made of: how often entries of a log that are alike were there, by the name of their group."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ahp.insight import columns
from ahp.insight.chronicle import Chronicle
from ahp.insight.columns import COMMENTS_KEPT, Comment, tenths_of

Spent = tuple["array[int]", "array[int]"]
"""Tenths of a millisecond (-1: untold), and how many evaluations took so long."""


def _by_group() -> dict[str, Counter[Any]]:
    return defaultdict(Counter)


@dataclass
class Tallies:
    """Counted entries; their parts are those of `columns.Signals`, `columns.Episodes` and `columns.Place`.

    `signals` by group, level, marks, action ("" while unanswered) and whether somebody gave it; `spoken`, tenths of a
    millisecond by group; `evaluations` by place. `seconds` and `tries` by group, of the episodes that were mended.
    `waived` are pairs of a group and a hash of log, rule and subject. `first` and `last` are seconds since the epoch, 0
    where nothing was there.
    """

    signals: Counter[tuple[str, int, int, str, bool]] = field(default_factory=Counter)
    spoken: dict[str, Counter[int]] = field(default_factory=_by_group)
    episodes: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    seconds: dict[str, Counter[float]] = field(default_factory=_by_group)
    tries: dict[str, Counter[float]] = field(default_factory=_by_group)
    evaluations: dict[tuple[str, str, str, str], list[Spent]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    bypasses: Counter[str] = field(default_factory=Counter)
    waived: set[tuple[str, int]] = field(default_factory=set)
    comments: dict[str, list[Comment]] = field(default_factory=dict)
    comment_count: Counter[str] = field(default_factory=Counter)
    denied: int = 0
    first: float = 0.0
    last: float = 0.0

    def join(self, other: Tallies, name: Callable[[str], str] = str) -> None:
        """Takes over those of other subjects of the same log, in the groups that `name` makes of theirs."""
        for (group, level, marks, action, is_given), many in other.signals.items():
            self.signals[name(group), level, marks, action, is_given] += many
        for (group, state, flags), many in other.episodes.items():
            self.episodes[name(group), state, flags] += many
        for (group, hook, policy, working), spent in other.evaluations.items():
            self.evaluations.setdefault((name(group), hook, policy, working), []).extend(spent)
        by_group: tuple[tuple[dict[str, Counter[Any]], dict[str, Counter[Any]]], ...] = (
            (self.spoken, other.spoken),
            (self.seconds, other.seconds),
            (self.tries, other.tries),
        )
        for known, more in by_group:
            for group, values in more.items():
                known[name(group)].update(values)
        for counted, others in (
            (self.skipped, other.skipped),
            (self.bypasses, other.bypasses),
            (self.comment_count, other.comment_count),
        ):
            for group, many in others.items():
                counted[name(group)] += many
        self.waived |= {(name(group), waiver) for group, waiver in other.waived}
        for group, comments in other.comments.items():
            listed = sorted(self.comments.get(name(group), []) + comments, key=lambda one: one.at)
            self.comments[name(group)] = listed[-COMMENTS_KEPT:]
        self.denied += other.denied
        self.first = min(filter(None, (self.first, other.first)), default=0.0)
        self.last = max(self.last, other.last)

    def regrouped(self, name: Callable[[str], str]) -> Tallies:
        """The same entries in the larger groups that `name` makes of theirs."""
        told = Tallies()
        told.join(self, name)
        return told

    def evaluated(self, place: tuple[str, str, str, str], tenths: Iterable[int], many: Iterable[int]) -> None:
        """Adds evaluations at a place: so many took so many tenths."""
        self.evaluations.setdefault(place, []).append((array("i", tenths), array("Q", many)))


def of(chronicle: Chronicle) -> Tallies:
    """Those of what a chronicle has noted."""
    notes, names, actions = chronicle.notes, chronicle.names.words, chronicle.store.actions.words
    told = Tallies(denied=notes.denied, first=notes.first, last=notes.last)
    signals, episodes = notes.signals, notes.episodes
    entries = zip(signals.group, signals.level, signals.marks, signals.answer, strict=True)
    for (group, level, marks, answer), many in Counter(entries).items():
        action = actions[answer // 2 - 1] if answer else ""
        told.signals[names[group], level, marks, action, bool(answer % 2)] += many
    for (group, tenths), many in Counter(zip(signals.group, signals.tenths, strict=True)).items():
        if tenths >= 0:
            told.spoken[names[group]][tenths] += many
    stand = zip(episodes.group, episodes.state, episodes.flags, strict=True)
    for (group, state, flags), many in Counter(stand).items():
        told.episodes[names[group], state, flags] += many
    for group, state, flags, took, tries in zip(
        episodes.group, episodes.state, episodes.flags, episodes.took, episodes.tries, strict=True
    ):
        if columns.state_of(state, flags) == "mended":
            told.seconds[names[group]][round(took, 3)] += 1
            told.tries[names[group]][tries] += 1
    for (group, hook, policy, working), milliseconds in notes.evaluations.items():
        spent = Counter(map(tenths_of, milliseconds))
        told.evaluated((names[group], hook, policy, working), spent, spent.values())
    for (group, hook, policy, working), calls in notes.calls.items():
        told.evaluated((names[group], hook, policy, working), (-1,), (calls,))
    for counted, by_name in (
        (notes.skipped, told.skipped),
        (notes.bypasses, told.bypasses),
        (notes.comment_count, told.comment_count),
    ):
        for group, many in counted.items():
            by_name[names[group]] += many
    told.waived = {(names[signals.group[row]], waiver) for row, waiver in notes.waived.items()}
    told.comments = {names[group]: comments[-COMMENTS_KEPT:] for group, comments in notes.comments.items()}
    return told
