"""A shell call that a rule has run in a box: its text is changed last, once, after it was allowed (docs/box.md)."""

from typing import TYPE_CHECKING, Any

from ahp.facts.registry import by_namespace
from ahp.gate.decide import box_of
from ahp.gate.hearing import hear
from ahp.policy.judge import Judge
from ahp.system import places
from ahp.system.errors import AhpError
from ahp.system.plain import Plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ahp.agents.clients import Asked
    from ahp.protocol.event import Event
    from ahp.protocol.verdict import Verdict


class Settled(Plain):
    """The `command` of a call, the `box` that a rule wants for it, and the text that runs it there, or why none can."""

    __slots__ = ("box", "command", "found")

    def __init__(self, command: str, box: dict[str, Any], found: "str | Exception") -> None:
        self.command, self.box, self.found = command, box, found


def settle(event: "Event", judges: "Sequence[Judge]") -> Settled | None:
    """Notes in the call whether it will run in a box (`tool.boxed`), for the rules that are for calls outside of one.

    None where no rule wants a box for it. Raises AhpError where the rules cannot be asked.
    """
    asked = []
    for judge in judges:
        rules = [rule for rule in judge.program.rules if (rule.box or {}).get("type") == "sandbox"]
        reads = by_namespace(sorted({path for rule in rules for path in (rule.box or {})["reads"]}))
        asked.append(Judge(judge.program.but(rules=rules, reads=reads), judge.origin, judge.tree))
    call = event.tool or {}
    box, command = box_of(hear(asked, event), "sandbox"), _command(call)
    if box is None or command is None:
        return None
    found = _boxed(command, box["keys"], event.root, event.session or "")
    call["boxed"] = isinstance(found, str)
    return Settled(command, box, found)


def moved(
    verdict: "Verdict", call: dict[str, Any], root: str, session: str, settled: Settled | None
) -> tuple[dict[str, Any] | None, str]:
    """The arguments of an allowed call that runs in a box, and "".

    Where it cannot: None, with the sentence that refuses it; or the arguments as they are, with one that says so, or
    with "" where the rule says `skip`. `settled` is what `settle` found, of this command or of another.
    """
    box, arguments, command = verdict.box, dict(call.get("input") or {}), _command(call)
    assert box is not None
    why: str | Exception = "this call has no command of a shell"
    if command is not None:
        is_settled = settled is not None and settled.command == command
        found = settled.found if settled is not None and is_settled else _boxed(command, box["keys"], root, session)
        if isinstance(found, str):
            return {**arguments, "command": found}, ""
        why = found
    # What was judged as boxed runs in a box, or not at all.
    otherwise = "block" if settled is not None and isinstance(settled.found, str) else box["otherwise"]
    if otherwise == "skip":
        return arguments, ""
    rule = f"{box['rule']}: it has to run in a box"
    if otherwise == "prompt":
        return arguments, f"ahp note: {rule}, and none can start, so it runs without one. {why}"
    return None, f"ahp blocked: {rule}, and none can start.\nWhy: {why}\nSee: ahp doctor"


def saved(verdict: "Verdict", asked: "Asked", root: str) -> tuple[bool, str]:
    """Saves the work tree before a call that is allowed: whether the call may run, and what is said where it cannot."""
    told = verdict.snapshot
    assert told is not None
    try:
        places.save("box", root, asked.session, _command({"input": asked.input}) or asked.tool)
        return True, ""
    except (AhpError, OSError) as error:
        why = str(error)
    if told["otherwise"] == "skip":
        return True, ""
    rule = f"{told['rule']}: the work tree has to be saved before this"
    if told["otherwise"] == "prompt":
        return True, f"ahp note: {rule}, and cannot be, so what it loses is lost. {why}"
    return False, f"ahp blocked: {rule}, and cannot be.\nWhy: {why}\nSee: ahp doctor"


def _boxed(command: str, keys: "dict[str, list[str]]", root: str, session: str) -> "str | Exception":
    try:
        return places.shell("box", command, keys, root, session)
    except (AhpError, OSError) as error:
        return error


def _command(call: dict[str, Any]) -> str | None:
    command = (call.get("input") or {}).get("command")
    return command if isinstance(command, str) else None
