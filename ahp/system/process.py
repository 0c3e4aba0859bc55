"""The one door to processes: a command, its input, a time budget, a limit on what it prints, and no survivors.  [light]

`posix_spawn` instead of `subprocess`, whose import alone costs as much as a quiet commit.
"""

import _thread
import posix
import select
import time

from ahp.system import environ, patience
from ahp.system.errors import AhpError, OutputLimit, Timeout

_KILL = 9
_BLOCK = 1 << 16
_SLICE = 0.05  # s between looks at a child whose descendants keep its pipes open
_ATTACHED_SLICE = 0.01  # s between looks at a command that a person waits for
OUTPUT_LIMIT = 64 << 20

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class NotStarted(AhpError):
    """The program is not there or may not be executed."""


class Result:
    """How a command ended: exit `code` (128 + n for signal n), what it printed."""

    __slots__ = ("code", "err", "out")

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out, err


def find(program: str, env: dict[str, str]) -> str | None:
    """The path of `program` on the PATH of `env`; a name with a slash stands for itself."""
    if "/" in program:
        return program if posix.access(program, posix.X_OK) else None
    for folder in env.get("PATH", "/usr/bin:/bin").split(":"):
        path = f"{folder or '.'}/{program}"
        if posix.access(path, posix.X_OK) and posix.stat(path).st_mode & 0o170000 == 0o100000:
            return path
    return None


def _found(program: str, env: dict[str, str]) -> str:
    found = find(program, env)
    if found is None:
        raise NotStarted(f"cannot start {program}: no such program on PATH")
    return found


def capture(
    argv: list[str],
    *,
    timeout: float,
    cwd: str | None = None,
    env: dict[str, str] | None = None,
    stdin: bytes = b"",
    limit: int = OUTPUT_LIMIT,
    ended: "Callable[[int], object] | None" = None,
    check: "Callable[[], object] | None" = None,
) -> Result:
    """Runs `argv` to its end in a session of its own, without our terminal.

    A terminal would let it type what a person is then taken to have typed (TIOCSTI), and a question that it asks there
    would stop it until its time is over.

    `timeout` is in seconds, `limit` in bytes of standard output. At the timeout, at the limit, and when this process
    is interrupted the whole group is killed. `ended` gets the id of the group when the command has come to its own end,
    before what that left in it is killed. `check` is called all the while, and may raise to end it. Raises NotStarted,
    Timeout, OutputLimit; these two hold what it `printed`.
    """
    env = environ.current() if env is None else env
    deadline = time.monotonic() + timeout
    program = _found(argv[0], env)
    command = [program, *argv[1:]]
    if cwd is not None:  # posix_spawn cannot change the folder
        program, command = "/bin/sh", ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', cwd, *command]
    known, patience.command = patience.command, patience.command or argv[0].rpartition("/")[2]
    try:
        with _Child(program, command, env) as child:
            try:
                done = child.finish(stdin, deadline, timeout, limit, argv[0], check=check)
            except (Timeout, OutputLimit) as error:
                error.printed = b"".join(child.printed)
                raise
            if ended is not None:
                ended(child.pid)
            return done
    finally:
        patience.command = known


def beginning(argv: list[str], length: int, *, timeout: float, env: dict[str, str]) -> bytes:
    """The first `length` bytes that `argv` prints, then it is killed. Raises NotStarted, Timeout.

    Read here, and not cut by another program, which PATH could replace.
    """
    deadline = time.monotonic() + timeout
    program = _found(argv[0], env)
    with _Child(program, [program, *argv[1:]], env) as child:
        try:
            child.finish(b"", deadline, timeout, length, argv[0])
        except OutputLimit:
            pass  # all that was asked for is there
    return b"".join(child.printed)[:length]


def running() -> set[int]:
    """The ids of the processes that `capture` waits for now, in all threads."""
    return {child.pid for child in tuple(_live)}


def kill_started_by(thread: int) -> None:
    """Kills what `capture` runs in the thread of that ident, with its group: a thread that is waited for no more."""
    for child in tuple(_live):
        if child.thread == thread:
            child.kill_group()


