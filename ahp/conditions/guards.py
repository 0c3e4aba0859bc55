"""Advice about facts that may be absent or null: where a condition reads them without asking (design §5)."""

from __future__ import annotations

from collections.abc import Iterator

from ahp.conditions.evaluate import path_of
from ahp.conditions.language import children
from ahp.conditions.plan import Plan
from ahp.conditions.schema import Schema


def unguarded(plan: Plan, schema: Schema) -> list[tuple[str, str]]:
    """The facts that a plan reads unguarded, each with why that matters: `absent` or `null`; each pair once, in
    reading order.

    `has(x)`, `default(x, …)`, `x is not None` guard: in the other parts of their `and`, negated in those of their
    `or`, and as the test of a conditional. Kleene's logic makes the order of the parts irrelevant.
    """
    return list(dict.fromkeys(_walk(plan, schema, frozenset())))


def _walk(plan: Plan, schema: Schema, guards: frozenset[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    op = plan[0]
    if op in ("has", "null"):
        # Asking whether a fact is null needs the fact; asking whether it is there does not.
        if op == "null":
            yield from (one for one in _walk(plan[1], schema, guards) if one[1] == "absent")
    elif op == "default":
        yield from _walk(plan[2], schema, guards)
    elif op in ("and", "or"):
        proven = [_proves(part, op == "and") for part in plan[1:]]
        for at, part in enumerate(plan[1:]):
            others = frozenset().union(*(one for place, one in enumerate(proven) if place != at))
            yield from _walk(part, schema, guards | others)
    elif op == "if":
        yield from _walk(plan[1], schema, guards)
        yield from _walk(plan[2], schema, guards | _proves(plan[1], True))
        yield from _walk(plan[3], schema, guards | _proves(plan[1], False))
    elif op in ("==", "!=", "in") and plan[1][0] == "fact":
        yield from (one for one in _walk(plan[1], schema, guards) if one[1] == "absent")
        yield from _walk(plan[2], schema, guards)
    elif op == "fact":
        yield from _doubts(plan[1], schema, guards)
    else:
        for child in children(plan):
            yield from _walk(child, schema, guards)


def _doubts(path: str, schema: Schema, guards: frozenset[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    fact = schema.facts.get(path)
    if fact is not None and fact.optional and (path, "absent") not in guards:
        yield path, "absent"
    if fact is not None and fact.type.nullable and fact.type.name != "any" and (path, "null") not in guards:
        yield path, "null"


def _proves(plan: Plan, holds: bool) -> frozenset[tuple[str, str]]:
    """What is known about facts where a part is true (`holds`) or false."""
    op = plan[0]
    if op == "not":
        return _proves(plan[1], not holds)
    if op in ("and", "or"):
        if (op == "and") is holds:
            return frozenset().union(*(_proves(part, holds) for part in plan[1:]))
        return frozenset()
    path = path_of(plan[1]) if op in ("has", "null") else None
    if path is None:
        return frozenset()
    if op == "has":
        return frozenset({(path, "absent")}) if holds else frozenset()
    return frozenset() if holds else frozenset({(path, "null"), (path, "absent")})
