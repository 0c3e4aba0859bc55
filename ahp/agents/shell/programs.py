"""How each program is called: `programs.txt`, and git by core's `git.txt` (`ahp.shell.synopsis` says how they read)."""

from ahp.shell import git, synopsis
from ahp.shell.names import SHELLS
from ahp.shell.synopsis import Synopsis
from ahp.system import ready

TABLE = __file__.rpartition("/")[0] + "/programs.txt"
RUNNING = frozenset(("COMMAND", "LOGIN", "LINE", "BEGIN", "LIST", "SCRIPT", "SHELL", "RUN", "CODE", "KEYS"))
"""Roles of the arguments of programs that run commands, or texts of a language."""
_known: dict[str, Synopsis | None] = {}


def of(program: str) -> Synopsis | None:
    """The synopsis of a program, or of one with its verb (`docker.run`); None for one that is not in the table."""
    if program == "git" or program.startswith("git."):
        return git.synopsis_of(program)
    if program not in _known:
        line = ready.made("synopses", lambda: synopsis.lines(TABLE)).get(program)
        _known[program] = None if line is None else synopsis.parsed(line, negates=False)
    return _known[program]


def is_listed(program: str) -> bool:
    """Whether it is known how the program is called."""
    return program in ("", "git") or program in SHELLS or of(program) is not None


def named(word: str, program: str) -> str:
    """The name under which a program is listed that is called by `word`: of `python3.11` python, of `gcc-12` gcc.

    By a path, only an interpreter is: `./test2` is a script of the project.
    """
    stem = program.rstrip("0123456789.").removesuffix("-")
    if not stem or not program[-1:].isdigit() or is_listed(program) or not is_listed(stem):
        return program
    listed = of(stem)
    is_interpreter = stem in SHELLS or (listed is not None and "RUN" in listed.operands)
    return stem if is_interpreter or "/" not in word else program


def is_foreign(program: str) -> bool:
    """Whether a program may do with a file what its synopsis does not say."""
    found = of(program)
    return found is None or (found.operands[:1] == ("VERB",) and program not in ("git", "gh"))
