"""Which rules speak for which: refinement inside an oracle (design §4).

A rule whose conjuncts include all of another's, and more, speaks for both. Where the one that speaks is weaker, that
is a softening, which is allowed only where its author plainly meant it.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from ahp.conditions import compare
from ahp.conditions import typecheck as conditions
from ahp.conditions.diagnostics import ConditionError
from ahp.conditions.typecheck import Checked
from ahp.policy.problems import Problem, nearest
from ahp.policy.rule import Rule, Softening, named_limits
from ahp.policy.vocabulary import DEVELOPMENT, Vocabulary
from ahp.protocol.signals import strength


@dataclass(slots=True)
class Found:
    """Refinements by (trigger, rule key), the softenings among them, and what is wrong."""

    refines: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    softened: list[Softening] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, rule: Rule, other: Rule, why: str) -> None:
        self.refines.setdefault((rule.trigger, rule.key), {})[other.key] = why
        if is_weaker(rule, other) and not rule.shadow:
            place = rule.raw.where("refines", "condition")
            self.softened.append(Softening(rule.trigger, rule.key, other.key, why, place))


def refinements(rules: tuple[Rule, ...]) -> Found:
    """Every refinement among the rules, explicit ones first."""
    oracles: dict[tuple[str, str], list[Rule]] = defaultdict(list)
    for rule in rules:
        oracles[rule.trigger, rule.raw.oracle].append(rule)
    found = Found()
    for together in oracles.values():
        if len(together) > 1 or together[0].raw.get("refines"):
            _explicit(together, found)
            _implicit(together, found)
    return found


def is_weaker(rule: Rule, other: Rule) -> bool:
    """Whether `rule` is the weaker one in any environment."""
    names = {*rule.intensity, *other.intensity}
    return any(strength(rule.level(name)) < strength(other.level(name)) for name in names)


def _explicit(rules: list[Rule], found: Found) -> None:
    by_id = {rule.raw.id: rule for rule in rules}
    for rule in rules:
        wanted = rule.raw.get("refines")
        if wanted is None:
            continue
        other, place = by_id.get(wanted), rule.raw.where("refines")
        if other is None:
            others = [rule_id for rule_id in by_id if rule_id != rule.raw.id]
            what = f"no rule of this oracle has the id `{wanted[:60]}`{nearest(wanted, others)}"
            found.problems.append(Problem(place, what))
        elif other is rule or _leads_back(rule, by_id):
            found.problems.append(Problem(place, "these rules refine each other in a circle"))
        elif other.locked and is_weaker(rule, other):
            what = f"`{wanted}` is locked ({other.place}); a weaker rule cannot replace it"
            found.problems.append(Problem(place, what))
        else:
            found.add(rule, other, "it says so")


def _leads_back(rule: Rule, by_id: dict[str, Rule]) -> bool:
    seen, step = {rule.raw.id}, rule.raw.get("refines")
    while step in by_id:
        if step in seen:
            return True
        seen.add(step)
        step = by_id[step].raw.get("refines")
    return False


def _implicit(rules: list[Rule], found: Found) -> None:
    parts = [compare.conjuncts(rule.condition) for rule in rules]
    uses = Counter(part for mine in parts for part in mine)
    # Whoever includes all of a rule's conjuncts has its rarest one: in an oracle of n rules that spares n² comparisons.
    by_rarest: dict[str, list[int]] = defaultdict(list)
    for index, theirs in enumerate(parts):
        by_rarest[min(theirs, key=uses.__getitem__)].append(index)
    for rule, mine in zip(rules, parts, strict=True):
        for index in sorted(index for part in mine for index in by_rarest[part]):
            other = rules[index]
            known = found.refines.get((rule.trigger, rule.key), {})
            if parts[index] < mine and same_items(rule, other) and other.key not in known:
                _speaks_for(rule, other, found)


def same_items(rule: Rule, other: Rule) -> bool:
    """Whether two rules are asked of the same items, called the same, or both of none."""
    if rule.each is None or other.each is None:
        return rule.each is other.each
    return rule.each.plan == other.each.plan and rule.each.var == other.each.var


def _speaks_for(rule: Rule, other: Rule, found: Found) -> None:
    if is_weaker(rule, other):
        extra = _namespaces(rule, without=other) - _namespaces(other)
        if other.locked or extra or rule.layer != other.layer:
            return
    if not rule.shadow and compare.stricter(rule.condition, other.condition) == "equal":
        what = f"this rule is unreachable: `{rule.raw.id}` ({rule.place}) matches whenever it does, and replaces it"
        found.problems.append(Problem(other.raw.where("condition"), what))
        return
    found.add(rule, other, "its condition includes that rule's")


def _namespaces(rule: Rule, without: Rule | None = None) -> set[str]:
    """The namespaces its conjuncts read, limits aside; `without` those that the other rule has, too."""
    common = compare.conjuncts(without.condition) if without is not None else frozenset()
    parts = compare.namespaces(rule.condition)
    return {space for part, spaces in parts.items() if part not in common for space in spaces}


NOT_WEAKER = ("stronger", "equal")


def chosen_by_variable(
    environment: tuple[tuple[str, Checked], ...], rules: tuple[Rule, ...], vocabulary: Vocabulary
) -> list[Problem]:
    """A problem wherever an environment chosen through `env` would lower a level or loosen a limit."""
    problems = []
    names = [name for name, _ in environment]
    for index, (name, checked) in enumerate(environment):
        if any(path.startswith("env.") for path in checked.reads):
            others = [*names[index + 1 :], DEVELOPMENT]
            for rule in rules:
                problems += _lowers(rule, name, others)
                problems += _loosens(rule, name, others, vocabulary)
    return problems


def _lowers(rule: Rule, name: str, others: list[str]) -> list[Problem]:
    for other in others:
        if strength(rule.level(name)) < strength(rule.level(other)):
            what = f"{_ONLY_RAISE.format(name)}: `{rule.level(name)}` is weaker than `{rule.level(other)}` in `{other}`"
            return [Problem(rule.raw.where("intensity"), what)]
    return []


def _loosens(rule: Rule, name: str, others: list[str], vocabulary: Vocabulary) -> list[Problem]:
    for other in others:
        mine, theirs = _values(name, rule, vocabulary), _values(other, rule, vocabulary)
        differing = [path for path in mine if mine[path] != theirs[path]]
        if not differing:
            continue
        tight, loose = (in_environment(one, rule, vocabulary) for one in (name, other))
        if not (tight and loose and compare.stricter(tight, loose) in NOT_WEAKER):
            path = differing[0]
            what = (
                f"{_ONLY_RAISE.format(name)}: with {mine[path]!r} instead of {theirs[path]!r} (`{other}`) "
                f"the rule at {rule.place} is not provably as strict"
            )
            return [Problem(vocabulary.raw.limits[path.partition(".")[2]].place, what)]
    return []


_ONLY_RAISE = "`{}` is chosen by an environment variable, so it may only raise"


def _values(environment: str, rule: Rule, vocabulary: Vocabulary) -> dict[str, Any]:
    """The limits that the rule names and that differ by environment, by full path, as they are in this one."""
    limits = {f"limits.{name}": field.value for name, field in vocabulary.raw.limits.items()}
    known = {path: limits[path] for path in sorted(named_limits(rule)) if isinstance(limits.get(path), dict)}
    return {path: of_environment(value, environment) for path, value in known.items()}


def of_environment(limit: Any, name: str) -> Any:
    """The value of a limit in an environment."""
    return limit.get(name, limit.get("default")) if isinstance(limit, dict) else limit


def in_environment(environment: str, rule: Rule, vocabulary: Vocabulary) -> Checked | None:
    """The rule's condition with the limits that hold in an environment; None when it cannot be read with them."""
    values = _values(environment, rule, vocabulary)
    if not values:
        return rule.condition
    item = (rule.each.var, rule.each.item) if rule.each is not None else None
    constants = {**vocabulary.constants, **values}
    try:
        return conditions.check(rule.condition.text, vocabulary.schema(rule.trigger), item=item, constants=constants)
    except ConditionError:
        return None
