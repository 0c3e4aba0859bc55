"""A log as columns of small numbers: some bytes a signal, an episode, an evaluation, so that any log fits in memory."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

COMMENTS_KEPT = 20
"""Of each group: the last ones."""

# What is told of a signal beside its level.
ATTEMPT, SHADOW, WAIVED, UNDECIDED, CLIMBED, OVERRIDDEN = (1 << n for n in range(6))

# What happened in an episode, whatever it ended with.
DISMISSED, RISKED, PASSED, BYPASSED, COMMENTED, REOPENED, RAISED = (1 << n for n in range(7))

OPEN, MENDED, RESET, WITHDRAWN, FORGOTTEN = range(5)
"""How an episode stands: `RESET` by a change of which too little is about the same thing to call it mended."""
_STATES = {OPEN: "open", MENDED: "mended", RESET: "reset", WITHDRAWN: "withdrawn", FORGOTTEN: "forgotten"}


def state_of(state: int, flags: int) -> str:
    """How an episode stands, in a word: what a person let pass, or went round the gate with, nobody mended."""
    if state != MENDED:
        return _STATES[state]
    return "overridden" if flags & PASSED else "bypassed" if flags & BYPASSED else _STATES[MENDED]


class Comment(NamedTuple):
    """What somebody wrote for the author of a rule; `id` is the signal's, `at` seconds since the epoch."""

    at: float
    rule: str
    by: str
    id: str
    text: str


@lru_cache(maxsize=1 << 16)
def tenths_of(ms: float) -> int:
    """Milliseconds as the figures have them: whole tenths, -1 where they are not told."""
    return round(ms * 10) if ms >= 0 else -1


class Names(dict[str, int]):
    """Words as numbers, from 0, in the order they came: `names[word]` gives a new word the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.words)
        self.words.append(word)
        return number


class Signals:
    """One entry a signal: its group, level, marks, its answer (0: none yet), the tenths of a millisecond of its event.

    An answer is twice the number of its action, from 1, and one more when somebody gave it. -1 tenths: not known.
    """

    def __init__(self) -> None:
        self.group, self.level, self.marks = array("L"), array("B"), array("B")
        self.answer, self.tenths = array("H"), array("l")

    def add(self, group: int, level: int, marks: int) -> int:
        """The number of a new entry."""
        self.group.append(group)
        self.level.append(level)
        self.marks.append(marks)
        self.answer.append(0)
        self.tenths.append(-1)
        return len(self.group) - 1


class Episodes:
    """One entry an episode: its group, how long it took (seconds), attempts, how it stands, what happened in it."""

    def __init__(self) -> None:
        self.group, self.tries = array("L"), array("L")
        self.took = array("d")
        self.state, self.flags = array("B"), array("B")

    def add(self, group: int) -> int:
        """The number of a new entry."""
        self.group.append(group)
        self.tries.append(0)
        self.took.append(0.0)
        self.state.append(OPEN)
        self.flags.append(0)
        return len(self.group) - 1


class Place(NamedTuple):
    """Where an evaluation counts: group, trigger, policy, and the work tree's policy ("" where none was beside)."""

    group: int
    hook: str
    policy: str
    working: str


class Notes:
    """What one reading of a log has noted. Counters are by group."""

    def __init__(self) -> None:
        self.signals, self.episodes = Signals(), Episodes()
        self.evaluations: dict[tuple[int, str, str, str], array[float]] = {}  # by place: milliseconds, -1: untold
        self.calls: Counter[Place] = Counter()  # of tool calls and the like no verdict tells
        self.skipped: Counter[int] = Counter()  # undecided and, as the rule says, passed over
        self.bypasses: Counter[int] = Counter()
        self.waived: dict[int, int] = {}  # by the number of the signal: a hash of log, rule and subject
        self.comments: dict[int, list[Comment]] = {}
        self.comment_count: Counter[int] = Counter()
        self.denied = 0
        self.first = self.last = 0.0  # seconds since the epoch

    def join(self, other: Notes) -> None:
        """Takes over those of another log."""
        self.waived |= {len(self.signals.group) + row: told for row, told in other.waived.items()}
        for mine, its in ((self.signals, other.signals), (self.episodes, other.episodes)):
            for name, column in vars(its).items():
                getattr(mine, name).extend(column)
        for place, taken in other.evaluations.items():
            self.evaluations.setdefault(place, array("d")).extend(taken)
        self.calls.update(other.calls)
        self.skipped.update(other.skipped)
        self.bypasses.update(other.bypasses)
        for group, comments in other.comments.items():
            listed = sorted(self.comments.get(group, []) + comments, key=lambda one: one.at)
            self.comments[group] = listed[-COMMENTS_KEPT:]
        self.comment_count.update(other.comment_count)
        self.denied += other.denied
        self.first = min(filter(None, (self.first, other.first)), default=0.0)
        self.last = max(self.last, other.last)

    def comment(self, group: int, comment: Comment) -> None:
        """Keeps the last comments of a group, and counts all."""
        listed = self.comments.setdefault(group, [])
        listed.append(comment)
        del listed[:-COMMENTS_KEPT]
        self.comment_count[group] += 1

    def flag(self, episode: int, flag: int) -> None:
        """Notes what happened in an episode, if it is counted."""
        if episode >= 0:
            self.episodes.flags[episode] |= flag
