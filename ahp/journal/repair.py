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
from ahp.journal.state import State
from ahp.protocol import records
from ahp.protocol.event import Actor
from ahp.protocol.text import one_line
from ahp.system import clock, digest, files, terminal
from ahp.system.errors import AhpError

TOLERATED = 3600.0
"""Seconds by which the clocks of those who share a log may differ."""


def differences(journal: Journal) -> list[str]:
    """What `state.db` does not say as the log does: keys of episodes, ids of signals. A copy of it is looked at.

    Raises AhpError.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy, anew = State.open(journal, path=_copied(journal, folder)), State.open(journal, path=tables.MEMORY)
        with copy, anew:
            try:
                copy.store.latest(-1)  # raises for a row that is none
                keys = copy.store.open_keys() | anew.store.open_keys()
                found = [one_line(key) for key in sorted(keys) if _count(copy, key) != _count(anew, key)]
                ids = [signal.id for signal in anew.store.latest(-1)]
                found += [one_line(id, 8) for id in sorted(ids) if _answer(copy, id) != _answer(anew, id)]
            except sqlite3.Error as error:
                found = [one_line(str(error))]
            return found if copy.read_to == anew.read_to else []  # else somebody writes at this moment


def _count(state: State, key: str) -> tuple[object, ...] | None:
    episode = state.store.episode(key)
    return None if episode is None or episode.ends <= state.now else (episode.count, episode.rejected, episode.id)


def _answer(state: State, id: str) -> tuple[object, ...] | None:
    signal = state.store.signal(id)
    return (signal.action, signal.by) if signal else None


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
