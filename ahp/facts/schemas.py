"""The schemas of all namespaces in one place: what a condition may read at which trigger (design §6)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ahp.conditions.runtime import key_of
from ahp.facts import registry
from ahp.facts.registry import Absent, fact
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError

Entry = dict[str, Any]


def schema_all() -> dict[str, Entry]:
    """Full path → entry for every built-in fact; `triggers` lists where it can be had (absent: everywhere)."""
    found: dict[str, Entry] = {}
    for namespace, declared in registry.declared().items():
        for field, entry in declared.schema.items():
            triggers = entry.get("triggers", declared.triggers)
            found[full_path(namespace, field)] = entry if triggers == registry.ALL else {**entry, "triggers": triggers}
    return found


def schema_for(trigger: str) -> dict[str, Entry]:
    """Full path → entry for the facts that `trigger` can have; facts it has only sometimes are `optional`.

    The policy's own facts come beside them: `own_entries`.
    """
    found: dict[str, Entry] = {}
    for namespace, declared in registry.declared().items():
        sometimes = {} if trigger in declared.certain else {"optional": True}
        for field, entry in declared.schema.items():
            if trigger in entry.get("triggers", declared.triggers):
                plain = {key: value for key, value in entry.items() if key != "triggers"}
                found[full_path(namespace, field)] = {**plain, **sometimes}
    return found


def where(path: str) -> list[str]:
    """The triggers that can have the fact, in the order of design §4; empty when there is no such fact."""
    name, _, field = path.partition(".")
    declared = registry.namespace(name) if registry.is_known(name) else None
    entry = declared.schema.get(key_of(field)[0], declared.own) if declared else None
    return [] if declared is None or entry is None else list(entry.get("triggers", declared.triggers))


def env_schema(names: Iterable[str]) -> dict[str, Entry]:
    """Entries of the variables listed under `env_allow`."""
    return {full_path("env", name): dict(registry.namespace("env").own or {}) for name in names}


def own_entries(env_allow: Iterable[str], limits: Mapping[str, Any], commands: Mapping[str, Any]) -> dict[str, Entry]:
    """Entries of what a policy adds; the commands are those of its models, or compiled ones.

    The facts of commands are optional: one may not be accepted, not start, or take too long.
    """
    found = env_schema(env_allow)
    for name, value in limits.items():
        entry = limit_entry(value)
        if entry is not None:
            found[full_path("limits", name)] = entry
    text = {"type": "str"}
    finding = {"path": {**text, "means": "path"}, "line": {"type": "int", "min": 0}, "message": text}
    for name, command in commands.items():
        extracts = command.extract.items()
        entries = {
            "exit_code": fact("int", "its exit status; 128 + n after signal n"),
            "count": fact("int", "findings, else entries of its output", min=0),
            "findings": fact("list[record]", "what it found, with the place", fields=finding),
            **{field: fact(one.type, f"{one.value} of its output") for field, one in extracts},
        }
        found |= {full_path(name, field): {**entry, "optional": True} for field, entry in entries.items()}
    return found


def limit_entry(value: Any) -> Entry | None:
    """The entry of a limit; one by environment has the bounds of its values. None when types mix."""
    values: list[Any] = list(value.values()) if isinstance(value, dict) else [value]
    kinds = {"list[str]" if isinstance(item, list) else type(item).__name__ for item in values}
    if kinds == {"int", "float"}:
        kinds = {"float"}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    bounds = {"min": min(values), "max": max(values)} if kind in ("int", "float") else {}
    return fact(kind, "a limit of this policy", **bounds)


def full_path(namespace: str, field: str) -> str:
    """`files` and `changed` → `files.changed`; a namespace that is one value has the field `""`."""
    return f"{namespace}.{field}" if field else namespace


_NOT_GIVEN = Absent("not among the given facts")
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
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
        name, key = key_of(field)
        for part in [field] if field in given else [*name.split("."), *([] if key is None else [key])]:
            value = value.get(part, _NOT_GIVEN) if isinstance(value, Mapping) else _NOT_GIVEN
        if not isinstance(value, Absent) and field in entries:
            value = _fitting(full_path(namespace, field), value, entries[field])
        found[field] = value
    return found


def _fitting(path: str, value: Any, entry: Mapping[str, Any]) -> object:
    kind = entry["type"]
    if value is None:
        if entry.get("nullable"):
            return None
        raise AhpError(f"{path} is never null; leave it out to make it absent")
    kinds = (dict,) if kind.startswith("map") else _KINDS[kind]
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind != "bool"):
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
