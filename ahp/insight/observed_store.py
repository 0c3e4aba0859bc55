"""The fold's store, watched: what happens to signals and episodes is noted in columns, and let go once it is over."""

from __future__ import annotations

import json
from functools import cached_property
from hashlib import blake2b

from ahp.insight import columns
from ahp.insight.columns import Notes
from ahp.journal.answers import AUTOMATIC, kind_of
from ahp.journal.episodes import Attempt, Episode
from ahp.journal.fold import PassingStore
from ahp.journal.logged_signal import LoggedSignal
from ahp.journal.tables import episode_of, plain_of, signal_of, values_of

REOPENED_WITHIN = 86400.0
"""Seconds after it was fixed within which a rule that signals to the same subject again flaps."""
_CHANGES = 64


class _Open:
    """An open episode: its number in the notes, its last attempt, the changes it was about."""

    __slots__ = ("changes", "episode", "last", "number")

    def __init__(self, episode: Episode, number: int) -> None:
        self.episode, self.number = episode, number
        self.last: Attempt | None = None
        self.changes: set[str] = set()


def key_of(id: str) -> int:
    """By what the signal of an id is known; a state that was kept finds it again."""
    return int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class ObservedStore(PassingStore):
    """Keeps a few bytes of a signal that is answered.

    `row` is the number of the signal that is being read, else -1, and `message` its message.
    """

    def __init__(self, notes: Notes | None = None) -> None:
        super().__init__()
        self.notes = notes or Notes()
        self.row, self.message = -1, ""
        self._open: dict[str, _Open] = {}
        self.fixed: dict[str, tuple[float, int]] = {}
        """By key: when, and which episode."""
        self.asleep = b""
        """What `kept` gave, until something new comes."""

    @cached_property
    def rows(self) -> dict[int, int]:
        """The numbers of the signals by what their ids are known by; where nothing new came, nobody asks."""
        return dict(zip(self.notes.signals.id, range(len(self.notes.signals)), strict=True))

    def someone_waits(self, subject: object, actor: object) -> bool:
        """Whether a signal to what a record names so is answered by its going on."""
        if type(subject) is not str or type(actor) is not str:
            subject, actor = str(subject or ""), str(actor or "")
        return (subject, kind_of(actor)) in self._waiting

    def find_row(self, id: str) -> int:
        """The number of the signal with an id, -1 for none."""
        return self.rows.get(key_of(id), -1)

    def answer(self, row: int, action: str, is_given: bool) -> None:
        """Notes the answer of a signal; `is_given` by somebody."""
        self.notes.signals.answer[row] = 2 + 2 * self.notes.actions[action] + is_given

    def flag(self, row: int, flag: int) -> None:
        """Notes what happened in the episode of a signal; none for a negative number."""
        if row >= 0:
            self.notes.flag(self.notes.signals.episode[row], flag)

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
            self.notes.episodes.tries[known.number] += 1
            self.notes.messages[known.number] = self.message
        self.notes.episodes.ends[known.number] = episode.ends

    def _begun(self, episode: Episode) -> int:
        before, number = self.fixed.pop(episode.key, (0.0, -1))
        if episode.opened - before <= REOPENED_WITHIN:
            self.notes.flag(number, columns.REOPENED)
        episodes = self.notes.episodes
        episodes.signal.append(self.row)
        episodes.environment.append(self.notes.signals.environment[self.row])
        episodes.tries.append(0)
        episodes.took.append(0.0)
        episodes.ends.append(0.0)
        episodes.state.append(columns.OPEN)
        episodes.flags.append(0)
        self.notes.messages.append("")
        return len(episodes) - 1

    def put_signal(self, signal: LoggedSignal) -> None:
        super().put_signal(signal)
        row = self.rows.get(key_of(signal.id), -1)
        if row >= 0:
            if row == self.row and self.notes.signals.episode[row] < 0:
                self._belongs(signal)
            if signal.action and signal.by == AUTOMATIC:
                self.answer(row, signal.action, is_given=False)

    def _belongs(self, signal: LoggedSignal) -> None:
        known = self._open.get(signal.key) if signal.episode else None
        if known is None:
            return
        self.notes.signals.episode[self.row] = known.number
        marks = self.notes.signals.marks[self.row]
        if marks & columns.OVERRIDDEN:
            self.notes.flag(known.number, columns.PASSED)
        change = signal.act.change
        if change and len(known.changes) < _CHANGES:
            known.changes.add(change)

    def close(self, episode: Episode, state: int, at: float) -> None:
        """Notes how an episode ended, and when (seconds)."""
        known = self._open.pop(episode.key, None)
        if known is None:
            return
        episodes, number = self.notes.episodes, known.number
        episodes.state[number], episodes.took[number] = state, round(max(0.0, at - episode.opened), 3)
        if state == columns.FIXED:
            self.fixed[episode.key] = (at, number)

    def forget_ends(self, before: float) -> None:
        """Lets go of what was fixed too long before to be opened again by the same trouble."""
        self.fixed = {key: told for key, told in self.fixed.items() if told[0] >= before}

    def kept(self) -> bytes:
        """What may still change."""
        if self.asleep:
            return self.asleep
        about = [[key, plain_of(one.episode), one.number, sorted(one.changes)] for key, one in self._open.items()]
        return json.dumps([about, [*map(values_of, self.signals.values())], self.fixed]).encode()

    def wake(self) -> None:
        """Takes up what is asleep."""
        opened, signals, fixed = json.loads(self.asleep) if self.asleep else ([], [], self.fixed)
        self.asleep = b""
        self.fixed = {key: (at, number) for key, (at, number) in fixed.items()}
        for key, plain, number, changes in opened:
            episode = episode_of(key, plain)
            known = self._open[key] = _Open(episode, number)
            known.last = episode.attempts[-1] if episode.attempts else None
            known.changes = set(changes)
            super().put_episode(episode)
        for values in signals:
            super().put_signal(signal_of(values))
