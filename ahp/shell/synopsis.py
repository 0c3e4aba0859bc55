"""How a program is called: its options and what its arguments are, from the lines of a file such as `git.txt`.

A line reads like the synopsis of a manual:

    cp,ln -t,--target-directory=INTO! -S,--suffix=VALUE | READ... TO

First the programs; `docker.run` is what `docker` does with the verb `run`. Then the options that take a value, or have
two names: `-k,--keep=WRITE` is one option, `-abc=VALUE` are three, `=?` takes a value only when it is glued on, a
leading `~` is a whole word behind one hyphen (`~-out`). A `!` says that the option stands in for an operand
(`grep -e`). Behind the bar are the operands in order; `...` repeats. Programs without a bar are read by `special`.

VALUE    nothing that is followed further
READ     a file that is read
WRITE    a file or folder that is written, deleted, or whose attributes are changed
TREE     a file that is read, or a folder: some of the files in it are (those that a formatter knows)
FORMAT   the same, written
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

from ahp.shell.options import Spec
from ahp.system import files
from ahp.system.errors import Incomplete
from ahp.system.plain import Plain

_RUNNERS = {"COMMAND", "LOGIN", "LINE", "KEYS", "BISECT", "FOREACH", "RUN", "VERB", "ASSIGN"}
"""Behind these operands the options are another program's."""


class Synopsis(Plain):
    """How one program is called.

    `roles` has the role of each option's value, by its name as `options.parse` gives it; `replaces` the options that
    stand in for an operand.
    """

    __slots__ = ("operands", "replaces", "roles", "spec")

    def __init__(self, spec: Spec, roles: dict[str, str], replaces: frozenset[str], operands: tuple[str, ...]) -> None:
        self.spec, self.roles, self.replaces, self.operands = spec, roles, replaces, operands

    def then(self, operands: tuple[str, ...]) -> "Synopsis":
        """The same options before other operands."""
        return Synopsis(self.spec, self.roles, self.replaces, operands)

    @property
    def permutes(self) -> bool:
        """Whether options may follow operands."""
        return not _RUNNERS & {operand.removesuffix("...") for operand in self.operands}


def lines(path: str) -> dict[str, str]:
    """Each program's line in a file; one that begins with a blank goes on with the one before. Raises AhpError."""
    found: dict[str, str] = {}
    data = files.read(path)
    if data is None:
        raise Incomplete(path)
    text = data.decode("ascii")
    for line in text.replace(",\n  ", ",").replace("\n  ", " ").splitlines():
        names, _, rest = line.partition(" ")
        if names and names != "#":
            found.update(dict.fromkeys(names.split(","), rest))
    return found


def parsed(line: str, negates: bool) -> Synopsis:
    """What a line says; `negates`: each option without a value has its negation, too."""
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
