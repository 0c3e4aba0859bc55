"""What a log tells, from one reading: figures by rule and by actor, signals by day, episodes with their steps.

The figures are those of `ahp.insight.stats`, summed several times from the same notes.
"""

from __future__ import annotations

import copy
import heapq
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ahp.insight import columns
from ahp.insight.chronicle import LEVELS, Chronicle
from ahp.insight.columns import Names, Notes
from ahp.insight.groups import UNTOLD, Group
from ahp.insight.observed_store import ObservedStore
from ahp.insight.stats import Figures, Stats, read, summed
from ahp.journal.episodes import Episode
from ahp.system.terminal import Seen, unseen

STORIES = 12
"""Episodes told one by one, of the open and of the closed ones each: what climbed, then what took most attempts."""
_STEPS = 40
_DAY = 86400.0


class Step(NamedTuple):
    """An attempt of an episode: when (seconds since the epoch), and the level at which the rule spoke."""

    at: float
    level: str


class Story(NamedTuple):
    """One episode: `ended` is in seconds since the epoch, 0 for an open one; `state` is how it stands, in a word.

    `tries` counts its attempts, of which `steps` has the first ones.
    """

    rule: str
    subject: str
    actor: str
    opened: float
    ended: float
    state: str
    tries: int
    steps: list[Step]
    message: str


class Overview(NamedTuple):
    """`whole` are the figures of all together.

    `days` maps (day since the epoch, level) to the attempts of that level, as `Figures.levels` counts them. `open` and
    `closed` are episodes, at most `STORIES` each; `open_count` is how many are open. `waived` counts the signals that
    each waiver excused, by its name. `now` is the time as of which all this holds, in seconds.
    """

    rules: Stats
    actors: Stats
    whole: Figures
    days: dict[tuple[int, str], int]
    open: list[Story]
    closed: list[Story]
    open_count: int
    waived: dict[str, int]
    now: float


def collect(
    folder: str,
    *,
    rule: str | None = None,
    since: float | None = None,
    now: float | None = None,
    from_: Sequence[str] = (),
    seen: Seen = unseen,
) -> Overview:
    """Reads the log in `folder` once, or those that the folders and files `from_` tell of.

    What it keeps does not grow with the log but by some bytes a signal. `rule` is a key, an oracle's name or a pattern,
    times are in seconds. Raises AhpError when a log cannot be read.
    """
    chronicle = _Watched(rule=rule, since=since)
    read(chronicle, folder, from_, now, seen)
    return chronicle.overview()


class _Telling:
    """An episode that is being told: all of a `Story` but how it ended."""

    __slots__ = ("actor", "message", "number", "opened", "rule", "steps", "subject", "tries")

    def __init__(self, number: int, record: Mapping[str, object], at: float) -> None:
        self.number, self.opened, self.tries = number, at, 0
        self.rule, self.subject, self.actor = (str(record.get(name) or "") for name in ("rule", "subject", "actor"))
        self.message = ""
        self.steps: list[Step] = []

    @property
    def weight(self) -> tuple[int, int, float, int]:
        """What has more of it is told first: levels, attempts; then what is later."""
        return len({step.level for step in self.steps}), self.tries, self.opened, self.number

    def step(self, at: float, level: str, message: str) -> None:
        self.tries += 1
        self.message = message
        if len(self.steps) < _STEPS:
            self.steps.append(Step(at, level))

    def story(self, ended: float, state: str) -> Story:
        return Story(
            self.rule, self.subject, self.actor, self.opened, ended, state, self.tries, self.steps, self.message
        )


class _Store(ObservedStore):
    """Keeps what is told of open episodes, and of the closed ones those that took most attempts."""

    def __init__(self) -> None:
        super().__init__()
        self.open_stories: dict[int, _Telling] = {}
        self.closed_stories: list[tuple[tuple[int, int, float, int], float, _Telling]] = []
        self.days: Counter[tuple[int, str]] = Counter()
        self.waived: Counter[str] = Counter()

    def begin_anew(self) -> None:
        super().begin_anew()
        for kept in (self.open_stories, self.closed_stories, self.days, self.waived):
            kept.clear()

    def close(self, episode: Episode, state: int, at: float) -> None:
        known = self._open.get(episode.key)
        super().close(episode, state, at)
        told = self.open_stories.pop(known.number, None) if known is not None else None
        if told is not None:
            self.keep(told, max(at, told.opened))

    def keep(self, told: _Telling, ended: float) -> None:
        """Keeps the story of a closed episode while it is among those that tell most."""
        keep = heapq.heappushpop if len(self.closed_stories) >= STORIES else heapq.heappush
        keep(self.closed_stories, (told.weight, ended, told))


class _Both(Group):
    """Rule and actor at once: what is noted so can be summed by either."""

    def __init__(self) -> None:
        super().__init__("both")
        self._actor = Group("agent")
        self._names: dict[tuple[str, str], str] = {}
        self.parts: dict[str, tuple[str, str, str]] = {}

    def of(self, record: Mapping[str, object], at: float) -> str:
        told = str(record.get("rule") or UNTOLD), str(record.get("actor") or "")
        known = self._names.get(told)
        if known is None:
            known = self._names[told] = str(len(self._names))
            self.parts[known] = told[0], self._actor.of(record, at), ""
        return known


