"""What a log tells at a glance: figures by rule and by actor, signals by day, episodes with their ladder.

The figures are those of `ahp.insight.stats`, summed several times from the same chronicle.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ahp.insight import chronicle
from ahp.insight.chronicle import LEVELS, Chronicle
from ahp.insight.stats import ALL, Figures, Question, Stats, Window, picked, read, summed
from ahp.system import clock
from ahp.system.terminal import Seen, unseen

STORIES = 12
"""Episodes told one by one, of the open and of the closed ones each: what climbed, then what took most attempts."""
_STEPS = 40
_DAY = 86400.0
_Weight = tuple[int, int, float, str, str, str, int]


class Story(NamedTuple):
    """One episode: `ended` is in seconds since the epoch, 0 for an open one; `state` is how it stands, in a word.

    `tries` counts its attempts; `ladder` has the levels at which the rule spoke in the first ones.
    """

    rule: str
    subject: str
    actor: str
    opened: float
    ended: float
    state: str
    tries: int
    ladder: list[str]


class Overview(NamedTuple):
    """`whole` are the figures of all together.

    `days` maps (day since the epoch, level) to the attempts of that level, as `Figures.levels` counts them. `open` and
    `closed` are episodes, at most `STORIES` each; `open_count` is how many are open. `waived` counts the signals that
    each waiver excused, by its name.
    """

    rules: Stats
    actors: Stats
    whole: Figures
    days: dict[tuple[int, str], int]
    open: list[Story]
    closed: list[Story]
    open_count: int
    waived: dict[str, int]


def collect(
    folder: str,
    *,
    since: float | None = None,
    now: float | None = None,
    from_: Sequence[str] = (),
    seen: Seen = unseen,
) -> Overview:
    """What the log in `folder` tells, or those that the folders and files `from_` tell of.

    Times are in seconds. Raises AhpError when a log cannot be read.
    """
    logs = read(folder, from_, seen)
    asked = Question(ALL, None, since, clock.now() if now is None else now)
    whole = summed(logs, asked)
    days, waived = Counter[tuple[int, str]](), Counter[str]()
    opened, closed = list[_Weighed](), list[_Weighed]()
    for log in logs:
        window = Window(log, asked)
        attempts = _attempts(window)
        moments = log.notes.moments.at
        for level, moment, _ in attempts:
            days[int(moments[moment] // _DAY), LEVELS[level]] += 1
        waived.update(log.notes.waived[row] for row in log.notes.waived.keys() & set(window.rows))
        for one in _weighed(window, attempts):
            (closed if one.ended else opened).append(one)
    return Overview(
        summed(logs, asked._replace(by="rule")),
        summed(logs, asked._replace(by="agent")),
        next(iter(whole.groups), Figures("")),
        dict(days),
        _stories(opened),
        _stories(closed),
        len(opened),
        dict(waived),
    )


class _Weighed(NamedTuple):
    """An episode of a log, and what is told first: of more levels, more attempts, the later one.

    `ended` in seconds since the epoch, 0 for an open one; `state` as in `columns.Episodes`.
    """

    weight: _Weight
    number: int
    ended: float
    state: int
    log: Chronicle

    def story(self) -> Story:
        notes, number = self.log.notes, self.number
        episodes, signals = notes.episodes, notes.signals
        _, tries, opened, rule, subject, actor, _ = self.weight
        ladder = list[str]()
        for row in range(episodes.signal[number], len(signals)):
            if len(ladder) == min(tries, _STEPS):
                break
            if signals.episode[row] == number and signals.marks[row] & chronicle.ATTEMPT:
                ladder.append(LEVELS[signals.level[row]])
        word = chronicle.state_of(self.state, episodes.flags[number])
        return Story(rule, subject, actor, opened, self.ended, word, tries, ladder)


def _stories(episodes: Sequence[_Weighed]) -> list[Story]:
    return [one.story() for one in heapq.nlargest(STORIES, episodes, key=lambda one: one.weight)]


def _attempts(window: Window) -> list[tuple[int, int, int]]:
    """Level, moment and episode of the signals that are attempts of their own."""
    by = (picked(window.notes.signals, name, window.rows) for name in ("level", "moment", "episode", "marks"))
    aside, aid = chronicle.SHADOW | chronicle.WAIVED, LEVELS.index("aid")
    return [
        (level, moment, episode)
        for level, moment, episode, marks in zip(*by, strict=True)
        if (marks & chronicle.ATTEMPT or level == aid) and not marks & aside
    ]


def _weighed(window: Window, attempts: list[tuple[int, int, int]]) -> Iterator[_Weighed]:
    notes, words = window.notes, window.words
    episodes, signals, places = notes.episodes, notes.signals, notes.places
    levels: dict[int, int] = defaultdict(int)
    for level, _, episode in attempts:
        levels[episode] |= 1 << level
    for number in window.episodes():
        row = episodes.signal[number]
        place = signals.place[row]
        about = words[signals.rule[row]], words[places.subject[place]], words[places.actor[place]]
        opened = notes.moments.at[signals.moment[row]]
        weight = levels[number].bit_count(), episodes.tries[number], opened, *about, number
        ended, state = opened + episodes.took[number], episodes.state[number]
        if number in window.forgotten:
            ended, state = episodes.ends[number], chronicle.FORGOTTEN
        yield _Weighed(weight, number, ended if state != chronicle.OPEN else 0.0, state, window.log)
