"""The shell scripts of the disk that a tool call runs: what they do counts as if the call said it.

A script that HEAD has as it lies there is the project's own, and not read. Of the others only what they surely do is
told: what is known only when they run was no question before, and is none now.
"""

from ahp.facts.call_paths import joined, paths_of, place_of
from ahp.shell import commands
from ahp.shell.usage import SHELLS
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.paths import real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event

_LIMIT = 64 << 10  # bytes of a script
_MOST = 8  # scripts of one call, those that run each other included


def follow(event: "Event") -> None:
    """Adds to the commands of the event's tool call those of the scripts that it runs. Raises GitError."""
    call = event.tool
    if call is None:
        return
    noted: Any = call.get("scripts", [])
    waiting: list[tuple[str, str, bool]] = list(noted)
    start, listed = str(call.get("folder", "")), call.get("commands")
    found: list[dict[str, Any]] = []
    read: set[str] = set()
    while waiting and len(read) < _MOST:
        path, folder, is_named = waiting.pop(0)
        place = real(place_of(path, event.root, start))
        if place in read or (text := _text(event, place, is_named)) is None:
            continue
        read.add(place)
        for one in commands.read(text, event.env):
            record = one.as_fact()
            record["folder"] = joined(folder, one.folder)
            waiting += [(joined(folder, other), joined(folder, there), called) for other, there, called in one.scripts]
            found.append(_surely(record, event.root, joined(start, folder)))
    if found and isinstance(listed, list):
        listed += [one for one in found if one["program"]]
        writes = [path for one in found for path in one["writes"]]
        for name in ("writes", "paths"):
            told: Any = call.get(name)
            call[name] = list(dict.fromkeys([*told, *writes]))


def _text(event: "Event", place: str, is_named: bool) -> str | None:
    """The script at `place`; None of what is none, is too large, or is the project's own. `is_named`: a shell is told
    to run it, so that it needs no line that names one.
    """
    try:
        data = files.read(place, _LIMIT)
    except AhpError:
        return None
    if not data or b"\0" in data or _is_as_committed(event, place, data):
        return None
    first = data.split(b"\n", 1)[0].decode("utf-8", "replace")
    shell = first.replace("/", " ").split()
    is_shells = not SHELLS.isdisjoint(shell) if first.startswith("#!") else is_named
    return data.decode("utf-8", "replace") if is_shells else None


def _is_as_committed(event: "Event", place: str, data: bytes) -> bool:
    root = real(event.root)
    if event.repo is None or not place.startswith(f"{root}/"):
        return False
    name = f"HEAD:{place[len(root) + 1 :]}"
    return event.repo.run("cat-file", "blob", name, ok=(0, 128)) == data


def _surely(record: "dict[str, Any]", root: str, folder: str) -> "dict[str, Any]":
    """The record with what is sure of it alone."""
    writes = [path for path in record["writes"] if "*" not in path]
    record.update(writes=paths_of(writes, root, folder), paths=paths_of(writes, root, folder), may_write=[])
    record.update(unknown=[], unresolved=False, unresolved_at=[])
    return record
