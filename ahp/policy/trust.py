"""Which commands of a policy may run: those whose digest a person accepted in this clone (design §4).

A policy comes with a pull request; its commands must not run because somebody checked it out.
"""

from ahp.system import clock, files, jsontext
from ahp.system.digest import sha256, tagged
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.protocol.actor import Actor

_LIMIT = 1 << 20


class Untrusted(AhpError):
    """The command may not run, because nobody or only an agent accepted it."""


def digest(spec: "dict[str, Any]", read: "Callable[[str], bytes | None]") -> str:
    """`sha256:…` of everything that decides what a command does: argv, directory, parse, extract, timeout, and the
    content of each file of the repository that its argv names. `read` gives a file by its path from the root.
    """
    directory = spec.get("directory") or "."
    argv = spec.get("run") or spec["command"]
    named = {}
    for word in argv:
        for path in _candidates(word, directory):
            content = read(path)
            if content is not None:
                named[path] = sha256(content)
    parts = [argv, directory, spec.get("parse"), spec.get("extract"), spec["timeout"], named]
    return tagged(jsontext.encode(parts).encode())


def _candidates(word: str, directory: str) -> "list[str]":
    """The paths from the root that a word of an argv may name: itself, or what follows `--option=`."""
    found = []
    for text in (word, word.partition("=")[2]):
        parts = [part for part in (directory + "/" + text).split("/") if part not in ("", ".")]
        if text and not text.startswith("/") and ".." not in parts:
            found.append("/".join(parts))
    return found


def accepted(folder: str) -> "dict[str, dict[str, str]]":
    """Digest → {name, by, at} of the commands accepted in this clone. Raises AhpError for a damaged list."""
    content = files.read(folder + "/trust.json", _LIMIT)
    if content is None:
        return {}
    try:
        found = jsontext.decode(content.decode())
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise AhpError(f"{folder}/trust.json is damaged; delete it and run: ahp trust")
    return found


def is_trusted(folder: str, command_digest: str) -> bool:
    """Whether a person accepted the command with this digest."""
    return command_digest in accepted(folder)


def accept(folder: str, commands: "dict[str, str]", actor: "Actor") -> None:
    """Adds commands, by name with their digest, to those that may run. Raises Untrusted unless `actor` is a person."""
    if actor.kind != "human":
        raise Untrusted(f"only a person can trust a command; {actor} cannot. Ask one to run: ahp trust")
    files.make_dirs(folder)
    with files.Lock(folder + "/trust.lock", 2.0):
        known = accepted(folder)
        for name, command_digest in commands.items():
            known[command_digest] = {"name": name, "by": str(actor), "at": clock.iso(clock.now())}
        files.replace(folder + "/trust.json", jsontext.encode(known).encode())


def forget(folder: str) -> None:
    """Takes every acceptance back."""
    files.make_dirs(folder)
    with files.Lock(folder + "/trust.lock", 2.0):
        files.replace(folder + "/trust.json", b"{}")
