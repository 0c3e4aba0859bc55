"""Closures for values: facts, comparisons, arithmetic, functions.  [light]

The shapes that policies are full of (a fact against a constant) have closures of their own; native operations raise on
null and on MISSING, so the happy path checks nothing.
"""

from ahp.conditions import dynamic
from ahp.conditions.unknown import MISSING, Undecided
from ahp.conditions.unknown import present as _present

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


MAKERS: "dict[str, Any]" = {
    "const": _const,
    "fact": _fact,
    "item": _item,
    "field": _member,
    "key": _member,
    "index": _index,
    "list": _list,
    "in": _in,
    "null": _null,
    "has": _has,
    "default": _default,
    "neg": _negative,
    "call": _call,
    **dynamic.MAKERS,
    **_COMPARISONS,
    **_ARITHMETIC,
}
