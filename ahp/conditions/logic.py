"""Makers of closures for logic and loops, with Kleene's third value as an exception.  [light]

An operand that raises counts as unknown: `false and ?` is false and `true or ?` is true in either order; where the
whole is unknown, the first operand's exception is raised again. Each operand is evaluated at most once, so nesting does
not multiply the work.
"""

from time import monotonic

from ahp.conditions.runtime import FAULTS, MAX_ITEMS, Bound, names, number, unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ahp.conditions.runtime import Builder, Closure, Slots

    Maker = Callable[[Builder, Any], Closure]

_DEADLINE = [float("inf")]
_CHUNK = 1024  # items between two looks at the clock
_FEW = 16  # items that are sooner asked than found


def set_deadline(at: float) -> None:
    """Let every loop raise Bound once the monotonic clock has passed `at` seconds; infinity lifts it."""
    _DEADLINE[0] = at


def chain(pair: "Callable[[Closure, Closure], Closure]") -> "Maker":
    """The maker of `and` or `or` over any number of operands, by the closure of two."""

    def make(builder: "Builder", node: "Any") -> "Closure":
        result = builder.build(node[-1])
        for part in node[-2:0:-1]:
            result = pair(builder.build(part), result)
        return result

    return make


def both(first: "Closure", second: "Closure") -> "Closure":
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


def either(first: "Closure", second: "Closure") -> "Closure":
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


def negation(builder: "Builder", node: "Any") -> "Closure":
    operand = builder.build(node[1])
    return lambda facts: not operand(facts)


def conditional(builder: "Builder", node: "Any") -> "Closure":
    test, then, other = [builder.build(part) for part in node[1:4]]
    return lambda facts: then(facts) if test(facts) else other(facts)


def flag(builder: "Builder", node: "Any") -> "Closure":
    """A fact or a map's value used as a truth value: only true and false are one."""
    value = builder.build(node[1])

    def test(facts: "Slots") -> bool:
        found = value(facts)
        if found is True or found is False:
            return found is True
        raise unusable(found)

    return test


def _chunks(items: "Any") -> "Iterable[Any]":
    """The items in parts, with a look at the clock before each.

    Raises what `len` raises for an absent or null list, Bound for one that is too long or when the time is over.
    """
    length = len(items)
    if length > MAX_ITEMS:
        raise Bound("a list of " + str(length) + " items is too long for a condition")
    _on_time()
    return (items,) if length <= _CHUNK else _sliced(list(items) if type(items) is dict else items)


def _sliced(items: "Any") -> "Iterator[Any]":
    for begin in range(0, len(items), _CHUNK):
        _on_time()
        yield items[begin : begin + _CHUNK]


def _on_time() -> None:
    if monotonic() > _DEADLINE[0]:
        raise Bound("the time for this decision is over")


def some(wanted: bool) -> "Maker":
    """any() looks for an item that holds (`wanted`), all() for one that does not; finding one decides."""

    def make(builder: "Builder", node: "Any") -> "Closure":
        holds, source, cell = builder.build(node[1]), builder.build(node[2]), builder.cell(node[3])
        near = _near(builder, node) if wanted else None

        def test(facts: "Slots") -> "Any":
            doubt: BaseException | None = None
            for chunk in _chunks(source(facts) if near is None else near(facts, source(facts))):
                for cell[0] in chunk:
                    try:
                        if holds(facts) is wanted:
                            return wanted
                    except FAULTS as error:
                        doubt = doubt or error
            if doubt is not None:
                raise doubt
            return not wanted

        return test

    return make


def joins(condition: "Any", var: str) -> "list[tuple[str, Any, bool]]":
    """The fields of a loop's items that have to equal something outside of it, or be in a list of such, before the
    loop's condition can hold: (field, what, whether it is a list). With one a loop need not look at every item.
    """
    found, own = [], ["field", ["item", var]]
    for part in condition[1:] if condition[0] == "and" else [condition]:
        if part[0] in ("==", "in"):
            left, right = (part[2], part[1]) if part[0] == "==" and part[2][:2] == own else part[1:3]
            if left[:2] == own and not names(right, var):
                found.append((left[2], right, part[0] == "in"))
    return found


def _near(builder: "Builder", node: "Any") -> "Callable[[Slots, Any], Any] | None":
    """Of a loop over a fact whose items are joined to what is outside: the items that can hold, found by their fields.
    A rule that asks of each line what stands near it takes as long as there are lines, not as there are pairs of them.
    """
    found = joins(node[1], node[3]) if node[2][0] == "fact" else []
    if not found:
        return None
    fields, outer = [name for name, _, _ in found], [(builder.build(plan), is_list) for _, plan, is_list in found]
    kept: list[Any] = [None, {}]  # a list and its items by these fields

    def near(facts: "Slots", items: "Any") -> "Any":
        if type(items) is not list or not _FEW < len(items) <= MAX_ITEMS:
            return items
        try:
            keys: list[Any] = [()]
            for value, is_list in outer:
                wanted = value(facts)
                keys = [(*key, one) for key in keys for one in (dict.fromkeys(wanted) if is_list else (wanted,))]
            if kept[0] is not items:
                by: dict[Any, Any] = {}
                for item in items:
                    by.setdefault(tuple([item[name] for name in fields]), []).append(item)
                kept[:] = items, by
            return [item for key in keys for item in kept[1].get(key, ())]
        except (KeyError, TypeError, *FAULTS):
            return items  # what is absent decides as it does in any loop

    return near


def count(builder: "Builder", node: "Any") -> "Closure":
    holds, source, cell = builder.build(node[1]), builder.build(node[2]), builder.cell(node[3])

    def counted(facts: "Slots") -> int:
        number = 0
        for chunk in _chunks(source(facts)):
            for cell[0] in chunk:
                if holds(facts):
                    number += 1
        return number

    return counted


def distinct(builder: "Builder", node: "Any") -> "Closure":
    """`[name, value, list, chosen, var]`: the different texts of the chosen items, in their order."""
    value, source = builder.build(node[1]), builder.build(node[2])
    chosen, cell = builder.build(node[3]), builder.cell(node[4])

    def found(facts: "Slots") -> "Any":
        each: dict[str, None] = {}
        for chunk in _chunks(source(facts)):
            for cell[0] in chunk:
                if chosen(facts):
                    each[value(facts) + ""] = None
        return [*each]

    return found


def total(builder: "Builder", node: "Any") -> "Closure":
    """`[name, value, list, chosen, var]`: the sum of a value over the chosen items."""
    value, source = builder.build(node[1]), builder.build(node[2])
    chosen, cell = builder.build(node[3]), builder.cell(node[4])

    def added(facts: "Slots") -> "Any":
        found: Any = 0
        for chunk in _chunks(source(facts)):
            for cell[0] in chunk:
                if chosen(facts):
                    found = found + value(facts)
        return number(found)

    return added


def select(
    items: "Any", test: "Closure", cell: "list[Any]", facts: "Slots"
) -> "tuple[list[Any], tuple[Any, BaseException] | None]":
    """The items for which `test` holds, and the first (item, error) that left it without a value."""
    hits: list[Any] = []
    doubt: Any = None
    for chunk in _chunks(items):
        for cell[0] in chunk:
            try:
                if test(facts):
                    hits.append(cell[0])
            except FAULTS as error:
                doubt = doubt or (cell[0], error)
    return hits, doubt
