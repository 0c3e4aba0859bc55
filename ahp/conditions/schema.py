"""Fact schemas: the types that conditions are checked against (design §5, §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ahp.system.errors import AhpError

MAX_RULES = 20_000  # rules of one trigger
# Summed static cost of a trigger's conditions: room for eight rules that compare each line with all others, besides
# those of the packs. How long it may really take, an event's deadline bounds.
MAX_COST = 250_000_000
MAX_CONDITION_COST = 500_000

NAMES = ("int", "float", "number", "bool", "str", "null", "any", "map", "record", "list")
_BOUNDS = frozenset({"nullable", "min", "max", "enum"})
_KEYS = {"type", "nullable", "optional", "min", "max", "enum", "fields", "triggers", "doc", "means", "keys"}


class SchemaError(AhpError):
    """A fact schema that cannot be read: which path, and what is wrong with it."""


@dataclass(frozen=True)
class Type:
    """The type of an expression.

    `name` is one of NAMES; a list has its `item`, and so has a map whose values are of one type; a record (and the
    items of a list of records) its `fields`; `low`, `high` and `enum` bound the value where the schema says so. `any`
    is a map's value: its type is known at run time only. `number` is an int or a float. `means` says what a text or
    number is, where that tells which literals it can be: `path` (from the repository's top), `branch` (a short name),
    `percent` (0 to 100), `program` (a base name), `date` (`2026-02-09`).
    """

    name: str
    item: Type | None = None
    nullable: bool = False
    low: float | None = None
    high: float | None = None
    enum: tuple[Any, ...] | None = None
    fields: Mapping[str, Fact] = field(default_factory=dict)
    means: str = ""

    def __str__(self) -> str:
        text = f"{self.name}[{self.item}]" if self.item else self.name
        return f"{text} or null" if self.nullable and self.name not in ("null", "any") else text

    @property
    def is_number(self) -> bool:
        """Whether arithmetic and order are defined: int, float, or either of the two."""
        return self.name in ("int", "float", "number")


@dataclass(frozen=True)
class Fact:
    """One fact of a schema: its full path (`files.changed_count`), its type, and whether it may be absent.

    Of a map each of whose values is a fact of its own, `keys` are the types of these by globs of their keys.
    """

    path: str
    type: Type
    optional: bool = False
    keys: Mapping[str, Type] = field(default_factory=dict)


ANY = Type("any", nullable=True)
BOOL = Type("bool")
_SCALARS = {
    bool: BOOL,
    int: Type("int"),
    float: Type("float"),
    str: Type("str"),
    type(None): Type("null", nullable=True),
}


class Schema:
    """The facts a condition may read, by full path; a mapping of plain entries as design §10's `--schema` file has
    them.

    Raises SchemaError for an entry that is not `{"type": int|float|bool|str|list[…]|map|record|any, "nullable",
    "optional", "min", "max", "enum", "fields", "triggers", "doc", "means"}`.
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        if not isinstance(entries, Mapping):
            raise SchemaError("a schema is a mapping of fact paths to types")
        self.facts: dict[str, Fact] = {str(path): _fact(str(path), entry) for path, entry in entries.items()}
        self.namespaces: frozenset[str] = frozenset(path.split(".")[0] for path in self.facts)

    def extended(self, entries: Mapping[str, Any]) -> Schema:
        """This schema and more `entries`, which take the place of those with the same path. Raises SchemaError."""
        made = Schema(entries)
        made.facts = {**self.facts, **made.facts}
        made.namespaces |= self.namespaces
        return made

    def __contains__(self, path: object) -> bool:
        return path in self.facts

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts.values())

    def names_under(self, prefix: str) -> list[str]:
        """The names that may follow `prefix.`; an empty prefix gives the first names of all paths."""
        start = f"{prefix}." if prefix else ""
        return sorted({path[len(start) :].split(".")[0] for path in self.facts if path.startswith(start)})


def type_of_value(value: object) -> Type:
    """The type of a plain value: a limit, a literal. Raises SchemaError for what no condition can hold."""
    if isinstance(value, Mapping):
        return Type("map")
    if isinstance(value, (list, tuple)):
        return Type("list", join([type_of_value(item) for item in value]))
    if type(value) in _SCALARS:
        return _SCALARS[type(value)]
    raise SchemaError(f"a value of type {type(value).__name__} cannot stand in a condition")


def join(types: Sequence[Type]) -> Type | None:
    """The one type that holds all of `types` (int and float make float); None for an empty list. SchemaError when
    they do not mix.
    """
    result: Type | None = None
    for one in types:
        if "any" in (one.name, result.name if result else None):
            result = ANY
        elif result is None or result.name == "null":
            result = replace(one, low=None, high=None, enum=None, nullable=one.nullable or result is not None)
        elif one.name == "null":
            result = replace(result, nullable=True)
        elif result.is_number and one.is_number:
            name = one.name if one.name == result.name else "float"
            result = Type(name, nullable=result.nullable or one.nullable, means=result.means or one.means)
        elif result.name == one.name == "list":
            item = join([t for t in (result.item, one.item) if t is not None])
            result = Type("list", item, nullable=result.nullable or one.nullable)
        elif result.name != one.name:
            raise SchemaError(f"{result} and {one} do not mix")
        else:
            result = replace(result, nullable=result.nullable or one.nullable)
    return result


def parse_type(text: str, fields: Mapping[str, Any] | None = None, path: str = "") -> Type:
    """The type that a schema's `type` names: `int`, `list[str]`, `list[record]` with its `fields`."""
    text = text.strip()
    if text.startswith("list[") and text.endswith("]"):
        return Type("list", parse_type(text[5:-1], fields, path))
    if text.startswith("map[") and text.endswith("]"):
        return Type("map", parse_type(text[4:-1], fields, path))
    if text == "list":
        return Type("list", ANY)
    if text not in NAMES or text == "number":
        raise SchemaError(
            f"{path}: unknown type '{text[:40]}'; one of int, float, bool, str, map, record, any, list[…]"
        )
    if text == "record":
        inner = {name: _fact(name, entry) for name, entry in (fields or {}).items()}
        return Type("record", fields=inner)
    return ANY if text == "any" else Type(text)


def _fact(path: str, entry: Any) -> Fact:
    if isinstance(entry, str):
        entry = {"type": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
        raise SchemaError(f"{path[:80]}: an entry is a mapping with a `type`")
    if unknown := entry.keys() - _KEYS:
        raise SchemaError(
            f"{path[:80]}: unknown key '{min(map(str, unknown))[:40]}'; known are {', '.join(sorted(_KEYS))}"
        )
    kind = parse_type(entry["type"], entry.get("fields"), path)
    optional = bool(entry.get("optional"))
    keys = {key: parse_type(type_, entry.get("fields"), path) for key, type_ in entry.get("keys", {}).items()}
    if kind is ANY:  # the checker tells it by identity
        return Fact(path, kind, optional)
    if not _BOUNDS.isdisjoint(entry):
        enum = entry.get("enum")
        kind = replace(
            kind,
            nullable=bool(entry.get("nullable")),
            low=entry.get("min"),
            high=entry.get("max"),
            enum=tuple(enum) if enum is not None else None,
        )
    if means := str(entry.get("means", "")):
        of_items = replace(kind.item, means=means) if kind.item else None
        kind = replace(kind, item=of_items) if of_items else replace(kind, means=means)
    return Fact(path, kind, optional, keys)
