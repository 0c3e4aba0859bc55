"""Literals, arithmetic, logic and comparisons: what types they take, and the plan of each."""

from __future__ import annotations

import ast

from ahp.conditions import pitfalls
from ahp.conditions.checker import Checker, Typed, a_type
from ahp.conditions.diagnostics import quoted
from ahp.conditions.evaluate import closure
from ahp.conditions.guards import Plan, walk
from ahp.conditions.parse import Refused
from ahp.conditions.runtime import FAULTS, Bound
from ahp.conditions.schema import ANY, BOOL, SchemaError, Type, type_of_value
from ahp.conditions.spelling import nearest

_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def constant(checker: Checker, node: ast.Constant) -> Typed:
    if node.value is not None and type(node.value) not in (bool, int, float, str):
        raise checker.refuse(node, "syntax", f"{quoted(str(node.value))} is not part of a condition")
    return checker.made(node, "const", parameter=node.value)


def sequence(checker: Checker, node: ast.List | ast.Tuple) -> Typed:
    parts = [checker.value(part) for part in node.elts]
    for part in parts:
        if part.group not in ("number", "str", "bool", "null", "any"):
            what = f"a list holds texts, numbers, true or false; {part.text} is {a_type(part.type)}"
            raise checker.refuse(part.node, "type", what)
    try:
        found = checker.made(node, "list", *parts)
    except SchemaError as error:
        raise checker.refuse(node, "type", f"a list holds values of one type: {error}") from None
    if all(part.is_const() for part in parts):
        return Typed(["const", [part.plan[1] for part in parts]], found.type, node)
    return found


def unary(checker: Checker, node: ast.UnaryOp) -> Typed:
    if isinstance(node.op, ast.Not):
        return checker.made(node, "not", checker.boolean(node.operand))
    operand = checker.needing("a sign", checker.expr(node.operand), "number")
    negated = isinstance(node.op, ast.USub)
    if operand.is_const():
        return checker.made(node, "const", parameter=-operand.plan[1] if negated else operand.plan[1])
    if negated:
        return checker.made(node, "neg", operand)
    # A plan of its own, so that +null is undecided like every other arithmetic with null.
    return checker.made(node, "-", operand, checker.made(node, "const", parameter=0))


def binary(checker: Checker, node: ast.BinOp) -> Typed:
    op = _ARITHMETIC.get(type(node.op))
    if op is None:
        raise checker.refuse(node, "syntax", "this operator is not part of a condition")
    found = checker.made(
        node, op, *(checker.needing(f"'{op}'", checker.expr(side), "number") for side in (node.left, node.right))
    )
    _computable(checker, found)
    return found


def _computable(checker: Checker, found: Typed) -> None:
    """Raises Refused for a calculation on literals that has no value, and for a divisor that is a literal zero."""
    plan = found.plan
    if plan[0] in ("/", "//", "%") and plan[2][0] == "const" and plan[2][1] == 0:
        raise checker.refuse(found.node, "type", "division by zero")
    if any(part[0] in ("fact", "item") for part in walk(plan)):
        return
    try:
        closure(plan, {})([])
    except ZeroDivisionError:
        raise checker.refuse(found.node, "type", "division by zero") from None
    except OverflowError:
        raise checker.refuse(found.node, "bound", "the number is too large") from None
    except Bound:
        raise checker.refuse(found.node, "bound", "the calculation has no number for a result") from None
    except FAULTS:
        raise checker.refuse(found.node, "type", "the calculation has no value") from None


def logic(checker: Checker, node: ast.BoolOp) -> Typed:
    parts: list[Typed] = []
    for value in node.values:
        try:
            parts.append(checker.boolean(value))
        except Refused as refused:
            checker.problems.append(refused)
    if not parts:
        return checker.made(node, "const", parameter=True)  # never used: there are problems
    return checker.made(node, "and" if isinstance(node.op, ast.And) else "or", *parts)


def ternary(checker: Checker, node: ast.IfExp) -> Typed:
    test, then, other = checker.boolean(node.test), checker.expr(node.body), checker.expr(node.orelse)
    try:
        return checker.made(node, "if", test, then, other)
    except SchemaError as error:
        raise checker.refuse(node, "type", f"both values of a conditional have one type: {error}") from None


def compare(checker: Checker, node: ast.Compare) -> Typed:
    """A comparison; a chained one is the `and` of its pairs."""
    operands = [checker.value(one) for one in (node.left, *node.comparators)]
    pairs = zip(node.ops, operands, operands[1:], strict=False)
    parts = [_pair(checker, op, left, right, node) for op, left, right in pairs]
    return Typed(parts[0] if len(parts) == 1 else ["and", *parts], BOOL, node)


