"""`env`: environment variables, only those the policy lists under `env_allow` (design §4, §6).  [light]"""

from ahp.facts.registry import EVERY_FIELD, Absent, Namespace, Settings, fact
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="environment variables",
    past="git does not record the variables of then",
    private=EVERY_FIELD,
    own=fact("str", "value of the variable; empty when it is not set"),
    assumed=True,
    light=True,
    settings=("env_allow",),
    schema={},
)


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The variables that the policy lists under `env_allow`."""
    allowed = settings.env_allow
    return {
        field: event.env.get(field, "") if field in allowed else Absent(f"{field} is not listed under `env_allow`")
        for field in fields
    }
