"""The protected files that a search finds and hands to a command which writes them: `find . -type f | xargs sed -i`."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from itertools import islice

from ahp.agents.shell.search import Search
from ahp.conditions.globs import PatternError
from ahp.conditions.regexes import regex
from ahp.system import files
from ahp.system.errors import AhpError

_MOST = 400  # files below one protected folder
_MOST_FILTERS = 100
_MOST_BYTES = 32 << 20  # that one search looks into, ahp's own byte code among them


def found(
    search: Search,
    folder: str,
    places: Iterable[tuple[str, str]],
    root: str,
    is_free: Callable[[str, str, str], bool],
) -> list[tuple[str, str]]:
    """(kind, path) of the protected files that are there and that a search below `folder` finds, one for each folder at
    its top. `places` are what is protected; those outside of the root no search from inside it finds. `is_free` says
    of a kind, a path and its place whether it may be written all the same.
    """
    told: dict[str, tuple[str, str]] = {}
    is_taken, holds = _taker(search), _holder(search)
    start = "" if folder in (".", "") else folder.rstrip("/") + "/"
    for kind, place in places:
        top = place[len(start) :].partition("/")[0] if place.startswith(start) else ""
        is_packed = search.word != "" and place.endswith("/objects")  # what is in them is compressed
        if top and top not in told and not is_packed and not place.startswith(("/", "~", "..")):
            for path in islice(_below(f"{root}/{place}"), _MOST):
                taken = is_taken(os.path.relpath(path, f"{root}/{start}"))
                if taken and not is_free(kind, os.path.relpath(path, root), place) and holds(path):
                    told[top] = (kind, start + top)
                    break
    return list(told.values())


def _below(place: str) -> Iterator[str]:
    if os.path.isfile(place):
        yield place
    for at, _, names in os.walk(place):
        for name in names:
            yield f"{at}/{name}"


def _taker(search: Search) -> Callable[[str], bool]:
    """A test whether the name of a file passes all filters. An expression that cannot be read leaves nothing out, nor
    do so many that to read them would take long.
    """
    if len(search.filters) > _MOST_FILTERS:
        return lambda path: True
    tests = [(kind, test) for kind, text in search.filters if (test := _test(kind, text)) is not None]
    takes = [test for kind, test in tests if kind == "take"]

    def taken(path: str) -> bool:
        printed = search.prefix + path
        parts = path.split("/")
        if takes and not any(test(way) for test in takes for way in (printed, f"/{path}")):
            return False
        about = {
            "name": parts[-1:],
            "folder": parts,
            "path": [printed],
            "prune": [search.prefix + "/".join(parts[:count]) for count in range(1, len(parts) + 1)],
            "drops": [printed],
        }
        return not any(
            not test(printed) if kind == "keeps" else any(map(test, about.get(kind, ()))) for kind, test in tests
        )

    return taken


def _test(kind: str, text: str) -> "Callable[[str], object] | None":
    """Whether a text matches one filter; None where it cannot be read. The words are an agent's: `find` and a shell
    have patterns of file names that match in bounded time, a grep's expressions are RE2's to judge.
    """
    if kind in ("keeps", "drops"):
        try:
            return regex(text)
        except PatternError:
            return None
    return re.compile(translate(text if kind in ("take", "path") else text.removesuffix("/"))).match


def _holder(search: Search) -> Callable[[str], bool]:
    """A test whether a file has the word in it; one that cannot be read, or that no bytes are left for, may have it."""
    word, left = search.word.encode("utf-8", "surrogateescape"), _MOST_BYTES

    def holds(path: str) -> bool:
        nonlocal left
        if not word:
            return True
        try:
            text = files.read(path, left) or b""
        except AhpError:
            return True
        left -= len(text)
        return word.lower() in text.lower() if search.folds else word in text

    return holds
