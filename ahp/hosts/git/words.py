"""What a person or an agent reads when git asked the gate."""

import os
import sys

from ahp.hosts import words
from ahp.protocol.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.hosts.git.hook import Hook


def say(hook: "Hook", verdict: Verdict) -> int:
    """Prints the verdict to standard error, asks where a rule wants to ask, and gives the hook's exit code."""
    if hook.actor.kind == "agent":
        text = words.for_agent(verdict)
    else:
        text = words.for_person(verdict, coloured(hook.repo.env))
    if text:
        write(text)
    if verdict.denied:
        return 1
    if any(signal.context.get("ask") for signal in verdict.signals) and hook.actor.kind == "human":
        from ahp.system import terminal

        if terminal.ask("ahp: go on?") is False:
            write("ahp: stopped as you asked")
            return 1
    return 0


def write(text: str) -> None:
    """One write to standard error; a reader that went away is no reason to fail."""
    try:
        os.write(2, (text + "\n").encode("utf-8", "replace"))
    except BrokenPipeError:
        return


def coloured(env: dict[str, str]) -> bool:
    """Whether standard error is a terminal that shows colours (no-color.org)."""
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb" and os.isatty(2)


def version() -> str:
    """ahp's and Python's versions, for reports of bugs."""
    from ahp import __version__

    return f"ahp {__version__}, Python {sys.version.split()[0]}"
