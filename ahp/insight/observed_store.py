"""The fold's store, watched: what happens to signals and episodes is noted in columns, and let go once it is over."""

from __future__ import annotations

from ahp.insight import columns
from ahp.insight.columns import Names, Notes
from ahp.journal.answers import AUTOMATIC, kind_of
from ahp.journal.episodes import Attempt, Episode
from ahp.journal.fold import MemoryStore
from ahp.journal.logged_signal import LoggedSignal

REOPENED_WITHIN = 86400.0
"""Seconds after it was mended within which a rule that signals to the same subject again flaps."""
ELSEWHERE = -2
"""The number of a signal that another process notes (`ahp.insight.parts`)."""
_CHANGES = 64


class _Open:
    """An open episode: its number in the notes (-1: not counted), its last attempt, the changes it was about."""

    __slots__ = ("changes", "episode", "last", "number")

    def __init__(self, episode: Episode, number: int) -> None:
        self.episode, self.number = episode, number
        self.last: Attempt | None = None
        self.changes: set[str] = set()


class ObservedStore(MemoryStore):
    """Keeps a few bytes of a signal that is answered. `row` is the noted number of the one being read, else -1."""

    def __init__(self) -> None:
        super().__init__()
        self.notes, self.actions = Notes(), Names()
        self.row = -1
        self.rows: dict[int, int] = {}  # by the hash of the id: its number in the notes, negative: in none
        self.episode_of: dict[int, int] = {}  # by the number of the signal
        self._open: dict[str, _Open] = {}
        self._mended: dict[str, tuple[float, int]] = {}  # by key: when, and which episode
        self._kept: dict[str, list[str]] = {}

    def begin_anew(self) -> None:
        """What was noted does not count; what is open stays so, and is not counted either."""
        self.notes = Notes()
        self.rows = {known: min(row, -1) for known, row in self.rows.items()}
        for noted in (self.episode_of, self._mended):
            noted.clear()
        for known in self._open.values():
            known.number = -1
            known.changes.clear()

    def someone_waits(self, subject: object, actor: object) -> bool:
        """Whether a signal to what a record names so is answered by its going on."""
        if type(subject) is not str or type(actor) is not str:
            subject, actor = str(subject or ""), str(actor or "")
        return (subject, kind_of(actor)) in self._waiting

    def answer(self, row: int, action: str, is_given: bool) -> None:
        """Notes the answer of a signal; `is_given` by somebody."""
        self.notes.signals.answer[row] = 2 + 2 * self.actions[action] + is_given

    def flag(self, row: int, flag: int) -> None:
        """Notes what happened in the episode of a signal."""
        self.notes.flag(self.episode_of.get(row, -1), flag)

    def about(self, change: str) -> set[int]:
        """The numbers of the open episodes that were about a change."""
        return {known.number for known in self._open.values() if change in known.changes}

    def put_episode(self, episode: Episode) -> None:
        super().put_episode(episode)
        known = self._open.get(episode.key)
        if known is None or known.episode is not episode:
            known = self._open[episode.key] = _Open(episode, self._begun(episode))
        attempt = episode.attempts[-1] if episode.attempts else None
        if attempt is not known.last:
            known.last = attempt
            if self.row >= 0:
                self.notes.signals.marks[self.row] |= columns.ATTEMPT
            if known.number >= 0:
                self.notes.episodes.tries[known.number] += 1

    def _begun(self, episode: Episode) -> int:
        before, number = self._mended.pop(episode.key, (0.0, -1))
        if episode.opened - before <= REOPENED_WITHIN:
            self.notes.flag(number, columns.REOPENED)
        if self.row < 0:
            return -1
        return self.notes.episodes.add(self.notes.signals.group[self.row])

    def put_signal(self, signal: LoggedSignal) -> None:
        super().put_signal(signal)
        row = self.rows.get(hash(signal.id), -1)
        if row >= 0:
            if row == self.row and row not in self.episode_of:
                self._belongs(signal)
            if signal.action and signal.by == AUTOMATIC:
                self.answer(row, signal.action, is_given=False)
        if signal.episode and signal.key.startswith("tool-use|"):  # an answer may still end its episode
            self._kept.setdefault(signal.episode, []).append(signal.id)
        elif signal.action or not (signal.episode or signal.waits):
            self.signals.pop(signal.id, None)

    def _belongs(self, signal: LoggedSignal) -> None:
        known = self._open.get(signal.key) if signal.episode else None
        if known is None or known.number < 0:
            return
        self.episode_of[self.row] = known.number
        marks = self.notes.signals.marks[self.row]
        if marks & columns.OVERRIDDEN:
            self.notes.flag(known.number, columns.PASSED)
        if marks & columns.CLIMBED:
            self.notes.flag(known.number, columns.RAISED)
        change = signal.act.change
        if change and len(known.changes) < _CHANGES:
            known.changes.add(change)

    def close(self, episode: Episode, state: int, at: float) -> None:
        """Notes how an episode ended, and when (seconds)."""
        known = self._open.pop(episode.key, None)
        if known is None or known.number < 0:
            return
        episodes, number = self.notes.episodes, known.number
        episodes.state[number], episodes.took[number] = state, max(0.0, at - episode.opened)
        if state == columns.MENDED:
            self._mended[episode.key] = (at, number)

    def drop_episode(self, episode: Episode) -> None:
        super().drop_episode(episode)
        for id in self._kept.pop(episode.id, ()):
            self.signals.pop(id, None)

    def forget_ends(self, before: float) -> None:
        """Lets go of what was mended too long before to be opened again by the same trouble."""
        self._mended = {key: told for key, told in self._mended.items() if told[0] >= before}
