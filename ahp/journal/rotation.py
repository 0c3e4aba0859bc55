"""Beginning a log, continuing it in a new file, and finishing what a killed writer left half done.

All functions are for the holder of the log's lock. A rotated file keeps its name for ever: `signals.<n>.jsonl`; the
first record of the next one names it and chains to its last line.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Mapping

from ahp.journal import index as indexes
from ahp.journal import segments
from ahp.journal.index import LogFiles
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
