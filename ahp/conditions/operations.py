"""What the reference evaluator's operators and functions mean, by the types of values alone (design §5)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from ahp.conditions import globs, regexes
from ahp.conditions.evaluate import Undecided


def _kind(found: Any) -> str:
    if found is None or isinstance(found, bool):
        return type(found).__name__
    if isinstance(found, (int, float)):
        return "number"
    return "list" if isinstance(found, (list, tuple)) else type(found).__name__


def null() -> NoReturn:
    raise Undecided("null_operand")


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def calculate(left: Any, right: Any) -> Any:
        return operation(left, right) if _kind(left) == _kind(right) == "number" else null()

    return calculate


def _ordered(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        return operation(left, right) if _kind(left) == _kind(right) and _kind(left) in ("number", "str") else null()

    return compare


def _equal(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and bool(left == right)


def _inside(item: Any, container: Any) -> bool:
    kind = _kind(container)
    if kind == "list":
        return any(_equal(item, one) for one in container)
    return item in container if kind in ("str", "dict") and isinstance(item, str) else null()


def _length(found: Any) -> int:
    return len(found) if _kind(found) in ("str", "list", "dict") else null()


def number(found: Any) -> Any:
    return found if _kind(found) == "number" else null()


def _patterned(compiler: Callable[[str], Callable[[str], bool]]) -> Callable[[Any, Any], bool]:
    def test(text: Any, pattern: Any) -> bool:
        if not isinstance(text, str) or pattern is None:
            null()
        return any(compiler(one)(text) for one in (pattern if isinstance(pattern, (list, tuple)) else [pattern]))

    return test


OPERATORS = {
    ast.Add: _arithmetic(lambda a, b: a + b),
    ast.Sub: _arithmetic(lambda a, b: a - b),
    ast.Mult: _arithmetic(lambda a, b: a * b),
    ast.Div: _arithmetic(lambda a, b: a / b),
    ast.FloorDiv: _arithmetic(lambda a, b: a // b),
    ast.Mod: _arithmetic(lambda a, b: a % b),
    ast.USub: lambda a: -number(a),
    ast.UAdd: lambda a: +number(a),
    ast.Lt: _ordered(lambda a, b: a < b),
    ast.LtE: _ordered(lambda a, b: a <= b),
    ast.Gt: _ordered(lambda a, b: a > b),
    ast.GtE: _ordered(lambda a, b: a >= b),
    ast.Eq: _equal,
    ast.NotEq: lambda a, b: not _equal(a, b),
    ast.In: _inside,
    ast.NotIn: lambda a, b: not _inside(a, b),
    ast.Is: lambda a, b: a is None and b is None,
    ast.IsNot: lambda a, b: not (a is None and b is None),
}
FUNCTIONS = {
    "len": _length,
    "min": lambda *each: min(number(one) for one in each),
    "max": lambda *each: max(number(one) for one in each),
    "abs": lambda a: abs(number(a)),
    "contains": lambda container, item: _inside(item, container),
    "glob": _patterned(globs.glob),
    "matches": _patterned(regexes.regex),
}
METHODS = ("startswith", "endswith", "lower", "upper", "strip")
LOOPS = ("any", "all", "count", "sum")


def kleene(questions: list[Any], decisive: bool) -> bool:
    """`and` (decisive: False) or `or` (True): the decisive value wins in any order, then a doubt, then the other."""
    doubt: Undecided | None = None
    for question in questions:
        try:
            answer: bool = question()
            if answer is decisive:
                return answer
        except Undecided as error:
            doubt = doubt or error
        except ZeroDivisionError:
            doubt = doubt or Undecided("zero_division")
    if doubt is not None:
        raise doubt
    return not decisive
