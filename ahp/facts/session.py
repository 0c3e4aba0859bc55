"""`session`: the agent's session so far (design §6)."""

from ahp.facts.absent import Absent
from ahp.facts.registry import AGENT, Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event


_COUNT = {"type": "int", "min": 0, "optional": True}

NAMESPACE = Namespace(
    source="the agent's client",
    past="git does not record in which session a commit was made",
    triggers=AGENT,
    schema={
        "id": {"type": "str", "doc": "the client's id of it"},
        "agent": {"type": "str", "doc": "claude, codex, gemini, copilot, opencode, cursor"},
        "tool_calls": {**_COUNT, "doc": "calls judged before this one"},
        "denied": {**_COUNT, "doc": "those that were refused"},
        "touched_files_count": {**_COUNT, "doc": "different files written so far"},
    },
)


def gather(event: "Event", fields: "frozenset[str]", settings: "dict[str, Any]") -> "dict[str, object]":
    """The values of `fields`. The counts are absent until the journal of the session can be read."""
    found: dict[str, object] = {"id": event.session or "", "agent": event.actor.name}
    none = Absent("calls are not counted for this session")
    return {field: found.get(field, none) for field in fields}
