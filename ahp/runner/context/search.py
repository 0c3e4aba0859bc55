"""Where names stand in a project's files, as `git grep` finds them."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from ahp.system.errors import AhpError, OutputLimit, Timeout
from ahp.system.git import GitError, Repository

SECONDS = 5.0  # for one question to git
_LINES_A_FILE = 20
# Only what matched is printed, below its file's name: what Python has to read is short, however long the lines are.
_PRINTED = ("-z", "-n", "-o", "--heading", "--no-color", "--no-column", "--full-name")
_GREP = ("grep", *_PRINTED, "-I", "--no-recurse-submodules")
_AT_MOST = ("-m", str(_LINES_A_FILE))
# One pattern of all names: git tries several, even fixed ones, line after line, which takes three times as long. Not
# every git is built with Perl's patterns, and `-m` is new in git 2.38.
_WAYS = (("-P", *_AT_MOST), ("-E", *_AT_MOST), ("-E",))
_SPECIAL = re.compile(r"[][\\.(){}*+?|^$]")
_HEADING = re.compile(r"^([^\0\n]+)\n", re.MULTILINE)
_LINE = re.compile(r"^(\d+)\0", re.MULTILINE)
_MATCH = re.compile(r"\0(.*)")


class Hits:
    """What one file holds of the names; `printed` is a line `NUMBER NUL NAME` for each place."""

    def __init__(self, names: set[str], printed: str) -> None:
        self.names = names
        self.places = printed.count("\n")
        self._printed = printed

    @property
    def lines(self) -> list[int]:
        """The lines that hold a name, from 1."""
        found = dict.fromkeys(int(line) for line in _LINE.findall(self._printed))
        return list(found)[:_LINES_A_FILE]


def search(repo: Repository, names: Sequence[str]) -> dict[str, Hits]:
    """The tracked files that hold one of `names`, the most telling first: rare names weigh more, and more of them.

    Nothing where git cannot tell. A name that is nearly everywhere, so that too much is found, is left out.
    """
    wanted = list(names)
    while wanted:
        try:
            return _ranked(_grep(repo, wanted), wanted)
        except OutputLimit:
            wanted = wanted[: len(wanted) // 2]
        except (AhpError, Timeout):
            break
    return {}


def _grep(repo: Repository, names: Sequence[str]) -> bytes:
    # Of alternatives the first that fits is printed: the longest names go first.
    pattern = "|".join(_SPECIAL.sub(r"\\\g<0>", name) for name in sorted(names, key=len, reverse=True))
    for way in _WAYS[:-1]:
        try:
            return repo.run(*_GREP, *way, "-e", pattern, ok=(0, 1), timeout=SECONDS)
        except GitError:
            continue
    return repo.run(*_GREP, *_WAYS[-1], "-e", pattern, ok=(0, 1), timeout=SECONDS)


def _ranked(printed: bytes, names: Sequence[str]) -> dict[str, Hits]:
    found: dict[str, Hits] = {}
    _, *parts = _HEADING.split(printed.decode("utf-8", "surrogateescape"))
    # One name may stand inside another: the longer one is what is printed.
    inside = {match: {name for name in names if name in match} for match in names}
    for path, lines in zip(parts[::2], parts[1::2], strict=True):
        held = [inside[match] for match in set(_MATCH.findall(lines)) if match in inside]
        if held:
            found[path] = Hits(held[0].union(*held[1:]), lines)
    spread = Counter(name for hits in found.values() for name in hits.names)
    rarity = {name: math.log(1 + len(found) / count) for name, count in spread.items()}

    def telling(path: str) -> tuple[float, int, str]:
        hits = found[path]
        return (-sum(rarity[name] for name in hits.names), -hits.places, path)

    return {path: found[path] for path in sorted(found, key=telling)}
