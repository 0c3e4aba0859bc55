"""Where a command of the policy runs: here, or in a place that a wing or another package adds (`ahp.places`)."""

from ahp.system import process, wings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HERE = "here"


def run(place: str, argv: list[str], **options: "Any") -> process.Result:
    """Runs `argv` in a place: a function that takes what `process.capture` takes, and gives what it gives.

    Raises NotStarted where there is no such place; AhpError where it cannot be imported.
    """
    if place == HERE:
        return process.capture(argv, **options)
    known = wings.added("places").get(place)
    if known is None:
        raise process.NotStarted(f"cannot start {argv[0]}: no installed package adds the place `{place}`")
    done: process.Result = wings.load(known, "places")(argv, **options)
    return done
