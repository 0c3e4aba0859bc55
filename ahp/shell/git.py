"""git's command line: its verb, options and operands, by `git.txt` (git(1))."""

from ahp.shell import options, synopsis
from ahp.shell.synopsis import Synopsis
from ahp.system import ready
from ahp.system.plain import Plain

TABLE = __file__.rpartition("/")[0] + "/git.txt"
_known: dict[str, Synopsis | None] = {}


class GitCommand(Plain):
    """One command line of git: `flags` and `values` of git and of the verb, in order; `operands` of the verb."""

    __slots__ = ("flags", "operands", "values", "verb")

    def __init__(self, verb: str, flags: list[str], values: list[tuple[str, str]], operands: list[str]) -> None:
        self.verb, self.flags, self.values, self.operands = verb, flags, values, operands


def synopsis_of(name: str) -> Synopsis | None:
    """The synopsis of `git`, or of a verb (`git.commit`); None for a verb that is not git's own."""
    if name not in _known:
        line = ready.made("git", lambda: synopsis.lines(TABLE)).get(name)
        _known[name] = None if line is None else synopsis.parsed(line, negates=name != "git")
    return _known[name]


def read(words: list[str]) -> GitCommand:
    """Reads the words behind `git`."""
    top = synopsis_of("git")
    assert top is not None
    before = options.parse(words, top.spec, permute=False)
    verb, *rest = before.operands or [""]
    found = synopsis_of(f"git.{verb}")
    after = options.parse(rest, found.spec if found else options.ANY, found is None or found.permutes)
    flags = list(dict.fromkeys([*before.flags, *after.flags]))
    return GitCommand(verb, flags, [*before.values, *after.values], after.operands)
