"""Paths of a tool call: as they are written, where they lie, and where links lead.  [light]"""

from ahp.system.paths import real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACES = {"cwd": "", "root": "/"}


def inside(path: str, root: str, folder: str = "") -> str:
    """`path` without `.`, `..` and doubled slashes, relative to `root` when it lies there; `folder` is where it starts.

    By its letters alone: links are not followed.
    """
    whole = _whole(path, root, folder)
    parts: list[str] = []
    for part in whole.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part == ".." and whole.startswith("/"):
            continue
        elif part not in ("", "."):
            parts.append(part)
    plain = ("/" if whole.startswith("/") else "") + "/".join(parts)
    if root and (plain + "/").startswith(root.rstrip("/") + "/"):
        plain = plain[len(root.rstrip("/")) + 1 :]
    return plain or "."


def _whole(path: str, root: str, folder: str) -> str:
    """`path` as seen from `folder` in `root`, unless it is absolute."""
    whole = joined(folder, path)
    return f"{root}/{whole}" if root and not whole.startswith("/") else whole


def is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder, or lies in it, by its letters."""
    return (path.rstrip("/") + "/").startswith(folder.rstrip("/") + "/")


def joined(folder: str, path: str) -> str:
    """`path` behind the folder that it starts from."""
    return path if path.startswith("/") else "/".join([part for part in (folder, path) if part])


def paths_of(paths: "Sequence[str]", root: str, folder: str = "", checkout: str = "") -> list[str]:
    """Each path as it is written, and where it leads when links make that another place."""
    found = []
    top = real(root) if root and paths else ""
    for path in paths:
        path = _own(path)
        found.append(inside(path, root, folder))
        if root:
            found.append(inside(real(_whole(path, root, folder)), top))
        if checkout:
            found.append(_led_to(_whole(path, root, folder), root, checkout))
    return list(dict.fromkeys(found))


def _own(path: str) -> str:
    """The path without `/proc/PID/cwd` or `/proc/PID/root` before it: the process may be any, ours among them."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not path.startswith("/") or parts[:1] != ["proc"]:
        return path
    at = next((number for number in range(2, min(len(parts), 5)) if parts[number] in _PLACES), 0)
    return _PLACES[parts[at]] + "/".join(parts[at + 1 :]) if at else path


def _led_to(place: str, root: str, checkout: str) -> str:
    """Where `place` leads in the checkout, under the name that it has in the root.

    Other checkouts lie beside this one, and some of its links lead back into the root.
    """
    beside = real(checkout).rpartition("/")[0] + "/"
    told = inside(real(in_checkout(place, root, checkout)), real(checkout))
    if told.startswith(beside):
        told = told[len(beside) :].partition("/")[2] or "."
    return inside(told, real(root))


def in_checkout(place: str, root: str, checkout: str) -> str:
    """The path in `checkout` of what has the path `place` in `root`; what lies elsewhere stays."""
    top = root.rstrip("/")
    return checkout + place[len(top) :] if checkout and is_in(place, top) else place


def place_of(path: str, root: str, folder: str = "") -> str:
    """Where a path of a call that runs in `folder` of `root` lies on the disk."""
    return _whole(_own(path), root, folder)