class _Watched(Chronicle):
    """A chronicle that also tells episodes one by one, and counts by day."""

    store: _Store

    def __init__(self, *, rule: str | None, since: float | None) -> None:
        self.both = _Both()
        super().__init__(self.both, rule=rule, since=since)
        self.store = _Store()

    def beside(self) -> _Watched:
        other = _Watched(rule=self.wanted, since=self.since)
        other.both = other.group = self.both
        other.names, other.policies, other.store.actions = self.names, self.policies, self.store.actions
        return other

    def join(self, other: Chronicle) -> None:
        assert isinstance(other, _Watched)
        before = len(self.notes.episodes.group)
        super().join(other)
        self.at = max(self.at, other.at)
        mine, its = self.store, other.store
        mine.days.update(its.days)
        mine.waived.update(its.waived)
        for told in its.open_stories.values():
            told.number += before
            mine.open_stories[told.number] = told
        for _, ended, told in its.closed_stories:
            told.number += before
            mine.keep(told, ended)

    def _signal(self, record: Mapping[str, object], where: tuple[int, int, int]) -> None:
        super()._signal(record, where)
        if self.store.row >= 0:
            self._told(record, self.store.row)

    def _told(self, record: Mapping[str, object], row: int) -> None:
        """Takes up what the signal of a row tells, if it is an attempt of its own."""
        store, signals = self.store, self.notes.signals
        marks, level = signals.marks[row], LEVELS[signals.level[row]]
        if marks & columns.WAIVED:
            store.waived[str(record.get("waived"))] += 1
        if marks & (columns.SHADOW | columns.WAIVED) or not (marks & columns.ATTEMPT or level == "aid"):
            return
        store.days[int(self.at // _DAY), level] += 1
        number = store.episode_of.get(row, -1)
        if number >= 0:
            known = store.open_stories.get(number)
            if known is None:
                known = store.open_stories[number] = _Telling(number, record, self.at)
            known.step(self.at, level, str(record.get("message") or ""))

    def overview(self) -> Overview:
        """What was noted, summed."""
        told = sorted(self.store.open_stories.values(), key=lambda one: one.weight, reverse=True)
        closed = sorted(self.store.closed_stories, key=lambda one: one[0], reverse=True)
        return Overview(
            summed(self._by("rule", 0)),
            summed(self._by("agent", 1)),
            next(iter(summed(self._by("all", 2)).groups), Figures("")),
            dict(self.store.days),
            [one.story(0.0, "open") for one in told[:STORIES]],
            [one.story(ended, self._state(one.number)) for _, ended, one in closed],
            len(told),
            dict(self.store.waived),
            self.at,
        )

    def _state(self, number: int) -> str:
        episodes = self.notes.episodes
        return columns.state_of(episodes.state[number], episodes.flags[number])

    def _by(self, by: str, part: int) -> Chronicle:
        """The same notes, grouped by one part of the names: rule, actor, nothing."""
        view, notes = copy.copy(self), copy.copy(self.notes)
        view.group, view.names = Group(by), Names()
        parts = self.both.parts
        to = [view.names[parts[name][part] if name in parts else name if part < 2 else ""] for name in self.names.words]
        untold = view.names[UNTOLD]
        view.store = copy.copy(self.store)
        view.store.notes = notes
        notes.signals, notes.episodes = copy.copy(notes.signals), copy.copy(notes.episodes)
        notes.signals.group = array("L", map(to.__getitem__, notes.signals.group))
        notes.episodes.group = array("L", map(to.__getitem__, notes.episodes.group))
        # An evaluation is no rule's own: the policies tell which were asked.
        evaluations, notes.evaluations = notes.evaluations, {}
        for (group, hook, policy, working), taken in evaluations.items():
            place = untold if by == "rule" else to[group], hook, policy, working
            notes.evaluations.setdefault(place, array("d")).extend(taken)
        calls, notes.calls = notes.calls, Counter()
        for called, many in calls.items():
            notes.calls[called._replace(group=untold if by == "rule" else to[called.group])] += many
        _regroup(notes, to)
        return view


def _regroup(notes: Notes, to: list[int]) -> None:
    """Gives what was counted by group to the groups that `to` maps them to."""
    skipped, bypasses, comment_count = notes.skipped, notes.bypasses, notes.comment_count
    notes.skipped, notes.bypasses, notes.comment_count = Counter(), Counter(), Counter()
    for counted, anew in (
        (skipped, notes.skipped),
        (bypasses, notes.bypasses),
        (comment_count, notes.comment_count),
    ):
        for group, many in counted.items():
            anew[to[group]] += many
    comments, notes.comments = notes.comments, {}
    for group, listed in comments.items():
        notes.comments.setdefault(to[group], []).extend(listed)
    for listed in notes.comments.values():
        listed.sort(key=lambda one: one.at)
        del listed[: -columns.COMMENTS_KEPT]
