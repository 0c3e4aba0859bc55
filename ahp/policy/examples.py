"""What tells two conditions apart, in words and as a policy test (docs/proofs.md)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ahp.policy.diff import UNKNOWN, Change
from ahp.policy.rule import Policy
from ahp.system import jsontext

if TYPE_CHECKING:
    from ahp.conditions.proofs import Answer

_SHOWN = 3  # items of a list
_IN_TEST = 1000
BOUNDS = (
    "for all facts of these types, absent and null ones too: integers of any size, floats that are numbers, texts of"
    " Unicode up to U+2FFFF, lists of any length"
)


def told(change: Change) -> list[str]:
    """What the solver found of a change, a sentence each."""
    if change.proof is None:
        return []
    found = [_told(change.proof.passes), _told(change.proof.caught)]
    if change.verdict == UNKNOWN:
        free = [f"`{one}` ({why})" for one, why in change.proof.free.items()]
        found.append(f"not proven{'; taken for any value: ' + ', '.join(free) if free else ''}")
    return [one for one in found if one]


def _told(answer: "Answer") -> str:
    if answer.facts is None:
        return ""
    was, now = answer.outcomes
    words = {
        (2, 0): "this passes now",
        (2, 1): "the rule is undecidable now",
        (1, 0): "this passes now; the rule was undecidable",
        (0, 2): "the rule holds now",
        (0, 1): "the rule is undecidable now; this passed",
        (1, 2): "the rule holds now; it was undecidable",
    }[was, now]
    return f"with {_facts(answer.facts)} {words}"


def _facts(facts: Mapping[str, Any]) -> str:
    return " and ".join(f"{path} {_value(value)}" for path, value in facts.items()) or "no facts at all"


def _value(value: Any) -> str:
    if isinstance(value, list) and len(value) > _SHOWN:
        return f"of {len(value)} items" + (f", the first {jsontext.encode(value[0])}" if value[0] else "")
    return jsontext.encode(value)


def facts_of(change: Change, policy: Policy) -> Mapping[str, Any] | None:
    """The facts of a change's example as a policy test states them, by namespace; None where there are none."""
    rule = next((one for one in policy.rules if (one.trigger, one.key) == (change.trigger, change.key)), None)
    shown = (change.proof.passes.facts or change.proof.caught.facts) if change.proof is not None else None
    if rule is None or shown is None or any(isinstance(one, list) and len(one) > _IN_TEST for one in shown.values()):
        return None
    given: dict[str, Any] = {}
    for path, value in shown.items():
        if rule.each is not None and path == rule.each.var:
            if rule.each.plan[0] != "fact":
                return None
            path, value = rule.each.plan[1], [value]
        *spaces, name = path.split(".")
        inner = given
        for space in spaces:
            inner = inner.setdefault(space, {})
        inner[name] = value
    return given
