"""Plans become closures over a list of fact slots: the one evaluator in production (design §5).  [light]

A plan is plain JSON data that the checker has made (`ahp.conditions.language`). A closure takes the slots (one value a
fact, MISSING where it is absent) and never changes them. Kleene's logic decides around what is unknown.
"""

from ahp.conditions import logic
from ahp.conditions.language import LOOP, OPERATIONS, children
from ahp.conditions.runtime import FAULTS, MISSING, Bound, Builder, PlanError, Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.conditions.runtime import Closure, Slots

__all__ = ["MISSING", "Bound", "PlanError", "Undecided", "build", "build_each", "closure", "set_deadline"]

set_deadline = logic.set_deadline


def build(plan: "Any", slots: "dict[str, int]") -> "Callable[[Slots], bool]":
    """The condition of a plan, as a function of the facts.

    `slots` gives each fact's index in the list that the function takes. It returns True or False, raises Undecided
    with kind and path, or Bound. Raises PlanError for a plan that the checker did not make. Only one thread at a time
    may call a built condition.
    """
    builder = Builder(OPERATIONS, slots)
    test, once = _construct(plan, builder), builder.once

    def condition(facts: "Slots") -> bool:
        for value in once:
            value.clear()
        try:
            return test(facts)  # type: ignore[no-any-return]
        except FAULTS as error:
            raise _reason(error, plan, Builder(OPERATIONS, slots), facts) from None
        except (OverflowError, RecursionError) as error:
            raise Bound(str(error)) from None

    return condition


def build_each(
    list_plan: "Any", plan: "Any", var: str, slots: "dict[str, int]"
) -> "Callable[[Slots], tuple[list[Any], Undecided | None]]":
    """The condition of a rule with `each: var in LIST`, as a function that gives the items it holds for, and why it is
    undecided for the first item of which it is.

    Raises Undecided when the list itself cannot be had, Bound, and PlanError as `build` does.
    """
    builder = Builder(OPERATIONS, slots, var)
    source, test = _construct(list_plan, builder), _construct(plan, builder)
    cell, once, per_item = builder.cell(var), builder.once, builder.per_item

    def anew(facts: "Slots") -> "Any":
        for value in per_item:
            value.clear()
        return test(facts)

    ask = anew if per_item else test

    def condition(facts: "Slots") -> "tuple[list[Any], Undecided | None]":
        for value in once:
            value.clear()
        try:
            items = source(facts)
            len(items)
        except FAULTS as error:
            raise _reason(error, list_plan, builder, facts) from None
        try:
            hits, doubt = logic.select(items, ask, cell, facts)
        except (OverflowError, RecursionError) as error:
            raise Bound(str(error)) from None
        if doubt is None:
            return hits, None
        cell[0] = doubt[0]
        for value in per_item:
            value.clear()
        return hits, _reason(doubt[1], plan, builder, facts)

    return condition


def closure(plan: "Any", slots: "dict[str, int]") -> "Closure":
    """The value of any checked expression, as a function of the facts. It raises FAULTS, OverflowError, RecursionError
    and Bound; this raises PlanError.
    """
    builder = Builder(OPERATIONS, slots)
    made, once = _construct(plan, builder), builder.once

    def anew(facts: "Slots") -> "Any":
        for value in once:
            value.clear()
        return made(facts)

    return anew if once else made


def _construct(plan: "Any", builder: Builder) -> "Closure":
    try:
        return builder.build(plan)
    except PlanError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise PlanError("not a plan: " + type(error).__name__) from None


def path_of(node: "Any") -> "str | None":
    """The path of a fact, a map's key or a record's field as an author writes it; None for any other node."""
    if node[0] in ("fact", "item"):
        return str(node[1])
    if node[0] in ("key", "field"):
        base = path_of(node[1])
        return base + "." + str(node[2]) if base else None
    if node[0] == "entry":
        base, key = path_of(node[1]), path_of(node[2])
        return base + "[" + key + "]" if base and key else None
    if node[0] == "at":
        base = path_of(node[1])
        return "at(" + base + ", '" + str(node[2][1]) + "')" if base else None
    return path_of(node[1]) if node[0] in ("index", "as") else None


# Why a plan has no value for these facts. Never on the fast path: the parts are built and evaluated again, one by one.


def _reason(error: BaseException, plan: "Any", builder: Builder, facts: "Slots") -> Undecided:
    """Kind and fact of a fault: those of the innermost node that fails."""
    if isinstance(error, Undecided) and error.path is not None:
        return error
    for child in _evaluated(plan, builder, facts):
        try:
            builder.build(child)(facts)
        except FAULTS as inner:
            return _reason(inner, child, builder, facts)
    return _blamed(error, plan, builder, facts)


def _evaluated(plan: "Any", builder: Builder, facts: "Slots") -> "list[Any]":
    """The children that were evaluated: of a conditional only the branch taken, of a loop only its list."""
    op = plan[0]
    if op == "if":
        try:
            return [plan[2] if builder.build(plan[1])(facts) else plan[3]]
        except FAULTS:
            return [plan[1]]
    if op == "default":
        return [plan[1] if _is_there(plan[1], builder, facts) else plan[2]]
    return [plan[2]] if OPERATIONS[op].call == LOOP else children(plan)


def _is_there(node: "Any", builder: Builder, facts: "Slots") -> bool:
    try:
        found = builder.build(node)(facts)
    except FAULTS as error:
        return not isinstance(error, Undecided) or error.kind != "missing_fact"
    return found is not MISSING and found is not None


def _blamed(error: BaseException, plan: "Any", builder: Builder, facts: "Slots") -> Undecided:
    """The operand to blame for a fault whose operands all have values: the first that is absent, or else null, or else
    the only one.
    """
    suspects = [plan] if plan[0] == "fact" else _evaluated(plan, builder, facts)
    null = path_of(suspects[0]) if len(suspects) == 1 else None
    for node in suspects:
        while node[0] in ("if", "default"):
            node = _evaluated(node, builder, facts)[0]
        value = builder.build(node)(facts)
        if value is MISSING:
            if node[0] == "entry" and (base := path_of(node[1])):
                return Undecided("missing_fact", base + "['" + builder.build(node[2])(facts) + "']")
            return Undecided("missing_fact", path_of(node))
        if value is None and null is None:
            null = path_of(node)
    if isinstance(error, Undecided):
        return Undecided(error.kind, null)
    if isinstance(error, IndexError):
        return Undecided("index", null)
    return Undecided("zero_division" if isinstance(error, ZeroDivisionError) else "null_operand", null)
