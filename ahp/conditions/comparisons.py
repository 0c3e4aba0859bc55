"""Comparisons and membership: which types meet, and the plan of each pair."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ahp.conditions.diagnostics import quoted
from ahp.conditions.expression import Typed, a_type
from ahp.conditions.plan import Plan
from ahp.conditions.schema import ANY, Type, type_of_value
from ahp.conditions.spelling import nearest

if TYPE_CHECKING:
    from ahp.conditions.checker import Checker

_ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def pair(checker: Checker, op: ast.cmpop, left: Typed, right: Typed, node: ast.expr) -> Plan:
    """The plan of one comparison. Raises Refused when the types cannot be compared."""
    if isinstance(op, (ast.In, ast.NotIn)):
        found = membership(checker, left, right, node)
    elif isinstance(op, (ast.Is, ast.IsNot)):
        if right.plan != ["const", None]:
            raise checker.refuse(node, "type", "'is' only asks for None", "to compare write '=='")
        found = ["null", left.plan]
    elif type(op) in _ORDER:
        return _order(checker, _ORDER[type(op)], left, right, node)
    else:
        found = _equal(checker, left, right, node)
    if isinstance(op, (ast.NotIn, ast.IsNot, ast.NotEq)):
        return ["!=", *found[1:]] if found[0] == "==" else ["not", found]
    return found


def _order(checker: Checker, op: str, left: Typed, right: Typed, node: ast.expr) -> Plan:
    if left.type is ANY and right.type is ANY:
        return ["alike", op, left.plan, right.plan]
    groups = {left.group, right.group} - {"any"}
    if groups not in ({"number"}, {"str"}):
        lists = next((one for one in (left, right) if one.group == "list"), None)
        hint = f"write len({lists.text[1:-1]})" if lists else ""
        message = f"'{op}' compares two numbers or two texts, not {a_type(left.type)} with {a_type(right.type)}"
        raise checker.refuse(node, "type", message, hint)
    plans = [["as", sorted(groups), one.plan] if one.type is ANY else one.plan for one in (left, right)]
    return [op, *plans]


def _equal(checker: Checker, left: Typed, right: Typed, node: ast.expr) -> Plan:
    for one, other in ((left, right), (right, left)):
        if other.plan == ["const", None]:
            return ["null", one.plan]
    if ANY in (left.type, right.type):
        return ["same", left.plan, right.plan]
    both = left.group == right.group and left.group not in ("map", "record")
    if both and left.group == "list" and left.type.item and right.type.item:
        both = _groups_meet(left.type.item, right.type.item)
    if not both:
        raise checker.refuse(
            node, "type", f"{a_type(left.type)} never equals {a_type(right.type)}: {left.text} and {right.text}"
        )
    _enum(checker, left, [right])
    _enum(checker, right, [left])
    return ["==", left.plan, right.plan]


def membership(checker: Checker, item: Typed, container: Typed, node: ast.expr) -> Plan:
    """The plan of `item in container`: a text in a text, a key in a map, a value in a list. Raises Refused."""
    kind = container.type
    if kind is ANY or (kind.name == "list" and (kind.item is ANY or item.type is ANY)):
        return ["within", item.plan, container.plan]
    if kind.name in ("str", "map"):
        if item.type is ANY or (kind.name == "map" and item.group == "str" and item.type.nullable):
            return ["in", ["as", ["str"], item.plan], container.plan]
        if item.group == "str":
            return ["in", item.plan, container.plan]
    if kind.name == "list" and (kind.item is None or _groups_meet(item.type, kind.item)):
        values = container.plan[1] if container.is_const() else []
        _enum(checker, item, [Typed(["const", value], type_of_value(value), container.node) for value in values])
        return ["in", item.plan, container.plan]
    hint = "write it in a list: in ['a', 'b']" if kind.name not in ("list", "str", "map") else ""
    raise checker.refuse(
        node, "type", f"{a_type(item.type)} cannot be in {a_type(kind)}: {item.text} in {container.text}", hint
    )


def _enum(checker: Checker, fact: Typed, others: list[Typed]) -> None:
    """A literal that the fact never equals is a typo."""
    enum = fact.type.enum
    for other in others:
        if enum is None or not other.is_const() or other.plan[1] is None or other.plan[1] in enum:
            continue
        value = other.plan[1]
        near = nearest(str(value), [str(one) for one in enum])
        hint = f"did you mean {quoted(near)}?" if near else f"it is one of {', '.join(map(str, enum))}"
        checker.problems.append(checker.refuse(other.node, "enum", f"{fact.text} is never {quoted(str(value))}", hint))


def _groups_meet(one: Type, other: Type) -> bool:
    if ANY in (one, other) or "null" in (one.name, other.name):
        return True
    return one.name == other.name or (one.is_number and other.is_number)
