"""The options of a command line: bundles taken apart, long names in full where the program is known."""

from ahp.system.plain import Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping


class Spec(Plain):
    """What options a program takes.

    `longs` that end in `=` take a value; `shorts` maps letters to long names. The letters `valued` take a value, glued
    or as the next word, those of `glued` only when it is glued to them. `whole`: one hyphen begins a whole word, as in
    `openssl -out`, unless each of its letters is an option (`zip -rm`).
    """

    __slots__ = ("glued", "longs", "shorts", "valued", "whole")

    def __init__(
        self,
        longs: tuple[str, ...] = (),
        shorts: "Mapping[str, str] | None" = None,
        valued: str = "",
        glued: str = "",
        whole: bool = False,
    ) -> None:
        self.longs, self.shorts, self.valued, self.glued, self.whole = longs, shorts or {}, valued, glued, whole


ANY = Spec()


class Options(Plain):
    """`flags` as a policy reads them (a letter with a long name gives both), `operands` the rest, in order."""

    __slots__ = ("flags", "operands", "values")

    def __init__(self, flags: list[str], values: list[tuple[str, str]], operands: list[str]) -> None:
        self.flags, self.values, self.operands = flags, values, operands


def parse(args: list[str], spec: Spec, permute: bool = True, last: "Container[str]" = ()) -> Options:
    """Reads options as GNU getopt does; with `permute` also after the first operand, behind none of those in `last`."""
    flags: dict[str, None] = {}
    values: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = args[::-1]  # the next one last: taking it away moves none of the others
    while rest:
        if values and values[-1][0] in last:
            operands += rest[::-1]
            break
        arg = rest.pop()
        if arg == "--":
            operands += rest[::-1]
            break
        if not arg.startswith("-") or arg == "-":
            operands.append(arg)
            if not permute:
                operands += rest[::-1]
                break
        elif arg.startswith("--") or (spec.whole and arg.partition("=")[0].removesuffix("=") in _names(spec)):
            name, glue, value = arg.partition("=")
            name, valued = _in_full(name, spec.longs)
            flags[name] = None
            if glue or (valued and rest):
                values.append((name, value if glue else rest.pop()))
        elif spec.whole and arg[1] not in spec.valued + spec.glued and not set(arg[1:]) <= spec.shorts.keys():
            flags[arg] = None
        else:
            _bundle(arg[1:], spec, rest, flags, values)
    return Options(list(flags), values, operands)


def _names(spec: Spec) -> set[str]:
    return {name.rstrip("=") for name in spec.longs}


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
