"""What ends the programs of this process when it is killed outright (SIGKILL, no memory left) and cannot do it itself.

A shell beside it waits at a pipe of which only this process has the other end; when that closes, the shell kills what
has the mark in its environment. The mark, because orphans have no parent by then that tells whose they are, and what
the kernel has for this (PR_SET_PDEATHSIG) reaches neither grandchildren nor any system but Linux.
"""

import os
import signal

from ahp.system import environ, process
from ahp.system.errors import AhpError

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
