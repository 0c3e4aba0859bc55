"""Clean tool calls: counted in `counts` by the quiet path, folded into the log by the next rich run (design §2)."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator

from ahp.journal.append import COUNT_ENTRY, Journal
from ahp.journal.index import JournalUnwritable
from ahp.journal.segments import READ, backward
from ahp.protocol import records
from ahp.system import clock, files
from ahp.system.errors import AhpError, Timeout

_BATCH = ".folding"
_LOOKED_BACK = 200


def fold(journal: Journal) -> int:
    """Appends a `count` record of what was counted and empties `counts`; gives the number of records.

    What is being folded is first moved to a name of its own, which the record tells: after a crash between the two
    nothing is counted twice. Raises JournalUnwritable.
    """
    written = 0
    try:
        if not _batches(journal.folder) and not os.path.lexists(journal.counts_path):
            return 0
        with files.Lock(journal.folder + "/counts.lock"):
            with journal.lock:
                if os.path.lexists(journal.counts_path):
                    os.rename(journal.counts_path, f"{journal.folder}/counts.{uuid.uuid4().hex}{_BATCH}")
            for name in _batches(journal.folder):
                path = f"{journal.folder}/{name}"
                calls = _sums(path)
                if calls and not _told(journal, name):
                    journal.append([records.other("count", clock.iso(clock.now()), batch=name, calls=calls)])
                    written += 1
                os.unlink(path)
    except Timeout:
        pass  # another run is at it
    except JournalUnwritable:
        raise
    except (OSError, AhpError) as error:
        raise JournalUnwritable(f"cannot fold {journal.counts_path}: {error}") from None
    return written


def _batches(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith("counts.") and name.endswith(_BATCH))
    except FileNotFoundError:
        return []


def _told(journal: Journal, named: str) -> bool:
    for nth, line in enumerate(backward(journal.folder)):
        if nth == _LOOKED_BACK:
            return False
        if named.encode() in line.raw:
            return True
    return False


def _sums(path: str) -> list[dict[str, object]]:
    """One for each trigger, actor, session and policy: how many calls, when the first and the last was.

    However many were counted, one entry at a time is read. Raises OSError, AhpError.
    """
    sums: dict[tuple[str, ...], tuple[int, float, float]] = {}
    for at, *named in _entries(path):
        calls, first, last = sums.get(tuple(named), (0, float(at), float(at)))
        sums[tuple(named)] = calls + 1, min(first, float(at)), max(last, float(at))
    told = []
    for key, (calls, first, last) in sums.items():
        words = dict(zip(("hook", "actor", "session", "policy"), key, strict=True))
        told.append({**words, "calls": calls, "first": clock.iso(first), "last": clock.iso(last)})
    return told


def _entries(path: str) -> Iterator[list[str]]:
    """Time (seconds), trigger, actor, session and policy of each call; "" where unknown. Torn entries are skipped."""
    with open(os.open(path, READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise AhpError(f"{path} is not a regular file")
        while raw := file.readline(COUNT_ENTRY):
            fields = raw.decode("utf-8", "replace").split()
            if len(raw) == COUNT_ENTRY and raw.endswith(b"\n") and len(fields) == 5 and fields[0].isdecimal():
                yield [field if field != "-" else "" for field in fields]
