"""`limits`: the policy's own constants (design §4), one value each or one an environment.  [light]"""

from ahp.facts.registry import Absent, Namespace, Settings
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="`limits:` of the policy",
    own={"doc": "a limit of this policy"},
    assumed=True,
    light=True,
    settings=Settings.fields,
    schema={},
)


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields` of the policy's limits; one by environment takes the environment's, else its default."""
    return {field: _value(field, settings.limits.get(field), event, settings) for field in fields}


def _value(name: str, value: object, event: Event, settings: Settings) -> object:
    if value is None:
        return Absent(f"the policy has no limit {name}")
    if not isinstance(value, dict):
        return value
    from ahp.facts.environment import name_of

    environment = name_of(event, settings)
    if isinstance(environment, Absent):
        return environment
    if environment in value:
        return value[environment]
    return value.get("default", Absent(f"limits.{name} has no value for the environment {environment}"))
