"""Programs that only show what they are told to read: their words may name what is guarded.  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# With their options; `*` for any, where none of them writes or runs a program.
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
