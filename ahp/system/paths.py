"""Where a path really leads.  Light: without os."""

import posix

_MOST_LINKS = 40  # as Linux has it: beyond, links go in a circle


def real(path: str) -> str:
    """The absolute `path` with every link in it followed; what does not exist stays as it is written.

    `..` goes to the parent of where the links before it lead, as the kernel does it.
    """
    left = path.split("/")[::-1]
    place = ""
    links = 0
    while left:
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            place = place.rpartition("/")[0]
            continue
        here = f"{place}/{part}"
        target = _link(here) if links < _MOST_LINKS else None
        if target is None:
            place = here
            continue
        links += 1
        place = "" if target.startswith("/") else place
        left += target.split("/")[::-1]
    return place or "/"


def _link(path: str) -> str | None:
    """Where the link `path` points, None when it is none or cannot be looked at."""
    try:
        return posix.readlink(path)
    except (OSError, ValueError):
        return None
