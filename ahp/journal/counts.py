"""Clean tool calls: counted in `counts` by the quiet path, folded into the log by the next rich run (design §2)."""

from __future__ import annotations

import os

from ahp.journal.append import COUNT_ENTRY, Journal, JournalUnwritable
from ahp.journal.lines import backward
from ahp.protocol import records
from ahp.system import clock, digest, files
from ahp.system.errors import AhpError, Timeout

_LIMIT = 64 << 20
_LOOKED_BACK = 200


def read(folder: str) -> list[tuple[float, str, str, str]]:
    """The entries not folded yet: (seconds, trigger, actor kind, mark of the session or "-"). Torn ones are skipped."""
    return _entries(files.read(folder + "/counts", _LIMIT) or b"")


def mark(session: str) -> str:
    """How an entry names a session: 16 hexadecimal digits."""
    return digest.sha256(session.encode("utf-8", "surrogatepass"))[:16]


def fold(journal: Journal) -> int:
    """Appends one `count` record of what was counted and empties `counts`; gives the number of records.

    A crash between the two leaves entries that the last record has already: it names their digest, so they are not
    counted twice. Raises JournalUnwritable.
    """
    path, taken = journal.counts_path, journal.counts_path + ".folding"
    if not os.path.lexists(path) and not os.path.lexists(taken):
        return 0
    try:
        with files.Lock(journal.folder + "/counts.lock"):
            if not os.path.lexists(taken):
                with journal.lock():
                    os.rename(path, taken)
            data = files.read(taken, _LIMIT) or b""
            named, calls = digest.tagged(data), _sums(_entries(data))
            written = bool(calls) and not _told(journal, named)
            if written:
                journal.append([records.other("count", clock.iso(clock.now()), digest=named, calls=calls)])
            os.unlink(taken)
    except Timeout:
        return 0  # another run is at it
    except JournalUnwritable:
        raise
    except (OSError, AhpError) as error:
        raise JournalUnwritable(f"cannot fold {path}: {error}") from None
    return int(written)


def _told(journal: Journal, named: str) -> bool:
    for nth, line in enumerate(backward(journal.folder)):
        if nth == _LOOKED_BACK:
            return False
        if named.encode() in line.raw:
            return True
    return False


def _entries(data: bytes) -> list[tuple[float, str, str, str]]:
    found = []
    for raw in data.split(b"\n"):
        fields = raw.decode("ascii", "replace").split()
        if len(raw) == COUNT_ENTRY - 1 and len(fields) == 4 and fields[0].isdigit():
            found.append((float(fields[0]), fields[1], fields[2], fields[3]))
    return found


def _sums(entries: list[tuple[float, str, str, str]]) -> list[dict[str, object]]:
    """One entry a (trigger, actor kind, session): how many, and when the last was."""
    sums: dict[tuple[str, str, str], tuple[int, float]] = {}
    for at, *who in entries:
        key = (who[0], who[1], who[2])
        number, last = sums.get(key, (0, 0.0))
        sums[key] = (number + 1, max(last, at))
    return [
        {"hook": hook, "actor": actor, "session": session, "calls": number, "last": clock.iso(last)}
        for (hook, actor, session), (number, last) in sums.items()
    ]
