"""The normal form of conditions: `not` pushed in, operands in order, comparisons as sets of values of a term (design
§4, §5).

A term is a piece of plan with one value for given facts. A leaf is true, false or unknown with its term: on an absent
fact every leaf about it is unknown; on null it is what `null` says, for `x < 5` unknown, for `x == 5` false, for `x !=
5` true.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ahp.conditions import sets
from ahp.conditions.evaluate import closure
from ahp.conditions.guards import Plan
from ahp.conditions.inference import BOOLS, Types, domain, folded, infer, scoped
from ahp.conditions.language import OPERATIONS, with_children
from ahp.conditions.samples import alternatives
from ahp.conditions.schema import ANY, Type

FALSE, UNKNOWN, TRUE = 0, 1, 2
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NOT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_ORDERS = frozenset({sets.key(-1), sets.key(0), sets.key(1)})
_SIGNS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "==": (0,), "!=": (-1, 1)}


@dataclass(frozen=True)
class Leaf:
    """One question: whether the value of `term` is one of `values`; with None nothing is known of it but its text.

    `null` is its outcome where the term is null, None where it never is; `domain` what values the term can have at
    all; `plan` the question as it stands in the condition, which asks the opposite where `negated`.
    """

    text: str
    term: str
    values: sets.Set | None = None
    domain: sets.Set | None = None
    null: int | None = None
    plan: Any = field(default=None, compare=False, hash=False)
    negated: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Loop:
    """any or all over a list, with the normal form of what is asked of each item."""

    text: str
    op: str
    source: str
    body: Node
    plan: Any = field(default=None, compare=False, hash=False)


@dataclass(frozen=True)
class Group:
    """`and` or `or` of at least two parts, or of none: true and false."""

    text: str
    op: str
    parts: tuple[Node, ...]


Node = Leaf | Loop | Group


def normal(plan: Plan, types: Types, negate: bool = False) -> Node:
    """The normal form of a condition's plan, or of its negation."""
    op = plan[0]
    if op == "const":
        return group("and" if plan[1] is not negate else "or", [])
    if op == "not":
        return normal(plan[1], types, not negate)
    if op in ("and", "or"):
        other = "or" if op == "and" else "and"
        return group(other if negate else op, [normal(part, types, negate) for part in plan[1:]])
    if op in ("any", "all"):
        return _loop(plan, types, negate)
    if OPERATIONS[op].any_of and (members := _members(plan)) and members != [plan[2][1]]:
        parts = [with_children(plan, [plan[1], ["const", one]]) for one in members]
        return group("and" if negate else "or", [normal(part, types, negate) for part in parts])
    return _leaf(plan, types, negate)


def _members(plan: Plan) -> list[Any]:
    """The constants of which one has to do for a question that takes any of several."""
    if plan[2][0] != "const":
        return []
    members = plan[2][1] if isinstance(plan[2][1], list) else [plan[2][1]]
    return [part for one in members for part in alternatives(one)] if plan[0] == "matches" else members


def group(op: str, parts: list[Node]) -> Node:
    """The and/or of parts: nested ones of the same kind merged, doubles dropped, in the order of their texts."""
    flat: dict[str, Node] = {}
    for part in parts:
        for one in part.parts if isinstance(part, Group) and (part.op == op) else (part,):
            flat[one.text] = one
    if len(flat) == 1:
        return next(iter(flat.values()))
    inner = [flat[text] for text in sorted(flat)]
    if not inner:
        return Group("true" if op == "and" else "false", op, ())
    return Group("(" + f" {op} ".join(one.text for one in inner) + ")", op, tuple(inner))


def _loop(plan: Plan, types: Types, negate: bool) -> Node:
    (body, inside), _ = scoped(plan, types)
    op = plan[0] if not negate else "all" if plan[0] == "any" else "any"
    inner, source = normal(body, inside, negate), render(plan[2], types)
    return Loop(f"{op}({inner.text} for {plan[-1]} in {source})", op, source, inner, plan)


def _leaf(plan: Plan, types: Types, negate: bool) -> Node:
    op = plan[0]
    if op in _NOT:
        return _comparison(_NOT[op] if negate else op, plan, types)
    if op == "flag":
        # A map's value that is neither true nor false leaves it unknown, and decides other questions about it.
        term = ["as", plan[1], ["bool"]] if infer(plan[1], types).name == "any" else plan[1]
        return _about(plan, term, _exactly([not negate], ANY), UNKNOWN, types, negate)
    if op == "null":
        nothing = _exactly([], infer(plan[1], types))
        values = sets.complement(nothing) if negate else nothing
        return _about(plan, plan[1], values, FALSE if negate else TRUE, types, negate)
    if op == "in" and plan[2][0] == "const" and isinstance(plan[2][1], list):
        values = _exactly(plan[2][1], infer(plan[1], types))
        null = TRUE if (None in plan[2][1]) is not negate else FALSE
        return _about(plan, plan[1], sets.complement(values) if negate else values, null, types, negate)
    if op == "same" and (plan[1][0] == "const") != (plan[2][0] == "const"):
        term, const = (plan[2], plan[1]) if plan[1][0] == "const" else (plan[1], plan[2])
        values = sets.Values(frozenset({sets.key(const[1])}), negate)
        return _about(plan, term, values, TRUE if negate else FALSE, types, negate)
    text = _spelled(plan, types)
    return Leaf(f"not {text}" if negate else text, text, plan=plan, negated=negate)


