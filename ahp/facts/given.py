"""Facts that are stated in place of gathered ones (`--facts`, policy tests; design §10)."""

from collections.abc import Collection, Mapping
from typing import Any

from ahp.facts import registry, schemas
from ahp.facts.registry import Absent
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError

_NOT_GIVEN = Absent("not among the given facts")
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "map": (dict,),
    "list[str]": (list,),
    "list[record]": (list,),
}


def fields_of(namespace: str, given: Mapping[str, Any], fields: Collection[str]) -> dict[str, object]:
    """The values of `fields` in one given namespace; what is not there is absent.

    A dot in a field goes one level down (`tasks.total`). Raises AhpError for a value of another type than the fact's.
    """
    entries = registry.namespace(namespace).schema if registry.is_known(namespace) else {}
    found: dict[str, object] = {}
    for field in fields:
        value: object = given
        for part in [field] if field in given else field.split("."):
            value = value.get(part, _NOT_GIVEN) if isinstance(value, Mapping) else _NOT_GIVEN
        if not isinstance(value, Absent) and field in entries:
            value = _fitting(schemas.full_path(namespace, field), value, entries[field])
        found[field] = value
    return found


def _fitting(path: str, value: Any, entry: Mapping[str, Any]) -> object:
    kind = entry["type"]
    if value is None:
        if entry.get("nullable"):
            return None
        raise AhpError(f"{path} is never null; leave it out to make it absent")
    if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "bool"):
        raise AhpError(f"{path} is of type {kind}, not {one_line(repr(value), 60)}")
    inner = str if kind == "list[str]" else Mapping if kind == "list[record]" else object
    if isinstance(value, list) and not all(isinstance(item, inner) for item in value):
        raise AhpError(f"{path} is of type {kind}; one of its items is not")
    names = entry.get("enum")
    if names and value not in names:
        raise AhpError(f"{path} is one of {', '.join(names)}, not {one_line(value, 60)}")
    low, high = entry.get("min"), entry.get("max")
    if (low is not None and value < low) or (high is not None and value > high):
        raise AhpError(f"{path} is from {low} to {'any number' if high is None else high}, not {value}")
    return float(value) if kind == "float" else value  # type: ignore[arg-type]  # a number by now
