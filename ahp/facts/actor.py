"""`actor`: who acts (design §6), told by the markers that agents and CI leave in the environment.  [light]"""

from ahp.facts.registry import Namespace, fact
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="markers in the environment",
    past="git does not record whether a person or an agent made a commit",
    assumed=True,
    light=True,
    schema={
        "kind": fact("str", "a person, a coding agent, or CI", enum=["human", "agent", "ci"]),
        "name": fact("str", "claude, codex …, the CI system, a login name; empty when unknown"),
        "verified": fact("bool", "a CI platform vouches for the name"),
    },
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`."""
    return {"kind": event.actor.kind, "name": event.actor.name, "verified": event.actor.is_verified}
