"""Closures for values: facts, comparisons, arithmetic, functions.  [light]

The shapes that policies are full of (a fact against a constant) have closures of their own; native operations raise on
null and on MISSING, so the happy path checks nothing.
"""

from ahp.conditions import patterns
from ahp.conditions.unknown import MISSING, Bound, PlanError, Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.conditions.evaluate import Builder, Closure, Slots


def _const(builder: "Builder", node: "Any") -> "Closure":
    value = node[1]
    return lambda facts: value


def _fact(builder: "Builder", node: "Any") -> "Closure":
    slot = builder.slots[node[1]]
    return lambda facts: facts[slot]


def _item(builder: "Builder", node: "Any") -> "Closure":
    cell = builder.cell(node[1])
    return lambda facts: cell[0]


def _member(builder: "Builder", node: "Any") -> "Closure":
    """A map's key or a record's field; an absent one is a missing fact, and so is every key of an absent map."""
    base, name = builder.build(node[1]), node[2]

    def member(facts: "Slots") -> "Any":
        found = base(facts)
        if type(found) is dict:
            return found.get(name, MISSING)
        raise Undecided("missing_fact" if found is MISSING else "null_operand")

    return member


def _index(builder: "Builder", node: "Any") -> "Closure":
    base, position = builder.build(node[1]), node[2]

    def element(facts: "Slots") -> "Any":
        found = base(facts)
        if type(found) is list:
            return found[position]
        raise Undecided("missing_fact" if found is MISSING else "null_operand")

    return element


def _present(value: "Any") -> "Any":
    if value is MISSING:
        raise Undecided("missing_fact")
    return value


def _list(builder: "Builder", node: "Any") -> "Closure":
    parts = [builder.build(part) for part in node[1]]
    return lambda facts: [_present(part(facts)) for part in parts]


def _binary(general: "Callable[[Closure, Closure], Closure]", slot: "Callable[[int, Any], Closure]") -> "Any":
    def make(builder: "Builder", node: "Any") -> "Closure":
        index = builder.slot(node[1])
        if index is not None and node[2][0] == "const":
            return slot(index, node[2][1])
        return general(builder.build(node[1]), builder.build(node[2]))

    return make


_COMPARISONS = {
    "<": _binary(lambda a, b: lambda f: a(f) < b(f), lambda i, c: lambda f: f[i] < c),
    "<=": _binary(lambda a, b: lambda f: a(f) <= b(f), lambda i, c: lambda f: f[i] <= c),
    ">": _binary(lambda a, b: lambda f: a(f) > b(f), lambda i, c: lambda f: f[i] > c),
    ">=": _binary(lambda a, b: lambda f: a(f) >= b(f), lambda i, c: lambda f: f[i] >= c),
    "==": _binary(lambda a, b: lambda f: a(f) == b(f), lambda i, c: lambda f: f[i] == c),
    "!=": _binary(lambda a, b: lambda f: a(f) != b(f), lambda i, c: lambda f: f[i] != c),
}


def _in(builder: "Builder", node: "Any") -> "Closure":
    index, container = builder.slot(node[1]), node[2]
    if index is not None and container[0] == "const" and isinstance(container[1], list):
        members = frozenset(container[1])
        return lambda f: f[index] in members
    if node[1][0] == "const" and container[0] == "fact":
        value, slot = node[1][1], builder.slots[container[1]]
        return lambda f: value in f[slot]
    item, within = builder.build(node[1]), builder.build(container)
    return lambda f: _present(item(f)) in within(f)


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


def _null(builder: "Builder", node: "Any") -> "Closure":
    value = builder.build(node[1])
    return lambda f: _present(value(f)) is None


def _has(builder: "Builder", node: "Any") -> "Closure":
    value = builder.build(node[1])

    def test(facts: "Slots") -> bool:
        try:
            return value(facts) is not MISSING
        except Undecided as error:
            if error.kind == "missing_fact":
                return False
            raise

    return test


def _default(builder: "Builder", node: "Any") -> "Closure":
    value, other = builder.build(node[1]), builder.build(node[2])

    def chosen(facts: "Slots") -> "Any":
        try:
            found = value(facts)
        except Undecided as error:
            if error.kind != "missing_fact":
                raise
            found = MISSING
        return other(facts) if found is MISSING or found is None else found

    return chosen


