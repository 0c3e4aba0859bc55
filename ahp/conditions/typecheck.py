"""Text to plan: the checker that constructs a condition's typed plan from an allow-list (design §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ahp.conditions import entailment, guards, plan
from ahp.conditions.checker import Checker
from ahp.conditions.diagnostics import ConditionError, Position, Problem
from ahp.conditions.entailment import START
from ahp.conditions.lexical import Refused
from ahp.conditions.parse import parse
from ahp.conditions.schema import MAX_CONDITION_COST, Schema, Type

__all__ = ["Checked", "ConditionError", "Each", "Position", "Problem", "check", "check_each"]


@dataclass(frozen=True)
class Checked:
    """A condition that was accepted: nothing else can be compiled.

    `plan` is plain JSON data for `evaluate.build`; `reads` the fact paths it needs; `cost` its static cost; `advice`
    what may be better said (unguarded facts). `constant` is True or False where the schema lets the condition have no
    other value, and
    `constant_problem` says why: an error in a policy, None where the author wrote the literal itself.
    """

    text: str
    plan: plan.Plan
    reads: frozenset[str]
    cost: int
    advice: tuple[Problem, ...] = ()
    constant: bool | None = None
    constant_problem: Problem | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    item: tuple[str, Type] | None = None
    types: Mapping[str, Type] = field(default_factory=dict)


@dataclass(frozen=True)
class Each:
    """The clause `each: x in LIST` of a rule: the variable, the list's plan and reads, and the type of an item for
    `check(item=…)`.
    """

    var: str
    text: str
    plan: plan.Plan
    reads: frozenset[str]
    cost: int
    item: Type
    advice: tuple[Problem, ...] = ()


def check(
    text: str,
    schema: Schema,
    *,
    position: Position | None = None,
    item: tuple[str, Type] | None = None,
    constants: Mapping[str, Any] | None = None,
    variants: Mapping[str, Sequence[Any]] | None = None,
) -> Checked:
    """The condition that `text` states, checked against `schema`.

    `position` is where the text begins in its file; `item` names the variable of the rule's `each` and its type
    (`Each.item`);
    `constants` are values by full path (limits) that become part of the plan; `variants` are all values that a limit
    which differs by environment can have, so that those used as patterns are checked now. Raises ConditionError with
    every problem.
    """
    checker = Checker(schema, constants or {}, variants or {}, item)
    try:
        tree = parse(text)
        built = checker.condition(tree)
        built_plan = _bounded(built)
    except Refused as refused:
        raise _refusal([refused], position) from None
    if checker.problems:
        raise _refusal(checker.problems, position)
    verdict = entailment.constant(built_plan, checker.types)
    return Checked(
        text,
        built_plan,
        plan.reads(built_plan),
        plan.cost(built_plan),
        _advice(built_plan, schema, position),
        verdict,
        _constant_problem(verdict, built_plan, position),
        dict(constants or {}),
        item,
        checker.types,
    )


def check_each(
    text: str,
    schema: Schema,
    *,
    position: Position | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Each:
    """The clause that `text` ("l in diff.added") states. Raises ConditionError."""
    checker = Checker(schema, constants or {}, {}, None)
    try:
        var, source = checker.each(parse(text))
        built = _bounded(source.plan)
    except Refused as refused:
        raise _refusal([refused], position) from None
    if checker.problems:
        raise _refusal(checker.problems, position)
    assert source.type.item is not None
    return Each(var, text, built, plan.reads(built), plan.cost(built), source.type.item)


def _advice(built: plan.Plan, schema: Schema, position: Position | None) -> tuple[Problem, ...]:
    words = {
        "absent": ("may be absent, then the rule is undecidable", "guard it: has({0}) and …, or default({0}, …)"),
        "null": ("may be null, then the rule is undecidable", "guard it: {0} is not None and …, or default({0}, …)"),
    }
    return tuple(
        START.problem("unguarded", f"'{path}' {words[why][0]}", hint=words[why][1].format(path), position=position)
        for path, why in guards.unguarded(built, schema)
    )


def _bounded(built: plan.Plan) -> plan.Plan:
    if plan.size(built) > plan.MAX_PLAN or plan.cost(built) > MAX_CONDITION_COST:
        raise Refused("bound", "the condition is too large", START, "split the rule")
    return built


def _refusal(refusals: Sequence[Refused], position: Position | None) -> ConditionError:
    problems = [one.place.problem(one.kind, one.message, hint=one.hint, position=position) for one in refusals]
    return ConditionError(sorted(problems, key=lambda p: (p.line, p.column)))


def _constant_problem(verdict: bool | None, built: plan.Plan, position: Position | None) -> Problem | None:
    if verdict is None or built[0] == "const":
        return None
    word = "always" if verdict else "never"
    return START.problem("constant", f"this condition is {word} true", position=position)
