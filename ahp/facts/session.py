"""`session`: the agent's session so far (design §6)."""

from ahp.facts.absent import Absent
from ahp.facts.registry import AGENT, Namespace, fact
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="the agent's client",
    past="git does not record in which session a commit was made",
    triggers=AGENT,
    schema={
        "id": fact("str", "the client's id of it"),
        "agent": fact("str", "claude, codex, gemini, copilot, opencode, cursor"),
        "tool_calls": fact("int", "calls judged before this one", min=0, optional=True),
        "denied": fact("int", "those that were refused", min=0, optional=True),
        "touched_files_count": fact("int", "different files written so far", min=0, optional=True),
    },
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. The counts are absent until the journal of the session can be read."""
    uncounted = dict.fromkeys(fields, Absent("calls are not counted for this session"))
    return {**uncounted, "id": event.session or "", "agent": event.actor.name}