class _Child:
    """A process in a group of its own, with pipes to it. Where it is left, the whole group is killed."""

    __slots__ = ("code", "err", "inp", "out", "pid", "printed", "thread")

    def __init__(self, program: str, argv: list[str], env: dict[str, str]) -> None:
        in_read, self.inp = posix.pipe()
        self.out, out_write = posix.pipe()
        self.err, err_write = posix.pipe()
        self.code: int | None = None
        self.printed: list[bytes] = []
        self.thread = _thread.get_ident()
        actions = [
            (posix.POSIX_SPAWN_DUP2, in_read, 0),
            (posix.POSIX_SPAWN_DUP2, out_write, 1),
            (posix.POSIX_SPAWN_DUP2, err_write, 2),
        ]
        try:
            self.pid = _spawn(program, argv, env, actions)
        except (OSError, ValueError) as error:
            self.pid = 0
            for fd in (self.inp, self.out, self.err):
                posix.close(fd)
            raise NotStarted(f"cannot start {argv[0]}: {getattr(error, 'strerror', None) or error}") from None
        finally:
            for fd in (in_read, out_write, err_write):
                posix.close(fd)

    def __enter__(self) -> "_Child":
        _live.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        _live.discard(self)
        self.kill()

    def finish(
        self,
        stdin: bytes,
        deadline: float,
        timeout: float,
        limit: int,
        name: str,
        check: "Callable[[], object] | None" = None,
    ) -> Result:
        """How it ended."""
        out, err = self.printed, list[bytes]()
        sizes = {self.out: 0, self.err: 0}
        poll = select.poll()
        for fd in (self.out, self.err):
            poll.register(fd, select.POLLIN)
        pending = memoryview(stdin)
        if pending:
            posix.set_blocking(self.inp, False)
            poll.register(self.inp, select.POLLOUT)
        else:
            self._close_input()
        quiet = False
        while sizes:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Timeout(f"{name} did not finish within {timeout:g} s")
            if check is not None:
                check()
            ready = poll.poll(min(left, _SLICE) * 1000)
            if not ready and quiet:
                break  # the command ended; a descendant holds its pipes
            quiet = not ready and self._ended()
            for fd, _ in ready:
                if fd == self.inp:
                    pending = self._feed(pending)
                    if not pending:
                        poll.unregister(self.inp)
                        self._close_input()
                    continue
                data = posix.read(fd, _BLOCK)
                if not data:
                    poll.unregister(fd)
                    del sizes[fd]
                    continue
                sizes[fd] += len(data)
                if fd == self.err and sizes[fd] > limit:
                    continue  # complaints past the limit are dropped, results never
                (out if fd == self.out else err).append(data)
                if sizes[fd] > limit:
                    raise OutputLimit(f"{name} printed more than {limit} bytes")
        while not self._ended():
            if time.monotonic() >= deadline:
                raise Timeout(f"{name} did not finish within {timeout:g} s")
            if check is not None:
                check()
            time.sleep(0.0005)
        code = self.code or 0
        return Result(code if code >= 0 else 128 - code, b"".join(out), b"".join(err))

    def _feed(self, pending: memoryview) -> memoryview:
        try:
            return pending[posix.write(self.inp, pending[:_BLOCK]) :]
        except BrokenPipeError:  # it needs no more
            return memoryview(b"")
        except BlockingIOError:
            return pending

    def _close_input(self) -> None:
        if self.inp >= 0:
            posix.close(self.inp)
            self.inp = -1

    def _ended(self) -> bool:
        if self.code is None:
            try:
                pid, status = posix.waitpid(self.pid, posix.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            if pid:
                self.code = posix.waitstatus_to_exitcode(status)
        return self.code is not None

    def kill(self) -> None:
        """Ends what is left of the group and closes the pipes."""
        self._close_input()
        for fd in (self.out, self.err):
            posix.close(fd)
        self.kill_group()
        if self.code is None:
            posix.waitpid(self.pid, 0)
            self.code = 128 + _KILL

    def kill_group(self) -> None:
        """Ends what is left of the group."""
        try:
            posix.killpg(self.pid, _KILL)
        except ProcessLookupError:
            return


_live: set[_Child] = set()


def beside(argv: list[str], env: dict[str, str]) -> tuple[int, int]:
    """Starts `argv` in a session of its own; its process id, and the descriptor of the pipe that it reads.

    Its input ends when the descriptor is closed, hence also when this process ends, in whatever way. What it prints is
    thrown away. Raises NotStarted.
    """
    program = _found(argv[0], env)
    read, write = posix.pipe()
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (posix.POSIX_SPAWN_DUP2, read, 0),
        (posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
    ]
    try:
        return _spawn(program, argv, env, actions), write
    except OSError as error:
        posix.close(write)
        raise NotStarted(f"cannot start {argv[0]}: {error.strerror}") from None
    finally:
        posix.close(read)


def _spawn(
    program: str,
    argv: list[str],
    env: dict[str, str],
    actions: "Sequence[tuple[int, ...] | tuple[int, int, str, int, int]]",
) -> int:
    """Starts a program in a session of its own; its process id, which is also that of its group."""
    try:
        return posix.posix_spawn(program, argv, env, file_actions=actions, setsid=True)
    except NotImplementedError:  # a system that cannot; without its own group an interrupt would reach it
        return posix.posix_spawn(program, argv, env, file_actions=actions, setpgroup=0)


def attached(argv: list[str], env: dict[str, str]) -> int:
    """Runs `argv` with this process's own input, output and terminal, to its end; its exit code, 128 + n for signal n.

    It stays in our process group, so an interrupt of the terminal reaches it, and it decides; SIGTERM and SIGHUP, which
    a supervisor or a closed terminal sends to us alone, are passed on. Raises NotStarted.
    """
    import signal

    program, arrived = _found(argv[0], env), list[int]()
    # What is ignored, as under nohup, stays so: the command inherits it.
    ours = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, lambda number, frame: arrived.append(number)) for one in ours}
    try:
        try:
            pid = posix.posix_spawn(program, argv, env)
        except OSError as error:
            raise NotStarted(f"cannot start {argv[0]}: {error.strerror}") from None
        while True:
            try:
                ended, status = posix.waitpid(pid, posix.WNOHANG)
                if ended:
                    code = posix.waitstatus_to_exitcode(status)
                    return code if code >= 0 else 128 - code
                while arrived:
                    posix.kill(pid, arrived.pop(0))
                time.sleep(_ATTACHED_SLICE)  # a signal may come just before a call that blocks, or to another thread
            except KeyboardInterrupt:
                continue
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
