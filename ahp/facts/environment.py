"""`environment`: the named environment: the first of the policy's that holds, else `development`.  [light]

Source: design §4.
"""

from ahp.facts.registry import Absent, Namespace, Settings, by_namespace, fact
from ahp.protocol.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT = "development"

# The namespace is one value: the path is `environment` alone.
NAMESPACE = Namespace(
    source="`environment:` of the policy",
    assumed=True,
    light=True,
    settings=Settings.fields,
    schema={"": fact("str", "its name")},
)


class Slots(dict[str, int]):
    """Gives each fact path that a plan asks for the next slot, so that the plan itself says what it reads."""

    def __missing__(self, path: str) -> int:
        self[path] = slot = len(self)
        return slot


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The name of the environment under the field "". Raises what the facts of its conditions raise."""
    return {"": name_of(event, settings)}


def name_of(event: Event, settings: Settings) -> str | Absent:
    """The first environment of the policy that holds; absent when a condition is undecidable."""
    given = (event.given or {}).get("environment", {}).get("")
    if isinstance(given, str):
        return given
    choices = settings.environment
    if choices is None:
        return Absent("the environment is just being chosen; its conditions cannot read what depends on it")
    return _choose(choices, event, settings) if choices else DEFAULT


def _choose(choices: "list[tuple[str, Any]]", event: Event, settings: Settings) -> str | Absent:
    from ahp.conditions.evaluate import MISSING, Undecided, build
    from ahp.facts.gather import gather as gather_facts

    slots = Slots()
    tests = [(name, build(plan, slots)) for name, plan in choices]
    reads = by_namespace(slots)
    # These conditions may read any variable: they tell a name of the policy's, never the value.
    inner = settings.but(environment=None, env_allow=reads.get("env", []))
    values, missing = gather_facts(reads, _asked(event), inner)
    facts = [values.get(path, MISSING) for path in slots]
    for name, holds in tests:
        try:
            if holds(facts):
                return name
        except Undecided as undecided:
            absent = missing.get(undecided.path or "") or Absent(undecided.told())
            return Absent(f"whether this is {name} cannot be told: {absent.reason}", absent.command)
    return DEFAULT


def _asked(event: Event) -> Event:
    """The event as these conditions see it: where commits are judged, `branch` is where they go, and variables are
    those of whoever judges.
    """
    if not event.from_objects or not event.given:
        return event
    given = {name: fields for name, fields in event.given.items() if name != "env"}
    if "target" in given.get("branch", {}):
        given["branch"] = {**given["branch"], "name": given["branch"]["target"]}
    return event.but(given=given)
