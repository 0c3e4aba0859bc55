"""Two conditions side by side: conjuncts for refinement, and which of the two is stricter (design §4, §13)."""

from __future__ import annotations

from typing import Literal

from ahp.conditions.entailment import Entailment, never, rank
from ahp.conditions.evaluate import build
from ahp.conditions.guards import Plan, as_fact, reads
from ahp.conditions.normal import Group, Leaf, Loop, Node, group, normal
from ahp.conditions.samples import fact_sets
from ahp.conditions.typecheck import Checked

_TRIED = 256  # fact sets among which a difference is looked for

Strictness = Literal["stronger", "equal", "weaker", "unknown"]


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
    """How a rule with condition `a` compares with the same rule with condition `b`.

    "stronger": a holds whenever b does, is undecidable or holds whenever b is undecidable, and holds in some case
    where b does not; "weaker" the other way round; "equal": both for all facts. "unknown": anything that is not
    proven.
    """
    one, other = _normal(a), _normal(b)
    if one == other:
        return "equal"
    proof = Entailment()
    above, below = proof.proves(other, one), proof.proves(one, other)
    if above and below:
        return "equal"
    # A proof in one direction does not exclude equality; only facts that tell the two apart do.
    if above and _apart(a, b):
        return "stronger"
    return "weaker" if below and _apart(b, a) else "unknown"


def covers(parts: list[Checked], whole: Checked) -> bool:
    """Whether one of `parts` is proven to hold wherever `whole` does, and to be undecidable at least where it is."""
    return Entailment().proves(_normal(whole), group("or", [_normal(part) for part in parts]))


def leave_nothing(parts: list[Checked]) -> bool:
    """Whether it is proven that for all facts, where none is missing, one of `parts` holds."""
    return never(group("and", [normal(part.plan, part.types, True) for part in parts]))


def _normal(checked: Checked) -> Node:
    found = normal(checked.plan, checked.types)
    return Group("false", "or", ()) if never(found) and not reads(_asked_of_facts(checked)) else found


def _asked_of_facts(checked: Checked) -> Plan:
    """The plan, with the item of the rule's `each` as one more fact."""
    return as_fact(checked.plan, checked.item[0]) if checked.item else checked.plan


def _conjuncts(checked: Checked) -> tuple[Node, ...]:
    found = _normal(checked)
    return found.parts if isinstance(found, Group) and found.op == "and" and found.parts else (found,)


def _reads(node: Node) -> frozenset[str]:
    if isinstance(node, (Leaf, Loop)):
        return reads(node.plan)
    return frozenset().union(*(_reads(part) for part in node.parts))


def _apart(more: Checked, less: Checked) -> bool:
    """Whether some facts make `more` truer than `less`, in the order false < undecidable < true."""
    plans = [_asked_of_facts(one) for one in (more, less)]
    paths = sorted(reads(plans[0]) | reads(plans[1]))
    slots = {path: index for index, path in enumerate(paths)}
    first, second = build(plans[0], slots), build(plans[1], slots)
    for facts in fact_sets(plans, {**less.types, **more.types}, _TRIED):
        values = [facts[path] for path in paths]
        if rank(first, values) > rank(second, values):
            return True
    return False
