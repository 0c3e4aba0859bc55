"""Processes that a call started and did not end, also those that left their process group and session.

On Linux this process becomes the reaper of its orphans, so that all of them end up among its children. Elsewhere
they are found by a mark in their environment.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType

from ahp.system import environ, process
from ahp.system.errors import AhpError

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37  # of prctl(2)
_KILL_TIME = 2.0  # s until processes that are killed must be gone
_START_TIME = 0.1  # s until a program that begins shows its environment
MARK = "AHP_RUN"

_entered: list[str] = []  # the marks of all that are entered in this process
_entering = threading.Lock()
_was_reaper = False  # before the first of them


class Descendants:
    """Ends what is started while it is entered and left behind. `mark` is the value of AHP_RUN in its environment."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._linux = sys.platform == "linux" and os.path.isdir("/proc/self/task")
        self._before: set[int] = set()
        self._watcher = Watcher(MARK, mark)

    def __enter__(self) -> "Descendants":
        global _was_reaper
        with _entering:
            if not any(self._mark.startswith(mark) for mark in _entered):  # else what ends those ends these
                self._watcher.begin()
            if self._linux and not _entered:
                _was_reaper = _reaper(_GET_SUBREAPER)
                _reaper(_SET_SUBREAPER, True)
            _entered.append(self._mark)
        if self._linux:
            self._before = _children()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.sweep()
        with _entering:
            _entered.remove(self._mark)
            self._watcher.end()
            if self._linux and not _entered:
                _reaper(_SET_SUBREAPER, _was_reaper)

    def sweep(self, thread: threading.Thread | None = None) -> list[str]:
        """Kills what was left behind, with all that was started in `thread`; the names of what was killed.

        Without `thread`, programs that a thread started and still holds are left to it.
        """
        if thread is not None and thread.ident is not None:
            process.kill_started_by(thread.ident)
        ended: dict[int, str] = {}
        until = time.monotonic() + _KILL_TIME
        while found := self._left_behind(thread):
            # One that has ended by now may have left children, which have come to us since: look again.
            for pid in [one for one in found if not _reaped(one)]:
                ended.setdefault(pid, _name(pid))
                _kill(pid)
            if time.monotonic() > until:
                break
            time.sleep(0.002)
        return sorted(name for name in ended.values() if name)

    def _left_behind(self, thread: threading.Thread | None) -> set[int]:
        if not self._linux:
            return _marked(self._mark)
        own = _children(thread.native_id) if thread is not None and thread.native_id else set()
        # Orphans come to the first thread. In a program that starts processes there while a run goes on in another
        # thread, or has several runs, only the mark tells whose they are.
        orphans = _children(os.getpid()) - self._before - process.running()
        return (own | {pid for pid in orphans if self._is_ours(pid)}) - waiting()

    def _is_ours(self, orphan: int) -> bool:
        in_first = threading.current_thread() is threading.main_thread()
        if in_first and all(one.startswith(self._mark) or self._mark.startswith(one) for one in _entered):
            return True
        mark = _mark(orphan)
        return mark.startswith(self._mark) or (in_first and not any(map(mark.startswith, _entered)))


def end_group(group: int) -> list[str]:
    """Kills what a command that has ended left in its process group, and waits for it; the names of what was killed."""
    names: list[str] = []
    until = time.monotonic() + _KILL_TIME
    while members := _members(group):
        names = names or sorted(members.values())
        for pid in [one for one in members if not _reaped(one)]:
            _kill(pid)
        if time.monotonic() > until:
            break
        time.sleep(0.002)
    return names


