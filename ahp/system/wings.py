"""What wings, and packages of others, add to ahp's tables.  [light]

A wing is a package of `ahp` with a module `wing`; it imports core, and core imports no wing. A table is a group of
entry points (docs/extending.md): `ahp.commands`, `ahp.hosts`, `ahp.facts`, `ahp.packs`, `ahp.actions`, `ahp.places`,
`ahp.models`, `ahp.checks`, `ahp.traces`. A wing names what it adds in a mapping of its module `wing` that is called
like the table (`COMMANDS`), so that looking at it imports nothing more. No hook that has nothing to say comes here.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLES = ("commands", "hosts", "facts", "packs", "actions", "places", "models", "checks", "traces")

_found: "dict[str, dict[str, str]]" = {}


def names() -> list[str]:
    """The wings that are here, in the order of their names."""
    import os

    top = __file__.rpartition("/system/")[0]
    return sorted(name for name in os.listdir(top) if os.path.isfile(f"{top}/{name}/wing.py"))


def added(table: str) -> dict[str, str]:
    """What is added to a table: name → place, `module` or `module:attribute`. ahp's own wings come first, and win."""
    if table not in _found:
        found: dict[str, str] = {}
        for wing in names():
            found.update(getattr(wing_of(wing), table.upper(), {}))
        for name, (place, _) in of_others(table).items():
            found.setdefault(name, place)
        _found[table] = found
    return _found[table]


def of_others(table: str) -> dict[str, tuple[str, str]]:
    """What installed packages add by entry points `ahp.TABLE`: name → (place, name of the distribution)."""
    from importlib import metadata

    points = sorted(metadata.entry_points(group="ahp." + table), key=lambda point: point.name)
    return {point.name: (point.value, point.dist.name if point.dist else "") for point in points}


def wing_of(name: str) -> "Any":
    """The module `wing` of a wing that is here."""
    return __import__(f"ahp.{name}.wing", None, None, ("wing",))


def load(place: str, table: str = "") -> "Any":
    """The module or attribute at a place. Raises AhpError, which names the place, where it cannot be imported."""
    module, _, attribute = place.partition(":")
    try:
        found = __import__(module, None, None, ("*",))
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except (ImportError, AttributeError, SyntaxError) as error:
        if module.partition(".")[0] == "ahp":
            raise
        from ahp.system.errors import AhpError

        raise AhpError(f"{place}, which a package adds to ahp.{table}, cannot be imported: {error}") from None
    return found
