"""The schemas of all namespaces in one place: what a condition may read at which trigger (design §6)."""

from collections.abc import Iterable, Mapping
from typing import Any

from ahp.facts import registry
from ahp.facts.registry import fact

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
    entry = declared.schema.get(field, declared.own) if declared else None
    return [] if declared is None or entry is None else list(entry.get("triggers", declared.triggers))


def triggers_of(namespace: str) -> list[str]:
    """The triggers that can have any fact of a namespace."""
    return list(registry.namespace(namespace).triggers)


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
