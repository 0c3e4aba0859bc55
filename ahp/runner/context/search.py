"""Where names stand in a project's files, as `git grep` finds them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ahp.system.errors import AhpError, Timeout
from ahp.system.git import GitError, Repository
from ahp.system.process import OutputLimit

_SECONDS = 5.0
_LINES_A_FILE = 20
_PLAIN = ("grep", "-z", "-n", "-I", "-F", "--no-color", "--no-column", "--full-name", "--no-recurse-submodules")


@dataclass
class Hits:
    """The lines of one file, from 1, that hold a name, and which names those are."""

    lines: list[int] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


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
    given = [part for name in names for part in ("-e", name)]
    try:
        return repo.run(*_PLAIN, "-m", str(_LINES_A_FILE), *given, ok=(0, 1), timeout=_SECONDS)
    except GitError:  # -m is new in git 2.38
        return repo.run(*_PLAIN, *given, ok=(0, 1), timeout=_SECONDS)


def _ranked(printed: bytes, names: Sequence[str]) -> dict[str, Hits]:
    found: dict[str, Hits] = {}
    for line in printed.decode("utf-8", "surrogateescape").split("\n"):
        parts = line.split("\0", 2)
        if len(parts) != 3 or not parts[1].isdigit():
            continue
        hits = found.get(parts[0])
        if hits is None:
            hits = found[parts[0]] = Hits()
        if len(hits.lines) < _LINES_A_FILE:
            hits.lines.append(int(parts[1]))
        hits.names.update([name for name in names if name in parts[2]])
    spread = {name: sum(name in hits.names for hits in found.values()) for name in names}
    rarity = {name: math.log(1 + len(found) / count) for name, count in spread.items() if count}

    def telling(path: str) -> tuple[float, int, str]:
        hits = found[path]
        return (-sum(rarity[name] for name in hits.names), -len(hits.lines), path)

    return {path: found[path] for path in sorted(found, key=telling)}
