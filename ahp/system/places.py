"""Where a command of the policy, or a call of an agent, runs: here, or in a place that a wing or another package adds.

A place (`ahp.places`) is a function `run`, or a module that has it, and may have `shell` and `save`.  [light]
"""

from ahp.system import process, wings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(place: str, argv: list[str], **options: "Any") -> process.Result:
    """Runs `argv` in a place: a function that takes what `process.capture` takes, and gives what it gives.

    Raises NotStarted where there is no such place; AhpError where it cannot be imported.
    """
    if place == "here":
        return process.capture(argv, **options)
    known = wings.added("places").get(place)
    if known is None:
        raise process.NotStarted(f"cannot start {argv[0]}: no installed package adds the place `{place}`")
    found = wings.load(known, "places")
    done: process.Result = getattr(found, "run", found)(argv, **options)
    return done


def shell(place: str, command: str, keys: "dict[str, list[str]]", root: str, session: str) -> str:
    """The text that a client's shell is to run so that `command` runs in a place, for the project at `root`.

    Raises AhpError with the reason where it cannot run there.
    """
    text: str = _of(place, "shell")(command, keys, root, session)
    return text


def save(place: str, root: str, session: str, call: str) -> None:
    """Has a place keep the work tree at `root` as it is before a `call`. Raises AhpError, OSError."""
    _of(place, "save")(root, session, call)


def _of(place: str, name: str) -> "Any":
    known = wings.added("places").get(place)
    found = getattr(wings.load(known, "places"), name, None) if known is not None else None
    if found is None:
        raise process.NotStarted(f"no installed package adds the place `{place}` for calls")
    return found
