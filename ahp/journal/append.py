"""Appending to the signal log: one write under one lock, chained, checked (design §7, §11).

What an append costs when all is well is a lock, the index, an `fstat`, one `write` and the index again. All else (no
log yet, a stale index, a rotation) is left to modules that are imported when it happens.
"""

import posix
from errno import ENOENT

from ahp.journal import index as indexes
from ahp.protocol.errors import AhpError
from ahp.system import clock, digest, files, jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORGET_AFTER = 14 * 86400.0
ROTATE_AT = 64 << 20
COUNT_ENTRY = 64

_WRITE = posix.O_WRONLY | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
_REGULAR, _TYPE_MASK = 0o100000, 0o170000
_ATTEMPTS = 3


class JournalUnwritable(AhpError):
    """A record could not be written, or not wholly: a block stays a block, the rest is refused or marked (issue 4)."""


class Journal:
    """The log of one repository, `folder`/signals.jsonl, and the files beside it.

    `genesis` is the id that an installed hook knows its log by: a log that begins with another one is not the log it
    was installed with. `forget_after` (seconds) is how far back open episodes are looked for when the index has to be
    made anew; `rotate_at` the size in bytes at which the log starts a new file.
    """

    __slots__ = ("folder", "forget_after", "genesis", "rotate_at")

    def __init__(
        self,
        folder: str,
        genesis: "str | None" = None,
        *,
        forget_after: float = FORGET_AFTER,
        rotate_at: int = ROTATE_AT,
    ) -> None:
        self.folder, self.genesis = folder, genesis
        self.forget_after, self.rotate_at = forget_after, rotate_at

    @property
    def log_path(self) -> str:
        return self.folder + "/signals.jsonl"

    @property
    def index_path(self) -> str:
        return self.folder + "/index"

    @property
    def counts_path(self) -> str:
        return self.folder + "/counts"

    def lock(self) -> files.Lock:
        """The lock that every appender holds while it writes."""
        return files.Lock(self.folder + "/signals.lock")

    def index(self) -> "indexes.Index":
        """What is open, made anew from the log where the index does not fit it; empty where there is no log yet.

        Writes nothing but a mended index, and that only where it may. Raises AhpError when the log cannot be read.
        """
        return self._fitting() or _heal(self)

    def append(self, records: "Sequence[Mapping[str, object]]", durable: bool = False) -> None:
        """Appends the records in one write, each with `prev`, the digest of the line before it.

        The ends of episodes come first, so that what was mended is not taken for ignored. A time stamp before the last
        record's becomes the last record's. `durable` returns only when the disk has them (blocks, overrides, waivers).
        Raises JournalUnwritable when not every byte was written or the lock was not to be had.
        """
        ordered = sorted(records, key=_rank) if len(records) > 1 else records
        try:
            files.make_dirs(self.folder)
            for _ in range(_ATTEMPTS):
                with self.lock():
                    fd = self._append(ordered)
                if fd is not None:
                    break
                _heal(self, create=True)
            else:
                raise JournalUnwritable(f"{self.log_path} changes faster than it can be read; try again")
            try:
                if durable:  # after the lock: 13,000 a second instead of 500 with eight writers
                    posix.fsync(fd)
            finally:
                posix.close(fd)
        except OSError as error:
            raise self._unwritable(error.strerror or str(error)) from None
        except JournalUnwritable:
            raise
        except AhpError as error:
            raise self._unwritable(str(error)) from None

    def count(self, trigger: str, actor_kind: str, session: str = "") -> None:
        """Counts a clean tool call: 64 bytes in `counts`, which the next rich run folds into the log (design §2).

        Raises JournalUnwritable.
        """
        mark = digest.sha256(session.encode("utf-8", "surrogatepass"))[:16] if session else "-"
        fields = f"{clock.now():.0f} {indexes.escape(trigger)[:20]} {actor_kind[:12]} {mark}".encode()
        entry = fields[: COUNT_ENTRY - 1].ljust(COUNT_ENTRY - 1) + b"\n"
        try:
            files.make_dirs(self.folder)
            with self.lock():
                fd = posix.open(self.counts_path, _WRITE | posix.O_CREAT, 0o600)
                try:
                    files.write_all(fd, entry)
                finally:
                    posix.close(fd)
        except OSError as error:
            raise self._unwritable(error.strerror or str(error)) from None
        except AhpError as error:
            raise self._unwritable(str(error)) from None

    def tampered(self, index: "indexes.Index") -> bool:
        """Whether the log is not the one this journal was installed with: it vanished or was replaced (design §7)."""
        return self.genesis is not None and index.genesis != self.genesis

    def _fitting(self) -> "indexes.Index | None":
        index = indexes.read(self.index_path)
        try:
            log = indexes.status(self.log_path)
        except OSError as error:
            raise AhpError(f"cannot read {self.log_path}: {error.strerror}") from None
        return index if index and log and index.fits(log.st_ino, log.st_size) else None

    def _append(self, records: "Sequence[Mapping[str, object]]") -> "int | None":
        """Writes under the lock and returns the log's descriptor; None when the index has to be mended first."""
        index = indexes.read(self.index_path)
        if index is None:
            return None
        try:
            fd = posix.open(self.log_path, _WRITE)
        except OSError as error:
            if error.errno == ENOENT:
                return None
            raise
        try:
            log = posix.fstat(fd)
            if log.st_mode & _TYPE_MASK != _REGULAR:
                raise JournalUnwritable(f"{self.log_path} is not a regular file; move it away")
            if not index.fits(log.st_ino, log.st_size):
                posix.close(fd)
                return None
            data = chain(index, records)
            write(fd, data, self.log_path)
            index.size += len(data)
            indexes.write(self.index_path, index)
            if index.size >= self.rotate_at:
                from ahp.journal.rotation import rotate

                rotate(self, index)
        except BaseException:
            posix.close(fd)
            raise
        return fd

    def _unwritable(self, why: str) -> JournalUnwritable:
        return JournalUnwritable(f"the log {self.log_path} cannot be written: {why}")


def chain(index: "indexes.Index", records: "Sequence[Mapping[str, object]]") -> bytes:
    """The lines of `records` that follow what `index` describes, which is moved on but for its size."""
    parts = ["\n"] if index.torn else []
    for record in records:
        index.last = not_before(record.get("timestamp"), index.last)
        line = jsontext.encode({**record, "timestamp": index.last, "prev": "sha256:" + index.head})
        index.head = digest.sha256(line.encode())
        index.note(record)
        parts += (line, "\n")
    index.torn = False
    return "".join(parts).encode()


def write(fd: int, data: bytes, path: str) -> None:
    """One write, and the rest if it was short; what cannot be written leaves a torn line and JournalUnwritable."""
    written = 0
    try:
        while written < len(data):
            written += posix.write(fd, data[written:] if written else data)
    except OSError as error:
        state = f" after {written} of {len(data)} bytes" if written else ""
        raise JournalUnwritable(f"the log {path} cannot be written{state}: {error.strerror}") from None


def not_before(stamp: object, last: str) -> str:
    """The later of `stamp` (without one: now) and `last`: time never runs back in a log (design §7)."""
    text = stamp if isinstance(stamp, str) else clock.iso(clock.now())
    if len(text) == len(last):
        return text if text > last else last
    return text if not last or clock.parse_iso(text) >= clock.parse_iso(last) else last


def _rank(record: "Mapping[str, object]") -> bool:
    return record.get("kind") != "episode-end"


def _heal(journal: Journal, create: bool = False) -> "indexes.Index":
    from ahp.journal.heal import heal

    return heal(journal, create)
