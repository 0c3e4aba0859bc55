"""Advice about facts that may be absent or null: where a condition reads them without asking (design §5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ahp.conditions.evaluate import path_of
from ahp.conditions.language import LOOP, OPERATIONS, children, with_children
from ahp.conditions.runtime import names
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


Plan = list[Any]

MAX_PLAN = 1024  # nodes; a chained comparison repeats its middle operands, so a plan may be larger than its text
_ITEMS = 1000  # the list length that the static cost of a loop assumes
# That of a list inside an item: all commands of a shell call have 64 KiB of text together, so many words on average.
_INNER_ITEMS = 50


def walk(plan: Plan) -> Iterator[Plan]:
    """Every node of a plan, the outermost first."""
    yield plan
    for child in children(plan):
        yield from walk(child)


def reads(plan: Plan) -> frozenset[str]:
    """The paths of the facts that a plan reads."""
    return frozenset(node[1] for node in walk(plan) if node[0] == "fact")


def size(plan: Plan) -> int:
    """The number of a plan's nodes."""
    return sum(1 for _ in walk(plan))


def cost(plan: Plan, var: str = "") -> int:
    """A plan's static cost: its nodes by weight, those in a loop as often as its list is long. A policy sums it
    (design §5); the deadline of an event bounds what a list is longer. With the variable of an `each`, that of asking
    all its items. What a loop inside of another, or of an `each`, gives is kept (`runtime.Builder`).
    """
    each, once = _costs(plan, var, bool(var))
    return (_ITEMS if var else 1) * each + once


def _costs(plan: Plan, var: str, inside: bool) -> tuple[int, int]:
    """The cost of a plan each time, and that of the loops in it that are gone through once."""
    operation = OPERATIONS[plan[0]]
    is_loop, inner = operation.call == LOOP, children(plan)
    costs = [_costs(child, var, inside or is_loop) for child in inner]
    each, once = [one for one, _ in costs], sum(kept for _, kept in costs)
    if is_loop:
        times = _INNER_ITEMS if inner[1][0] == "field" else _ITEMS
        each = [one if at == 1 else times * one for at, one in enumerate(each)]  # its list stands second
    whole = operation.weight + sum(each)
    return (1, once + whole) if is_loop and inside and not (var and names(plan, var)) else (whole, once)


def as_fact(plan: Plan, var: str) -> Plan:
    """The plan with the variable of an `each` clause as a fact of that name, so that it can have a slot."""
    if plan[:2] == ["item", var]:
        return ["fact", var]
    return with_children(plan, [as_fact(child, var) for child in children(plan)])
