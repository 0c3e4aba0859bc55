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
    step, tool, text = "", "", ""
    for event in events:
        kind = event["event"]
        if kind == "run_start":
            found, step = {}, ""
        elif kind == "plan_generated":
            step = ""
        elif kind == "plan_step_start" and event["step_id"] != step:
            step, tool, text = str(event["step_id"]), "", ""
        elif kind == "tool_result" and event["code"] == "ok":
            tool, text = str(event["tool"]), str(event["text"])
        elif kind == "control_signal" and event["control"] == "step_done":
            found[step] = Finding(str(event["reason"] or ""), tool, text)
    return found
