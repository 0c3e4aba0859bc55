"""Environments that a variable chooses may only raise levels, since whoever runs ahp can set it (design §4)."""

from typing import Any

from ahp.conditions import compare
from ahp.conditions import typecheck as conditions
from ahp.conditions.diagnostics import ConditionError
from ahp.conditions.typecheck import Checked
from ahp.policy.problems import Problem
from ahp.policy.raw import RawPolicy
from ahp.policy.rule import Rule, named_limits
from ahp.policy.vocabulary import DEVELOPMENT, Vocabulary
from ahp.protocol.signals import strength

NOT_WEAKER = ("stronger", "equal")


def chosen_by_variable(
    raw: RawPolicy, environment: tuple[tuple[str, Checked], ...], rules: tuple[Rule, ...], vocabulary: Vocabulary
) -> list[Problem]:
    """A problem wherever an environment chosen through `env` would lower a level or loosen a limit."""
    problems = []
    names = [name for name, _ in environment]
    for index, (name, checked) in enumerate(environment):
        if not any(path.startswith("env.") for path in checked.reads):
            continue
        others = [*names[index + 1 :], DEVELOPMENT]
        for rule in rules:
            problems += _lowers(rule, name, others)
            problems += _loosens(rule, name, others, raw, vocabulary)
    return problems


def _lowers(rule: Rule, name: str, others: list[str]) -> list[Problem]:
    for other in others:
        if strength(rule.level(name)) < strength(rule.level(other)):
            what = (
                f"`{name}` is chosen by an environment variable, so it may only raise: "
                f"`{rule.level(name)}` is weaker than `{rule.level(other)}` in `{other}`"
            )
            return [Problem(rule.raw.where("intensity"), what)]
    return []


def _loosens(rule: Rule, name: str, others: list[str], raw: RawPolicy, vocabulary: Vocabulary) -> list[Problem]:
    for path in sorted(named_limits(rule)):
        field = raw.limits.get(path.split(".")[1])
        if field is None or not isinstance(field.value, dict):
            continue
        mine = of_environment(field.value, name)
        for other in others:
            theirs = of_environment(field.value, other)
            if mine != theirs and not _tightens(rule, path, mine, theirs, vocabulary):
                what = (
                    f"`{name}` is chosen by an environment variable, so it may only raise: with {mine!r} instead "
                    f"of {theirs!r} (`{other}`) the rule at {rule.place} is not provably as strict"
                )
                return [Problem(field.place, what)]
    return []


def _tightens(rule: Rule, path: str, mine: Any, theirs: Any, vocabulary: Vocabulary) -> bool:
    tight = with_limits(rule, {path: mine}, vocabulary)
    loose = with_limits(rule, {path: theirs}, vocabulary)
    return tight is not None and loose is not None and compare.stricter(tight, loose) in NOT_WEAKER


def of_environment(limit: Any, name: str) -> Any:
    """The value of a limit in an environment."""
    return limit.get(name, limit.get("default")) if isinstance(limit, dict) else limit


def with_limits(rule: Rule, values: dict[str, Any], vocabulary: Vocabulary) -> Checked | None:
    """The rule's condition with these limits as constants; None when it cannot be read with them."""
    item = (rule.each.var, rule.each.item) if rule.each is not None else None
    constants = {**vocabulary.constants, **values}
    try:
        return conditions.check(rule.condition.text, vocabulary.schema(rule.trigger), item=item, constants=constants)
    except ConditionError:
        return None
