"""Advice on what is proven of rules: those that never or always hold, that nobody hears, that leave no way."""

from collections.abc import Iterator
from itertools import combinations, islice, permutations
from typing import Any

from ahp.conditions import compare
from ahp.policy.problems import Problem
from ahp.policy.rule import Policy, Rule
from ahp.protocol.signals import strength
from ahp.protocol.triggers import TRIGGERS

_AT_MOST = 100  # questions of one kind to the solver, which takes some 20 ms for each


def advise(policy: Policy) -> list[Problem]:
    """What the author of a rule, or of one of two, probably did not mean."""
    solver = compare.solver()
    softened = {(one.trigger, one.weaker, one.stronger) for one in policy.softened}
    found: list[Problem] = []
    if solver:
        for rule in islice((rule for rule in policy.rules if not _of_pack(rule)), _AT_MOST):
            found += _alone(rule, policy, solver)
    for trigger in TRIGGERS:
        plain = [rule for rule in policy.at(trigger) if rule.each is None and rule.when is None and not rule.shadow]
        pairs = ((one, other) for one, other in permutations(plain, 2) if _may_be_unheard(one, other))
        for weak, strong in islice(pairs, _AT_MOST):
            if (trigger, weak.key, strong.key) not in softened and compare.covers(
                [strong.condition], weak.condition, prove=True
            ):
                what = f"`{weak.key}` matches only where `{strong.key}` refuses; are the two conditions swapped?"
                found.append(Problem(weak.raw.where("condition"), what))
        found += _without_a_way(plain)
    return found


def _alone(rule: Rule, policy: Policy, solver: Any) -> Iterator[Problem]:
    """A condition that is never or always true, and a rule that refines one with which it never holds."""
    asked = [one for one in (rule.when, rule.condition) if one is not None]
    place = rule.raw.where("condition")
    if rule.condition.reads and solver.can_hold(*asked).proven:
        yield Problem(place, f"`{rule.key}` never holds")
    elif rule.condition.reads and solver.can_fail(rule.condition).proven:
        yield Problem(place, f"the condition of `{rule.key}` holds for all facts that are there")
    refined = rule.raw.get("refines")
    for other in policy.at(rule.trigger) if refined else ():
        same = (other.raw.oracle, other.raw.id) == (rule.raw.oracle, refined)
        if same and _same_items(rule, other) and solver.can_hold(rule.condition, other.condition).proven:
            yield Problem(
                rule.raw.where("refines"), f"`{rule.key}` never refines `{other.key}`: they never hold together"
            )


def _same_items(one: Rule, other: Rule) -> bool:
    return (one.each and (one.each.var, one.each.plan)) == (other.each and (other.each.var, other.each.plan))


def _of_pack(*rules: Rule) -> bool:
    return all(rule.layer.startswith("pack ") for rule in rules)


def _may_be_unheard(weak: Rule, strong: Rule) -> bool:
    """Whether a rule that lets go on may speak only where another one blocks; two of packs are meant so."""
    if not strong.always_blocks or not _is_below_block(weak) or weak.condition.plan == strong.condition.plan:
        return False
    return not _of_pack(weak, strong) and bool(weak.condition.reads & strong.condition.reads)


def _without_a_way(rules: list[Rule]) -> Iterator[Problem]:
    """Two blocks of which one always holds."""
    blocks = [rule for rule in rules if rule.always_blocks and rule.condition.reads]
    pairs = (pair for pair in combinations(blocks, 2) if pair[0].condition.reads & pair[1].condition.reads)
    for one, other in islice((pair for pair in pairs if not _of_pack(*pair)), _AT_MOST):
        if compare.leave_nothing([one.condition, other.condition]):
            what = f"`{one.key}` and `{other.key}` refuse everything together: one of them always holds"
            yield Problem(other.raw.where("condition"), what)


def _is_below_block(rule: Rule) -> bool:
    return all(0 < strength(level) < strength("block") for level in rule.intensity.values())
