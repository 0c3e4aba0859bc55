"""Old files of the log, removed by a person; the log says so (design §7)."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from ahp.journal import segments
from ahp.journal.answers import AnswerRefused
from ahp.journal.append import Journal
from ahp.protocol import records
from ahp.protocol.event import Actor
from ahp.system import clock, digest, terminal
from ahp.system.errors import AhpError

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
