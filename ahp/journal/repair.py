"""What a person can set right beside the log: a state that it does not say, a clock that had run ahead (design §7)."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from typing import NamedTuple

from ahp.journal import segments, tables
from ahp.journal.answers import AnswerRefused
from ahp.journal.append import Journal
from ahp.journal.episodes import Episode
from ahp.journal.fold import Fold, MemoryStore, read_into, window
from ahp.journal.state import State
from ahp.protocol import records
from ahp.protocol.event import Actor
from ahp.protocol.text import one_line
from ahp.system import clock, digest, files, terminal
from ahp.system.errors import AhpError

TOLERATED = 3600.0
"""Seconds by which the clocks of those who share a log may differ."""
_TOLD = 5


def differences(journal: Journal) -> list[str]:
    """Where `state.db` does not say what a fold of the log says, a sentence each; of a copy, so nothing is changed.

    Raises AhpError.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            with State.open(journal, path=_copied(journal, folder)) as state:
                found = _differences(journal, state)
        except sqlite3.Error as error:
            found = [one_line(str(error))]
    return found if len(found) <= _TOLD else [*found[:_TOLD], f"and {len(found) - _TOLD} more"]


def _differences(journal: Journal, state: State) -> list[str]:
    """Raises sqlite3.Error for a row that is none, whatever the log says."""
    state.store.latest(-1)
    meanwhile = MemoryStore()
    fold = Fold(meanwhile)
    read_into(fold, journal.folder, window(journal.folder), until=state.read_to)
    fold.expire(state.now)
    found = []
    for key in sorted(state.store.open_keys() | meanwhile.episodes.keys()):
        said, meant = state.store.episode(key), meanwhile.episode(key)
        if said is not None and said.ends <= state.now:
            said = None
        told = [one and (one.count, one.rejected, one.id) for one in (said, meant)]
        if told[0] != told[1]:
            found.append(f"{one_line(key)}: the state says {_attempts(said)}, the log {_attempts(meant)}")
    for id, other in sorted(meanwhile.signals.items()):
        one = state.store.signal(id)
        answers = [(s.action, s.by) if s else None for s in (one, other)]
        if answers[0] != answers[1]:
            words = [answer[0] or "no answer" if answer else "nothing" for answer in answers]
            found.append(f"{id[:8]}: the state says {words[0]}, the log {words[1]}")
    return found


def _attempts(episode: Episode | None) -> str:
    return "nothing open" if episode is None else f"{episode.count} attempts"


def _copied(journal: Journal, folder: str) -> str:
    for suffix in tables.FILES:
        data = files.read(f"{journal.folder}/state.db{suffix}")
        if data is not None:
            files.overwrite(f"{folder}/state.db{suffix}", data)
    return folder + "/state.db"


def rebuild(journal: Journal) -> None:
    """Removes the state, so that the next reader makes it anew from the log. Raises AhpError."""
    try:
        tables.remove(journal.folder + tables.NAME)
    except OSError as error:
        raise AhpError(f"cannot remove {error.filename}: {error.strerror}") from None


def ahead(journal: Journal) -> float:
    """By how many seconds the last record is ahead of the clock; 0 within what is tolerated. Raises AhpError."""
    last = journal.index().last
    found = clock.parse_iso(last) - clock.now() if last else 0.0
    return found if found > TOLERATED else 0.0


def set_clock(journal: Journal, by: Actor) -> bool:
    """Records that time begins again at the clock's; whether it was ahead. A person is asked at the terminal.

    Raises AnswerRefused, AhpError, JournalUnwritable.
    """
    if not ahead(journal):
        return False
    if by.kind != "human":
        raise AnswerRefused("only a person sets the log's clock right: episodes end by it")
    if not terminal.confirm("ahp: does time in the log go on from this machine's clock?", "ahp doctor --fix"):
        raise AnswerRefused("nothing was recorded: the answer was no")
    now = clock.iso(clock.now())
    journal.append([records.other("clock", now, was=journal.index().last, by=str(by))], durable=True)
    return True


KEPT_DAYS = 90
_DAY = 86400.0


class Pruned(NamedTuple):
    """What was removed: names of files, and the number of the last line that went."""

    files: list[str]
    lines: int


def prune(journal: Journal, before: float, by: Actor) -> Pruned:
    """Removes the files whose last record is older than `before` (seconds since the epoch).

    The live file and the one before it stay, and so do the last 90 days, which judgements and episodes are read from.
    A person is asked at the terminal. A record of what went comes first, so that a check of the chain knows where it
    begins. Raises AnswerRefused for agents, AhpError, JournalUnwritable.
    """
    if by.kind != "human":
        raise AnswerRefused("only a person prunes the log; it is the evidence of what agents did")
    if before > clock.now() - KEPT_DAYS * _DAY:
        raise AhpError(f"the last {KEPT_DAYS} days of the log stay; give an earlier time")
    going: list[segments.Segment] = []
    last: segments.Line | None = None
    for segment in segments.listed(journal.folder)[:-2]:
        end = next(segments.backward_in(segment), None)
        stamp = (end.record() or {}).get("timestamp") if end else None
        if not clock.is_iso(stamp) or clock.parse_iso(str(stamp)) >= before:
            break
        going, last = [*going, segment], end
    if last is None:
        return Pruned([], 0)
    names = [segment.path.rpartition("/")[2] for segment in going]
    if not terminal.confirm(f"ahp: remove {', '.join(names)} for good?", "ahp log prune"):
        raise AnswerRefused("nothing was removed: the answer was no")
    told = (last.record() or {}).get("n")
    lines = told if isinstance(told, int) else 0
    head = digest.tagged(last.raw)
    stamp = clock.iso(clock.now())
    journal.append([records.other("prune", stamp, by=str(by), files=names, lines=lines, head=head)], durable=True)
    for segment in going:
        try:
            with contextlib.suppress(FileNotFoundError):  # another person prunes it at this moment
                os.unlink(segment.path)
        except OSError as error:
            raise AhpError(f"cannot remove {segment.path}: {error.strerror}; run the command again") from None
    return Pruned(names, lines)
