"""Plans become closures over a list of fact slots: the one evaluator in production (design §5).  [light]

A plan is plain JSON data that `check` has constructed; its nodes are lists that begin with the operation's name. A
closure takes the slots (one value a fact, MISSING where it is absent) and never changes them. Kleene's logic decides
around what is unknown.
"""

from ahp.conditions import logic, values
from ahp.conditions.unknown import FAULTS, MISSING, Bound, Missing, PlanError, Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Slots = list[Any]
    Closure = Callable[[Slots], Any]

__all__ = [
    "MISSING",
    "PLAN_FORMAT",
    "Bound",
    "Missing",
    "PlanError",
    "Undecided",
    "build",
    "build_each",
    "set_deadline",
]

PLAN_FORMAT = 1  # goes into the key of whatever caches plans

set_deadline = logic.set_deadline


def build(plan: "Any", slots: "dict[str, int]") -> "Callable[[Slots], bool]":
    """The condition of a plan, as a function of the facts.

    `slots` gives each fact's index in the list that the function takes. It returns True or False, raises Undecided
    with kind and path, or Bound. Raises PlanError for anything `check` did not make. One thread at a time may call a
    built condition.
    """
    test = _construct(plan, Builder(slots))

    def condition(facts: "Slots") -> bool:
        try:
            return test(facts)  # type: ignore[no-any-return]
        except FAULTS as error:
            raise _named(error, plan, slots, facts) from None
        except (OverflowError, RecursionError) as error:
            raise Bound(str(error)) from None

    return condition


def build_each(
    list_plan: "Any", plan: "Any", var: str, slots: "dict[str, int]"
) -> "Callable[[Slots], tuple[list[Any], Undecided | None]]":
    """The condition of a rule with `each: var in LIST`: the items it holds for, and the first item's doubt where it
    has no value.

    Raises Undecided when the list itself cannot be had, Bound, and PlanError as `build` does.
    """
    builder = Builder(slots)
    source = _construct(list_plan, builder)
    test = _construct(plan, builder)
    cell = builder.cell(var)

    def condition(facts: "Slots") -> "tuple[list[Any], Undecided | None]":
        try:
            items = source(facts)
            length = len(items)
        except FAULTS as error:
            raise _named(error, list_plan, slots, facts) from None
        try:
            hits, doubt = logic.select(items, length, test, cell, facts)
        except (OverflowError, RecursionError) as error:
            raise Bound(str(error)) from None
        if doubt is None:
            return hits, None
        cell[0] = doubt[0]
        return hits, _named(doubt[1], plan, slots, facts, builder.cells)

    return condition


class Builder:
    """What the closures of one condition share: the slots' indices, and a cell a loop variable for the item it is
    at.
    """

    __slots__ = ("cells", "slots")

    def __init__(self, slots: "dict[str, int]", cells: "dict[str, list[Any]] | None" = None) -> None:
        self.slots = slots
        self.cells: dict[str, list[Any]] = {} if cells is None else cells

    def cell(self, var: str) -> "list[Any]":
        """The cell of a loop variable."""
        return self.cells.setdefault(var, [MISSING])

    def build(self, node: "Any") -> "Closure":
        """The closure of one node. Raises PlanError for an unknown operation, KeyError and the like for a malformed
        one.
        """
        maker = _MAKERS.get(node[0])
        if maker is None:
            raise PlanError("unknown operation in a plan")
        return maker(self, node)  # type: ignore[no-any-return]

    def slot(self, node: "Any") -> "int | None":
        """The index of a fact node, None for any other."""
        return self.slots[node[1]] if node[0] == "fact" else None


_MAKERS: "dict[str, Any]" = {}
_MAKERS.update(values.MAKERS)
_MAKERS.update(logic.MAKERS)


def _construct(plan: "Any", builder: Builder) -> "Closure":
    try:
        return builder.build(plan)
    except PlanError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise PlanError("not a plan: " + type(error).__name__) from None


