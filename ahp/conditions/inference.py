"""What is known of a plan before there are facts: the type of its value, its range, its value if it reads none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ahp.conditions import closures
from ahp.conditions.evaluate import closure
from ahp.conditions.guards import Plan, walk
from ahp.conditions.language import LOOP, OPERATIONS, children
from ahp.conditions.runtime import FAULTS, Bound
from ahp.conditions.schema import ANY, Type, join, parse_type, type_of_value

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
        return kind.without_null() if default_for_null else kind
    if operation.gives:
        return parse_type(operation.gives)
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
