"""Two conditions side by side: conjuncts for refinement, and which of the two is stricter (design §4, §13)."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from ahp.conditions.guards import reads
from ahp.conditions.normal import Group, Leaf, Loop, Node, normal
from ahp.conditions.typecheck import Checked

_STEPS = 20_000  # comparisons of two nodes before an entailment counts as not proven

Strictness = Literal["stronger", "equal", "weaker", "unknown"]


def solver() -> Any:
    """`ahp.conditions.proofs`, which proves more than this module; None where the extra `proofs` is not installed."""
    return import_module("ahp.conditions.proofs") if find_spec("z3") is not None else None


def conjuncts(checked: Checked) -> frozenset[str]:
    """The parts of a condition joined by a top-level `and`, each in normal form: equal texts mean the same.

    Order, parentheses, chained comparisons, swapped operands, `not` and integer `>=` make no difference.
    """
    return frozenset(part.text for part in _conjuncts(checked))


def namespaces(checked: Checked) -> dict[str, frozenset[str]]:
    """The first names of the facts that each conjunct reads; limits are constants and count as none."""
    return {
        part.text: frozenset(path.split(".")[0] for path in _reads(part) if not path.startswith("limits."))
        for part in _conjuncts(checked)
    }


def stricter(a: Checked, b: Checked) -> Strictness:
    """How a rule with condition `a` compares with the same rule with condition `b`, by their normal forms alone.

    "stronger": a holds whenever b does, and is undecidable or holds whenever b is undecidable; "weaker" the other way
    round; "equal": both. "unknown": anything that is not proven so (`ahp.conditions.proofs` proves more).
    """
    one, other = _normal(a), _normal(b)
    known: dict[tuple[str, str], bool] = {}
    above, below = _entails(other, one, known), _entails(one, other, known)
    if above and below:
        return "equal"
    return "stronger" if above else "weaker" if below else "unknown"


def _entails(one: Node, other: Node, known: dict[tuple[str, str], bool]) -> bool:
    """Whether `other` is shown to be at least as true as `one` for all facts, in the order false < unknown < true."""
    pair = (one.text, other.text)
    if pair not in known:
        known[pair] = False
        known[pair] = one.text == other.text or (len(known) <= _STEPS and _parts_entail(one, other, known))
    return known[pair]


def _parts_entail(one: Node, other: Node, known: dict[tuple[str, str], bool]) -> bool:
    if isinstance(other, Group) and other.op == "and":
        return all(_entails(one, part, known) for part in other.parts)
    if isinstance(one, Group) and one.op == "or":
        return all(_entails(part, other, known) for part in one.parts)
    if isinstance(other, Group) and any(_entails(one, part, known) for part in other.parts):
        return True
    if isinstance(one, Group):
        return any(_entails(part, other, known) for part in one.parts)
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        inside = one.low >= other.low and one.high <= other.high and one.null <= other.null
        return one.term == other.term != "" and inside
    if isinstance(one, Loop) and isinstance(other, Loop):
        return one.op == other.op and one.source == other.source and _entails(one.body, other.body, known)
    return False


def _normal(checked: Checked) -> Node:
    return normal(checked.plan, checked.types)


def _conjuncts(checked: Checked) -> tuple[Node, ...]:
    found = _normal(checked)
    return found.parts if isinstance(found, Group) and found.op == "and" and found.parts else (found,)


def _reads(node: Node) -> frozenset[str]:
    if isinstance(node, (Leaf, Loop)):
        return reads(node.plan)
    return frozenset().union(*(_reads(part) for part in node.parts))
