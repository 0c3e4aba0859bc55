"""A log as columns of small numbers: some bytes a signal, an episode, an evaluation, so that any log fits in memory."""

from __future__ import annotations

from array import array
from typing import NamedTuple, TypeAlias

# What is told of a signal beside its level; the last two tell of its event, whatever the rule.
ATTEMPT, SHADOW, WAIVED, UNDECIDED, CLIMBED, OVERRIDDEN, BEGINS, DENIED = (1 << n for n in range(8))

# What happened in an episode, whatever it ended with.
DISMISSED, RISKED, PASSED, BYPASSED, COMMENTED, REOPENED = (1 << n for n in range(6))

OPEN, FIXED, RESET, WITHDRAWN, FORGOTTEN = range(5)
"""How an episode stands. `RESET`: a change shares too little with it to say whether it was fixed."""
_STATES = {OPEN: "open", FIXED: "fixed", RESET: "reset", WITHDRAWN: "withdrawn", FORGOTTEN: "forgotten"}


def state_of(state: int, flags: int) -> str:
    """How an episode stands, in a word. An override or a bypass is no fix."""
    if state != FIXED:
        return _STATES[state]
    return "overridden" if flags & PASSED else "bypassed" if flags & BYPASSED else _STATES[FIXED]


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


Byte: TypeAlias = "array[int]"
Whole: TypeAlias = "array[int]"
Signed: TypeAlias = "array[int]"
Digest: TypeAlias = "array[int]"
Real: TypeAlias = "array[float]"
_CODES = {"Byte": "B", "Whole": "I", "Signed": "i", "Digest": "Q", "Real": "d"}  # as `array` names them


class Table:
    """Columns of one length, each of the type that it is declared with. An entry is known by its number."""

    def __init__(self) -> None:
        for name, told in type(self).__annotations__.items():
            setattr(self, name, array(_CODES[told]))

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))


class Moments(Table):
    """When something was logged: the log's own time in seconds since the epoch, once each time that goes on."""

    at: Real


class Places(Table):
    """What the records of an evaluation tell of where and by which policies, as numbers of words ("" for untold)."""

    hook: Whole
    subject: Whole
    actor: Whole
    environment: Whole
    policy: Whole
    working: Whole


class Signals(Table):
    """An entry a signal: `environment` as its verdict told it, `episode` -1 without one, `id` eight bytes of its id's
    digest.

    An `answer` is twice the number of its action, from 1, and one more when somebody gave it; 0: none yet.
    """

    place: Whole
    rule: Whole
    moment: Whole
    environment: Whole
    episode: Signed
    id: Digest
    level: Byte
    marks: Byte
    answer: Whole


class Episodes(Table):
    """An entry an episode: the signal that opened it, attempts, seconds until it ended, how it stands, what happened
    in it; `environment` is the first that a verdict on it told, `ends` when it is forgotten (seconds since the epoch).
    """

    signal: Whole
    environment: Whole
    tries: Whole
    took: Real
    ends: Real
    state: Byte
    flags: Byte


class Evaluations(Table):
    """An entry a verdict: the tenths of a millisecond that it took, -1 where untold."""

    place: Whole
    moment: Whole
    tenths: Signed


class Calls(Table):
    """An entry for so many tool calls that no verdict tells of."""

    place: Whole
    moment: Whole
    many: Whole


class Skips(Table):
    """An entry a rule that a verdict passed over undecided."""

    place: Whole
    moment: Whole
    rule: Whole


class Events(Table):
    """An entry a commit that no hook judged, or a verdict that refused."""

    place: Whole
    moment: Whole


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
