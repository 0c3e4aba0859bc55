"""A shell call that moves an issue of Monoco's is that issue's gate (design §9): `monoco issue submit FEAT-0123`.

`ahp issue …` asks by itself when it runs. So does Monoco where `ahp install monoco` was run; then only a call that is
nothing else is asked here, before anything in the same command has changed what is judged. The same signal is told
once, whoever asks.
"""

import os
import shlex

from ahp.gate.decide import decide
from ahp.hosts import exec as wrapped
from ahp.hosts import verdict_text
from ahp.hosts.monoco.install import is_installed
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.protocol.verdict import Verdict

_STEPS = ("start", "submit", "close")


def judge(event: Event, folder: str) -> tuple[Verdict | None, str]:
    """The refusal of an issue's gate that the call made in `folder` has to pass, None where none refuses; what all say.

    Raises AhpError where the call moves an issue and nobody can tell which.
    """
    call = event.tool or {}
    commands = call.get("commands")
    alone = isinstance(commands, list) and len(commands) == 1
    if not _is_ruled(event) or (not alone and event.repo is not None and is_installed(event.repo)):
        return None, ""
    script = f"cd {shlex.quote(os.path.join(event.root, folder))} && {call.get('command', '')}"
    said = []
    for gate in wrapped.gates_of(["sh", "-c", script], event.host):
        there = gate.event("pre")
        there.actor, there.session, there.attempt = event.actor, event.session, event.attempt
        verdict = decide(there)
        if verdict.signals or verdict.notes:
            said.append(verdict_text.for_agent(verdict))
        if verdict.denied:
            return verdict, verdict_text.in_order(*said[-1:], *said[:-1])
    return None, verdict_text.in_order(*said)


def _is_ruled(event: Event) -> bool:
    """Whether any rule speaks of moves of issues."""
    asked = [event.but(trigger=f"pre-issue-{step}", view=None, tool=None) for step in _STEPS]
    return any(judge.program.rules for one in asked for judge in judges_of(one))
