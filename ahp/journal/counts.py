"""Clean tool calls: counted in `counts` by the quiet path, folded into the log by the next rich run (design §2)."""

from __future__ import annotations

import os
import uuid
from typing import NamedTuple

from ahp.journal.append import COUNT_ENTRY, Journal
from ahp.journal.index import JournalUnwritable
from ahp.journal.segments import backward
from ahp.protocol import records
from ahp.system import clock, files
from ahp.system.errors import AhpError, Timeout

_LIMIT = 64 << 20
_BATCH = ".folding"
_LOOKED_BACK = 200


class Entry(NamedTuple):
    """One clean call: when (seconds), at which trigger, whose, of which session, by which policy ("" where unknown)."""

    at: float
    trigger: str
    actor: str
    session: str
    policy: str


def read(folder: str) -> list[Entry]:
    """The entries not folded yet. Torn ones are skipped."""
    return _entries(files.read(folder + "/counts", _LIMIT) or b"")


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
                calls = _sums(_entries(files.read(path, _LIMIT) or b""))
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


def _entries(data: bytes) -> list[Entry]:
    found = []
    for raw in data.split(b"\n"):
        fields = raw.decode("utf-8", "replace").split()
        if len(raw) == COUNT_ENTRY - 1 and len(fields) == 5 and fields[0].isdigit():
            words = [field if field != "-" else "" for field in fields[1:]]
            found.append(Entry(float(fields[0]), words[0], words[1], words[2], words[3]))
    return found


def _sums(entries: list[Entry]) -> list[dict[str, object]]:
    """One for each trigger, actor, session and policy: how many calls, when the first and the last was."""
    sums: dict[tuple[str, str, str, str], list[float]] = {}
    for entry in entries:
        sums.setdefault(entry[1:], []).append(entry.at)
    return [
        {
            "hook": hook,
            "actor": actor,
            "session": session,
            "policy": policy,
            "calls": len(times),
            "first": clock.iso(min(times)),
            "last": clock.iso(max(times)),
        }
        for (hook, actor, session, policy), times in sums.items()
    ]
