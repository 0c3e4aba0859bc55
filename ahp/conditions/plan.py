"""Plans as data: what they read, how large they are, what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ahp.conditions.evaluate import LISTS, OPERANDS, children

Plan = list[Any]

MAX_PLAN = 1024  # nodes; a chained comparison repeats its middle operands, so a plan may be larger than its text
_LOOPS = ("any", "all", "count", "sum")
_ITEMS = 1000  # the list length that the static cost of a loop assumes
_WEIGHTS = {"matches": 10, "glob": 5, "call": 2, "in": 2, "within": 5}


def walk(plan: Plan) -> Iterator[Plan]:
    """Every node of a plan, the outermost first."""
    yield plan
    for child in children(plan):
        yield from walk(child)


def reads(plan: Plan) -> frozenset[str]:
    """The paths of the facts that a plan reads."""
    return frozenset(node[1] for node in walk(plan) if node[0] == "fact")


def size(plan: Plan) -> int:
    """The number of a plan's nodes."""
    return sum(1 for _ in walk(plan))


def cost(plan: Plan) -> int:
    """A plan's static cost: its nodes, weighted, those in a loop a thousand times (design §5's whole-policy bound
    sums it).
    """
    own = _WEIGHTS.get(plan[0], 1)
    if plan[0] not in _LOOPS:
        return own + sum(cost(child) for child in children(plan))
    source = plan[3]
    inside = [child for child in children(plan) if child is not source]
    return own + cost(source) + _ITEMS * sum(cost(child) for child in inside)


def as_fact(plan: Plan, var: str) -> Plan:
    """The plan with the free variable of an `each` clause read as a fact of that name, so that it can stand in a
    slot.
    """
    if plan[0] == "item" and plan[1] == var:
        return ["fact", var]
    copied = list(plan)
    if plan[0] in LISTS:
        copied[LISTS[plan[0]]] = [as_fact(part, var) for part in plan[LISTS[plan[0]]]]
        return copied
    for at in OPERANDS.get(plan[0], range(1, len(plan))):
        copied[at] = as_fact(plan[at], var)
    return copied
