"""Where a model should look first: places of the project that several sources name (seed 003 §5)."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ahp.system import environ, git
from ahp.system.errors import AhpError

SECONDS = 5.0  # for one question to git
_LOOKED_AT = 60  # paths, of which the gate is asked
_MOST, _MOST_LINES, _MOST_NAMES = 12, 5, 12
# A path or an identifier, and no plain word.
_NAME = re.compile(r"[A-Za-z_]\w*(?:[./-]+\w+)+|\w*_\w*|\w*[a-z][A-Z]\w*")


@dataclass(frozen=True)
class Place:
    """A file, and the first lines of it that matter."""

    path: str
    lines: list[int]


def retrieve(
    root: str, texts: Sequence[str], failed: Mapping[str, Sequence[int]], may_read: Callable[[str], bool]
) -> list[Place]:
    """At most 12 places for what `texts` speak of: what failed last, what they name, what holds most of their names.

    `failed` are lines by path. `may_read(path)` is the gate's word for each file. Outside a repository git finds
    nothing.
    """
    wanted = names(*texts)
    hits = search(root, wanted)
    places: list[Place] = []
    for path in list(dict.fromkeys([*failed, *(name for name in wanted if "." in name), *hits]))[:_LOOKED_AT]:
        if len(places) < _MOST and _is_inside(root, path) and may_read(path):
            lines = dict.fromkeys([*failed.get(path, ()), *hits.get(path, ())])
            if lines or path not in wanted:  # else the text itself says as much
                places.append(Place(path, list(lines)[:_MOST_LINES]))
    return places


def names(*texts: str) -> list[str]:
    """At most 12 names of files and of code in texts, of each of which the first 20,000 characters count."""
    found = (name for text in texts for name in _NAME.findall(text[:20_000]) if len(name) > 2)
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def search(root: str, wanted: Iterable[str]) -> dict[str, list[int]]:
    """The tracked files that hold one of the names, those that hold most of them first, with the lines.

    Nothing where git cannot tell, or too much is found.
    """
    patterns = [f"-e{name}" for name in wanted]
    grep = ("grep", "-z", "-n", "-o", "-I", "-F", "--no-color", "--no-column", "--full-name", "--no-recurse-submodules")
    try:
        repo = git.discover(root, environ.current())
        printed = repo.run(*grep, *patterns, ok=(0, 1), timeout=SECONDS) if patterns and repo.root else b""
    except AhpError:
        return {}
    held: dict[str, set[str]] = {}
    lines: dict[str, list[int]] = {}
    for line in printed.decode("utf-8", "surrogateescape").split("\n"):
        path, _, rest = line.partition("\0")
        number, _, name = rest.partition("\0")
        if name:
            held.setdefault(path, set()).add(name)
            lines.setdefault(path, []).append(int(number))
    return {path: lines[path] for path in sorted(lines, key=lambda one: (-len(held[one]), one))}


def _is_inside(root: str, path: str) -> bool:
    """Whether a path is a file of the project: no link, and nothing that leads outside."""
    place = os.path.join(os.path.realpath(root), os.path.normpath(path))
    return not path.startswith("..") and os.path.realpath(place) == place and os.path.isfile(place)
