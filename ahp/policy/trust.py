"""Which commands of a policy may run: those whose digest a person accepted in this clone (design §4).

A policy comes with a pull request; its commands must not run because somebody checked it out.
"""

from ahp.system import clock, files, jsontext
from ahp.system.digest import sha256, tagged
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ahp.facts.registry import Command
    from ahp.protocol.event import Actor, Event

_LIMIT = 1 << 20
_NAMED_LIMIT = 64 << 20


class Untrusted(AhpError):
    """The command may not run, because nobody or only an agent accepted it."""


def digest(command: "Command", read: "Callable[[str], bytes | None]") -> str:
    """`sha256:…` of everything that decides what a command does: argv, directory, parse, extract, timeout, and the
    content of each file of the repository that its argv names. `read` gives a file by its path from the root.
    """
    named = {}
    for word in command.run:
        for path in _candidates(word, command.directory):
            content = read(path)
            if content is not None:
                named[path] = sha256(content)
    extract = command.extract
    taken = None if extract is None else {name: {"value": e.value, "type": e.type} for name, e in extract.items()}
    parts = [command.run, command.directory, command.parse, taken, command.timeout, named]
    parts += [command.place] if command.place != "here" else []  # what was accepted before there were places stays so
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


def checker(event: "Event") -> "Callable[[Command], bool]":
    """Asks of a command whether it may run in the event's work tree; the list is read once, at the first."""
    known: list[dict[str, dict[str, str]]] = []

    def trusted(command: "Command") -> bool:
        if not known:
            known.append(accepted(event.journal))
        return digest(command, in_folder(event.root)) in known[0]

    return trusted


def in_folder(root: str) -> "Callable[[str], bytes | None]":
    """Reads a file below `root`; None for what is no regular file of readable size."""

    def read(path: str) -> bytes | None:
        try:
            return files.read(root + "/" + path, _NAMED_LIMIT)
        except AhpError:
            return None

    return read


def accept(folder: str, commands: "dict[str, str]", actor: "Actor") -> None:
    """Adds commands, by name with their digest, to those that may run. Raises Untrusted unless `actor` is a person."""
    refuse_others(actor)
    files.make_dirs(folder)
    with files.Lock(folder + "/trust.lock", 2.0):
        known = accepted(folder)
        for name, command_digest in commands.items():
            known[command_digest] = {"name": name, "by": str(actor), "at": clock.iso(clock.now())}
        files.replace(folder + "/trust.json", jsontext.encode(known).encode())


def refuse_others(actor: "Actor") -> None:
    """Raises Untrusted unless `actor` is a person."""
    if actor.kind != "human":
        raise Untrusted(f"only a person can trust a command; {actor} cannot")


def forget(folder: str) -> None:
    """Takes every acceptance back."""
    files.make_dirs(folder)
    with files.Lock(folder + "/trust.lock", 2.0):
        files.replace(folder + "/trust.json", b"{}")
