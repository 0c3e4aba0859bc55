"""`session`: the agent's session so far (design §6)."""

from ahp.facts.registry import AGENT, Absent, Namespace, fact
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="the agent's client",
    past="git does not record in which session a commit was made",
    triggers=AGENT,
    schema={
        "id": fact("str", "the client's"),
        "agent": fact("str", "claude, codex, gemini, copilot, opencode, cursor"),
        "tool_calls": fact("int", "calls before this one", min=0, optional=True),
        "denied": fact("int", "refused ones", min=0, optional=True),
        "touched_files_count": fact("int", "files written so far", min=0, optional=True),
        "has_read_secret": fact("bool", "read what a box hides of the home, or what `shown` shows", optional=True),
    },
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`; the counts are absent where the client tells no session."""
    found: dict[str, object] = {"id": event.session or "", "agent": event.actor.name}
    if fields <= found.keys():
        return found
    if not event.session:
        return {**dict.fromkeys(fields, Absent("the client tells no session, so its calls are not counted")), **found}
    from ahp.journal import session_calls

    if "has_read_secret" in fields:
        found["has_read_secret"] = session_calls.has_read_a_secret(event.journal, event.session)
    calls = session_calls.read(event.journal, event.session)
    allowed = [call for call in calls if not call.denied]
    found["tool_calls"], found["denied"] = len(calls), len(calls) - len(allowed)
    found["touched_files_count"] = len({path for call in allowed for path in call.writes})
    return found
