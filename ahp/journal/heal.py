"""Making the index fit the log again, from the log."""

from __future__ import annotations

from ahp.journal import index as indexes
from ahp.journal import lines, rotation
from ahp.journal.append import Journal, JournalUnwritable
from ahp.system import clock, digest
from ahp.system.errors import AhpError

# What can open, close, queue or deliver. A superset of what matters is parsed, so any spelling of the JSON will do.
_TELLING = (b'"signal"', b'"episode-end"', b'"delivery"')
# One line in so many is read for its time stamp too, so that a look back ends among lines that tell nothing.
_SAMPLE = 64


def heal(journal: Journal, create: bool = False) -> indexes.Index:
    """The index of the log as it is, written where that is possible.

    With `create` a missing log is begun, and what cannot be written raises JournalUnwritable; without, a missing log
    gives an empty index. The long look back happens before the lock is taken, so that nobody waits for it.
    """
    base = _beforehand(journal)
    file = indexes.IndexFile(journal.index_path)
    try:
        with journal.lock():
            if fitting := journal.fitting():
                return fitting  # somebody was quicker
            if create and _size(journal.log_path) == 0:
                rotation.begin(journal, journal.genesis or (known.genesis if (known := _old(journal)) else None))
            index = _catch_up(journal, base or _look_back(journal))
            if index.inode:
                file.save(index)
            return index
    except (OSError, AhpError) as error:
        if create:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise JournalUnwritable(f"the log {journal.log_path} cannot be written: {why}") from None
    # Nothing can be locked or written here; for a reader the log still tells.
    return _catch_up(journal, base or _look_back(journal))


def _beforehand(journal: Journal) -> indexes.Index | None:
    try:
        return _base(journal) or _look_back(journal)
    except (
        OSError,
        AhpError,
    ):  # a file was rotated away under our hands, or nothing is readable: under the lock we shall know
        return None


def _base(journal: Journal) -> indexes.Index | None:
    """The stale index, if the log goes on from just where it left it: the rest is then short to read."""
    index = _old(journal)
    log = indexes.status(journal.log_path)
    if index is None or log is None or index.inode != log.st_ino or index.torn or index.size > log.st_size:
        return None
    before = lines.line_before(journal.log_path, index.size)
    return index if before is not None and digest.sha256(before) == index.head else None


def _old(journal: Journal) -> indexes.Index | None:
    try:
        return indexes.IndexFile(journal.index_path).load()
    except OSError:
        return None


def _size(path: str) -> int:
    status = indexes.status(path)
    return status.st_size if status else 0


def _look_back(journal: Journal) -> indexes.Index:
    """The index as of the last whole line, from the log of the last `forget_after` seconds."""
    found = lines.parts(journal.folder)
    index = indexes.Index("", found[-1].serial if found else 1)
    decided: set[str] = set()
    delivered: set[str] = set()
    since: float | None = None
    for nth, line in enumerate(lines.backward(journal.folder)):
        if not line.ended:
            continue
        if not index.size and line.serial == index.serial:
            index.size = line.end
        record = line.record() if _tells(line, nth, since) else None
        if record is None:
            continue
        stamp = record.get("timestamp")
        if isinstance(stamp, str) and indexes.is_stamp(stamp):
            if since is None:
                since = max(clock.parse_iso(stamp), clock.now()) - journal.forget_after
            elif clock.parse_iso(stamp) < since:
                break
        _note_back(index, record, decided, delivered)
    return index


def _tells(line: lines.Line, nth: int, since: float | None) -> bool:
    return since is None or nth % _SAMPLE == 0 or any(word in line.raw for word in _TELLING)


def _note_back(index: indexes.Index, record: dict[str, object], decided: set[str], delivered: set[str]) -> None:
    """Reading backwards the first word about a key is the last word."""
    if record.get("kind") == "delivery" and isinstance(ids := record.get("ids"), list):
        delivered.update(map(str, ids))
        return
    if record.get("kind") not in ("signal", "episode-end"):
        return
    if record["kind"] == "signal" and str(record.get("id")) in delivered:
        record = {**record, "pending": False}
    if record["kind"] == "episode-end" or indexes.opens(record):
        key = indexes.key_of(record)
        if key in decided:
            if record["kind"] == "episode-end":
                return
            record = {**record, "shadow": True}  # it may still wait for delivery
        decided.add(key)
    index.note(record)


def _catch_up(journal: Journal, base: indexes.Index) -> indexes.Index:
    """`base` moved on over the lines after it, torn last line included."""
    log = indexes.status(journal.log_path)
    if log is None:
        return base
    found = lines.parts(journal.folder)
    part = found[-1]
    if base.inode not in (0, log.st_ino) or base.serial != part.serial or base.size > log.st_size:
        base = _look_back(journal)  # rotated meanwhile
    base.inode, base.changed, base.torn = log.st_ino, True, False
    base.genesis = rotation.genesis_of(part)
    before = lines.line_before(part.path, base.size) if base.size else None
    base.head = digest.sha256(before) if before is not None else indexes.NO_HEAD
    for line in lines.forward_in(part, base.size):
        base.head, base.torn, base.size = digest.sha256(line.raw), not line.ended, line.end
        record = line.record()
        if record is not None:
            base.note(record)
    base.last, base.count = _last_stamp(journal), lines.count(journal.folder)
    return base


def _last_stamp(journal: Journal) -> str:
    """The latest time stamp among the last records: a torn line has none."""
    for line in lines.backward(journal.folder):
        record = line.record()
        stamp = record.get("timestamp") if record else None
        if isinstance(stamp, str) and indexes.is_stamp(stamp):
            return stamp
    return ""