def _named(
    error: BaseException,
    plan: "Any",
    slots: "dict[str, int]",
    facts: "Slots",
    cells: "dict[str, list[Any]] | None" = None,
) -> Undecided:
    if isinstance(error, Undecided) and error.path is not None:
        return error
    builder = Builder(slots, cells)
    return locate(plan, builder, facts) or _kind(error, _culprit(plan, builder, facts))


def locate(plan: "Any", builder: Builder, facts: "Slots") -> "Undecided | None":
    """Why a plan has no value for these facts: the innermost node that fails, and the fact behind it. Never on the
    fast path.
    """
    try:
        builder.build(plan)(facts)
    except FAULTS as error:
        if isinstance(error, Undecided) and error.path is not None:
            return error
        for child in _evaluated(plan, builder, facts):
            inner = locate(child, builder, facts)
            if inner is not None:
                return inner
        return _kind(error, _culprit(plan, builder, facts))
    return None


def _evaluated(plan: "Any", builder: Builder, facts: "Slots") -> "list[Any]":
    """The children that were evaluated: of a conditional only the branch taken, of a loop only its list."""
    op = plan[0]
    if op == "if":
        try:
            return [plan[2] if builder.build(plan[1])(facts) else plan[3]]
        except FAULTS:
            return [plan[1]]
    if op in ("any", "all", "count", "sum"):
        return [plan[3]]
    if op == "default":
        return [plan[1] if _is_there(plan[1], builder, facts) else plan[2]]
    return children(plan)


# Where a node's operands stand; `and`, `or`, `list` and `call` hold theirs in a list. Every other node has nothing
# but operands.
OPERANDS = {
    "const": (), "fact": (), "item": (), "field": (1,), "key": (1,), "index": (1,), "as": (2,), "alike": (2, 3),
    "glob": (1, 2), "matches": (1, 2), "any": (2, 3), "all": (2, 3), "count": (2, 3), "sum": (2, 3, 4),
}  # fmt: skip
LISTS = {"and": 1, "or": 1, "list": 1, "call": 2}


def children(plan: "Any") -> "list[Any]":
    """The operands of a node, in the order in which they are evaluated."""
    op = plan[0]
    if op in LISTS:
        return list(plan[LISTS[op]])
    return [plan[at] for at in OPERANDS.get(op, range(1, len(plan)))]


def _is_there(node: "Any", builder: Builder, facts: "Slots") -> bool:
    try:
        found = builder.build(node)(facts)
    except FAULTS as error:
        return not isinstance(error, Undecided) or error.kind != "missing_fact"
    return found is not MISSING and found is not None


def _culprit(plan: "Any", builder: Builder, facts: "Slots") -> "str | None":
    """The fact whose value made a node fail: the first operand that is absent, or else null, or else the only one."""
    suspects = [plan] if plan[0] == "fact" else _evaluated(plan, builder, facts)
    null = path_of(suspects[0]) if len(suspects) == 1 else None
    for node in suspects:
        while node[0] in ("if", "default"):
            node = _evaluated(node, builder, facts)[0]
        value = builder.build(node)(facts)
        if value is MISSING:
            return path_of(node)
        if value is None and null is None:
            null = path_of(node)
    return null


def path_of(node: "Any") -> "str | None":
    """The path of a fact, a map's key or a record's field as an author writes it; None for any other node."""
    if node[0] == "fact":
        return str(node[1])
    if node[0] == "item":
        return str(node[1])
    if node[0] in ("key", "field"):
        base = path_of(node[1])
        return base + "." + str(node[2]) if base else None
    if node[0] in ("index", "as"):
        return path_of(node[1] if node[0] == "index" else node[2])
    return None


def _kind(error: BaseException, path: "str | None") -> Undecided:
    if isinstance(error, Undecided):
        return Undecided(error.kind, error.path or path)
    if isinstance(error, IndexError):
        return Undecided("index", path)
    if isinstance(error, ZeroDivisionError):
        return Undecided("zero_division", path)
    return Undecided("null_operand", path)
