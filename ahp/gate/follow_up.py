"""What an aid does by itself, once the action is done: a trusted command (seed 002 §2.2, follow_up)."""

from ahp.gate.candidate import Candidate
from ahp.policy import trust
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import clock, environ, places
from ahp.system.errors import AhpError

INSIDE = "AHP_FOLLOW_UP"  # names the rule whose command runs; what that does starts none


def run(candidate: Candidate, event: Event) -> str:
    """Runs the command of an aid's action and says how it went; "" for an aid without one.

    The command knows the trigger, the rule and the issue by its environment. It never fails the event: what could not
    be done is said.
    """
    command = candidate.rule.action.command if candidate.rule.action is not None else None
    if command is None:
        return ""
    named = one_line(" ".join(command.run))
    if event.env.get(INSIDE):
        return f"not done, since another follow-up did this: {named}"
    if candidate.judge.adds:
        return f"not done, since its rule is not committed: {named}"
    if event.mode != "real":
        return f"would run: {named}"
    try:
        if not trust.checker(event)(command):
            return f"not done, since nobody accepted it in this clone (a person runs: ahp trust): {named}"
        env = environ.scrubbed(event.env)
        env |= {INSIDE: candidate.key, "AHP_TRIGGER": event.trigger, "AHP_ISSUE": event.issue or ""}
        seconds = max(min(command.timeout, event.deadline - clock.monotonic()), 0.0)
        result = places.run(
            command.place, command.run, cwd=f"{event.root}/{command.directory}", env=env, timeout=seconds
        )
    except AhpError as error:
        return f"not done, {one_line(error)}: {named}"
    words = (result.out if result.code == 0 else result.err or result.out).decode("utf-8", "replace").strip()
    ended = "done" if result.code == 0 else f"ended with {result.code}"
    last = one_line(words.splitlines()[-1]) if words else ""
    return f"{ended}: {named}" + (f" ({last})" if last else "")
