"""Text to plan: the checker that constructs a condition's typed plan from an allow-list (design §5)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ahp.conditions import calls, compare, guards, operators, paths
from ahp.conditions.checker import Checker, Typed
from ahp.conditions.compare import Checked
from ahp.conditions.diagnostics import ConditionError, Problem, Spot, quoted
from ahp.conditions.parse import Refused
from ahp.conditions.parts import filled
from ahp.conditions.schema import MAX_CONDITION_COST, Schema, Type
from ahp.system.place import Place

__all__ = ["Checked", "ConditionError", "Each", "Problem", "check", "check_each", "check_value"]

_START = Spot()
_CONSTRUCTS: dict[type[ast.expr], Callable[[Checker, Any], Typed]] = {
    ast.Constant: operators.constant,
    ast.Name: paths.name,
    ast.Attribute: paths.attribute,
    ast.Subscript: paths.subscript,
    ast.List: operators.sequence,
    ast.Tuple: operators.sequence,
    ast.UnaryOp: operators.unary,
    ast.BinOp: operators.binary,
    ast.BoolOp: operators.logic,
    ast.IfExp: operators.ternary,
    ast.Compare: operators.compare,
    ast.Call: calls.call,
}


@dataclass(frozen=True)
class Each:
    """The clause `each: x in LIST` of a rule: the variable, the list's plan and reads, and the type of an item for
    `check(item=…)`.
    """

    var: str
    text: str
    plan: guards.Plan
    reads: frozenset[str]
    cost: int
    item: Type
    advice: tuple[Problem, ...] = ()


def check(
    text: str,
    schema: Schema,
    *,
    position: Place | None = None,
    item: tuple[str, Type] | None = None,
    constants: Mapping[str, Any] | None = None,
    variants: Mapping[str, Sequence[Any]] | None = None,
    parts: Mapping[str, str] | None = None,
) -> Checked:
    """The condition that `text` states, checked against `schema`.

    `position` is where the text begins in its file; `item` names the variable of the rule's `each` and its type
    (`Each.item`); `constants` are values by full path (limits) that become part of the plan; `variants` are all values
    that a limit which differs by environment can have, so that those used as patterns are checked now; `parts` the
    texts that names in it stand for (`parts.filled`), and which its text has afterwards. Raises ConditionError with
    every problem.
    """
    checker = Checker(_CONSTRUCTS, schema, constants or {}, variants or {}, item)
    with _refusals(checker, position):
        tree, text = filled(text, parts or {}, item[0] if item else "")
        built = checker.boolean(tree).plan
        cost = _bounded(built)
    verdict = compare.constant(built, checker.types)
    return Checked(
        text,
        built,
        guards.reads(built),
        guards.cost(built, item[0]) if item else cost,
        (*_told(checker.advice, position), *_advice(built, schema, position)),
        verdict,
        _constant_problem(verdict, built, position),
        dict(constants or {}),
        item,
        checker.types,
    )


def check_each(
    text: str,
    schema: Schema,
    *,
    position: Place | None = None,
    constants: Mapping[str, Any] | None = None,
    variants: Mapping[str, Sequence[Any]] | None = None,
    parts: Mapping[str, str] | None = None,
) -> Each:
    """The clause that `text` ("l in diff.added") states. Raises ConditionError."""
    checker = Checker(_CONSTRUCTS, schema, constants or {}, variants or {}, None)
    with _refusals(checker, position):
        if (said := text.split())[:1] == ["for"]:
            raise Refused("syntax", "an each clause reads 'x in LIST'", Spot(1, 0), f"write {' '.join(said[1:])}")
        if said[0] in (parts or {}):
            raise Refused("name", f"{quoted(said[0])} is a part, and no variable", Spot(1, 0))
        tree, text = filled(text, parts or {})
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.In)):
            raise checker.refuse(tree, "syntax", "an each clause reads 'x in LIST'", "for example: l in diff.added")
        var, source = checker.variable(tree.left), checker.items(tree.comparators[0])
        cost = _bounded(source.plan)
    assert source.type.item is not None
    return Each(var, text, source.plan, guards.reads(source.plan), cost, source.type.item)


def check_value(
    text: str,
    schema: Schema,
    *,
    position: Place | None = None,
    item: tuple[str, Type] | None = None,
    constants: Mapping[str, Any] | None = None,
    variants: Mapping[str, Sequence[Any]] | None = None,
    parts: Mapping[str, str] | None = None,
) -> guards.Plan:
    """The plan of an expression of any type, for `evaluate.closure`, as `check` has it. Raises ConditionError."""
    checker = Checker(_CONSTRUCTS, schema, constants or {}, variants or {}, item)
    with _refusals(checker, position):
        built = checker.expr(filled(text, parts or {}, item[0] if item else "")[0]).plan
        _bounded(built)
        return built


def _bounded(built: guards.Plan) -> int:
    """The static cost of a plan. Raises Refused for one that is too large."""
    cost = guards.cost(built)
    if len(guards.walk(built)) > guards.MAX_PLAN or cost > MAX_CONDITION_COST:
        raise Refused("bound", "the condition is too large", _START, "split the rule")
    return cost


@contextmanager
def _refusals(checker: Checker, position: Place | None) -> Iterator[None]:
    """Raises ConditionError with all that was refused inside, in the order of the text."""
    try:
        yield
    except Refused as refused:
        checker.problems.append(refused)
    if checker.problems:
        problems = _told(checker.problems, position)
        raise ConditionError(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def _told(found: Sequence[Refused], position: Place | None) -> list[Problem]:
    return [one.place.problem(one.kind, one.message, hint=one.hint, position=position) for one in found]


def _advice(built: guards.Plan, schema: Schema, position: Place | None) -> tuple[Problem, ...]:
    words = {
        "absent": ("may be absent, then the rule is undecidable", "guard it: has({0}) and …, or default({0}, …)"),
        "null": ("may be null, then the rule is undecidable", "guard it: {0} is not None and …, or default({0}, …)"),
    }
    return tuple(
        _START.problem("unguarded", f"'{path}' {words[why][0]}", hint=words[why][1].format(path), position=position)
        for path, why in guards.unguarded(built, schema)
    )


def _constant_problem(verdict: bool | None, built: guards.Plan, position: Place | None) -> Problem | None:
    if verdict is None or built[0] == "const":
        return None
    word = "always" if verdict else "never"
    return _START.problem("constant", f"this condition is {word} true", position=position)
