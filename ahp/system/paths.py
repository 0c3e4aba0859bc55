"""Where a path really leads.  [light]"""

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


def identity(path: str) -> "tuple[int, int] | None":
    """What tells a plain file with several names (hard links) from others; None for any other."""
    try:
        found = posix.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_nlink > 1 and found.st_mode & 0o170000 == 0o100000 else None


def names_in(folder: str) -> list[str]:
    """The paths of what lies in a folder; [] where it is none, or cannot be read."""
    try:
        return [f"{folder}/{name}" for name in posix.listdir(folder)]
    except OSError:
        return []
