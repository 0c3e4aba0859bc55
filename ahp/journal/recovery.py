"""Recovery: an index that does not fit the log is made anew from the log."""

from __future__ import annotations

import math
import os
import stat
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence

from ahp.journal import index as indexes
from ahp.journal import segments, tables
from ahp.journal.index import NO_HEAD, JournalUnwritable, LogFiles
from ahp.journal.tables import Remembered
from ahp.protocol import records
from ahp.system import clock, digest, files, jsontext
from ahp.system.errors import AhpError
from ahp.system.version import __version__

WHOSE = "/whose.json"  # in the ahp folder
_NOTED = 1 << 16
_MAKER: dict[str, object] = {"format": segments.FORMAT, "ahp": __version__}


def rotate(log: LogFiles, index: indexes.Index) -> None:
    """Moves the full log aside and goes on in a new file, which `index` then describes.

    The record that brought the log to its limit is written already, so a failure here must not be taken for its loss:
    the log just stays long, and the next append tries again.
    """
    serial = max([part.serial for part in segments.listed(log.folder)], default=index.serial)
    following = _next(log)
    line = _continuation(index.genesis, index.last, serial, index.head, index.count + 1)
    try:
        _tidy(log)
        files.replace(following, line + b"\n")
        os.rename(log.log_path, f"{log.folder}/signals.{serial}.jsonl")
        os.rename(following, log.log_path)
        index.inode, index.size = os.stat(log.log_path).st_ino, len(line) + 1
        index.serial, index.head, index.count = serial + 1, digest.sha256(line), index.count + 1
        indexes.IndexFile(log.index_path).save(index)
    except (OSError, AhpError):
        return


def begin(log: LogFiles, known: str | None) -> None:
    """Makes the missing or empty live file: finishes a rotation, or continues rotated files, or starts a chain.

    `known` is the genesis id by which the lost log was known; the new genesis record says that it `replaces` that one.
    Raises OSError, AhpError.
    """
    _tidy(log)
    rotated = [part for part in segments.listed(log.folder) if part.path != log.log_path]
    if rotated:
        if _finish(log, rotated[-1]):
            return
        last = next(segments.backward_in(rotated[-1]), None)
        head = digest.sha256(last.raw) if last else indexes.NO_HEAD
        genesis, serial = genesis_of(rotated[-1]), rotated[-1].serial
        line = _continuation(genesis, _now(last), serial, head, segments.count(log.folder) + 1, missing=True)
    else:
        record: dict[str, object] = {"timestamp": clock.iso(clock.now()), "kind": "genesis", "id": str(uuid.uuid4())}
        record |= _MAKER | whose(log.folder)
        if known:
            record["replaces"] = known
        line = jsontext.encode({**record, "n": 1, "prev": None}).encode()
    live = indexes.status(log.log_path)
    if live is not None and not stat.S_ISREG(live.st_mode):
        raise AhpError("it is not a regular file; move it away")
    following = _next(log)  # whole or not at all: without its first record nothing tells which log it is
    files.replace(following, line + b"\n")
    os.rename(following, log.log_path)


def whose(folder: str) -> dict[str, object]:
    """Whose records these are, as `ahp install git` noted it in the ahp folder: `repository` and `host`; {} else."""
    try:
        found = jsontext.decode((files.read(folder + WHOSE, _NOTED) or b"{}").decode())
    except (AhpError, ValueError):
        found = None  # it says where a record is from, and decides nothing
    return {name: told for name, told in found.items() if told} if isinstance(found, dict) else {}


def _tidy(log: LogFiles) -> None:
    """Removes what a rotation that was killed left half written. Raises OSError."""
    for name in os.listdir(log.folder):
        if name.startswith("signals.next.jsonl.") and name.endswith(".tmp"):
            os.unlink(f"{log.folder}/{name}")


def genesis_of(part: segments.Segment) -> str:
    """The genesis id that the first record of a file tells, "" when it tells none."""
    return genesis_told(segments.opening(part))


