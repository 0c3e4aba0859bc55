"""How a program is called: its options and what its arguments are, from the lines of a file such as `git.txt`.

A line reads like the synopsis of a manual:

    git.restore -s,--source=VALUE -S,--staged | WRITE...

First git's verbs. Then the options that take a value, or have two names: `-k,--keep=WRITE` is one option, `-abc=VALUE`
are three, `=?` takes a value only when it is glued on. Behind the bar are the operands in order; `...` repeats. What a
value or an operand is called (READ, WRITE, NAME) tells whoever reads the line; COMMAND, LINE, FOREACH, BISECT and VERB
end the options.
"""

from ahp.shell.options import Spec
from ahp.system import files
from ahp.system.errors import Incomplete
from ahp.system.plain import Plain

_RUNNERS = {"COMMAND", "LINE", "BISECT", "FOREACH", "VERB"}
"""Behind these operands the options are another program's."""


class Synopsis(Plain):
    """How one program is called."""

    __slots__ = ("operands", "spec")

    def __init__(self, spec: Spec, operands: tuple[str, ...]) -> None:
        self.spec, self.operands = spec, operands

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
    valued = glued = ""
    for option in options.split():
        names, _, role = option.partition("=")
        optional = role.startswith("?")
        for group in _options(names):
            full = next((name for name in group if len(name) > 2), group[0])
            for name in group:
                if len(name) > 2:
                    longs.append(name + "=" if role and not optional else name)
                else:
                    shorts[name[1]] = full
                    valued += name[1] if role and not optional else ""
                    glued += name[1] if role and optional else ""
    if negates:
        longs += [f"--no-{name[2:].rstrip('=')}" for name in longs if not name.startswith("--no-")]
    return Synopsis(Spec(tuple(dict.fromkeys(longs)), shorts, valued, glued), tuple(operands.split()))


def _options(names: str) -> list[list[str]]:
    """The options that one group declares, each with its names."""
    if names.startswith("-") and not names.startswith("--") and "," not in names:
        return [[f"-{letter}"] for letter in names[1:]]
    return [names.split(",")]
