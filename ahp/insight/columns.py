"""A log as columns of small numbers: some bytes a signal, an episode, an evaluation, so that any log fits in memory."""

from __future__ import annotations

from array import array
from typing import ClassVar, NamedTuple

# What is told of a signal beside its level; the last two tell of its event, whatever the rule.
ATTEMPT, SHADOW, WAIVED, UNDECIDED, CLIMBED, OVERRIDDEN, BEGINS, DENIED = (1 << n for n in range(8))

# What happened in an episode, whatever it ended with.
DISMISSED, RISKED, PASSED, BYPASSED, COMMENTED, REOPENED, RAISED = (1 << n for n in range(7))

OPEN, MENDED, RESET, WITHDRAWN, FORGOTTEN = range(5)
"""How an episode stands. `RESET`: a change shares too little with it to say whether it was fixed."""
_STATES = {OPEN: "open", MENDED: "mended", RESET: "reset", WITHDRAWN: "withdrawn", FORGOTTEN: "forgotten"}


def state_of(state: int, flags: int) -> str:
    """How an episode stands, in a word. An override or a bypass is no fix."""
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


class Remark(NamedTuple):
    """A comment as it is noted: its moment, the number of its signal (-1: not known), the place it names itself."""

    moment: int
    signal: int
    place: int
    comment: Comment


class Names(dict[str, int]):
    """Words as numbers, from 0, in the order they came: `names[word]` gives a new word the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.words)
        self.words.append(word)
        return number


class Table:
    """Columns of one length: `codes` has the type of each, as `array` names it. An entry is known by its number."""

    codes: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        for name, code in self.codes.items():
            setattr(self, name, array(code))

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.codes))))


class Moments(Table):
    """When something was logged: the log's own time in seconds since the epoch, once each time that goes on."""

    at: array[float]
    codes: ClassVar = {"at": "d"}


class Places(Table):
    """What the records of an evaluation tell of where and by which policies, as numbers of words ("" for untold)."""

    hook: array[int]
    subject: array[int]
    actor: array[int]
    environment: array[int]
    policy: array[int]
    working: array[int]
    codes: ClassVar = dict.fromkeys(("hook", "subject", "actor", "environment", "policy", "working"), "I")


class Signals(Table):
    """An entry a signal: `environment` as its verdict told it, `episode` -1 without one, `tenths` of a millisecond
    of its event (-1: not known), `id` eight bytes of its id's digest.

    An `answer` is twice the number of its action, from 1, and one more when somebody gave it; 0: none yet.
    """

    place: array[int]
    rule: array[int]
    moment: array[int]
    environment: array[int]
    episode: array[int]
    id: array[int]
    level: array[int]
    marks: array[int]
    answer: array[int]
    tenths: array[int]
    codes: ClassVar = {
        **dict.fromkeys(("place", "rule", "moment", "environment", "answer"), "I"),
        **dict.fromkeys(("episode", "tenths"), "i"),
        "id": "Q",
        "level": "B",
        "marks": "B",
    }


class Episodes(Table):
    """An entry an episode: the signal that opened it, attempts, seconds until it ended, how it stands, what happened
    in it; `environment` is the first that a verdict on it told, `ends` when it is forgotten (seconds since the epoch).
    """

    signal: array[int]
    environment: array[int]
    tries: array[int]
    took: array[float]
    ends: array[float]
    state: array[int]
    flags: array[int]
    codes: ClassVar = {
        "signal": "I",
        "environment": "I",
        "tries": "I",
        "took": "d",
        "ends": "d",
        "state": "B",
        "flags": "B",
    }


class Evaluations(Table):
    """An entry a verdict: the tenths of a millisecond that it took, -1 where untold."""

    place: array[int]
    moment: array[int]
    tenths: array[int]
    codes: ClassVar = {"place": "I", "moment": "I", "tenths": "i"}


class Calls(Table):
    """An entry for so many tool calls that no verdict tells of."""

    place: array[int]
    moment: array[int]
    many: array[int]
    codes: ClassVar = {"place": "I", "moment": "I", "many": "I"}


class Skips(Table):
    """An entry a rule that a verdict passed over undecided."""

    place: array[int]
    moment: array[int]
    rule: array[int]
    codes: ClassVar = {"place": "I", "moment": "I", "rule": "I"}


class Events(Table):
    """An entry a commit that no hook judged, or a verdict that refused."""

    place: array[int]
    moment: array[int]
    codes: ClassVar = {"place": "I", "moment": "I"}


class Notes:
    """What the reading of a log has noted."""

    def __init__(self) -> None:
        self.names, self.actions = Names(), Names()
        self.names[""]  # is number 0
        self.moments, self.places = Moments(), Places()
        self.moments.at.append(0.0)  # what comes before any time is told
        self.signals, self.episodes = Signals(), Episodes()
        self.evaluations, self.calls, self.skips = Evaluations(), Calls(), Skips()
        self.bypasses, self.refusals = Events(), Events()
        self.messages: list[str] = []
        """The last message of each episode."""
        self.waived: dict[int, str] = {}
        """The waiver by the number of the signal."""
        self.remarks: list[Remark] = []

    def flag(self, episode: int, flag: int) -> None:
        """Notes what happened in an episode; none for a negative number."""
        if episode >= 0:
            self.episodes.flags[episode] |= flag

    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return {name: table for name, table in vars(self).items() if isinstance(table, Table)}
