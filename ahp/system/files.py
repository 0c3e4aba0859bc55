"""Files, as the gate needs them: whole reads with a limit, atomic replacement, a lock with a deadline.  [light]"""

import posix
import time
from _thread import allocate_lock

from ahp.system.errors import AhpError, Timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from types import TracebackType

_REGULAR, _TYPE_MASK = 0o100000, 0o170000
_CHUNK = 1 << 20


def read(path: str, limit: int | None = None) -> bytes | None:
    """The bytes of a regular file, None where there is none. Raises AhpError past `limit` bytes or when unreadable.

    A FIFO or a device is refused rather than waited for.
    """
    fd = _open(path)
    if fd is None:
        return None
    try:
        status = posix.fstat(fd)
        if status.st_mode & _TYPE_MASK != _REGULAR:
            raise AhpError(f"{path} is not a regular file")
        if limit is not None and status.st_size > limit:
            raise AhpError(f"{path} has {status.st_size} bytes, more than the {limit} allowed")
        return _read_all(fd, path, status.st_size, limit)
    except OSError as error:
        raise AhpError(f"cannot read {path}: {error.strerror}") from None
    finally:
        let_go(fd)


def tail(path: str, length: int) -> bytes | None:
    """The last `length` bytes of a regular file, None where there is none. Raises AhpError when it is unreadable."""
    fd = _open(path)
    if fd is None:
        return None
    try:
        status = posix.fstat(fd)
        if status.st_mode & _TYPE_MASK != _REGULAR:
            return None
        return posix.pread(fd, length, max(status.st_size - length, 0))
    except OSError as error:
        raise AhpError(f"cannot read {path}: {error.strerror}") from None
    finally:
        let_go(fd)


def let_go(fd: int) -> None:
    """Closes what was only read, locked, or is on the disk already: where that fails (NFS), nothing is lost."""
    try:
        posix.close(fd)
    except OSError:
        pass


def _open(path: str) -> int | None:
    """A descriptor of the file for reading, None where there is none. Raises AhpError."""
    try:
        return posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise AhpError(f"cannot read {path}: {error.strerror}") from None


def _read_all(fd: int, path: str, size: int, limit: int | None) -> bytes:
    data = posix.read(fd, size + 1)
    if len(data) == size:
        return data
    parts = [data]  # it grew or shrank while we looked
    total = len(data)
    while part := posix.read(fd, _CHUNK):
        parts.append(part)
        total += len(part)
        if limit is not None and total > limit:
            raise AhpError(f"{path} has more than the {limit} bytes allowed")
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    """Writes every byte, or raises OSError."""
    view = memoryview(data)
    while view:
        view = view[posix.write(fd, view) :]


def replace(path: str, data: bytes, mode: int = 0o600) -> None:
    """Puts `data` at `path` atomically: readers see the old bytes or the new ones. Raises AhpError."""
    temporary = f"{path}.{posix.getpid()}.{time.monotonic_ns() & 0xFFFFFF:x}.tmp"
    try:
        fd = posix.open(temporary, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, mode)
        try:
            try:
                write_all(fd, data)
            finally:
                posix.close(fd)
            posix.rename(temporary, path)
        except OSError:
            posix.unlink(temporary)
            raise
    except OSError as error:
        raise AhpError(f"cannot write {path}: {error.strerror}") from None


def overwrite(path: str, data: bytes, mode: int = 0o600, *, truncate: bool = True) -> None:
    """Writes `data` to `path` in place, for what may be found half written at no harm. Raises AhpError.

    Without `truncate` the rest of a longer file stays behind `data`: ext4 writes a file that was truncated to the disk
    when it is closed, which takes a millisecond.
    """
    try:
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
        fd = posix.open(path, flags | posix.O_TRUNC if truncate else flags, mode)
        try:
            write_all(fd, data)
        finally:
            posix.close(fd)
    except OSError as error:
        raise AhpError(f"cannot write {path}: {error.strerror}") from None


def make_dirs(path: str) -> None:
    """The folder `path` and what is missing above it, private to the user. Raises AhpError."""
    try:
        try:
            posix.mkdir(path, 0o700)
        except FileNotFoundError:
            parent = path.rpartition("/")[0]
            if not parent:
                raise
            make_dirs(parent)
            posix.mkdir(path, 0o700)  # once: a link that leads nowhere is there and holds nothing
    except FileExistsError:
        if _leads_nowhere(path):
            raise AhpError(f"{path} is a link that leads nowhere; remove it, or make what it leads to") from None
    except OSError as error:
        raise AhpError(f"cannot make the folder {path}: {error.strerror}") from None


def _leads_nowhere(path: str) -> bool:
    try:
        posix.readlink(path)
    except OSError:
        return False  # no link, or removed meanwhile
    try:
        posix.stat(path)
    except OSError:
        return True
    return False


class NoFolder(AhpError):
    """The folder of a file to be made is not there."""


class Lock:
    """An exclusive lock on `path` across processes and threads, waited for at most `timeout` seconds.

    POSIX record locks (`lockf`), which the system drops when the holder dies. They belong to the process and fall
    with any descriptor of the file, hence a file that only this class opens and a lock of the process beside it.
    Raises Timeout when another holds it that long, AhpError when the file cannot be opened, NoFolder when its
    folder is missing.
    """

    __slots__ = ("_thread", "fd", "path", "timeout")
    _threads: "dict[str, LockType]" = {}  # noqa: RUF012  # one lock a path, for the threads of this process

    def __init__(self, path: str, timeout: float = 0.1) -> None:
        self.path, self.timeout, self.fd = path, timeout, -1
        self._thread = Lock._threads.setdefault(path, allocate_lock())

    def __enter__(self) -> "Lock":
        deadline = time.monotonic() + self.timeout
        if not self._thread.acquire(timeout=self.timeout):
            raise Timeout(f"{self.path} is held by another thread for over {self.timeout} s")
        try:
            self.fd = posix.open(self.path, posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
            self._wait(deadline)
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                kind = NoFolder if isinstance(error, FileNotFoundError) else AhpError
                raise kind(f"cannot lock {self.path}: {error.strerror}") from None
            raise
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self._release()

    def _wait(self, deadline: float) -> None:
        pause = 0.0002
        while True:
            try:
                posix.lockf(self.fd, posix.F_TLOCK, 0)
                return
            except (BlockingIOError, PermissionError):  # EAGAIN, EACCES (fcntl(2))
                pass
            if time.monotonic() >= deadline:
                raise Timeout(f"{self.path} is held by another process for over {self.timeout} s")
            time.sleep(pause)
            pause = min(pause * 2, 0.001)  # eight writers share it: who looks rarely is refused

    def _release(self) -> None:
        fd, self.fd = self.fd, -1
        try:
            if fd >= 0:
                let_go(fd)
        finally:
            self._thread.release()
