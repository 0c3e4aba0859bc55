"""The programs `ahp` and `ahp-engine`: modules of the project that is judged are not taken for ahp's own."""

import os
import sys
from io import TextIOWrapper

from ahp.system.errors import lost_dependency


def main() -> None:
    """The entry point."""
    _open_standard_files()
    _print_utf_8()
    _leave_out_pythonpath()
    try:
        from ahp.cli.main import main as run
    except Exception as error:
        if not (lost := lost_dependency(error)):
            raise
        print(f"ahp: {lost}", file=sys.stderr)
        sys.exit(2)
    run()


def _open_standard_files() -> None:
    """Gives standard input, output and error that are closed, as for some daemons, the null device.

    Else the next file that is opened, such as the log, has the number that others write to.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _print_utf_8() -> None:
    """Whatever the locale, as git does: names and messages hold any character, and JSON is UTF-8 by its standard."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _leave_out_pythonpath() -> None:
    """Forgets the places that PYTHONPATH names, except where ahp itself comes from one of them.

    It is set for the project, whose modules may bear the names of ahp's dependencies. What ahp starts still gets it.
    """
    named = {os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place}
    if os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) not in named:
        sys.path[:] = [place for place in sys.path if os.path.abspath(place) not in named]
