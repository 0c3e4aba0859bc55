"""One box a session: a call enters the one that runs, or starts it; nothing is left on the host when it ends.

Four processes: the launcher, which lives as long as its call; the keeper, outside, which starts the box, waits for its
end and takes away what it left; beside it the one of `network`; and `init`, in the box. The folder of a session, for
its owner alone, holds what lasts between its boxes (`/tmp`, the home, the layers), the socket of `init`, and two locks:
`start` for who looks whether there is a box, `alive` for its keeper.
"""

import fcntl
import json
import os
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ahp.box import engine, init, table
from ahp.box.quarantine import Copy
from ahp.box.table import CannotBox, Keys, Plan
from ahp.protocol.text import one_line
from ahp.system import digest, files
from ahp.system.errors import AhpError
from ahp.system.git import Repository

CANNOT = 125  # the exit code where a call was not started, as env(1) and docker have it
KEPT = 14 * 86400  # s that a session's folder is kept
_STARTING = 60  # s until a box answers
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGWINCH)
_TYPED = (signal.SIGINT, signal.SIGQUIT)


def call(
    argv: list[str], root: str, repo: Repository | None, keys: Keys, session: str = "", *, takes_in: bool = True
) -> int:
    """Runs a command in the box of a project; its exit code. Without a `session` the box is for this call.

    What it did in git is taken in afterwards, unless `takes_in` is False: then git's files are read-only. What goes
    wrong is told on standard error: the exit code is `CANNOT` then.
    """
    try:
        return _run(argv, root, repo, keys, session, takes_in)
    except (AhpError, OSError) as error:
        print(f"ahp box: nothing was run: {one_line(error, 1000)}", file=sys.stderr)
        return CANNOT


def _run(argv: list[str], root: str, repo: Repository | None, keys: Keys, session: str, takes_in: bool) -> int:
    env = {os.fsdecode(name): os.fsdecode(value) for name, value in os.environb.items()}
    with _folder(repo, session) as folder:
        terminal = not session and os.isatty(0)
        copy = Copy(folder, repo, session) if repo is not None and takes_in and Copy.fits(repo) else None
        if copy is not None:
            copy.refresh()
        launcher = _Launcher(folder, copy, terminal=terminal)
        code = launcher.call(argv, root, repo, keys, env)
        return max(code, _taken_in(copy)) if copy is not None else code


def _taken_in(copy: Copy) -> int:
    """Takes in what the call did in git, and tells what was held; the exit code that this gives a call with 0 else."""
    try:
        held = copy.sync()
    except (AhpError, OSError) as error:
        held = [f"what this call did in git is not taken in: {one_line(error, 1000)}"]
    for one in held:
        print(f"ahp box: {one}", file=sys.stderr)
    return int(bool(held))


def place_of(repo: Repository | None, session: str) -> str:
    """The folder of a session."""
    return f"{_base(repo)}/{digest.sha256(session.encode('utf-8', 'surrogateescape'))[:24]}"


def _base(repo: Repository | None) -> str:
    return (
        f"{repo.common_dir}/{table.SESSIONS}" if repo is not None else f"{tempfile.gettempdir()}/ahp-box-{os.getuid()}"
    )


@contextmanager
def _folder(repo: Repository | None, session: str) -> Iterator[str]:
    """The folder of a session, kept; or one of this call, which is gone after it."""
    base = _base(repo)
    os.makedirs(base, mode=0o700, exist_ok=True)
    if os.lstat(base).st_uid != os.getuid() or not stat.S_ISDIR(os.lstat(base).st_mode):
        raise CannotBox(f"{base} belongs to somebody else; fix: remove it")
    if session:
        path = place_of(repo, session)
        _expire(base, path)
        os.makedirs(path, mode=0o700, exist_ok=True)
        os.utime(path)
        yield path
        return
    path = tempfile.mkdtemp(prefix="call-", dir=base)
    try:
        yield path
    finally:
        engine.remove(path)
        try:
            os.rmdir(base)
        except OSError:
            pass  # others are in use


