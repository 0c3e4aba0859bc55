"""The scripts of the disk that a tool call runs, in any language that is read: what they do counts as if the call said
it.

A script that HEAD has as it lies there is the project's own, and not read. Of the others only what they surely do is
told: what is known only when they run was no question before, and is none now.
"""

from ahp.agents.calls.call_paths import joined, paths_of, place_of
from ahp.agents.shell import commands, programs
from ahp.shell.names import SHELLS
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.paths import is_directory, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.agents.shell.command import Command
    from ahp.protocol.event import Event

_LIMIT = 64 << 10  # bytes of the scripts of one call
_MOST = 16  # of them, those that run each other included


def follow(event: "Event") -> None:
    """Adds to the commands of the event's tool call those of the scripts that it runs. Raises GitError."""
    call = event.tool
    if call is None:
        return
    noted: Any = call.get("scripts", [])
    waiting: list[tuple[str, str, str, tuple[str, ...]]] = list(noted)
    start, listed = str(call.get("folder", "")), call.get("commands")
    found: list[dict[str, Any]] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    left, looked = _LIMIT, 0
    while waiting and looked < _MOST:
        path, folder, program, given = waiting.pop(0)
        place = real(place_of(path, event.root, start))
        data = b"" if (place, given) in seen else _data(place, left)
        seen.add((place, given))
        program = _runs_it(path, data, program)
        if not data or not program:
            continue
        looked += 1
        if _is_as_committed(event, place, data):
            continue
        left -= len(data)
        for one in _commands(event, data.decode("utf-8", "replace"), program, given):
            record = one.as_fact()
            record["folder"] = joined(folder, one.folder)
            waiting += [
                (joined(folder, other), joined(folder, there), named, more) for other, there, named, more in one.scripts
            ]
            found.append(_surely(record, event.root, joined(start, folder), given))
    if found and isinstance(listed, list):
        listed += [one for one in found if one["program"]]
        writes = [path for one in found for path in one["writes"]]
        for name in ("writes", "paths"):
            told_of: Any = call.get(name)
            call[name] = list(dict.fromkeys([*told_of, *writes]))


def _data(place: str, limit: int) -> bytes:
    """What is in a text file; b"" of what is none, or larger than `limit` bytes."""
    try:
        data = files.read(place, limit) or b""
    except AhpError:
        return b""
    return b"" if b"\0" in data else data


def _commands(event: "Event", text: str, program: str, given: tuple[str, ...]) -> "list[Command]":
    """What a script does that is run with the arguments `given`."""
    if program in SHELLS:
        return commands.read(text, event.env, () if "shift" in text else given)
    return commands.read_program(program, text, given)


def _runs_it(path: str, data: bytes, program: str) -> str:
    """The program that runs a script: `program`, else the one in its first line; "" where nobody here reads it."""
    first = data.split(b"\n", 1)[0].decode("utf-8", "replace")
    names = [programs.named(word, word) for word in first.replace("/", " ").split()] if first.startswith("#!") else []
    shell = next((name for name in names if name in SHELLS), "")
    if program in SHELLS:  # to it the first line is a comment
        return shell or program
    named = program or shell or next(filter(_is_interpreter, names), "")
    return named or ("python" if path.endswith(".py") else "")  # `uv run x.py`


def _is_interpreter(name: str) -> bool:
    listed = programs.of(name)
    return listed is not None and "RUN" in listed.operands


def _is_as_committed(event: "Event", place: str, data: bytes) -> bool:
    root = real(event.root)
    if event.repo is None or not place.startswith(f"{root}/"):
        return False
    name = f"HEAD:{place[len(root) + 1 :]}"
    return event.repo.run("cat-file", "blob", name, ok=(0, 128)) == data


def _surely(record: "dict[str, Any]", root: str, folder: str, given: tuple[str, ...]) -> "dict[str, Any]":
    """The record with what is sure of it alone, and those of the arguments `given` that it may write."""
    writes = paths_of([path for path in record["writes"] if "*" not in path], root, folder)
    told = [path for path in record["may_write"] if path in given]
    may_write = paths_of([path for path in told if not is_directory(place_of(path, root, folder))], root, folder)
    record.update(writes=writes, paths=writes, may_write=may_write)
    record.update(unknown=[], unresolved=False, unresolved_at=[])
    return record