def genesis_told(record: Mapping[str, object]) -> str:
    """The genesis id that a record tells which begins a file, "" for any other."""
    told = {"genesis": record.get("id"), "rotation": record.get("genesis")}.get(str(record.get("kind")))
    # Written into the index between spaces.
    return told if isinstance(told, str) and told.isascii() and told.isprintable() and " " not in told[:64] else ""


def _finish(log: LogFiles, last: segments.Segment) -> bool:
    """Takes the file that a killed rotation had ready, if it continues the last rotated file."""
    following = segments.Segment(last.serial + 1, _next(log))
    if not os.path.lexists(following.path):
        return False
    first, end = next(segments.forward_in(following), None), next(segments.backward_in(last), None)
    record = first.record() if first else None
    if record is None or end is None or record.get("prev") != digest.tagged(end.raw):
        return False
    os.rename(following.path, log.log_path)
    return True


def _continuation(genesis: str, last: str, serial: int, head: str, n: int, missing: bool = False) -> bytes:
    record: dict[str, object] = {
        "timestamp": last,
        "kind": "rotation",
        "serial": serial + 1,
        "after": f"signals.{serial}.jsonl",
        "genesis": genesis,
        **_MAKER,
    }
    if missing:
        record["missing"] = True
    return jsontext.encode({**record, "n": n, "prev": "sha256:" + head}).encode()


def _now(last: segments.Line | None) -> str:
    stamp = (last.record() or {}).get("timestamp") if last else None
    return clock.not_before(None, str(stamp) if clock.is_iso(stamp) else "")


def _next(log: LogFiles) -> str:
    return f"{log.folder}/signals.next.jsonl"


Write = Callable[[indexes.Index, Sequence[Mapping[str, object]]], None]


def recover(log: LogFiles, write: Write | None = None) -> indexes.Index:
    """The index of the log as it is, written where that is possible.

    `write` is an appender's: with it a missing log is begun, the loss of what an index or a state remembers is recorded
    (`cut`), and what cannot be written raises JournalUnwritable. Without it, a missing log gives an empty index, and an
    index that remembers a loss stays as it is. The long look back happens before the lock is taken, so that no other
    process has to wait for it. Raises AhpError when the log cannot be read.
    """
    segments.check_format(log.folder)
    base = _beforehand(log)
    try:
        with log.lock:
            if fitting := log.fitting():
                return fitting  # another process has just done it
            known = memories(log)
            if write and _size(log.log_path) == 0:
                begin(log, log.genesis or next((one.genesis for one in known if one.genesis), None))
            index = _catch_up(log, base or _look_back(log))
            lost = gone(log.folder, known)
            if lost and write:
                found = index.count
                write(index, [record(lost, found)])
                log.loss = sentence(lost, found)
                if any(is_gone(log.folder, one) for one in known):  # a state that remembers less of the same
                    tables.forget(log.folder + tables.NAME)
            elif index.inode and index.size and not lost:  # an empty file is still to be begun
                indexes.IndexFile(log.index_path).save(index)
            return index
    except JournalUnwritable:
        raise
    except (OSError, AhpError) as error:
        if write:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise JournalUnwritable(f"the log {log.log_path} cannot be written: {why}") from None
    # Nothing can be locked or written here; for a reader the log still tells.
    return _catch_up(log, base or _look_back(log))


def _beforehand(log: LogFiles) -> indexes.Index | None:
    try:
        return _base(log) or _look_back(log)
    except (OSError, AhpError):
        return None  # rotated meanwhile, or unreadable: the second try, under the lock, tells which


def _base(log: LogFiles) -> indexes.Index | None:
    """The stale index, if the log goes on from just where it left it: the rest is then short to read."""
    index = log.remembered()
    live = indexes.status(log.log_path)
    if index is None or live is None or index.inode != live.st_ino or index.torn or index.size > live.st_size:
        return None
    before = segments.line_before(segments.Segment(index.serial, log.log_path), index.size)
    return index if before is not None and digest.sha256(before) == index.head else None


