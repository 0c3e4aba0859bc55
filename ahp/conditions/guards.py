"""What is known of a plan before there are facts (design §5): what it reads, and reads unguarded; its cost; the type
and the range of its value, and the value where it reads nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ahp.conditions import closures
from ahp.conditions.evaluate import closure, path_of
from ahp.conditions.language import LOOP, OPERATIONS, children, with_children
from ahp.conditions.runtime import FAULTS, Bound, names
from ahp.conditions.schema import ANY, Schema, Type, join, parse_type, type_of_value


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


def walk(plan: Plan) -> list[Plan]:
    """Every node of a plan, level by level, the outermost first."""
    nodes = [plan]
    for node in nodes:
        nodes += children(node)
    return nodes


def reads(plan: Plan) -> frozenset[str]:
    """The paths of the facts that a plan reads."""
    return frozenset(node[1] for node in walk(plan) if node[0] == "fact")


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
    if not inner:
        return operation.weight, 0
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


Types = Mapping[str, Type]


def infer(plan: Plan, types: Types) -> Type:
    """The type of a checked plan's value, nullable where null is a value of it rather than an error in it.

    `types` are those of facts and loop variables by path. ANY where nothing is known.
    """
    if plan[0] in ("fact", "item"):
        return types.get(plan[1], ANY)
    return result(plan, [infer(part, scope) for part, scope in scoped(plan, types)])


def scoped(plan: Plan, types: Types) -> list[tuple[Plan, Types]]:
    """The operands of a node, each with the types of what it can read: inside a loop also of its variable."""
    operands = children(plan)
    if OPERATIONS[plan[0]].call != LOOP:
        return [(operand, types) for operand in operands]
    inside = {**types, plan[-1]: infer(plan[2], types).item or ANY}
    return [(operand, types if operand is plan[2] else inside) for operand in operands]


_named = cache(parse_type)


def result(plan: Plan, operands: Sequence[Type]) -> Type:
    """The type of a node's value by the types of its operands; ANY where nothing is known. Raises SchemaError where
    the operands have to be of one type and are not.
    """
    operation = OPERATIONS[plan[0]]
    if operation.gives == "number":
        names = {one.name for one in (operands[:1] if operation.call == LOOP else operands)}
        return Type(names.pop() if len(names) == 1 else "float" if "float" in names else "number")
    if operation.gives == "value":
        kind = join(operands[-2:]) or ANY
        default_for_null = plan[0] == "default" and not operands[-1].nullable and kind is not ANY
        return replace(kind, nullable=False) if default_for_null else kind
    if operation.gives:
        return _named(operation.gives)
    match plan[0]:
        case "const":
            return type_of_value(plan[1])
        case "field":
            field = operands[0].fields.get(plan[2])
            return field.type if field else ANY
        case "index" | "key" | "entry":
            return operands[0].item or ANY
        case "list":
            return Type("list", join(operands))
        case "at" if None in closures.steps_of(plan[2][1]):
            return Type("list", ANY)
        case "as" if plan[2][0] == "list":  # what a loop goes through
            return Type("list", ANY)
        case "as" if len(plan[2]) == 1:
            return Type(plan[2][0])
    return ANY


def folded(plan: Plan) -> Plan:
    """The plan, or the literal it comes to where it reads nothing and can be computed."""
    if plan[0] == "const" or any(node[0] in ("fact", "item") for node in walk(plan)):
        return plan
    try:
        return ["const", closure(plan, {})([])]
    except (*FAULTS, ArithmeticError, Bound):
        return plan


def span(plan: Plan, types: Types) -> tuple[float, float]:
    """The least and the greatest number that a plan can be, by the schema's ranges and by arithmetic on them."""
    try:
        low, high = _range(plan, types)
    except OverflowError:  # an integer beyond every float: nothing is said
        low, high = -math.inf, math.inf
    return (-math.inf if low != low else low), (math.inf if high != high else high)


def _range(plan: Plan, types: Types) -> tuple[float, float]:
    if plan[0] == "const" and type(plan[1]) in (int, float):
        return plan[1], plan[1]
    ranged = OPERATIONS[plan[0]].span
    if ranged is not None:
        return ranged(*[_range(part, scope) for part, scope in scoped(plan, types)])
    kind = infer(plan, types)
    return (-math.inf if kind.low is None else kind.low, math.inf if kind.high is None else kind.high)