def _expire(base: str, own: str) -> None:
    """Removes the folders of sessions that nobody has used for long."""
    for one in os.scandir(base):
        if one.path != own and one.stat(follow_symlinks=False).st_mtime < time.time() - KEPT:
            with open(f"{one.path}/alive", "wb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue
                engine.remove(one.path)


class _Launcher:
    def __init__(self, folder: str, copy: Copy | None, *, terminal: bool) -> None:
        self.folder, self.copy, self.terminal = folder, copy, terminal
        self.sent: socket.socket | None = None
        self.early: list[int] = []
        self.keeper = ""

    def call(self, argv: list[str], root: str, repo: Repository | None, keys: Keys, env: dict[str, str]) -> int:
        former = self._listen_for_signals()
        try:
            with files.Lock(f"{self.folder}/start", _STARTING):
                plan = table.plan(root, repo, keys, env, self._covers(), self.copy.place if self.copy else "")
                key = digest.sha256(json.dumps([plan.mounts, plan.covers, sorted(plan.env), plan.network]).encode())
                request = {"argv": argv, "env": plan.env, "folder": os.getcwd(), "umask": _umask()}
                connection = self._try(request) if self._noted("key") == key else None
                if connection is None:
                    self._end_former()
                    self._start(plan, key)
                    connection = self._try(request)
                self.keeper = self._noted("keeper")
                if connection is None:
                    raise AhpError(f"the box did not start: {self._words()}")
            with connection:
                return self._wait(connection)
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _listen_for_signals(self) -> "dict[int, Any]":
        """What the terminal sends reaches the command by itself where it is in our group."""
        former: dict[int, Any] = {}
        for number in (*_FORWARDED, *_TYPED):
            ignored = self.terminal and number in _TYPED
            former[number] = signal.signal(number, signal.SIG_IGN if ignored else self._forward)
        return former

    def _forward(self, number: int, _: object) -> None:
        if self.sent is None:
            self.early.append(number)
            return
        try:
            self.sent.send(bytes([number]))
        except OSError:
            pass  # it ended just now

    def _try(self, request: dict[str, object]) -> socket.socket | None:
        """The connection of a call that the box has started; None where no box answers."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        here = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        try:
            connection.connect(f"/proc/self/fd/{here}/socket")  # a path of its own may be too long for sockets
            connection.settimeout(_STARTING)
            data = json.dumps(request).encode("ascii") + b"\n"
            given = [_given(number) for number in (0, 1, 2)]
            connection.sendall(data[socket.send_fds(connection, [data], given) :])
            for file in given:
                if file > 2:
                    os.close(file)
            if connection.recv(len(init.STARTED)) != init.STARTED:
                raise ConnectionResetError
            connection.settimeout(None)
        except OSError:
            connection.close()
            return None
        finally:
            os.close(here)
        self.sent = connection
        for number in self.early:
            self._forward(number, None)
        return connection

    def _wait(self, connection: socket.socket) -> int:
        """The exit code of the call, after the box has cleaned up where that was the last one."""
        words = b""
        while not words.endswith(b"\n"):
            data = connection.recv(64)
            if not data:
                raise AhpError(f"the box ended before its call: {self._words() or 'it was killed'}")
            words += data
        code, is_busy = map(int, words.split())
        if self.terminal and os.isatty(0):
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            try:
                os.tcsetpgrp(0, os.getpgrp())  # a shell in the box cannot name the group that it had it from
            except OSError:
                pass
        if not is_busy:
            self._await_end()
        elif self.terminal or os.path.basename(self.folder).startswith("call-"):
            self._end_former()
        return code

    def _await_end(self) -> None:
        """Until the keeper has taken away what the box left, or somebody has a new one."""
        with open(f"{self.folder}/alive", "ab") as alive:
            while self._noted("keeper") == self.keeper:
                try:
                    fcntl.flock(alive, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return
                except OSError:
                    time.sleep(0.002)

    def _noted(self, name: str) -> str:
        try:
            with open(f"{self.folder}/{name}", encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def _note(self, name: str, text: str) -> None:
        with open(f"{self.folder}/{name}", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def _covers(self) -> list[str]:
        return [one for one in self._noted("covers").split("\0") if one]

    def _words(self) -> str:
        """What bubblewrap said last."""
        lines = self._noted("said").strip().splitlines()
        return lines[-1] if lines else ""

    def _end_former(self) -> None:
        """Ends the box of another table, with its background processes, and what a killed keeper left."""
        with open(f"{self.folder}/alive", "ab") as alive:
            try:
                fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                _end(int(self._noted("keeper") or 0), signal.SIGTERM)
                fcntl.flock(alive, fcntl.LOCK_EX)
            _uncover(self._covers())

    def _start(self, plan: Plan, key: str) -> None:
        """Starts a keeper, and gives it the lock `alive`."""
        for path in plan.twins:
            copy = f"{path}.ahp-{os.getpid()}"
            shutil.copy2(path, copy, follow_symlinks=False)
            os.replace(copy, path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        here = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        path = f"{self.folder}/socket"
        if os.path.lexists(path):
            os.unlink(path)
        listener.bind(f"/proc/self/fd/{here}/socket")
        listener.listen(128)
        os.close(here)
        self._note("covers", "\0".join(plan.covers))
        self._note("key", key)
        alive = os.open(f"{self.folder}/alive", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(alive, fcntl.LOCK_EX)
        keeper = os.fork()
        if not keeper:
            _keep(self, plan, listener, alive)
        self._note("keeper", str(keeper))
        os.close(alive)
        listener.close()


def _keep(launcher: _Launcher, plan: Plan, listener: socket.socket, alive: int) -> None:
    """The keeper: until the box or its client ends; never returns."""
    folder, terminal = launcher.folder, launcher.terminal
    code = CANNOT
    try:
        said = os.open(f"{folder}/said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number, file in enumerate((nothing, nothing, said)):
            os.dup2(file, number)
        for number in map(int, os.listdir("/proc/self/fd")):  # a lock of the launcher's falls with its last descriptor
            if number > 2 and number not in (listener.fileno(), alive):
                with suppress(OSError):  # that of the listing itself
                    os.close(number)
        if not terminal:
            client = _client()
            os.setsid()
        for number in (*_FORWARDED, *_TYPED):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for path in plan.covers:
            os.makedirs(path, exist_ok=True)
        ours, its = socket.socketpair()
        network = os.fork()
        if not network:
            for file in (its.fileno(), listener.fileno(), alive):
                os.close(file)
            _serve_network(ours, plan, launcher)
        ours.close()
        box = os.fork()
        if not box:
            for number in (*_FORWARDED, *_TYPED):
                signal.signal(number, signal.SIG_DFL)
            engine.become(plan, folder, listener.fileno(), its.fileno(), terminal=terminal)
        for one in (its, listener):
            one.close()

        def end(*_: object) -> None:
            _end(box, signal.SIGKILL)

        signal.signal(signal.SIGTERM, end)
        if not terminal:
            signal.signal(
                signal.SIGALRM, lambda *_: None if client <= 1 or os.path.exists(f"/proc/{client}") else end()
            )
            signal.setitimer(signal.ITIMER_REAL, 1, 1)
        os.waitpid(box, 0)
        _end(network, signal.SIGKILL)  # it serves nobody now, and whoever waits for the end finds nothing left
        os.waitpid(network, 0)
        code = 0
    except BaseException as error:  # noqa: BLE001  # this process must not go on as the launcher that it was
        os.write(2, f"{error}\n".encode("utf-8", "replace"))
    finally:
        _uncover(plan.covers)
        os._exit(code)


def _serve_network(channel: socket.socket, plan: Plan, launcher: _Launcher) -> None:
    """The process beside the keeper; never returns."""
    try:
        from ahp.box import door, network

        copy = launcher.copy
        serve = None if copy is None else lambda listener: door.serve(listener, channel, copy, plan.mounts)
        network.serve(channel, plan.network, serve)
    except BaseException as error:  # noqa: BLE001  # this process must not go on as the launcher that it was
        os.write(2, f"the network of the box ended: {error!r}\n".encode("utf-8", "replace"))
    finally:
        os._exit(0)


def _end(pid: int, number: int) -> None:
    try:
        if pid:
            os.kill(pid, number)
    except ProcessLookupError:
        pass  # it came to its own end


def _client() -> int:
    """Whose session it is: the process that started the shell of this call."""
    with open(f"/proc/{os.getppid()}/stat", "rb") as file:  # the launcher
        shell = int(file.read().rpartition(b")")[2].split()[1])
    try:
        with open(f"/proc/{shell}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return shell


def _uncover(covers: list[str]) -> None:
    """Takes away the covers; one that is no longer empty is somebody's."""
    for path in reversed(covers):
        try:
            os.rmdir(path)
        except OSError:
            pass


def _given(number: int) -> int:
    """A file for the call: a folder of the host would be a way out of the box."""
    with suppress(OSError):  # it is closed
        if not stat.S_ISDIR(os.fstat(number).st_mode):
            return number
    return os.open(os.devnull, os.O_RDWR)


def _umask() -> int:
    former = os.umask(0o077)
    os.umask(former)
    return former
