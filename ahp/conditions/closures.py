"""Makers of closures for values: facts, comparisons, arithmetic, functions, patterns.  [light]

A maker takes the builder and a node of the plan. What policies ask most (a fact against a constant) has closures of its
own. Native operations raise on null and on MISSING, so the common case needs no checks.
"""

from ahp.conditions.globs import PatternError, bounded
from ahp.conditions.runtime import MAX_CHARS, MAX_ITEMS, MISSING, Bound, PlanError, Undecided, number, present, unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.conditions.runtime import Builder, Closure, Slots

    Maker = Callable[[Builder, Any], Closure]


_MOST_TESTS = 100
_tests: "dict[Any, Callable[[str], Any]]" = {}


def const(builder: "Builder", node: "Any") -> "Closure":
    value = node[1]
    return lambda facts: value


def fact(builder: "Builder", node: "Any") -> "Closure":
    slot = builder.slots[node[1]]
    return lambda facts: facts[slot]


def item(builder: "Builder", node: "Any") -> "Closure":
    cell = builder.cell(node[1])
    return lambda facts: cell[0]


def member(builder: "Builder", node: "Any") -> "Closure":
    """A map's key or a record's field; an absent one is a missing fact, and so is every key of an absent map."""
    base, name = builder.build(node[1]), node[2]

    def found(facts: "Slots") -> "Any":
        holder = base(facts)
        if type(holder) is dict:
            return holder.get(name, MISSING)
        raise unusable(holder)

    return found


def entry(builder: "Builder", node: "Any") -> "Closure":
    """A map's value by a key that is computed; an absent one is a missing fact."""
    base, key = builder.build(node[1]), builder.build(node[2])

    def found(facts: "Slots") -> "Any":
        holder, name = base(facts), key(facts)
        if type(holder) is dict and type(name) is str:
            return holder.get(name, MISSING)
        raise unusable(name if type(holder) is dict else holder)

    return found


def steps_of(path: str) -> "list[str | None]":
    """The keys and indexes of a path as TOML writes it, `a."b.c".0`; None for `*`, each of what is there."""
    steps: list[str | None] = []
    for nth, part in enumerate(path.split('"')):
        steps += [part] if nth % 2 else [None if word == "*" else word for word in part.split(".") if word]
    return steps


def at(builder: "Builder", node: "Any") -> "Closure":
    """What stands at a path of a document. What is not there is a missing fact; `*` gives a list of what is there."""
    base, steps = builder.build(node[1]), steps_of(node[2][1])

    def found(facts: "Slots") -> "Any":
        values = [present(base(facts))]
        for step in steps:
            below: list[Any] = []
            for value in values:
                if type(value) is dict:
                    below += value.values() if step is None else [value[step]] if step in value else []
                elif type(value) is list:
                    place = int(step) if step and step.isdigit() and len(step) < 10 else len(value)
                    below += value if step is None else value[place : place + 1]
            values = below
        return values if None in steps else values[0] if values else MISSING

    return found


def element(builder: "Builder", node: "Any") -> "Closure":
    """An item of a list by its constant index."""
    base, index = builder.build(node[1]), node[2]

    def found(facts: "Slots") -> "Any":
        holder = base(facts)
        if type(holder) is list:
            return holder[index]
        raise unusable(holder)

    return found


def listed(builder: "Builder", node: "Any") -> "Closure":
    """A list literal; one absent part makes it absent."""
    parts = [builder.build(part) for part in node[1:]]
    return lambda facts: [present(part(facts)) for part in parts]


def binary(general: "Callable[[Closure, Closure], Closure]", slot: "Callable[[int, Any], Closure]") -> "Maker":
    """The maker of an operator: `general` for any two operands, `slot` for a fact and a constant."""

    def make(builder: "Builder", node: "Any") -> "Closure":
        index = builder.slot(node[1])
        if index is not None and node[2][0] == "const":
            return slot(index, node[2][1])
        return general(builder.build(node[1]), builder.build(node[2]))

    return make


