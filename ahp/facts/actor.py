"""`actor`: who acts (design §6), by the markers of agents and CI in the environment.  [light]"""

from ahp.facts.registry import Absent, Namespace, fact
from ahp.protocol.event import Event

LAUNCHER = "/agent-hook"  # in the ahp folder, where `ahp install` put an agent's hook
NAMESPACE = Namespace(
    source="markers in the environment",
    past="git does not record whether a person or an agent made a commit",
    assumed=True,
    light=True,
    schema={
        "kind": fact("str", "person, coding agent or CI", enum=["human", "agent", "ci"]),
        "name": fact("str", "claude …, CI system, login name, or empty"),
        "verified": fact("bool", "CI vouches for the name"),
        "heard": fact("bool", "of an agent: its hook told of the call that runs", optional=True),
    },
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`."""
    known = {"kind": event.actor.kind, "name": event.actor.name, "verified": event.actor.is_verified}
    return {**known, "heard": _is_heard(event)} if "heard" in fields else known


def _is_heard(event: Event) -> "bool | Absent":
    from ahp.journal import session_calls
    from ahp.system import files

    if event.actor.kind != "agent" or files.read(event.journal + LAUNCHER) is None:
        return Absent("no agent acts, or no agent's hook is installed here", elsewhere=True)
    return session_calls.is_one_running(event.journal)
