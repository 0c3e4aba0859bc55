"""Appending to the signal log: one write under one lock, chained, checked (design §7, §11).  [light]

An append usually costs a lock, reading the index, an `fstat`, one `write` and writing the index. What is rare (no log
yet, a stale index, a rotation) is done by modules that are imported only then.
"""

import posix

from ahp.journal import index as indexes
from ahp.journal.index import JournalUnwritable, LogFiles
from ahp.system import clock, digest, files, jsontext
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Write = Callable[[indexes.Index, Sequence[Mapping[str, object]]], None]

ROTATE_AT = 64 << 20
COUNT_ENTRY = 200

_WRITE = posix.O_WRONLY | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
_ATTEMPTS = 4
_MEND = "; `ahp doctor` says what to do"


class Journal(LogFiles):
    """The log of one repository, open for appending; at `rotate_at` bytes it goes on in a new file."""

    __slots__ = ("_fd", "_inode", "counts_path", "rotate_at")

    def __init__(
        self,
        folder: str,
        genesis: "str | None" = None,
        *,
        rotate_at: int = ROTATE_AT,
    ) -> None:
        super().__init__(folder, genesis)
        self.rotate_at = rotate_at
        self.counts_path = folder + "/counts"
        self._fd, self._inode = -1, 0

    def index(self) -> "indexes.Index":
        """What is open, made anew from the log where the index does not fit it; empty where there is no log yet.

        Writes nothing but a mended index, and that only where it may. Raises AhpError when the log cannot be read.
        """
        try:
            index = self.fitting()
        except OSError:  # an index that cannot be read is as good as none
            index = None
        return index or _recover(self, None)

    def begin(self) -> "indexes.Index":
        """The index, of a log that is begun where there is none yet. Raises JournalUnwritable."""
        return _recover(self, self._write)

    def append(
        self,
        records: "Sequence[Mapping[str, object]]",
        durable: bool = False,
        *,
        after: "tuple[int, int] | None" = None,
    ) -> bool:
        """Appends the records in one write, each with its number in the chain and the digest of the line before it.

        The ends of episodes come first, so that what was mended is not taken for ignored. A time stamp before the last
        record's becomes the last record's. `durable` returns only when the disk has them (blocks, overrides, waivers).
        With `after`, the serial and size of the log that the records were made from, they are appended only if the log
        has not grown since; False says that it has.
        Raises JournalUnwritable when not every byte was written or the lock was not to be had.
        """
        if not records:
            return True
        ordered = sorted(records, key=_rank) if len(records) > 1 else records
        try:
            synced = self._append(ordered, durable, after)
            if synced == -1:
                return False
            if synced is not None:  # after the lock: 13,000 a second instead of 500 with eight writers
                try:
                    posix.fsync(synced)
                finally:
                    files.let_go(synced)
            return True
        except OSError as error:
            raise self._unwritable(error.strerror or str(error)) from None
        except JournalUnwritable:
            raise
        except AhpError as error:
            raise self._unwritable(str(error)) from None

    def count(self, trigger: str, actor: str, session: str = "", policy: str = "") -> None:
        """Counts a clean tool call: an entry in `counts`, which the next rich run folds into the log (design §2).

        Raises JournalUnwritable.
        """
        words = [
            indexes.escape(word).replace(" ", "%20;")[:most] or "-"
            for word, most in ((trigger, 20), (actor, 40), (session, 48), (policy, 71))
        ]
        fields = f"{clock.now():.0f} {' '.join(words)}".encode("utf-8", "replace")
        entry = fields[: COUNT_ENTRY - 1].ljust(COUNT_ENTRY - 1) + b"\n"
        try:
            if indexes.status(self.folder) is None:
                files.make_dirs(self.folder)
            with files.Lock(self.lock.path):  # a clean tool call waits for nobody
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

    def __del__(self) -> None:
        try:
            self.close()
        except JournalUnwritable:  # a record that is gone by then the index remembers
            pass

    def close(self) -> None:
        """Closes what is kept open between appends. Raises JournalUnwritable where that says that a write failed."""
        try:
            self.index_file.close()
            self._let_go()
        except OSError as error:
            raise self._unwritable(error.strerror or str(error)) from None

    def _let_go(self) -> None:
        fd, self._fd, self._inode = self._fd, -1, 0  # also where closing fails: the number is another file's then
        if fd >= 0:
            posix.close(fd)

    def _append(
        self, records: "Sequence[Mapping[str, object]]", durable: bool, after: "tuple[int, int] | None"
    ) -> "int | None":
        """Writes the records; with `durable` a descriptor to sync, which another thread's rotation cannot close.

        -1 when the log is not at `after` any more.
        """
        for _ in range(_ATTEMPTS):
            try:
                with self.lock:
                    index = self.fitting()
                    if index is not None:
                        if after is not None and after != (index.serial, index.size):
                            return -1
                        self._write(index, records)
                        return posix.dup(self._fd) if durable else None
            except files.NoFolder:  # the first record, or the whole folder was removed
                files.make_dirs(self.folder)
                continue
            _recover(self, self._write)
        raise JournalUnwritable(f"the log {self.log_path} changes faster than it can be read; try again")

    def _write(self, index: "indexes.Index", records: "Sequence[Mapping[str, object]]") -> None:
        if self._inode != index.inode:
            self._let_go()
            self._fd = posix.open(self.log_path, _WRITE)
            self._inode = index.inode
        try:
            data = chain(index, records)
            write(self._fd, data, self.log_path)
            index.size += len(data)
            self.index_file.save(index)
        except BaseException:
            self.index_file.close()  # what it holds has moved on without the log
            raise
        if index.size >= self.rotate_at:
            from ahp.journal.recovery import rotate

            rotate(self, index)

    def _unwritable(self, why: str) -> JournalUnwritable:
        return JournalUnwritable(f"the log {self.log_path} cannot be written: {why}{_MEND}")


def chain(index: "indexes.Index", records: "Sequence[Mapping[str, object]]") -> bytes:
    """The lines of `records` that follow what `index` describes, which is moved on but for its size."""
    parts = [b"\n"] if index.torn else []
    for record in records:
        stamp = record.get("timestamp")
        # Time never runs back, unless a person says that the clock was wrong.
        back = record.get("kind") == "clock" and clock.is_iso(stamp)
        index.last = str(stamp) if back else clock.not_before(stamp, index.last)
        index.count += 1
        chained = {**record, "timestamp": index.last, "n": index.count, "prev": "sha256:" + index.head}
        if index.window and clock.is_iso(index.last) and clock.parse_iso(index.last) < index.until:
            chained["window"] = index.window  # whoever reads the log backwards has to go on beyond the usual one
        line = jsontext.encode(chained).encode()
        index.head = digest.sha256(line)
        if record.get("kind") != "verdict":
            index.note(chained)
        parts += (line, b"\n")
    index.torn = False
    return b"".join(parts)


def write(fd: int, data: bytes, path: str) -> None:
    """One write, and the rest if it was short; what cannot be written leaves a torn line and JournalUnwritable."""
    written = 0
    try:
        while written < len(data):
            written += posix.write(fd, data[written:] if written else data)
    except OSError as error:
        state = f" after {written} of {len(data)} bytes" if written else ""
        raise JournalUnwritable(f"the log {path} cannot be written{state}: {error.strerror}{_MEND}") from None


def _rank(record: "Mapping[str, object]") -> bool:
    return record.get("kind") != "episode-end"


def _recover(log: LogFiles, write: "Write | None") -> "indexes.Index":
    from ahp.journal.recovery import recover

    return recover(log, write)
