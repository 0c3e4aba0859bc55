"""What finished steps hand on to later ones and to the answer: each step has a conversation of its own."""

from collections.abc import Iterable
from dataclasses import dataclass

from ahp.runner.run.events import Event


@dataclass(frozen=True)
class Finding:
    """What a finished step left: the `reason` its model gave with step_done, and its last result, `text` of `tool`."""

    reason: str
    tool: str
    text: str


def findings(events: Iterable[Event]) -> dict[str, Finding]:
    """The findings of a run by step id, from its events: a resumed run has the same ones."""
    found: dict[str, Finding] = {}
    last: dict[str, tuple[str, str]] = {}  # (tool, text) of each step's last result
    step = ""
    for event in events:
        kind = event["event"]
        beside = event.get("parallel")
        if kind == "run_start":
            found, last, step = {}, {}, ""
        elif kind == "plan_generated":
            last, step = {}, ""
        elif kind == "plan_step_start" and not beside and event["step_id"] != step:
            step = str(event["step_id"])
            last[step] = ("", "")
        elif kind == "tool_result" and event["code"] == "ok":
            last[str(event["step"]) if beside else step] = (str(event["tool"]), str(event["text"]))
        elif kind == "control_signal" and event["control"] == "step_done":
            name = str(event["step"]) if beside else step
            found[name] = Finding(str(event["reason"] or ""), *last.get(name, ("", "")))
    return found
