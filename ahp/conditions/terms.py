"""Terms: pieces of plan with one value for given facts; their types, possible values, and canonical text."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ahp.conditions import sets
from ahp.conditions.evaluate import Builder, children
from ahp.conditions.plan import Plan, walk
from ahp.conditions.schema import ANY, BOOL, FLOAT, INT, STR, Type, join, type_of_value

Types = Mapping[str, Type]
_ARITHMETIC = ("+", "-", "*", "/", "//", "%")
BOOLS = frozenset({sets.key(True), sets.key(False)})


def folded(plan: Plan) -> Plan:
    if plan[0] == "const" or any(node[0] in ("fact", "item") for node in walk(plan)):
        return plan
    try:
        return ["const", Builder({}).build(plan)([])]
    except (ArithmeticError, TypeError):
        return plan


def infer(plan: Plan, types: Types) -> Type:
    """The type of a checked term, nullable where null is a value of it rather than an error in it."""
    op = plan[0]
    if op in ("fact", "item"):
        return types.get(plan[1], ANY)
    if op == "const":
        return type_of_value(plan[1])
    if op == "field":
        fact = infer(plan[1], types).fields.get(plan[2])
        return fact.type if fact else ANY
    if op == "index":
        return infer(plan[1], types).item or ANY
    if op in ("default", "if"):
        first, second = (infer(part, types) for part in plan[-2:])
        kind = join([first, second]) or ANY
        return kind.without_null() if op == "default" and not second.nullable and kind.name != "any" else kind
    if op == "as":
        return (
            {"number": Type("number"), "str": STR, "list": Type("list", ANY)}[plan[1][0]]
            if len(plan[1]) == 1
            else Type("map")
        )
    if op in _ARITHMETIC or op in ("neg", "sum"):
        parts = [infer(part, types) for part in children(plan)[:2] if op != "sum"]
        whole = op not in ("/", "sum") and all(part.name == "int" for part in parts)
        return INT if whole else FLOAT
    if op == "call":
        if plan[1] in ("min", "max", "abs"):
            return INT if all(infer(part, types).name == "int" for part in plan[2]) else FLOAT
        return {"len": INT, "lower": STR, "upper": STR, "strip": STR}.get(plan[1], BOOL)
    if op == "count":
        return INT
    return Type("list", ANY) if op == "list" else ANY if op == "key" else BOOL


def domain(plan: Plan, types: Types) -> sets.Set | None:
    """The values a term can have by the schema's ranges and by arithmetic on them; None where nothing is known."""
    kind = infer(plan, types)
    whole = kind.name == "int"
    if kind.name == "bool":
        return sets.Values(BOOLS, False, BOOLS)
    if not kind.is_number:
        return sets.Values(frozenset(sets.key(one) for one in kind.enum)) if kind.enum is not None else None
    try:
        low, high = _interval(plan, kind, types)
    except OverflowError:  # an integer beyond every float: nothing is said about the term
        low, high = -math.inf, math.inf
    return sets.Numbers.between(None if low == -math.inf else low, None if high == math.inf else high, whole)


def _interval(plan: Plan, kind: Type, types: Types) -> tuple[float, float]:
    op = plan[0]
    if op in ("fact", "item", "field"):
        return (-math.inf if kind.low is None else kind.low, math.inf if kind.high is None else kind.high)
    if op == "const":
        return plan[1], plan[1]
    if op == "count" or (op == "call" and plan[1] in ("len", "abs")):
        return 0, math.inf
    if op in ("neg", "+", "-", "*") or (op == "call" and plan[1] in ("min", "max")):
        parts = [_interval(part, infer(part, types), types) for part in children(plan)]
        return _combined(plan[1] if op == "call" else op, parts)
    if op == "%" and plan[2][0] == "const" and plan[2][1] > 0:
        return 0, plan[2][1]
    return -math.inf, math.inf


def _combined(op: str, parts: list[tuple[float, float]]) -> tuple[float, float]:
    if op == "neg":
        return -parts[0][1], -parts[0][0]
    if op in ("min", "max"):
        pick = min if op == "min" else max
        return pick(low for low, _ in parts), pick(high for _, high in parts)
    (a, b), (c, d) = parts
    if op == "+":
        return a + c, b + d
    if op == "-":
        return a - d, b - c
    corners = [0 if 0 in (x, y) else x * y for x in (a, b) for y in (c, d)]
    return min(corners), max(corners)


def render(plan: Plan, types: Types) -> str:
    """The canonical text of a term: operands of + and * in order, constants as JSON would write them."""
    op = plan[0]
    if op in ("fact", "item"):
        return str(plan[1])
    if op == "const":
        return repr(plan[1])
    if op in ("field", "key"):
        return f"{render(plan[1], types)}[{plan[2]!r}]"
    if op == "index":
        return f"{render(plan[1], types)}[{plan[2]}]"
    if op in ("count", "sum"):
        item = infer(plan[3], types).item or ANY
        inner = {**types, plan[1]: item}
        parts = [render(part, inner) for part in (plan[2], *plan[4:])]
        return f"{op}({' if '.join(parts)} for {plan[1]} in {render(plan[3], types)})"
    if op in ("and", "or", "not", "any", "all", "<", "<=", ">", ">=", "==", "!=", "flag", "null"):
        return _normal_text(plan, types)
    parts = [render(part, types) for part in children(plan)]
    if op in ("+", "*"):
        return "(" + f" {op} ".join(sorted(parts)) + ")"
    if op in _ARITHMETIC or op == "in":
        return f"({parts[0]} {op} {parts[1]})"
    name = f"{op} {plan[1]}" if op in ("as", "alike") else plan[1] if op == "call" else op
    extra = f"; {plan[3]!r}" if op in ("glob", "matches") and plan[3] else ""
    return f"{name}({', '.join(parts)}{extra})"


def _normal_text(plan: Plan, types: Types) -> str:
    from ahp.conditions.normal import (
        normal,  # a condition inside a term, as in `1 if A else 2`, has a normal form of its own
    )

    return normal(plan, types).text