less = binary(lambda a, b: lambda f: a(f) < b(f), lambda i, c: lambda f: f[i] < c)
less_or_equal = binary(lambda a, b: lambda f: a(f) <= b(f), lambda i, c: lambda f: f[i] <= c)
greater = binary(lambda a, b: lambda f: a(f) > b(f), lambda i, c: lambda f: f[i] > c)
greater_or_equal = binary(lambda a, b: lambda f: a(f) >= b(f), lambda i, c: lambda f: f[i] >= c)
equal = binary(lambda a, b: lambda f: a(f) == b(f), lambda i, c: lambda f: f[i] == c)
unequal = binary(lambda a, b: lambda f: a(f) != b(f), lambda i, c: lambda f: f[i] != c)
plus = binary(lambda a, b: lambda f: number(a(f) + b(f)), lambda i, c: lambda f: number(f[i] + c))
minus = binary(lambda a, b: lambda f: number(a(f) - b(f)), lambda i, c: lambda f: number(f[i] - c))
times = binary(lambda a, b: lambda f: number(a(f) * b(f)), lambda i, c: lambda f: number(f[i] * c))
divided = binary(lambda a, b: lambda f: number(a(f) / b(f)), lambda i, c: lambda f: number(f[i] / c))
floor_divided = binary(lambda a, b: lambda f: number(a(f) // b(f)), lambda i, c: lambda f: number(f[i] // c))
remainder = binary(lambda a, b: lambda f: number(a(f) % b(f)), lambda i, c: lambda f: number(f[i] % c))


def negative(builder: "Builder", node: "Any") -> "Closure":
    value = builder.build(node[1])
    return lambda f: -value(f)


def contained(builder: "Builder", node: "Any") -> "Closure":
    """`in` where the types are known: an item in a list, a text in a text, a key in a map."""
    index, container = builder.slot(node[1]), node[2]
    if index is not None and container[0] == "const" and isinstance(container[1], list):
        members = frozenset(container[1])
        return lambda f: f[index] in members
    item, within = builder.build(node[1]), builder.build(container)
    return lambda f: present(item(f)) in within(f)


def null(builder: "Builder", node: "Any") -> "Closure":
    value = builder.build(node[1])
    return lambda f: present(value(f)) is None


def has(builder: "Builder", node: "Any") -> "Closure":
    value = builder.build(node[1])

    def test(facts: "Slots") -> bool:
        try:
            return value(facts) is not MISSING
        except Undecided as error:
            if error.kind == "missing_fact":
                return False
            raise

    return test


def default(builder: "Builder", node: "Any") -> "Closure":
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


def days(text: str) -> float:
    """The days since 1970 of a date or time (ISO 8601; RFC 3339). Raises Undecided for any other text."""
    from datetime import UTC, datetime

    try:
        then = datetime.fromisoformat(text)
        return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() / 86400
    except ValueError:
        raise Undecided("null_operand") from None


def split(text: str, separator: str) -> "list[str]":
    """Raises Bound for more parts than a loop goes through."""
    if text.count(separator) > MAX_ITEMS:
        raise Bound("a text of more than " + str(MAX_ITEMS) + " parts is too long for a condition")
    return text.split(separator) if separator else [text]


def replace(text: str, old: str, new: str) -> str:
    """Raises Bound for a text that gets longer than any pattern reads."""
    if len(text) + text.count(old) * len(new) > MAX_CHARS:
        raise Bound("a text of more than " + str(MAX_CHARS) + " characters is too long for a condition")
    return text.replace(old, new)


def call(function: "Callable[..., Any]", least: int, most: int) -> "Maker":
    """The maker for a plain function of values that raises a fault on null; a literal list becomes a tuple."""

    def make(builder: "Builder", node: "Any") -> "Closure":
        if not least < len(node) <= most + 1:
            raise PlanError("a call in a plan with too few or too many operands")
        if len(node) == 2:
            only = builder.build(node[1])
            return lambda f: function(only(f))
        if len(node) == 3 and node[2][0] == "const":
            value = tuple(node[2][1]) if isinstance(node[2][1], list) else node[2][1]
            slot = builder.slot(node[1])
            if slot is not None:
                return lambda f: function(f[slot], value)
            first = builder.build(node[1])
            return lambda f: function(first(f), value)
        operands = [builder.build(operand) for operand in node[1:]]
        return lambda f: function(*[_given(operand(f)) for operand in operands])

    return make


def _given(value: "Any") -> "Any":
    if value is MISSING or value is None:
        raise unusable(value)
    return value


# What follows looks at run time at values whose type the schema does not know: those of maps.


def _kind(value: "Any") -> str:
    """The type of a value in the words of the schema. To Python true is an int, which must not count here."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "bool"
    kind = type(value)
    if kind is int or kind is float:
        return "number"
    if kind is str or kind is list:
        return kind.__name__
    present(value)
    return "map"


def same(builder: "Builder", node: "Any") -> "Closure":
    """Equality: values of two types are never equal, not even true and 1."""
    left, right = builder.build(node[1]), builder.build(node[2])
    return lambda f: _same(left(f), right(f))


def _same(left: "Any", right: "Any") -> bool:
    kind = _kind(left)
    if kind != _kind(right) or left != right:
        return False
    if kind == "list":  # [true] equals [1] to Python
        return all(map(_same, left, right))
    return kind != "map" or all(_same(one, right[name]) for name, one in left.items())


def within(builder: "Builder", node: "Any") -> "Closure":
    """Membership: a text in a text, a name in a map, an item in a list."""
    item, container = builder.build(node[1]), builder.build(node[2])
    return lambda f: _within(item(f), container(f))


def _within(item: "Any", container: "Any") -> bool:
    kind = _kind(container)
    if kind == "list":
        present(item)  # also of an empty list, which compares nothing
        return any(_same(item, one) for one in container)
    if kind in ("str", "map") and _kind(item) == "str":
        return item in container
    raise Undecided("null_operand")


def typed(builder: "Builder", node: "Any") -> "Closure":
    """A value where one of certain types is needed; a value of another type counts as null."""
    base, wanted = builder.build(node[1]), node[2]

    def value(facts: "Slots") -> "Any":
        found = base(facts)
        if _kind(found) not in wanted:
            raise Undecided("null_operand")
        return found

    return value


def pattern(compiler: "Callable[[Any], Callable[[str], Any]]") -> "Maker":
    """The maker for `[name, text, pattern, known]`: a pattern is compiled at its first use, one that varies (a limit
    that differs by environment) once for each of the `known` values.
    """

    def make(builder: "Builder", node: "Any") -> "Closure":
        text = builder.build(node[1])
        compiled: dict[Any, Callable[[str], Any]] = {}
        if node[2][0] == "const":
            fixed = node[2][1]

            def test(facts: "Slots") -> "Any":
                if not compiled:
                    compiled[0] = _compiled(compiler, fixed)
                return compiled[0](text(facts))

            return test
        known, chosen = list(node[3]), builder.build(node[2])

        def varying(facts: "Slots") -> "Any":
            wanted = present(chosen(facts))
            key = tuple(wanted) if isinstance(wanted, list) else wanted
            if key not in compiled:
                if wanted not in known:
                    raise Bound("a pattern that was not checked when the policy was read")
                compiled[key] = _compiled(compiler, wanted)
            return compiled[key](text(facts))

        return varying

    return make


def _compiled(compiler: "Callable[[Any], Callable[[str], Any]]", wanted: "Any") -> "Callable[[str], Any]":
    """The test of a pattern; the refs of a push, and what an agent does, are asked the same ones again and again."""
    key = (compiler, tuple(wanted) if isinstance(wanted, list) else wanted)
    known = _tests.get(key)
    if known is not None:
        return known
    try:
        test = compiler(wanted)
    except PatternError as error:
        raise PlanError(str(error)) from None
    if len(_tests) >= _MOST_TESTS:
        _tests.clear()
    _tests[key] = test
    return test


def regexes(pattern: "Any") -> "Callable[[str], bool]":
    """The test of one regular expression or any of several; RE2 is loaded by the first policy that has one."""
    from ahp.conditions.regexes import regex

    if not isinstance(pattern, list):
        return regex(pattern)
    tests = [regex(one) for one in pattern]
    return lambda text: bounded(text) == text and any(test(text) for test in tests)


def groups(pattern: "Any") -> "Callable[[str], list[str]]":
    """The groups of one regular expression, or of the first of several that matches."""
    from ahp.conditions.regexes import groups

    found = [groups(one) for one in (pattern if isinstance(pattern, list) else [pattern])]
    return lambda text: next((parts for one in found if (parts := one(bounded(text)))), [])