def _exactly(values: list[Any], kind: Type) -> sets.Set:
    """The set of these values of a type, null aside."""
    members = [one for one in values if one is not None]
    if not kind.is_number:
        return sets.Values(frozenset(sets.key(one) for one in members))
    found = sets.Numbers((), kind.name == "int")
    for one in members:
        found |= sets.Numbers.compared("==", one, found.integer)
    return found


def _about(plan: Plan, term: Plan, values: sets.Set, null: int, types: Types, negate: bool) -> Leaf:
    """The leaf that says that a term's value is in a set."""
    kind = infer(term, types)
    text, scope = render(term, types), domain(term, types)
    if isinstance(values, sets.Values) and kind.name == "bool":
        values = sets.Values(values.members, values.negated, BOOLS)._plain()
    if isinstance(values, sets.Numbers) and kind.name == "int":
        values = values & sets.Numbers.between(None, None, True)
    outcome = null if kind.nullable else None
    shown = values.text(text)
    if plan[0] == "flag":
        shown = f"not {render(plan[1], types)}" if negate else render(plan[1], types)
    elif plan[0] == "null":
        shown = f"{text} is not null" if negate else f"{text} is null"
    elif kind.name == "bool" and outcome is None and isinstance(values, sets.Values) and len(values.members) == 1:
        shown = text if sets.key(True) in values.members else f"not {text}"
    elif outcome == TRUE and "!=" not in shown and "not in" not in shown:
        shown += " or null"
    elif outcome == FALSE and ("!=" in shown or "not in" in shown):
        shown += " and not null"
    return Leaf(shown, text, values, scope, outcome, plan, negate)


def _comparison(op: str, plan: Plan, types: Types) -> Node:
    left, right = folded(plan[1]), folded(plan[2])
    if left[0] == "const":
        left, right, op = right, left, _FLIP[op]
    kind = infer(left, types)
    flipped = op != plan[0] and op != _FLIP[plan[0]]
    if left[0] == "const":
        return group("and" if closure([op, left, right], {})([]) else "or", [])
    if right[0] == "const":
        value = right[1]
        null = UNKNOWN if op not in ("==", "!=") else FALSE if op == "==" else TRUE
        if kind.is_number and value == value:
            return _about(plan, left, sets.Numbers.compared(op, value, kind.name == "int"), null, types, flipped)
        if op in ("==", "!="):
            return _about(plan, left, sets.Values(frozenset({sets.key(value)}), op == "!="), null, types, flipped)
    one, other = render(left, types), render(right, types)
    if other < one:
        one, other, op, left, right = other, one, _FLIP[op], right, left
    text = f"{one} {op} {other}"
    if kind.nullable or infer(right, types).nullable:
        return Leaf(text, text, plan=plan, negated=flipped)
    signs = frozenset(sets.key(sign) for sign in _SIGNS[op])
    possible = frozenset(sets.key(sign) for sign in _signs(left, right, types) if one != other or sign == 0)
    return Leaf(
        text, f"{one} <=> {other}", sets.Values(signs, False, _ORDERS), sets.Values(possible), None, plan, flipped
    )


def _signs(left: Plan, right: Plan, types: Types) -> list[int]:
    """Which of less, equal, greater the ranges of two terms leave open."""
    one, other = domain(left, types), domain(right, types)
    if not isinstance(one, sets.Numbers) or not isinstance(other, sets.Numbers):
        return [-1, 0, 1]
    found = [0] if one & other else []
    if one.low() < other.high():
        found.append(-1)
    if one.high() > other.low():
        found.append(1)
    return found


def render(plan: Plan, types: Types) -> str:
    """The canonical text of any plan: two with the same text have the same value for all facts."""
    op = plan[0]
    if op in ("fact", "item"):
        return str(plan[1])
    if op == "const":
        return repr(plan[1])
    return normal(plan, types).text if OPERATIONS[op].gives == "bool" else _spelled(plan, types)


def _spelled(plan: Plan, types: Types) -> str:
    operation = OPERATIONS[plan[0]]
    parts = [render(part, scope) for part, scope in scoped(plan, types)]
    if operation.commutes:
        parts.sort()
    return f"{operation.name}({', '.join([*parts, *([repr(plan[-1])] if operation.parameter else [])])})"
