"""The schemas of all namespaces in one place: what a condition may read at which trigger (design §6)."""

from typing import Any

from ahp.facts import registry

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

    The policy's own facts are added by its reader: `env_schema`, and entries for its commands and limits.
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
    declared = registry.namespace(name) if name in registry.NAMESPACES else None
    entry = declared.schema.get(field, declared.own) if declared else None
    return [] if declared is None or entry is None else list(entry.get("triggers", declared.triggers))


def env_schema(names: list[str]) -> dict[str, Entry]:
    """Entries of the variables listed under `env_allow`."""
    return {full_path("env", name): dict(registry.namespace("env").own or {}) for name in names}


def full_path(namespace: str, field: str) -> str:
    """`files` and `changed` → `files.changed`; a namespace that is one value has the field `""`."""
    return f"{namespace}.{field}" if field else namespace