def _members(group: int) -> dict[int, str]:
    """The processes of a group by id with their names, without those that have ended and wait to be collected."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return {}
    except PermissionError:  # there are some, of somebody else
        pass
    import psutil

    found = {}
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):  # it has ended, or is somebody else's
            if os.getpgid(pid) == group and (one := psutil.Process(pid)).status() != psutil.STATUS_ZOMBIE:
                found[pid] = one.name()
    return found


def ending(env: Mapping[str, str]) -> tuple[Descendants, dict[str, str]]:
    """What ends the processes that are started with the second, and only those: `env` with a mark of their own.

    It begins with the mark of a run around it, which ends them too.
    """
    mark = ".".join([*filter(None, [env.get(MARK)]), os.urandom(8).hex()])
    return Descendants(mark), {**env, MARK: mark}


def _reaper(option: int, value: bool = False) -> bool:
    """Sets or gets whether orphaned descendants come to this process."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if option == _SET_SUBREAPER:
            libc.prctl(option, int(value), 0, 0, 0)
            return value
        answer = ctypes.c_int()
        libc.prctl(option, ctypes.byref(answer), 0, 0, 0)
        return bool(answer.value)
    except (OSError, AttributeError):  # a libc without prctl: groups are still killed
        return False


def _children(thread: int | None = None) -> set[int]:
    """The direct children of this process, or of one of its threads (Linux)."""
    threads = os.listdir("/proc/self/task") if thread is None else [thread]
    return {int(child) for one in threads for child in environ.told(os.getpid(), f"task/{one}/children").split()}


def _mark(pid: int) -> str:
    """The mark in the environment of a process, "" without one."""
    import psutil

    until = time.monotonic() + _START_TIME
    with contextlib.suppress(psutil.Error):
        one = psutil.Process(pid)
        # It has ended, has an empty environment, or is just becoming another program.
        while not (env := one.environ()) and one.status() != psutil.STATUS_ZOMBIE and time.monotonic() < until:
            time.sleep(0.002)
        return env.get(MARK, "")
    return ""


def _marked(mark: str) -> set[int]:
    """The processes whose environment carries the mark."""
    import psutil

    found = set()
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if one.environ().get(MARK, "").startswith(mark):
                found.add(one.pid)
    return found - {os.getpid()}


def _name(pid: int) -> str:
    import psutil

    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).name()
    return str(pid)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:  # gone, or somebody else's
        return


def _reaped(pid: int) -> bool:
    """Collects a child that has ended; False while it lives."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        import psutil

        return not psutil.pid_exists(pid)
    except OSError:
        return True


# As long as any are found: one that is killed may have started another since. Bounded by a count, should some be
# somebody else's, whom we cannot kill.
_SCRIPT = """\
trap '' HUP INT TERM QUIT
cd /
read -r line
for time in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    if [ -r /proc/self/environ ]; then
        found=$(grep -lFs "NAME=$0" /proc/[0-9]*/environ | tr -cd '0-9\\n')
    else
        found=$(ps axeww -o pid=,command= | while read -r pid command; do
            case "$command" in (*" NAME=$0"*) echo "$pid" ;; esac
        done)
    fi
    [ -n "$found" ] || exit 0
    kill -9 $found
done
"""
_FOLDERS = "/usr/bin:/bin:/usr/sbin:/sbin"

_waiting: set[int] = set()


class Watcher:
    """From `begin` to `end`, the death of this process ends what has a variable `name` that begins with `mark`."""

    def __init__(self, name: str, mark: str) -> None:
        self._script, self._mark = _SCRIPT.replace("NAME", name), mark
        self._pid = self._pipe = -1

    def begin(self) -> None:
        """Starts the shell. Where there is none, nothing can be done, and nothing else depends on it."""
        path = ":".join(filter(None, [_FOLDERS, environ.current().get("PATH", "")]))
        try:
            # It has no such variable itself, nor what ps would show like one.
            self._pid, self._pipe = process.beside(["/bin/sh", "-c", self._script, self._mark], {"PATH": path})
            _waiting.add(self._pid)
        except AhpError:
            return

    def end(self) -> None:
        """Ends the shell: nothing is left for it to do."""
        if self._pid < 0:
            return
        _waiting.discard(self._pid)
        try:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except OSError:  # somebody else has collected it
            pass
        os.close(self._pipe)
        self._pid = self._pipe = -1


def waiting() -> set[int]:
    """The ids of the shells that wait now."""
    return set(_waiting)
