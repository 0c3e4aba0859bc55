"""Gathers what the rules of a trigger read; a namespace that nobody reads is not even imported (design §6, §12)."""

from ahp.facts.absent import Absent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from ahp.protocol.event import Event

# In the order in which `ahp facts` and the docs show them.
NAMESPACES = {
    "files": "ahp.facts.files",
    "diff": "ahp.facts.diff",
    "branch": "ahp.facts.branch",
    "push": "ahp.facts.push",
    "repo": "ahp.facts.repo",
    "commit": "ahp.facts.commit",
    "deps": "ahp.facts.deps",
    "issue": "ahp.facts.issue",
    "checklist": "ahp.facts.checklist",
    "tests": "ahp.facts.tests",
    "coverage": "ahp.facts.coverage",
    "tool": "ahp.facts.tool",
    "session": "ahp.facts.session",
    "actor": "ahp.facts.actor",
    "environment": "ahp.facts.environment",
    "env": "ahp.facts.env",
    "limits": "ahp.facts.limits",
    "time": "ahp.facts.time",
}

# Beginnings of the paths whose values are never logged or shown (design §7).
PRIVATE = ("diff.", "tool.input", "tool.command", "env.")


def gather(
    reads: "Mapping[str, Collection[str]]",
    event: "Event",
    settings: "dict[str, Any]",
    only: "Collection[str] | None" = None,
) -> "tuple[dict[str, object], dict[str, tuple[str, str]]]":
    """(values, missing) of the fields in `reads` (namespace → fields), each by its full path.

    `missing` maps the path of an absent fact to its reason and to the command that makes it ("" when none does).
    `settings` are the compiled program's. With `only`, other namespaces are left for a later pass. `event.given`
    replaces whole namespaces. Raises AhpError when something that must be there cannot be read (git, limits).
    """
    values: dict[str, object] = {}
    missing: dict[str, tuple[str, str]] = {}
    for namespace, fields in reads.items():
        if only is not None and namespace not in only:
            continue
        wanted = frozenset(fields)
        try:
            found = _collect(namespace, wanted, event, settings)
        except Absent as absent:
            found = dict.fromkeys(wanted, absent)
        for field in fields:
            path = namespace + "." + field if field else namespace
            value = found.get(field, _UNTOLD)
            if isinstance(value, Absent):
                missing[path] = (value.reason, value.command)
            else:
                values[path] = value
    return values, missing


_UNTOLD = Absent("nothing tells it here")


def _collect(
    namespace: str, fields: "frozenset[str]", event: "Event", settings: "dict[str, Any]"
) -> "Mapping[str, object]":
    if event.given is not None and namespace in event.given:
        from ahp.facts import given

        return given.fields_of(namespace, event.given[namespace], fields)
    name = NAMESPACES.get(namespace)
    if name is None:
        from ahp.facts import commands

        return commands.gather(namespace, event, fields, settings)
    module = __import__(name, None, None, ("gather",))
    found: dict[str, object] = module.gather(event, fields, settings)
    return found
