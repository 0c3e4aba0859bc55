"""The normal form of conditions, by which a load compares them: `not` pushed in, operands in order, comparisons with a
number as intervals of a term; conjuncts for refinement, and which of two is stricter (design §4, §5, §13).

A term is a piece of plan with one value for given facts. A leaf is true, false or unknown with its term: on an absent
fact every leaf about it is unknown; on null `x < 5` is unknown, `x == 5` false, `x != 5` true.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from ahp.conditions.diagnostics import Problem
from ahp.conditions.guards import Plan, Types, folded, infer, reads, scoped, span
from ahp.conditions.language import OPERATIONS, with_children
from ahp.conditions.schema import Type

_STEPS = 20_000  # comparisons of two nodes before an entailment counts as not proven

Strictness = Literal["stronger", "equal", "weaker", "unknown"]


@dataclass(frozen=True)
class Checked:
    """A condition that was accepted: nothing else can be compiled.

    `plan` is plain JSON data for `evaluate.build`; `reads` the fact paths it needs; `cost` its static cost, for all
    items where an `each` asks it; `advice` names facts that may be absent or null and are read without asking, and
    literals that are seldom meant. `constant` is True or False where the schema lets the condition have no other value;
    `constant_problem` then says so, an error in a policy, and is None where the author wrote the literal itself.
    """

    text: str
    plan: Plan
    reads: frozenset[str]
    cost: int
    advice: tuple[Problem, ...] = ()
    constant: bool | None = None
    constant_problem: Problem | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    item: tuple[str, Type] | None = None
    types: Mapping[str, Type] = field(default_factory=dict)


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


FALSE, UNKNOWN = 0, 1
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NOT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
Cut = tuple[float, int]  # a point of the number line: before (0) or after (1) a value
_MIN, _MAX = (-math.inf, 0), (math.inf, 1)


@dataclass(frozen=True)
class Leaf:
    """One question. It is true where its term is a number from `low` to `high`, and on null it is `null`, if it has a
    term; else only its text is known. `asked` is the text without a `not` before it.
    """

    text: str
    asked: str
    negated: bool
    term: str = ""
    low: Cut = _MIN
    high: Cut = _MAX
    null: int = UNKNOWN
    plan: Any = field(default=None, compare=False, hash=False)


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
    if (parts := _alternatives(plan)) is not None:
        return group("and" if negate else "or", [normal(part, types, negate) for part in parts])
    return _comparison(plan, types, negate) if op in _NOT else _leaf(plan, types, negate)


def _alternatives(plan: Plan) -> list[Plan] | None:
    """The questions of which one has to be answered yes, for one that takes any of several constants."""
    if len(plan) < 3 or plan[2][0] != "const" or not isinstance(plan[2][1], list) or not plan[2][1]:
        return None
    if plan[0] == "in":
        return [["null", plan[1]] if one is None else ["==", plan[1], ["const", one]] for one in plan[2][1]]
    if OPERATIONS[plan[0]].any_of:
        return [with_children(plan, [plan[1], ["const", one]]) for one in plan[2][1]]
    return None


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
    if op == "null":
        text = f"{render(plan[1], types)} is {'not ' * negate}null"
        asked, kind = f"{render(plan[1], types)} is null", infer(plan[1], types)
        return Leaf(text, asked, negate, high=_MAX if kind.nullable or negate else _MIN, plan=plan)
    text = render(plan[1], types) if op == "flag" else _spelled(plan, types)
    nothing = plan[2:3] == [["const", []]] and op != "same" and not negate
    return Leaf(f"not {text}" if negate else text, text, negate, high=_MIN if nothing else _MAX, plan=plan)


def _comparison(plan: Plan, types: Types, negate: bool) -> Node:
    op = _NOT[plan[0]] if negate else plan[0]
    left, right = folded(plan[1]), folded(plan[2])
    one, other = render(left, types), render(right, types)
    if left[0] == "const" or (right[0] != "const" and other < one):
        left, right, one, other, op = right, left, other, one, _FLIP[op]
    whole = folded([op, left, right])
    if whole[0] == "const":
        return normal(whole, types)
    text, asked = f"{one} {op} {other}", f"{one} {_NOT[op] if op == '!=' else op} {other}"
    kind = infer(left, types)
    if right[0] != "const" or not kind.is_number or op == "!=" or right[1] != right[1]:
        return Leaf(text, asked, op == "!=", plan=plan)
    low = _MIN if op in ("<", "<=") else (right[1], int(op == ">"))
    high = _MAX if op in (">", ">=") else (right[1], int(op != "<"))
    if kind.name == "int":
        low, high = _whole(low), _whole(high)
        if op != "==":
            text = asked = f"{one} > {low[0] - 1}" if high == _MAX else f"{one} < {high[0]}"
    least, most = span(left, types)
    null = FALSE if op == "==" else UNKNOWN
    return Leaf(text, asked, False, one, max(low, (least, 0)), min(high, (most, 1)), null, plan)


def _whole(cut: Cut) -> Cut:
    """The cut just before the next integer."""
    value, side = cut
    return cut if abs(value) == math.inf else (math.floor(value) + 1 if side else math.ceil(value), 0)


def never(node: Node) -> bool:
    """Whether ranges and plain contradictions show that no facts make a normal form true."""
    if isinstance(node, Leaf):
        return node.low >= node.high
    if isinstance(node, Loop):
        return node.op == "any" and never(node.body)
    if node.op == "or":
        return all(never(part) for part in node.parts)
    if any(never(part) for part in node.parts):
        return True
    leaves = [part for part in node.parts if isinstance(part, Leaf)]
    asked = {(one.asked, one.negated) for one in leaves}
    if any((text, not negated) in asked for text, negated in asked):
        return True
    for term in {one.term for one in leaves if one.term}:
        about = [one for one in leaves if one.term == term]
        if max(one.low for one in about) >= min(one.high for one in about):
            return True
    return False


def constant(plan: Plan, types: Types) -> bool | None:
    """True or False where the condition, decided at all, has no other value; None where nothing is proven."""
    if never(normal(plan, types)):
        return False
    return True if never(normal(plan, types, negate=True)) else None


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
