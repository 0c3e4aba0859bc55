"""A shell call that a rule has run in a box: its text is changed last, once, after it was allowed (docs/box.md)."""

from typing import TYPE_CHECKING, Any

from ahp.system import places
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    from ahp.protocol.verdict import Verdict


def moved(verdict: "Verdict", call: dict[str, Any], root: str, session: str) -> tuple[dict[str, Any] | None, str]:
    """The arguments of an allowed call that runs in a box, and "".

    Where it cannot: None, with the sentence that refuses it; or the arguments as they are, with one that says so, or
    with "" where the rule says `skip`.
    """
    box, arguments = verdict.box, dict(call.get("input") or {})
    assert box is not None
    command = arguments.get("command")
    if not isinstance(command, str):
        why = "this call has no command of a shell"
    else:
        try:
            return {**arguments, "command": places.shell("box", command, box["keys"], root, session)}, ""
        except (AhpError, OSError) as error:
            why = str(error)
    if box["otherwise"] == "skip":
        return arguments, ""
    rule = f"{box['rule']}: it has to run in a box"
    if box["otherwise"] == "prompt":
        return arguments, f"ahp note: {rule}, and none can start, so it runs without one. {why}"
    return None, f"ahp blocked: {rule}, and none can start.\nWhy: {why}\nSee: ahp doctor"
