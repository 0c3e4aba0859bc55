"""How a program is called: its options and what its arguments are, from the lines of `programs.txt` and `git.txt`.

A line reads like the synopsis of a manual:

    cp,ln -t,--target-directory=INTO! -S,--suffix=VALUE | READ... TO

First the programs; `docker.run` is what `docker` does with the verb `run`. Then the options that take a value, or have
two names: `-k,--keep=WRITE` is one option, `-abc=VALUE` are three, `=?` takes a value only when it is glued on, a
leading `~` is a whole word behind one hyphen (`~-out`). A `!` says that the option stands in for an operand
(`grep -e`). Behind the bar are the operands in order; `...` repeats. Programs without a bar are read by `special`.

VALUE    nothing that is followed further
READ     a file that is read
WRITE    a file or folder that is written, deleted, or whose attributes are changed
MAKE     a folder that is made where there is none
BUILD    a file that is written by a compiler: running it is no surprise
TO       the file or folder that the others are copied to
INTO     a folder in which files of any name are written
CD       the folder in which the program works
COMMAND  a command: this word and all behind it
LOGIN    the same; without it a shell is started
LINE     the same, joined to a text for a shell
BEGIN    the first words of the command (`env -S`, `docker run --entrypoint`)
LIST     a command, its words separated by commas
SCRIPT   a text for a shell
SETTING  `Name=text`, a text for a shell if the name is one of those that run commands
RUN      a script file in the program's own language; without it (and without code) the program reads standard input
CODE     text in the program's own language
MODULE   a command by another name (`python -m`)
ASSIGN   words NAME=value before a command
INPLACE  makes files that are read files that are written
VERB     what the program does; its own line goes on from there
IMAGE    a container's image, KEYS text typed into a terminal, SHELL nothing, but a shell is started
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ahp.shell.options import Spec

_TABLES = ("programs.txt", "git.txt")

_RUNNERS = {"COMMAND", "LOGIN", "LINE", "KEYS", "BISECT", "FOREACH", "RUN", "VERB", "ASSIGN"}
"""Behind these operands the options are another program's."""


class Synopsis(NamedTuple):
    """How one program is called."""

    spec: Spec
    roles: dict[str, str]
    """The role of each option's value, by its name as `options.parse` gives it."""
    replaces: frozenset[str]
    """Options that stand in for an operand."""
    operands: tuple[str, ...]

    @property
    def permutes(self) -> bool:
        """Whether options may follow operands."""
        return not _RUNNERS & {operand.removesuffix("...") for operand in self.operands}


@cache
def _lines() -> dict[str, str]:
    """Each program's line; one that begins with a blank goes on with the one before."""
    found: dict[str, str] = {}
    for table in _TABLES:
        text = Path(__file__).with_name(table).read_text("ascii")
        for line in text.replace(",\n  ", ",").replace("\n  ", " ").splitlines():
            names, _, rest = line.partition(" ")
            if names and names != "#":
                found.update(dict.fromkeys(names.split(","), rest))
    return found


@cache
def of(program: str) -> Synopsis | None:
    """The synopsis of a program, or of one with its verb (`docker.run`); None for one that is not in the table."""
    line = _lines().get(program)
    return None if line is None else _parsed(line, program.startswith("git."))


def _parsed(line: str, negates: bool) -> Synopsis:
    options, _, operands = f" {line} ".partition(" | ")
    longs: list[str] = []
    shorts: dict[str, str] = {}
    roles: dict[str, str] = {}
    replaces: set[str] = set()
    valued = glued = ""
    for option in options.split():
        names, _, role = option.partition("=")
        optional, replacing = role.startswith("?"), role.endswith("!")
        role = role.strip("?!")
        for group in _options(names):
            full = next((name for name in group if len(name) > 2), group[0])
            for name in group:
                if len(name) > 2:
                    longs.append(name + "=" if role and not optional else name)
                else:
                    shorts[name[1]] = full
                    valued += name[1] if role and not optional else ""
                    glued += name[1] if role and optional else ""
                if role:
                    roles[name] = role
                    replaces |= {name} if replacing else set()
    if negates:
        longs += [f"--no-{name[2:].rstrip('=')}" for name in longs if not name.startswith("--no-")]
    whole = any(name.startswith("-") and not name.startswith("--") for name in longs)
    return Synopsis(
        Spec(tuple(dict.fromkeys(longs)), shorts, valued, glued, whole),
        roles,
        frozenset(replaces),
        tuple(operands.split()),
    )


def _options(names: str) -> list[list[str]]:
    """The options that one group declares, each with its names."""
    if names.startswith("-") and not names.startswith("--") and "," not in names:
        return [[f"-{letter}"] for letter in names[1:]]
    return [[name.lstrip("~") for name in names.split(",")]]
