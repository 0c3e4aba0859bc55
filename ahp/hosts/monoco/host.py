"""Monoco as a host (`ahp.hosts.table`)."""

import os
import shlex

from ahp.gate.decide import decide
from ahp.hosts.asking import repository_here
from ahp.hosts.exec import FOLLOWED, IssueGate, through_the_gate
from ahp.hosts.monoco import install as installing
from ahp.hosts.verdict_text import rule_of, short_id, steps_of
from ahp.protocol.signals import reason_of
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system import environ, jsontext
from ahp.system.errors import AhpError
from ahp.tickets.tracker import named


def hook(arguments: tuple[str, ...]) -> int:
    """What the adapter inside Monoco and the shim before it ask. Raises AhpError."""
    if len(arguments) in (2, 3) and arguments[0] in EVENTS:
        print(jsontext.encode(answer(*arguments)))
        return 0
    if len(arguments) > 1 and arguments[0] == "exec":
        return through_the_gate(list(arguments[1:]), "shim")
    raise AhpError("this is for what `ahp install monoco` put in place; by hand: ahp exec -- monoco …")


def install(user: bool) -> list[str]:
    """Puts the adapter and the shim in place. Raises AhpError."""
    env = environ.current()
    done = installing.install(repository_here(), env)
    said = [f"monoco: {one_line(done.monoco.version)} asks at start, submit and close: {one_line(done.adapter, 1000)}"]
    folders = [os.path.realpath(folder) for folder in env.get("PATH", "").split(":")]
    if os.path.realpath(done.shims) not in folders:
        line = f'export PATH={shlex.quote(done.shims)}:"$PATH"'
        said.append(f"monoco: to have `issue update` and --no-hooks judged, too: {one_line(line, 1000)}")
    return said


def uninstall(user: bool, named: bool) -> list[str]:
    """Takes them away. Raises AhpError."""
    was_there = installing.uninstall(repository_here())
    if not (was_there or named):
        return []
    return ["monoco: shim and adapter removed" if was_there else "monoco: nothing of ours was there"]


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