_ARITHMETIC = {
    "+": _binary(lambda a, b: lambda f: a(f) + b(f), lambda i, c: lambda f: f[i] + c),
    "-": _binary(lambda a, b: lambda f: a(f) - b(f), lambda i, c: lambda f: f[i] - c),
    "*": _binary(lambda a, b: lambda f: a(f) * b(f), lambda i, c: lambda f: f[i] * c),
    "/": _binary(lambda a, b: lambda f: a(f) / b(f), lambda i, c: lambda f: f[i] / c),
    "//": _binary(lambda a, b: lambda f: a(f) // b(f), lambda i, c: lambda f: f[i] // c),
    "%": _binary(lambda a, b: lambda f: a(f) % b(f), lambda i, c: lambda f: f[i] % c),
}


def _negative(builder: "Builder", node: "Any") -> "Closure":
    value = builder.build(node[1])
    return lambda f: -value(f)


def _affix(value: "Any") -> "Any":
    return tuple(value) if isinstance(value, list) else _present(value)


_CALLS: "dict[str, Callable[..., Any]]" = {
    "lower": lambda a: lambda f: a(f).lower(),
    "upper": lambda a: lambda f: a(f).upper(),
    "strip": lambda a, *chars: (lambda f: a(f).strip(_present(chars[0](f)))) if chars else (lambda f: a(f).strip()),
    "startswith": lambda a, b: lambda f: a(f).startswith(_affix(b(f))),
    "endswith": lambda a, b: lambda f: a(f).endswith(_affix(b(f))),
    "len": lambda a: lambda f: len(a(f)),
    "abs": lambda a: lambda f: abs(a(f)),
    "min": lambda *each: lambda f: min([_present(one(f)) for one in each]),
    "max": lambda *each: lambda f: max([_present(one(f)) for one in each]),
}


def _call(builder: "Builder", node: "Any") -> "Closure":
    name, operands = node[1], node[2]
    if name in ("startswith", "endswith") and operands[1][0] == "const":
        return _constant_affix(builder, name, operands)
    return _CALLS[name](*[builder.build(part) for part in operands])  # type: ignore[no-any-return]


def _constant_affix(builder: "Builder", name: str, operands: "Any") -> "Closure":
    affix, text, slot = _affix(operands[1][1]), builder.build(operands[0]), builder.slot(operands[0])
    if name == "startswith":
        return (lambda f: f[slot].startswith(affix)) if slot is not None else (lambda f: text(f).startswith(affix))
    return (lambda f: f[slot].endswith(affix)) if slot is not None else (lambda f: text(f).endswith(affix))


def _pattern(builder: "Builder", node: "Any") -> "Closure":
    """glob and matches: `[op, text, pattern, values]`, compiled at the first use; a pattern that varies is looked
    up by its value.
    """
    compiler = patterns.glob if node[0] == "glob" else patterns.regex
    text = builder.build(node[1])
    if node[2][0] == "const":
        return _fixed_pattern(text, compiler, node[2][1])
    known = list(node[3])
    chosen, compiled = builder.build(node[2]), {}

    def varying(facts: "Slots") -> bool:
        value, wanted = _string(text(facts)), _present(chosen(facts))
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


def _compiled(compiler: "Any", pattern: "Any") -> "Any":
    if compiler is patterns.regex and isinstance(pattern, list):
        tests = [patterns.regex(one) for one in pattern]
        return lambda text: any(test(text) for test in tests)
    try:
        return compiler(pattern)
    except patterns.PatternError as error:
        raise PlanError(str(error)) from None


def _string(value: "Any") -> str:
    if type(value) is str:
        return value
    raise Undecided("missing_fact" if value is MISSING else "null_operand")


MAKERS: "dict[str, Any]" = {
    "const": _const,
    "fact": _fact,
    "item": _item,
    "field": _member,
    "key": _member,
    "index": _index,
    "list": _list,
    "in": _in,
    "same": _same,
    "within": _within,
    "alike": _alike,
    "as": _as,
    "null": _null,
    "has": _has,
    "default": _default,
    "neg": _negative,
    "call": _call,
    "glob": _pattern,
    "matches": _pattern,
    **_COMPARISONS,
    **_ARITHMETIC,
}
