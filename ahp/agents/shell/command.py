"""One simple command of a shell, read; and the programs that only show what they are told to read.  [light]"""

from ahp.system.plain import Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTS = (
    *("args", "assignments", "config", "flags", "may_write", "operands", "paths", "redirects", "unknown"),
    *("unresolved_at", "writes"),
)


class Command(Plain):
    """One simple command. Texts are as the script has them, unknown parts included; paths have `**` for those.

    `program` is a base name; "" for a bare assignment or redirect, or when it is not known. `folder` is where the
    `cd`s before it, and `git -C`, lead; "" where the script starts. `writes` are the files it is redirected to,
    `may_write` what its words may name. `unknown` are its words that are known only when it runs, as the script has
    them; `does_nothing` says that it shows help or a version, or what it would do. `bare` says that it is called by its
    name. `stdin` is a text that it reads, where that stands in the script; `piped` that something else comes in.
    """

    __slots__ = (*_LISTS, "bare", "does_nothing", "folder", "piped", "program", "stdin", "verb")

    def __init__(self, program: str = "", *, unresolved_at: list[str] | None = None, folder: str = "") -> None:
        for name in _LISTS:
            setattr(self, name, [])
        self.program, self.folder, self.unresolved_at = program, folder, unresolved_at or []
        self.does_nothing, self.bare, self.piped = False, True, False
        self.verb = self.stdin = ""

    args: list[str]
    assignments: list[str]
    config: list[str]
    flags: list[str]
    may_write: list[str]
    operands: list[str]
    paths: list[str]
    redirects: list[str]
    unknown: list[str]
    unresolved_at: list[str]
    writes: list[str]

    @property
    def unresolved(self) -> bool:
        """Whether a part of it cannot be known before it runs."""
        return bool(self.unknown or {"program", "path"} & set(self.unresolved_at))

    def as_fact(self) -> dict[str, object]:
        """The record that conditions read as an item of `tool.commands` (design §6)."""
        return {name: getattr(self, name) for name in (*self.__slots__, "unresolved")}


def unknown() -> Command:
    """What cannot be read at all."""
    return Command(unresolved_at=["program"])


# Programs that only show what they are told to read: their words may name what is guarded. With their options; `*` for
# any, where none of them writes or runs a program.
_TABLE = """
    cat * : cd * : cmp * : cut * : diff * : du * : echo * : egrep * : fgrep * : grep * : head * : less : ls *
    : printf : stat * : tail * : test * : wc * : [ * : [[ * : type * : which *
    : uniq -c -d -u -i
    : find -name -iname -path -ipath -type -maxdepth -mindepth -not -o -size -mtime -newer -empty -print -print0 -prune
    : rg -n -i -l -w -F -e -g -t -A -B -C -c -o -v -s -S -U --files --hidden --glob --type --no-ignore
    : sort -n -r -u -k -t -f -h -V -b -d -g -M -z -c
"""
_OPTIONS = {words[0]: frozenset(words[1:]) for words in (line.split() for line in _TABLE.split(":"))}


def is_listed(program: str) -> bool:
    """Whether a program is one of them, whatever its options."""
    return program in _OPTIONS


def reads(program: str, args: "Sequence[str]") -> bool:
    """Whether a program is one of them, called with no option that makes it more."""
    options = _OPTIONS.get(program)
    if options is None or "*" in options:
        return options is not None
    behind = args[: args.index("--")] if "--" in args else args
    return all(_is_option(arg, options) for arg in behind if arg.startswith("-") and arg != "-")


def _is_option(arg: str, options: frozenset[str]) -> bool:
    name = arg.partition("=")[0]
    letters = [f"-{letter}" for letter in arg[1:] if not letter.isdigit()]
    return name in options or (not arg.startswith("--") and options.issuperset(letters))
