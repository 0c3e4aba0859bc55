"""`actor`: who acts (design §6), by the markers of agents and CI in the environment.  [light]"""

from ahp.facts.registry import Namespace, fact
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="markers in the environment",
    past="git does not record whether a person or an agent made a commit",
    assumed=True,
    light=True,
    schema={
        "kind": fact("str", "person, coding agent or CI", enum=["human", "agent", "ci"]),
        "name": fact("str", "claude …, CI system, login name, or empty"),
        "verified": fact("bool", "CI vouches for the name"),
    },
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`."""
    return {"kind": event.actor.kind, "name": event.actor.name, "verified": event.actor.is_verified}
