"""Gathers what the rules of a trigger read (design §6).  [light]"""

from ahp.facts import registry
from ahp.facts.registry import Absent
from ahp.system import patience
from ahp.system.errors import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ahp.facts.registry import Settings
    from ahp.protocol.event import Event

_UNAVAILABLE = Absent("not available at this trigger")


def gather(
    reads: "Mapping[str, Collection[str]]", event: "Event", settings: "Settings"
) -> "tuple[dict[str, object], dict[str, Absent]]":
    """(values, missing) of the fields in `reads` (namespace → fields), each by its full path.

    `missing` says of each absent fact why it is. What a namespace cannot tell because nothing is known of the change
    is unknowable. `settings` are the compiled program's. `event.given` replaces whole namespaces. Raises AhpError when
    something that must be there cannot be read (git, limits).
    """
    values: dict[str, object] = {}
    missing: dict[str, Absent] = {}
    for namespace, fields in reads.items():
        wanted = frozenset(fields)
        patience.doing = "the facts of `" + namespace + "`"
        try:
            found = _collect(namespace, wanted, event, settings)
        except Absent as absent:
            found = dict.fromkeys(wanted, absent)
        except Unknown as unknown:
            found = dict.fromkeys(wanted, Absent(unknown.reason, unknown.command, unknowable=True))
        for field in fields:
            path = namespace + "." + field if field else namespace
            value = found.get(field, _UNAVAILABLE)
            if isinstance(value, Absent):
                missing[path] = value
            else:
                values[path] = value
        if len(found) > len(wanted):  # why some items of a map are not in it
            more = [(name, one) for name, one in found.items() if name[-2:] == "']" and isinstance(one, Absent)]
            missing.update({namespace + "." + name: one for name, one in more})
    return values, missing


def _collect(namespace: str, fields: "frozenset[str]", event: "Event", settings: "Settings") -> "Mapping[str, object]":
    if event.given is not None and namespace in event.given:
        told = event.given[namespace]
        if isinstance(told, Absent):
            raise told
        from ahp.facts import schemas

        return schemas.fields_of(namespace, told, fields)
    if namespace not in registry.NAMESPACES:
        if namespace not in settings.namespaces:
            from ahp.facts import command_facts

            return command_facts.gather(namespace, event, fields, settings)
        registry.meet(namespace, settings.namespaces[namespace])
    found: dict[str, object] = registry.module(namespace).gather(event, fields, settings)
    return found
