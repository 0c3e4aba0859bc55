"""The protected files that a search finds and hands to a command which writes them: `find . -type f | xargs sed -i`."""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice

from ahp.shell.search import Search
from ahp.system import files
from ahp.system.errors import AhpError

_MOST = 400  # files below one protected folder
_LARGEST = 1 << 20  # bytes of one that is looked into


def found(search: Search, folder: str, places: "Iterable[tuple[str, str]]", root: str) -> list[tuple[str, str]]:
    """(kind, path) of the protected files that are there and that a search below `folder` finds, one for each folder at
    its top. `places` are what is protected; those outside of the root no search from inside it finds.
    """
    told: dict[str, tuple[str, str]] = {}
    start = "" if folder in (".", "") else folder.rstrip("/") + "/"
    for kind, place in places:
        top = place[len(start) :].partition("/")[0] if place.startswith(start) else ""
        is_packed = search.word != "" and place.endswith("/objects")  # what is in them is compressed
        if top and top not in told and not is_packed and not place.startswith(("/", "~", "..")):
            for path in islice(_below(f"{root}/{place}"), _MOST):
                if _is_taken(search, os.path.relpath(path, f"{root}/{start}")) and _holds(search, path):
                    told[top] = (kind, start + top)
                    break
    return list(told.values())


def _below(place: str) -> Iterator[str]:
    if os.path.isfile(place):
        yield place
    for at, _, names in os.walk(place):
        for name in names:
            yield f"{at}/{name}"


def _is_taken(search: Search, path: str) -> bool:
    """Whether its name passes all filters. An expression that cannot be read leaves nothing out."""
    printed = search.prefix + path
    parts = path.split("/")
    above = [search.prefix + "/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    takes = [text for kind, text in search.filters if kind == "take"]
    if takes and not any(fnmatchcase(way, text) for text in takes for way in (printed, f"/{path}")):
        return False
    for kind, text in search.filters:
        plain = text.removesuffix("/")
        if kind == "name" and fnmatchcase(parts[-1], plain):
            return False
        if kind == "folder" and any(fnmatchcase(part, plain) for part in parts):
            return False
        if kind == "path" and fnmatchcase(printed, text):
            return False
        if kind == "prune" and any(fnmatchcase(one, plain) for one in above):
            return False
        if kind in ("keeps", "drops"):
            try:
                is_hit = re.search(text, printed) is not None
            except re.error:
                continue
            if is_hit == (kind == "drops"):
                return False
    return True


def _holds(search: Search, path: str) -> bool:
    """Whether the file has the word in it; one that cannot be read, or is large, may have it."""
    if not search.word:
        return True
    try:
        data = files.read(path, _LARGEST)
    except AhpError:
        return True
    text, word = (data or b""), search.word.encode("utf-8", "surrogateescape")
    return word.lower() in text.lower() if search.folds else word in text
