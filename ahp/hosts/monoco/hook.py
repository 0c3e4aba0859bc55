"""What Monoco's own hooks are told: the adapter in its process asks `ahp hook monoco EVENT ISSUE` (design §9)."""

import os

from ahp.gate.decide import decide
from ahp.hosts.exec import FOLLOWED, IssueGate
from ahp.hosts.verdict_text import rule_of, short_id, steps_of
from ahp.protocol.signals import reason_of
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError
from ahp.tickets.current import named

EVENTS = tuple(f"{when}-issue-{step}" for when in ("pre", "post") for step in ("start", "submit", "close"))


def answer(trigger: str, issue: str, solution: str = "") -> dict[str, object]:
    """Monoco's result for one of EVENTS in the current folder: `decision` (allow, warn, deny), `message`,
    `suggestions`. What cannot be judged is denied before the step and told after it. `solution` is what a close
    makes of the issue."""
    when, _, step = trigger.partition("-issue-")
    try:
        gate = IssueGate(step, named(issue), os.getcwd(), True, "monoco", solution.lower())
        if when == "post" and f"{step} {gate.issue}" in os.environ.get(FOLLOWED, "").split(","):
            return {"decision": "allow", "message": "", "suggestions": []}
        return result(decide(gate.event(when)))
    except AhpError as error:
        return {"decision": "deny" if when == "pre" else "warn", "message": str(error), "suggestions": []}


def result(verdict: Verdict) -> dict[str, object]:
    """A verdict as Monoco's hooks have it: what refuses alone, else everything that was said."""
    said = [signal for signal in verdict.signals if not verdict.denied or signal.intensity == "block"]
    messages = [f"{rule_of(signal)} ({short_id(signal)}): {reason_of(signal.payload)}" for signal in said]
    decision = "deny" if verdict.denied else "warn" if said or verdict.notes else "allow"
    suggestions = [step for signal in said for step in steps_of(signal.payload)]
    return {"decision": decision, "message": "; ".join([*messages, *verdict.notes]), "suggestions": suggestions}
