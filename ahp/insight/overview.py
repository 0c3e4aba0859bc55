"""What a log tells, from one reading: figures by rule and by actor, signals by day, episodes with their steps.

The figures are those of `ahp.insight.stats`, summed several times from the same notes.
"""

from __future__ import annotations

import copy
import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ahp.insight import columns, parts, tallies
from ahp.insight.chronicle import LEVELS, Chronicle
from ahp.insight.groups import UNTOLD, Group
from ahp.insight.observed_store import ObservedStore
from ahp.insight.parts import Part
from ahp.insight.stats import Figures, Stats, read, summed
from ahp.insight.tallies import Tallies
from ahp.journal.episodes import Episode
from ahp.system import clock
from ahp.system.terminal import Seen, unseen

STORIES = 12
"""Episodes told one by one, of the open and of the closed ones each: what climbed, then what took most attempts."""
_STEPS = 40
_DAY = 86400.0
_Weight = tuple[int, int, float, str, str, str, int]


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
    if not from_:
        begin = partial(_WatchedPart, rule=rule, since=since)
        shared = parts.of(begin, _found, folder, clock.now() if now is None else now, seen)
        if shared is not None:
            part, found = shared
            return found.overview(part)
    chronicle = _Watched(rule=rule, since=since)
    read(chronicle, folder, from_, now, seen)
    return _found(chronicle).overview(chronicle)


class _Telling:
    """An episode that is being told: all of a `Story` but how it ended."""

    __slots__ = ("actor", "message", "number", "opened", "rule", "steps", "subject", "tries")

    def __init__(self, number: int, record: Mapping[str, object], at: float) -> None:
        self.number, self.opened, self.tries = number, at, 0
        self.rule, self.subject, self.actor = (str(record.get(name) or "") for name in ("rule", "subject", "actor"))
        self.message = ""
        self.steps: list[Step] = []

    @property
    def weight(self) -> _Weight:
        """What has more of it is told first: levels, attempts; then what is later."""
        levels = len({step.level for step in self.steps})
        return levels, self.tries, self.opened, self.rule, self.subject, self.actor, self.number

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
        self.closed_stories: list[tuple[_Weight, float, _Telling]] = []
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
    """Rule and actor at once, behind the length of the rule's name: what is noted so can be summed by either."""

    def __init__(self) -> None:
        super().__init__("both")
        self._actor = Group("agent")
        self._names: dict[tuple[str, str], str] = {}

    def of(self, record: Mapping[str, object], at: float) -> str:
        told = str(record.get("rule") or UNTOLD), str(record.get("actor") or "")
        known = self._names.get(told)
        if known is None:
            rule = told[0]
            known = self._names[told] = f"{len(rule)}:{rule}{self._actor.of(record, at)}"
        return known


def _rule_of(both: str) -> str:
    length, _, names = both.partition(":")
    return names[: int(length)]


def _actor_of(both: str) -> str:
    length, _, names = both.partition(":")
    return names[int(length) :]


class _Watched(Chronicle):
    """A chronicle that also tells episodes one by one, and counts by day."""

    store: _Store

    def __init__(self, *, rule: str | None, since: float | None) -> None:
        super().__init__(_Both(), rule=rule, since=since)
        self.store = _Store()

    def beside(self) -> _Watched:
        other = _Watched(rule=self.wanted, since=self.since)
        other.group = self.group
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


class _WatchedPart(Part, _Watched):
    """Of some subjects."""


@dataclass
class _Found:
    """What a chronicle has noted of a log, or of some of its subjects. A closed episode comes with its weight."""

    tallies: Tallies
    days: Counter[tuple[int, str]]
    waived: Counter[str]
    open: list[_Telling]
    closed: list[tuple[_Weight, Story]]

    def join(self, other: _Found) -> None:
        """Takes over what was noted of other subjects."""
        self.tallies.join(other.tallies)
        self.days.update(other.days)
        self.waived.update(other.waived)
        self.open += other.open
        self.closed += other.closed

    def overview(self, chronicle: _Watched) -> Overview:
        """All of it, summed; `chronicle` knows the policies."""

        def by(name: str) -> Chronicle:
            view = copy.copy(chronicle)
            view.group = Group(name)
            return view

        whole = summed(by("all"), self.tallies.regrouped(lambda _: ""))
        told = sorted(self.open, key=lambda one: one.weight, reverse=True)
        closed = sorted(self.closed, key=lambda one: one[0], reverse=True)
        return Overview(
            summed(by("rule"), self.tallies.regrouped(_rule_of)),
            summed(by("agent"), self.tallies.regrouped(_actor_of)),
            next(iter(whole.groups), Figures("")),
            dict(self.days),
            [one.story(0.0, "open") for one in told[:STORIES]],
            [story for _, story in closed[:STORIES]],
            len(told),
            dict(self.waived),
            chronicle.at,
        )


def _found(chronicle: _Watched) -> _Found:
    store, episodes = chronicle.store, chronicle.notes.episodes
    closed = [
        (weight, told.story(ended, columns.state_of(episodes.state[told.number], episodes.flags[told.number])))
        for weight, ended, told in store.closed_stories
    ]
    return _Found(tallies.of(chronicle), store.days, store.waived, [*store.open_stories.values()], closed)
