"""Closures that look at what they get: map values, whose type only run time knows, and patterns over text.  [light]"""

from ahp.conditions import globs
from ahp.conditions.unknown import MISSING, Bound, PlanError, Undecided, present

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.conditions.evaluate import Builder, Closure, Slots


def kind_of(value: "Any") -> str:
    """The type of a map's value in the words of the schema; Python's own ranks (bool is an int) do not apply."""
    if value is MISSING:
        raise Undecided("missing_fact")
    if value is None:
        return "null"
    if value is True or value is False:
        return "bool"
    kind = type(value)
    if kind is int or kind is float:
        return "number"
    return "str" if kind is str else "list" if kind is list else "map"


def same(left: "Any", right: "Any") -> bool:
    """Equality where a type is known at run time only: values of two types are never equal, not even true and 1."""
    return kind_of(left) == kind_of(right) and bool(left == right)


def _same(builder: "Builder", node: "Any") -> "Closure":
    left, right = builder.build(node[1]), builder.build(node[2])
    return lambda f: same(left(f), right(f))


def within(item: "Any", container: "Any") -> bool:
    """Membership where a type is known at run time only: a text in a text, a name in a map, an item in a list."""
    kind = kind_of(container)
    if kind == "list":
        kind_of(item)
        return any(same(item, one) for one in container)
    if kind in ("str", "map") and kind_of(item) == "str":
        return item in container
    raise Undecided("null_operand")


def _within(builder: "Builder", node: "Any") -> "Closure":
    item, container = builder.build(node[1]), builder.build(node[2])
    return lambda f: within(item(f), container(f))


def _as(builder: "Builder", node: "Any") -> "Closure":
    """A map's value where a type is needed: of another type it is as good as null."""
    wanted, base = node[1], builder.build(node[2])

    def value(facts: "Slots") -> "Any":
        found = base(facts)
        if kind_of(found) not in wanted:
            raise Undecided("null_operand")
        return found

    return value


def _alike(builder: "Builder", node: "Any") -> "Closure":
    """Order between two values whose types are known at run time only: two numbers or two texts."""
    op, left, right = node[1], builder.build(node[2]), builder.build(node[3])
    compare = _ORDER[op]

    def test(facts: "Slots") -> bool:
        one, other = left(facts), right(facts)
        if kind_of(one) != kind_of(other) or kind_of(one) not in ("number", "str"):
            raise Undecided("null_operand")
        return compare(one, other)

    return test


_ORDER: "dict[str, Callable[[Any, Any], bool]]" = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _pattern(builder: "Builder", node: "Any") -> "Closure":
    """glob and matches: `[op, text, pattern, values]`, compiled at the first use; a pattern that varies is looked
    up by its value.
    """
    compiler = globs.glob if node[0] == "glob" else _regexes
    text = builder.build(node[1])
    if node[2][0] == "const":
        return _fixed_pattern(text, compiler, node[2][1])
    known = list(node[3])
    chosen, compiled = builder.build(node[2]), {}

    def varying(facts: "Slots") -> bool:
        value, wanted = _string(text(facts)), present(chosen(facts))
        key = tuple(wanted) if isinstance(wanted, list) else wanted
        if key not in compiled:
            if wanted not in known:
                raise Bound("a pattern that was not checked when the policy was read")
            compiled[key] = _compiled(compiler, wanted)
        return bool(compiled[key](value))

    return varying


def _fixed_pattern(text: "Closure", compiler: "Any", pattern: "Any") -> "Closure":
    compiled: list[Any] = []

    def fixed(facts: "Slots") -> bool:
        value = _string(text(facts))
        if not compiled:
            compiled.append(_compiled(compiler, pattern))
        return bool(compiled[0](value))

    return fixed


def _regexes(pattern: "Any") -> "Any":
    """The test of one regular expression or any of several; RE2 is loaded by the first policy that has one."""
    from ahp.conditions.regexes import regex

    if not isinstance(pattern, list):
        return regex(pattern)
    tests = [regex(one) for one in pattern]
    return lambda text: any(test(text) for test in tests)


def _compiled(compiler: "Any", pattern: "Any") -> "Any":
    try:
        return compiler(pattern)
    except globs.PatternError as error:
        raise PlanError(str(error)) from None


def _string(value: "Any") -> str:
    if type(value) is str:
        return value
    raise Undecided("missing_fact" if value is MISSING else "null_operand")


MAKERS: "dict[str, Any]" = {
    "same": _same,
    "within": _within,
    "as": _as,
    "alike": _alike,
    "glob": _pattern,
    "matches": _pattern,
}