def _size(path: str) -> int:
    status = indexes.status(path)
    return status.st_size if status else 0


def _look_back(log: LogFiles) -> indexes.Index:
    """The index as of the last whole line, from as much of the log as holds what is not forgotten."""
    found = segments.listed(log.folder)
    index = indexes.Index("", found[-1].serial if found else 1)
    decided: set[str] = set()
    last = since = math.inf
    for line in segments.backward(log.folder):
        if not line.ended:
            continue
        if not index.size and line.serial == index.serial:
            index.size = line.end
        record = line.record()
        if record is None:
            continue
        stamp = record.get("timestamp")
        if isinstance(stamp, str) and clock.is_iso(stamp):
            at = clock.parse_iso(stamp)
            last = max(at, clock.now()) if last == math.inf else last
            since = min(since, last - indexes.window_of(record))
            if at < since:
                break
        _note_back(index, record, decided)
    return index


def _note_back(index: indexes.Index, record: dict[str, object], decided: set[str]) -> None:
    """Takes up one record, read backwards: the first record found of a key is its latest."""
    if record.get("kind") == "policy":
        named = str(record.get("digest"))
        if named not in index.policies and len(index.policies) < indexes.POLICIES:
            index.policies = {named: indexes.commit_of(record), **index.policies}
        return
    if record.get("kind") not in ("signal", "episode-end"):
        return
    if record["kind"] == "episode-end" or indexes.opens(record):
        key = indexes.key_of(record)
        if key in decided:
            if record["kind"] == "episode-end":
                return
            record = {**record, "shadow": True}  # opens nothing, but may be remembered for longer
        decided.add(key)
    index.note(record)


def _catch_up(log: LogFiles, base: indexes.Index) -> indexes.Index:
    """`base` moved on over the lines after it, torn last line included."""
    live = indexes.status(log.log_path)
    found = segments.listed(log.folder)
    if not found:
        return base
    part = found[-1]
    inode, size = (live.st_ino, live.st_size) if live else (0, 0)  # none between the two renames of a rotation
    if base.inode not in (0, inode) or base.serial != part.serial or (inode and base.size > size):
        base = _look_back(log)  # rotated meanwhile
    base.inode, base.changed, base.torn = inode, True, False
    base.genesis = genesis_of(part)
    before = segments.line_before(part, base.size) if base.size else None
    base.head = digest.sha256(before) if before is not None else indexes.NO_HEAD
    for line in segments.forward_in(part, base.size):
        base.head, base.torn, base.size = digest.sha256(line.raw), not line.ended, line.end
        record = line.record()
        if record is not None:
            base.note(record)
    base.last, base.count = _last_stamp(log), segments.count(log.folder)
    return base


def _last_stamp(log: LogFiles) -> str:
    """The latest time stamp among the last records: a torn line has none."""
    for line in segments.backward(log.folder):
        record = line.record()
        stamp = record.get("timestamp") if record else None
        if isinstance(stamp, str) and clock.is_iso(stamp):
            return stamp
    return ""


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
    genesis = log_of(folder)
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


def log_of(folder: str) -> str:
    """The id of the log in `folder`, "" without one. Raises AhpError."""
    return next(filter(None, map(genesis_of, reversed(segments.listed(folder)))), "")


def record(lost: Remembered, found: int) -> dict[str, object]:
    """The `cut` record of a log that has `found` lines."""
    stamp = clock.iso(clock.now())
    return records.other("cut", stamp, had=lost.lines, found=found, head="sha256:" + lost.head)


def sentence(lost: Remembered, found: int) -> str:
    """For the one who made the record be written."""
    left = f"of {lost.lines} lines {found} are left"
    left = left if found < lost.lines else f"its line {lost.lines} is not as it was"
    return f"the end of the log is gone ({left}); {_TOLD}"
