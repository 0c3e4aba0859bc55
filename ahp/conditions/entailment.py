"""What the ranges of facts prove about a condition: that it is always or never true, that one entails another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ahp.conditions import sets
from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.guards import Plan, reads
from ahp.conditions.inference import Types
from ahp.conditions.normal import FALSE, TRUE, UNKNOWN, Group, Leaf, Loop, Node, normal

_CASES = 64  # values of a fact that are tried one by one
_STEPS = 20_000  # comparisons of two nodes before an entailment counts as not proven


def constant(plan: Plan, types: Types) -> bool | None:
    """True or False where the condition, decided at all, has no other value; None where nothing is proven."""
    if never(normal(plan, types)):
        return False
    return True if never(normal(plan, types, negate=True)) else None


def never(node: Node) -> bool:
    """Whether no facts make a normal form true."""
    if isinstance(node, Leaf):
        return _impossible(node)
    if isinstance(node, Loop):
        return node.op == "any" and never(node.body)
    if node.op == "or":
        return all(never(part) for part in node.parts)
    if any(never(part) for part in node.parts):
        return True
    leaves = _leaves(node)
    if _contradict(leaves):
        return True
    choices = [part for part in node.parts if isinstance(part, Group)]
    return any(all(_contradict([*leaves, *_holding(option)]) for option in choice.parts) for choice in choices)


def _leaves(group: Group) -> list[Leaf]:
    return [part for part in group.parts if isinstance(part, Leaf)]


def _holding(node: Node) -> list[Leaf]:
    """Leaves that are true where the node is."""
    if isinstance(node, Leaf):
        return [node]
    return _leaves(node) if isinstance(node, Group) and node.op == "and" else []


def _contradict(leaves: list[Leaf]) -> bool:
    if any(_impossible(leaf) for leaf in merged(leaves, "and")):
        return True
    opaque = {
        (leaf.term, leaf.negated)
        for leaf in leaves
        if leaf.values is None and leaf.text in (leaf.term, f"not {leaf.term}")
    }
    return any((term, not negated) in opaque for term, negated in opaque)


def _impossible(leaf: Leaf) -> bool:
    if leaf.values is None or leaf.null == TRUE:
        return False
    return not (leaf.values if leaf.domain is None else sets.meet(leaf.values, leaf.domain))


def merged(leaves: Iterable[Leaf], op: str) -> list[Leaf]:
    """The and/or of leaves about the same term as one leaf each; those without a set of values are left out."""
    found: dict[str, Leaf] = {}
    for leaf in leaves:
        if leaf.values is None:
            continue
        known = found.get(leaf.term)
        if known is None or known.values is None or type(known.values) is not type(leaf.values):
            found[leaf.term] = leaf
            continue
        combine, pick = (sets.meet, min) if op == "and" else (sets.union, max)
        null = None if known.null is None or leaf.null is None else pick(known.null, leaf.null)
        values = combine(known.values, leaf.values)
        found[leaf.term] = Leaf(f"{known.text} {op} {leaf.text}", leaf.term, values, leaf.domain, null)
    return list(found.values())


class Entailment:
    """Proofs that one normal form is at least as true as another for all facts, in the order false < unknown < true.

    So wherever the first holds the second holds, and wherever the first is undecidable the second is no less. What is
    not proven within a fixed number of steps is not claimed.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[Node, Node], bool] = {}
        self.steps = 0

    def proves(self, one: Node, other: Node) -> bool:
        """Whether `one` entails `other`."""
        found = self.known.get((one, other))
        if found is None:
            self.steps += 1
            found = self.steps <= _STEPS and self._proves(one, other)
            self.known[one, other] = found
        return found

    def _proves(self, one: Node, other: Node) -> bool:
        if one == other:
            return True
        if isinstance(other, Group) and other.op == "and":
            return all(self.proves(one, part) for part in other.parts)
        if isinstance(one, Group) and one.op == "or":
            return all(self.proves(part, other) for part in one.parts)
        if isinstance(other, Group) and any(self.proves(one, part) for part in _parts(other)):
            return True
        if isinstance(one, Group):
            return any(self.proves(part, other) for part in _parts(one))
        if isinstance(one, Leaf) and isinstance(other, Leaf):
            return _leaf_proves(one, other)
        if isinstance(one, Loop) and isinstance(other, Loop):
            return one.op == other.op and one.source == other.source and self.proves(one.body, other.body)
        return False


def _parts(node: Group) -> list[Node]:
    """The parts of a group, and what those about the same term say together."""
    return [*node.parts, *(leaf for leaf in merged(_leaves(node), node.op) if leaf not in node.parts)]


def rank(condition: Callable[[list[Any]], bool], facts: list[Any]) -> int:
    """FALSE, UNKNOWN or TRUE: a built condition's outcome for these facts. What breaks a bound is unknown."""
    try:
        return TRUE if condition(facts) else FALSE
    except (Undecided, Bound):
        return UNKNOWN


def _leaf_proves(one: Leaf, other: Leaf) -> bool:
    if one.values is None:
        return False
    if one.term != other.term or other.values is None or type(one.values) is not type(other.values):
        return _cases_prove(one, other)
    values = one.values if one.domain is None else sets.meet(one.values, one.domain)
    null = (UNKNOWN if one.null is None else one.null) <= (UNKNOWN if other.null is None else other.null)
    return null and sets.within(values, other.values)


def _cases_prove(one: Leaf, other: Leaf) -> bool:
    """A fact that must be one of a few values: the other leaf, if it reads nothing else, is asked of each, of null
    and of absence.
    """
    values = one.values
    if not isinstance(values, sets.Values) or values.negated or other.plan is None:
        return False
    if reads(other.plan) != {one.term} or len(values.members) > _CASES or one.null == TRUE:
        return False
    if any(kind == "list" for kind, _ in values.members):  # a set knows a list by its text only
        return False
    condition = build(["not", other.plan] if other.negated else other.plan, {one.term: 0})
    cases = [(UNKNOWN, MISSING), *((TRUE, member) for _, member in values.members)]
    cases += [(one.null, None)] if one.null is not None else []
    return all(rank(condition, [value]) >= wanted for wanted, value in cases)
