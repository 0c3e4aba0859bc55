"""New records sent to a collector, from where the last sending ended.

The cursor lies beside the log and names the last line that a collector took, by file, place and digest. It is written
when the collector has answered: who is killed in between sends a batch twice, and `log.record.uid` tells the copies. No
lock of the log is held, so no hook waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ahp.insight import export
from ahp.journal import recovery, segments
from ahp.journal.append import Journal
from ahp.journal.decoding import decode
from ahp.journal.fold import Checkpoint, holds
from ahp.journal.recovery import log_of
from ahp.system import digest, files, jsontext
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen, unseen

CURSORS = "shipped"
"""The file beside the log: cursors by digests of the collectors' addresses, which may hold passwords."""
_RECORDS, _BYTES = 512, 1 << 20  # of a batch
_LIMIT = 1 << 20

Send = Callable[[Mapping[str, str], Sequence[export.Told]], str]
"""Takes what holds of all records of a log (`otlp.resource`) and records; gives what the collector said of those it
rejects for good, "" without any.

Raises AhpError when the collector cannot be reached or refuses.
"""


class Shipped(NamedTuple):
    """How many records were sent; how many had been pruned before they were; what the collector said of rejected ones.

    `again` is true where the line that the cursor named is gone, so that all was sent once more.
    """

    records: int
    pruned: int
    rejected: list[str]
    again: bool


def ship(folder: str, collector: str, send: Send, seen: Seen = unseen, first: int = 0) -> Shipped:
    """Sends what is new in the log of `folder` to the address `collector` by `send`, then how far the log has come;
    `seen` is told line numbers. With `first` all from that line on is sent, once more.

    Raises AhpError; what was taken till then is not sent again.
    """
    segments.check_format(folder)
    log = log_of(folder)
    if not log:
        raise AhpError(f"there is no log in {folder} yet, so there is nothing to send")
    with files.Lock(f"{folder}/ship.lock"):  # two at once would send all twice, and leave the cursor of the slower one
        cursors = _Cursors(folder, log, collector)
        kept = cursors.load()
        mark, pruned = (_before(folder, first), 0) if first else _begin(folder, kept)
        again = kept is not None and not mark.head and not pruned and not first
        policies = Journal(folder, log).index().policies
        told = export.resource(log, recovery.whose(folder), next(filter(None, reversed(policies.values())), ""))
        total, sent = segments.count(folder), 0
        rejected: list[str] = []
        while True:
            batch, mark = _batch(folder, log, mark, first)
            if batch:
                rejected += filter(None, [send(told, batch)])
                sent += len(batch)
                seen(min(mark.n, total), total)
            if mark != kept and mark.head:
                cursors.save(mark)
                kept = mark
            if not batch:
                rejected += filter(None, [send(told, [export.heartbeat(log, mark.n, mark.head)])])
                return Shipped(sent, pruned, rejected, again)


def _begin(folder: str, kept: Checkpoint | None) -> tuple[Checkpoint, int]:
    """The last line that was sent, one before the first where there is none; how many lines were pruned after it."""
    first = segments.listed(folder)[0]
    if kept is not None and holds(kept, folder):
        return kept, 0
    pruned = 0
    if kept is not None and kept.serial < first.serial:
        n = segments.opening(first).get("n")
        pruned = max(0, n - kept.n - 1) if isinstance(n, int) and kept.n else 0
    return Checkpoint(first.serial, 0, 0, ""), pruned


def _before(folder: str, first: int) -> Checkpoint:
    """The beginning of the file that has the line of that number."""
    known = [(part.serial, segments.opening(part).get("n")) for part in segments.listed(folder)]
    serial = max([serial for serial, n in known if isinstance(n, int) and n <= first], default=known[0][0])
    return Checkpoint(serial, 0, 0, "")


def _batch(folder: str, log: str, mark: Checkpoint, first: int) -> tuple[list[export.Told], Checkpoint]:
    """The records after `mark`, and from the number `first` on, as many as go at once; and the last line read."""
    batch: list[export.Told] = []
    size = 0
    for line in _lines(folder, mark):
        record = decode(line.raw)
        if record is None and not line.ended:
            break  # somebody writes it
        n = record.get("n") if record else None
        told_n = n if isinstance(n, int) else mark.n
        mark = Checkpoint(line.serial, line.offset, line.end, digest.sha256(line.raw), told_n)
        if record is not None and told_n >= first:
            batch.append(export.told(log, line.raw, record))
            size += len(line.raw)
        if len(batch) >= _RECORDS or size >= _BYTES:
            break
    return batch, mark


def _lines(folder: str, mark: Checkpoint) -> Iterator[segments.Line]:
    for part in segments.listed(folder):
        if part.serial >= mark.serial:
            yield from segments.forward_in(part, mark.end if part.serial == mark.serial else 0)


class _Cursors:
    """Where each collector is in one log."""

    def __init__(self, folder: str, log: str, collector: str) -> None:
        self._path, self._log = f"{folder}/{CURSORS}", log
        self._name = digest.sha256(collector.encode("utf-8", "surrogateescape"))[:16]

    def load(self) -> Checkpoint | None:
        """The last line that was taken; None where nothing was, of this log. Raises AhpError."""
        told = self._all().get(self._name)
        if not isinstance(told, dict) or told.get("log") != self._log:
            return None
        values = [told.get(name) for name in Checkpoint._fields]
        if not (isinstance(told.get("head"), str) and all(type(n) is int for n in (*values[:3], values[4]))):
            raise AhpError(f"{self._path} is damaged; remove it to send the whole log again")
        return Checkpoint(*values)  # type: ignore[arg-type]

    def save(self, mark: Checkpoint) -> None:
        """Raises AhpError."""
        cursors = {**self._all(), self._name: {"log": self._log, **mark._asdict()}}
        files.replace(self._path, jsontext.encode(cursors).encode() + b"\n")

    def _all(self) -> dict[str, object]:
        data = files.read(self._path, _LIMIT)
        try:
            found = jsontext.decode((data or b"{}").decode())
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise AhpError(f"{self._path} is damaged; remove it to send the whole log again")
        return found
