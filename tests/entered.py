"""Which files of ahp an event enters: those that have a function which runs in its process, modules' heads left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "ahp"
# Started in place of the interpreter: `-I -S PROGRAM ARGUMENT…`, where PROGRAM is a bundle or a text after `-c`.
_TRACER = """\
import marshal, os, posix, sys
out = {out!r}
given = [one for one in sys.argv[1:] if one not in ("-I", "-S")]
files = set()

def seen(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & 1:  # CO_OPTIMIZED: a function, no module and no class
        files.add(frame.f_code.co_filename)

def leave(code, exit=posix._exit):
    sys.setprofile(None)
    with open(out, "a") as written:
        written.write("".join(sorted(one + "\\n" for one in files if {package!r} in one)))
    exit(code)

posix._exit = os._exit = leave
if given[0] == "-c":
    code, sys.argv = compile(given[1], "<start>", "exec"), ["-c", *given[2:]]
else:
    with open(given[0], "rb") as read:
        code, sys.argv = marshal.loads(read.read()[16:]), given
sys.setprofile(seen)
try:
    exec(code, {{"__name__": "__main__"}})
except SystemExit as error:
    leave(error.code if isinstance(error.code, int) else 0)
leave(0)
"""


class Traced:
    """An interpreter that notes the files of ahp that are entered in its processes."""

    def __init__(self, folder: Path, isolated: bool = True) -> None:
        self._out = folder / "entered"
        tracer, self.python = folder / "tracer.py", folder / "python"
        tracer.write_text(_TRACER.format(out=str(self._out), package=f"{PACKAGE}/"))
        options = "-I -S" if isolated else ""
        self.python.write_text(f'#!/bin/sh\nexec {sys.executable} {options} {tracer} "$@"\n')
        self.python.chmod(0o755)

    def take_the_place_of_the_interpreter(self, script: Path) -> None:
        """Has an installed script start this one."""
        lines = script.read_text().splitlines()
        script.write_text(
            "\n".join(f"python={self.python}" if one.startswith("python=") else one for one in lines) + "\n"
        )

    def files(self) -> list[str]:
        """The files entered since the last call, from the package's folder."""
        found = sorted(set(self._out.read_text().splitlines())) if self._out.exists() else []
        self._out.unlink(missing_ok=True)
        return [one.removeprefix(f"{PACKAGE}/") for one in found]

    def ahp(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs the command line."""
        code = "from ahp.cli.start import main; main()"
        return subprocess.run(
            [self.python, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, check=False
        )
