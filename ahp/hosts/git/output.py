"""What a person or an agent reads when git asked the gate."""

import os

from ahp.hosts import verdict_text
from ahp.protocol.event import Actor
from ahp.protocol.verdict import Verdict


def say(verdict: Verdict, actor: Actor, env: dict[str, str]) -> int:
    """Prints the verdict to standard error, asks where a rule wants to ask, and gives the hook's exit code."""
    text = verdict_text.text(verdict, actor, env)
    if text:
        write(text)
    if verdict.denied:
        return 1
    if any(signal.context.get("ask") for signal in verdict.signals) and actor.kind == "human":
        from ahp.system import patience, terminal

        patience.end()
        if terminal.ask("ahp: go on?") is False:
            write("ahp: stopped as you asked")
            return 1
    return 0


def write(text: str) -> None:
    """One write to standard error, also where nobody reads it any more or nothing can be written."""
    try:
        os.write(2, (text + "\n").encode("utf-8", "replace"))
    except OSError:
        return
