"""The options of a command line: bundles taken apart, long names in full where the program is known."""

from ahp.system.plain import Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Spec(Plain):
    """What options a program takes.

    `longs` that end in `=` take a value; `shorts` maps letters to long names. The letters `valued` take a value, glued
    or as the next word, those of `glued` only when it is glued to them.
    """

    __slots__ = ("glued", "longs", "shorts", "valued")

    def __init__(
        self,
        longs: tuple[str, ...] = (),
        shorts: "Mapping[str, str] | None" = None,
        valued: str = "",
        glued: str = "",
    ) -> None:
        self.longs, self.shorts, self.valued, self.glued = longs, shorts or {}, valued, glued


ANY = Spec()


class Options(Plain):
    """`flags` as a policy reads them (a letter with a long name gives both), `operands` the rest, in order."""

    __slots__ = ("flags", "operands", "values")

    def __init__(self, flags: list[str], values: list[tuple[str, str]], operands: list[str]) -> None:
        self.flags, self.values, self.operands = flags, values, operands


def parse(args: list[str], spec: Spec, permute: bool = True) -> Options:
    """Reads options as GNU getopt does; with `permute` also after the first operand."""
    flags: dict[str, None] = {}
    values: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = args[::-1]  # the next one last: taking it away moves none of the others
    while rest:
        arg = rest.pop()
        if arg == "--":
            operands += rest[::-1]
            break
        if not arg.startswith("-") or arg == "-":
            operands.append(arg)
            if not permute:
                operands += rest[::-1]
                break
        elif arg.startswith("--"):
            name, glue, value = arg.partition("=")
            name, valued = _in_full(name, spec.longs)
            flags[name] = None
            if glue or (valued and rest):
                values.append((name, value if glue else rest.pop()))
        else:
            _bundle(arg[1:], spec, rest, flags, values)
    return Options(list(flags), values, operands)


def _bundle(letters: str, spec: Spec, rest: list[str], flags: dict[str, None], values: list[tuple[str, str]]) -> None:
    if letters.isdigit():
        flags["-" + letters] = None
        return
    for index, letter in enumerate(letters):
        flags["-" + letter] = None
        name = spec.shorts.get(letter, "-" + letter)
        flags[name] = None
        tail = letters[index + 1 :]
        if letter in spec.valued:
            if tail or rest:
                values.append((name, tail or rest.pop()))
            return
        if letter in spec.glued:
            if tail:
                values.append((name, tail))
            return


def _in_full(name: str, longs: tuple[str, ...]) -> tuple[str, bool]:
    """The long option that `name` is an unambiguous beginning of, and whether it takes a value."""
    if name in longs or name + "=" in longs:
        return name, name + "=" in longs
    found = [known for known in longs if known.startswith(name)]
    if len(found) == 1:
        return found[0].rstrip("="), found[0].endswith("=")
    return name, False