def _pair(checker: Checker, op: ast.cmpop, left: Typed, right: Typed, node: ast.expr) -> Plan:
    if type(op) in _ORDER:
        return _order(checker, _ORDER[type(op)], left, right, node)
    if isinstance(op, (ast.In, ast.NotIn)):
        found = membership(checker, left, right, node).plan
    elif isinstance(op, (ast.Is, ast.IsNot)):
        if right.plan != ["const", None]:
            raise checker.refuse(node, "type", "'is' only asks for None", "to compare write '=='")
        found = ["null", left.plan]
    else:
        found = _equal(checker, left, right, node)
    if isinstance(op, (ast.NotIn, ast.IsNot, ast.NotEq)):
        return ["!=", *found[1:]] if found[0] == "==" else ["not", found]
    return found


def _order(checker: Checker, op: str, left: Typed, right: Typed, node: ast.expr) -> Plan:
    groups = {left.group, right.group} - {"any"}
    if groups not in ({"number"}, {"str"}, set()):
        lists = next((one for one in (left, right) if one.group == "list"), None)
        hint = f"write len({lists.bare})" if lists else _as_number(left, right)
        message = f"'{op}' compares two numbers or two texts, not {a_type(left.type)} with {a_type(right.type)}"
        raise checker.refuse(node, "type", message, hint)
    pitfalls.measured(checker, left, right)
    pitfalls.measured(checker, right, left)
    return [op, *(checker.typed(one, *(groups or ("number", "str"))).plan for one in (left, right))]


def _as_number(left: Typed, right: Typed) -> str:
    """What to write where a number is compared with a number in quotes."""
    for one, other in ((left, right), (right, left)):
        text = other.plan[1] if other.is_const() else None
        if one.group == "number" and isinstance(text, str) and text.isdecimal():
            return f"write {text}, without quotes"
    return ""


def _equal(checker: Checker, left: Typed, right: Typed, node: ast.expr) -> Plan:
    for one, other in ((left, right), (right, left)):
        if other.plan == ["const", None]:
            return ["null", one.plan]
    both_lists = left.group == right.group == "list"
    if ANY in (left.type, right.type) or (both_lists and ANY in (left.type.item, right.type.item)):
        return ["same", left.plan, right.plan]
    both = left.group == right.group and left.group not in ("map", "record")
    if both and left.group == "list" and left.type.item and right.type.item:
        both = _meet(left.type.item, right.type.item)
    if not both:
        what = f"{a_type(left.type)} never equals {a_type(right.type)}: {left.text} and {right.text}"
        hint = ""
        for one, other in ((left, right), (right, left)):
            if one.group == "list" and one.type.item and _meet(one.type.item, other.type):
                hint = f"write {other.bare} in {one.bare}"
        raise checker.refuse(node, "type", what, hint)
    _enum(checker, left, [right])
    _enum(checker, right, [left])
    pitfalls.equalled(checker, left, right)
    pitfalls.equalled(checker, right, left)
    return ["==", left.plan, right.plan]


def membership(checker: Checker, item: Typed, container: Typed, node: ast.expr) -> Typed:
    """`item in container`: a text in a text, a key in a map, a value in a list. Raises Refused."""
    kind = container.type
    if kind is ANY or (kind.name == "list" and (kind.item is ANY or item.type is ANY)):
        return checker.made(node, "within", item, container)
    if kind.name == "map" and item.group == "str" and item.type.nullable:
        # A null key would simply not be found; looking at its type makes it undecided.
        return checker.made(node, "in", checker.made(item.node, "as", item, parameter=["str"]), container)
    if kind.name in ("str", "map") and item.group in ("str", "any"):
        pitfalls.contained(checker, item, container)
        return checker.made(node, "in", checker.typed(item, "str"), container)
    if kind.name == "list" and (kind.item is None or _meet(item.type, kind.item)):
        values = container.plan[1] if container.is_const() else []
        _enum(checker, item, [Typed(["const", value], type_of_value(value), container.node) for value in values])
        pitfalls.equalled(checker, item, container)
        pitfalls.equalled(checker, container, item)
        return checker.made(node, "in", item, container)
    hint = "write it in a list: in ['a', 'b']" if kind.name not in ("list", "str", "map") else ""
    what = f"{a_type(item.type)} cannot be in {a_type(kind)}: {item.text} in {container.text}"
    raise checker.refuse(node, "type", what, hint)


def _enum(checker: Checker, fact: Typed, others: list[Typed]) -> None:
    """A literal that the fact never equals is a typo."""
    enum = fact.type.enum
    for other in others:
        if enum is None or not other.is_const() or other.plan[1] is None or other.plan[1] in enum:
            continue
        value = str(other.plan[1])
        near = nearest(value, [str(one) for one in enum])
        hint = f"did you mean {quoted(near)}?" if near else f"it is one of {', '.join(map(str, enum))}"
        checker.problems.append(checker.refuse(other.node, "enum", f"{fact.text} is never {quoted(value)}", hint))


def _meet(one: Type, other: Type) -> bool:
    if ANY in (one, other) or "null" in (one.name, other.name):
        return True
    return one.name == other.name or (one.is_number and other.is_number)
