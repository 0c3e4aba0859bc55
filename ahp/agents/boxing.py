"""A shell call that a rule has run in a box: its text is changed last, once, after it was allowed (docs/box.md)."""

from typing import TYPE_CHECKING, Any

from ahp.facts.registry import by_namespace
from ahp.gate.decide import box_of
from ahp.gate.hearing import hear
from ahp.policy.judge import Judge
from ahp.system import places
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ahp.agents.clients import Asked
    from ahp.protocol.event import Event
    from ahp.protocol.verdict import Verdict

    Settled = tuple[str, dict[str, Any], str | Exception]


def settle(event: "Event", judges: "Sequence[Judge]") -> "Settled | None":
    """Notes in the call whether it will run in a box (`tool.boxed`), for the rules that are for calls outside of one.

    Its command, the box that a rule wants for it, and the text that runs it there, or why none can; None where no rule
    wants a box for it. Raises AhpError where the rules cannot be asked.
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
    return command, box, found


def applied(verdict: "Verdict", asked: "Asked", root: str) -> tuple[dict[str, Any] | None, str]:
    """The arguments with which an allowed call runs, after the work tree was saved, and what is said of it; None where
    it may not run, with the sentence that refuses it.
    """
    call: dict[str, Any] = (verdict.modified.tool if verdict.modified is not None else None) or {"input": asked.input}
    arguments, command, told = dict(call.get("input") or {}), _command(call), [""]
    if verdict.snapshot is not None:
        try:
            places.save("box", root, asked.session, _command({"input": asked.input}) or asked.tool)
        except (AhpError, OSError) as error:
            must, so = "the work tree has to be saved before this, and cannot be", "so what it loses is lost"
            told.append(_otherwise(verdict.snapshot, verdict.snapshot["otherwise"], must, so, error))
    if verdict.box is not None:
        settled = asked.in_box
        found: str | Exception = AhpError("this call has no command of a shell")
        if command is not None:
            is_settled = settled is not None and settled[0] == command
            found = settled[2] if is_settled else _boxed(command, verdict.box["keys"], root, asked.session)
        if isinstance(found, str):
            arguments["command"] = found
        else:  # what was judged as boxed runs in a box, or not at all
            otherwise = "block" if settled is not None and isinstance(settled[2], str) else verdict.box["otherwise"]
            must, so = "it has to run in a box, and none can start", "so it runs without one"
            told.append(_otherwise(verdict.box, otherwise, must, so, found))
    refusals = [one for one in told if one.startswith("ahp blocked")]
    return (None, refusals[0]) if refusals else (arguments, "\n".join(filter(None, told)))


def _otherwise(wanted: dict[str, Any], otherwise: str, must: str, so: str, why: Exception) -> str:
    """What is said where it cannot be as a rule wants it."""
    if otherwise == "skip":
        return ""
    if otherwise == "prompt":
        return f"ahp note: {wanted['rule']}: {must}, {so}. {why}"
    return f"ahp blocked: {wanted['rule']}: {must}.\nWhy: {why}\nSee: ahp doctor"


def _boxed(command: str, keys: "dict[str, list[str]]", root: str, session: str) -> "str | Exception":
    try:
        return places.shell("box", command, keys, root, session)
    except (AhpError, OSError) as error:
        return error


def _command(call: dict[str, Any]) -> str | None:
    command = (call.get("input") or {}).get("command")
    return command if isinstance(command, str) else None
