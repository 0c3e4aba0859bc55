"""Plans as data: what they read, how large they are, what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ahp.conditions.language import LOOP, OPERATIONS, children, with_children

Plan = list[Any]

MAX_PLAN = 1024  # nodes; a chained comparison repeats its middle operands, so a plan may be larger than its text
_ITEMS = 1000  # the list length that the static cost of a loop assumes
# That of a list inside an item: all commands of a shell call have 64 KiB of text together, so many words on average.
_INNER_ITEMS = 50


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
    """A plan's static cost: its nodes by weight, those in a loop as often as its list is long. A policy sums it
    (design §5); the deadline of an event bounds what a list is longer.
    """
    operation = OPERATIONS[plan[0]]
    inner = list(children(plan))
    costs = [cost(child) for child in inner]
    if operation.call == LOOP:
        times = _INNER_ITEMS if inner[1][0] == "field" else _ITEMS
        costs = [one if at == 1 else times * one for at, one in enumerate(costs)]  # its list stands second
    return operation.weight + sum(costs)


def as_fact(plan: Plan, var: str) -> Plan:
    """The plan with the variable of an `each` clause as a fact of that name, so that it can have a slot."""
    if plan[:2] == ["item", var]:
        return ["fact", var]
    return with_children(plan, [as_fact(child, var) for child in children(plan)])
