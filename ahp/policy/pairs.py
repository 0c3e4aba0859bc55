"""Advice on two rules of one trigger: a warning that nobody gets alone, blocks that leave no way."""

from collections.abc import Iterator
from itertools import combinations, islice, permutations

from ahp.conditions import compare
from ahp.policy.problems import Problem
from ahp.policy.rule import Policy, Rule
from ahp.protocol.signals import strength
from ahp.protocol.triggers import TRIGGERS

_AT_MOST = 2000  # pairs of one trigger that are looked at; a proof takes up to a millisecond


def advise(policy: Policy) -> list[Problem]:
    """What the author of one of two rules probably did not mean."""
    softened = {(one.trigger, one.weaker, one.stronger) for one in policy.softened}
    found = []
    for trigger in TRIGGERS:
        plain = [rule for rule in policy.at(trigger) if rule.each is None and rule.when is None and not rule.shadow]
        for weak, strong in islice(permutations(plain, 2), _AT_MOST):
            if (trigger, weak.key, strong.key) not in softened and _is_unheard(weak, strong):
                what = f"`{weak.key}` matches only where `{strong.key}` refuses; are the two conditions swapped?"
                found.append(Problem(weak.raw.where("condition"), what))
        found += _without_a_way(plain)
    return found


def _is_unheard(weak: Rule, strong: Rule) -> bool:
    """Whether a rule that lets go on speaks only where another one blocks; two of packs are meant so."""
    if not strong.always_blocks or not _is_below_block(weak) or weak.condition.plan == strong.condition.plan:
        return False
    own = not all(rule.layer.startswith("pack ") for rule in (weak, strong))
    shared = weak.condition.reads & strong.condition.reads
    return own and bool(shared) and compare.covers([strong.condition], weak.condition)


def _without_a_way(rules: list[Rule]) -> Iterator[Problem]:
    """Two blocks of which one always holds."""
    blocks = [rule for rule in rules if rule.always_blocks and rule.condition.reads]
    for one, other in islice(combinations(blocks, 2), _AT_MOST):
        if one.condition.reads & other.condition.reads and compare.leave_nothing([one.condition, other.condition]):
            what = f"`{one.key}` and `{other.key}` refuse everything together: one of them always holds"
            yield Problem(other.raw.where("condition"), what)


def _is_below_block(rule: Rule) -> bool:
    return all(0 < strength(level) < strength("block") for level in rule.intensity.values())
