"""Lines at the log's end that are gone: an index or a state beside it remembers them (docs/log.md, The chain)."""

from __future__ import annotations

from collections.abc import Iterable

from ahp.journal import segments, tables
from ahp.journal.index import NO_HEAD, LogFiles
from ahp.journal.rotation import genesis_of
from ahp.journal.tables import Remembered
from ahp.protocol import records
from ahp.system import clock, digest

_TOLD = "that is recorded, and `ahp log verify` goes on saying so"


def memories(log: LogFiles) -> list[Remembered]:
    """What the index and the state beside a log remember of it."""
    index = log.remembered()
    found = [Remembered(index.count, index.head, index.genesis)] if index and index.head != NO_HEAD else []
    state = tables.remembered(log.folder + tables.NAME)
    return found + ([state] if state else [])


def gone(folder: str, known: Iterable[Remembered]) -> Remembered | None:
    """Of what is remembered of the log in `folder` and gone from it, the one with the most lines. Raises AhpError."""
    return max((one for one in known if is_gone(folder, one)), default=None)


def is_gone(folder: str, known: Remembered) -> bool:
    """Whether the line that is remembered as the log's last is gone from its end, and no `cut` record says so.

    Raises AhpError.
    """
    genesis = genesis_told(folder)
    if genesis and known.genesis and genesis != known.genesis:
        return False  # of another log, which the genesis record names
    first, head = 0, known.head.encode()
    for line in segments.backward(folder):
        if head in line.raw:
            return False  # the line after it is there, or a `cut` or `prune` record names it
        if first and first < known.lines:
            continue
        if digest.sha256(line.raw) == known.head:
            return False
        n = (line.record() or {}).get("n")
        first = n if isinstance(n, int) else first
    return first <= known.lines  # else a person removed the file it was in


def genesis_told(folder: str) -> str:
    """The id of the log in `folder`, "" without one. Raises AhpError."""
    return next((genesis_of(part) for part in reversed(segments.listed(folder))), "")


def record(lost: Remembered, found: int) -> dict[str, object]:
    """The `cut` record of a log that has `found` lines."""
    stamp = clock.iso(clock.now())
    return records.other("cut", stamp, had=lost.lines, found=found, head="sha256:" + lost.head)


def sentence(lost: Remembered, found: int) -> str:
    """For the one who made the record be written."""
    left = f"of {lost.lines} lines {found} are left"
    left = left if found < lost.lines else f"its line {lost.lines} is not as it was"
    return f"the end of the log is gone ({left}); {_TOLD}"
