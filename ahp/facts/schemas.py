"""The schemas of all namespaces in one place: what a condition may read at which trigger (design §6)."""

from importlib import import_module

from ahp.facts.groups import ALL
from ahp.facts.registry import NAMESPACES

Entry = dict[str, object]

# Their fields come from the policy: `limits:`, `env_allow:`.
OPEN = ("env", "limits")


def schema_all() -> dict[str, Entry]:
    """Full path → entry for every built-in fact; `triggers` lists where it can be had (absent: everywhere)."""
    found: dict[str, Entry] = {}
    for namespace, module_name in NAMESPACES.items():
        module = import_module(module_name)
        for field, entry in module.SCHEMA.items():
            names = entry.get("triggers", module.TRIGGERS)
            found[full_path(namespace, field)] = {**entry, **({} if names is None else {"triggers": list(names)})}
    return found


def schema_for(trigger: str) -> dict[str, Entry]:
    """Full path → entry for the facts that `trigger` can have; facts it has only sometimes are `optional`.

    The policy's own facts are added by its reader: `env_schema`, and entries for its commands and limits.
    """
    found: dict[str, Entry] = {}
    for path, entry in schema_all().items():
        triggers = entry.get("triggers")
        if isinstance(triggers, list) and trigger not in triggers:
            continue
        here = {key: value for key, value in entry.items() if key != "triggers"}
        if not _is_certain(path, trigger):
            here["optional"] = True
        found[path] = here
    return found


def where(path: str) -> list[str]:
    """The triggers that can have the fact, in the order of design §4; empty when there is no such fact."""
    entry = schema_all().get(path)
    if entry is None:
        return list(ALL) if path.partition(".")[0] in OPEN else []
    triggers = entry.get("triggers")
    return list(triggers) if isinstance(triggers, list) else list(ALL)


def env_schema(names: list[str]) -> dict[str, Entry]:
    """Entries of the variables listed under `env_allow`."""
    entry = import_module(NAMESPACES["env"]).ENTRY
    return {full_path("env", name): dict(entry) for name in names}


def full_path(namespace: str, field: str) -> str:
    """`files` and `changed` → `files.changed`; a namespace that is one value has the field `""`."""
    return f"{namespace}.{field}" if field else namespace


def _is_certain(path: str, trigger: str) -> bool:
    certain = getattr(import_module(NAMESPACES[path.partition(".")[0]]), "CERTAIN", None)
    return certain is None or trigger in certain
