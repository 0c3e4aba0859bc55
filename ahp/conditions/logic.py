"""Closures for logic and loops: Kleene's three values, where the third is an exception on its way.  [light]

An operand that raises counts as unknown: `false and ?` is false and `true or ?` is true in either order; what stays
unknown raises the first doubt again. Every operand is evaluated once at most, so nesting cannot multiply the work.
"""

from time import monotonic

from ahp.conditions.unknown import FAULTS, MAX_ITEMS, MISSING, Bound, Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.conditions.evaluate import Builder, Closure, Slots

_DEADLINE = [float("inf")]
_CHUNK = 1024  # items between two looks at the clock


def set_deadline(at: float) -> None:
    """Let every loop raise Bound once the monotonic clock has passed `at` seconds; infinity lifts it."""
    _DEADLINE[0] = at


def _and(builder: "Builder", node: "Any") -> "Closure":
    tests = [builder.build(part) for part in node[1]]
    result = tests.pop()
    while tests:
        result = _both(tests.pop(), result)
    return result


def _both(first: "Closure", second: "Closure") -> "Closure":
    def test(facts: "Slots") -> "Any":
        try:
            if not first(facts):
                return False
        except FAULTS:
            if second(facts):
                raise
            return False
        return second(facts)

    return test


def _or(builder: "Builder", node: "Any") -> "Closure":
    tests = [builder.build(part) for part in node[1]]
    result = tests.pop()
    while tests:
        result = _either(tests.pop(), result)
    return result


def _either(first: "Closure", second: "Closure") -> "Closure":
    def test(facts: "Slots") -> "Any":
        try:
            if first(facts):
                return True
        except FAULTS:
            if second(facts):
                return True
            raise
        return second(facts)

    return test


def _not(builder: "Builder", node: "Any") -> "Closure":
    operand = builder.build(node[1])
    return lambda facts: not operand(facts)


def _if(builder: "Builder", node: "Any") -> "Closure":
    test, then, other = [builder.build(part) for part in node[1:4]]
    return lambda facts: then(facts) if test(facts) else other(facts)


def _flag(builder: "Builder", node: "Any") -> "Closure":
    """A fact or a map's value used as a truth value: only true and false are one."""
    value = builder.build(node[1])

    def test(facts: "Slots") -> bool:
        found = value(facts)
        if found is True or found is False:
            return found is True
        raise Undecided("missing_fact" if found is MISSING else "null_operand")

    return test


def _slot_flag(builder: "Builder", node: "Any") -> "Closure":
    slot = builder.slot(node[1])
    if slot is None:
        return _flag(builder, node)

    def test(facts: "Slots") -> bool:
        found = facts[slot]
        if found is True or found is False:
            return found is True
        raise Undecided("missing_fact" if found is MISSING else "null_operand")

    return test


def _checked(items: "Any") -> "Any":
    """The items of a loop; raises what `len` raises for an absent or null list, Bound for one that is too long."""
    if len(items) > MAX_ITEMS:
        raise Bound("a list of " + str(len(items)) + " items is too long for a condition")
    return items


def _on_time() -> None:
    if monotonic() > _DEADLINE[0]:
        raise Bound("the time for this decision is over")


def _any(builder: "Builder", node: "Any") -> "Closure":
    return _some(builder, node, True)


def _all(builder: "Builder", node: "Any") -> "Closure":
    return _some(builder, node, False)


def _some(builder: "Builder", node: "Any", wanted: bool) -> "Closure":
    """any() looks for an item that holds, all() for one that does not; the answer is there as soon as one is found."""
    holds, source, cell = builder.build(node[2]), builder.build(node[3]), builder.cell(node[1])

    def test(facts: "Slots") -> "Any":
        doubt: BaseException | None = None
        items = _checked(source(facts))
        for begin in range(0, len(items), _CHUNK):
            _on_time()
            for cell[0] in items[begin : begin + _CHUNK]:
                try:
                    if holds(facts) is wanted:
                        return wanted
                except FAULTS as error:
                    doubt = doubt or error
        if doubt is not None:
            raise doubt
        return not wanted

    return test


def _count(builder: "Builder", node: "Any") -> "Closure":
    holds, source, cell = builder.build(node[2]), builder.build(node[3]), builder.cell(node[1])

    def count(facts: "Slots") -> int:
        number = 0
        items = _checked(source(facts))
        for begin in range(0, len(items), _CHUNK):
            _on_time()
            for cell[0] in items[begin : begin + _CHUNK]:
                if holds(facts):
                    number += 1
        return number

    return count


def _sum(builder: "Builder", node: "Any") -> "Closure":
    value, source, cell = builder.build(node[2]), builder.build(node[3]), builder.cell(node[1])
    chosen = builder.build(node[4])

    def total(facts: "Slots") -> "Any":
        number: Any = 0
        items = _checked(source(facts))
        for begin in range(0, len(items), _CHUNK):
            _on_time()
            for cell[0] in items[begin : begin + _CHUNK]:
                if chosen(facts):
                    number = number + value(facts)
        return number

    return total


def select(
    items: "Any", length: int, test: "Closure", cell: "list[Any]", facts: "Slots"
) -> "tuple[list[Any], tuple[Any, BaseException] | None]":
    """The items for which `test` holds, and the first (item, error) that left it without a value."""
    if length > MAX_ITEMS:
        raise Bound("a list of " + str(length) + " items is too long for a condition")
    hits: list[Any] = []
    doubt: Any = None
    for begin in range(0, length, _CHUNK):
        _on_time()
        for item in items[begin : begin + _CHUNK]:
            cell[0] = item
            try:
                if test(facts):
                    hits.append(item)
            except FAULTS as error:
                doubt = doubt or (item, error)
    return hits, doubt


MAKERS: "dict[str, Any]" = {
    "and": _and,
    "or": _or,
    "not": _not,
    "if": _if,
    "flag": _slot_flag,
    "any": _any,
    "all": _all,
    "count": _count,
    "sum": _sum,
}
