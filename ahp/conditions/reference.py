"""Conditions by the reference evaluator: their value, the values of their parts, and whether production agrees.

Where both evaluators agree on generated facts, the plan says what the text says. `ahp policy lint` and the tests
compare them; `ahp explain` shows the parts of a condition by this one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from ahp.conditions.checker import LITERALS
from ahp.conditions.diagnostics import clip
from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.guards import Plan, as_fact, reads, walk
from ahp.conditions.language import OPERATIONS
from ahp.conditions.parse import parse
from ahp.conditions.parts import written
from ahp.conditions.reference_evaluator import Evaluator
from ahp.conditions.schema import ANY, Schema, Type
from ahp.conditions.typecheck import Checked

_ABSENT = 0.1  # the share of facts that are missing, or null where they may be


def value(text: str, facts: Mapping[str, Any], *, constants: Mapping[str, Any] | None = None) -> bool:
    """What a checked condition's text yields for facts by full path (an item's variable is a path of its own).

    MISSING and a path that is not there are absent alike. Works on a copy: nothing can change `facts`. Raises
    Undecided and Bound.
    """
    return Evaluator(facts, constants or {}).holds(parse(text))


def explain(text: str, facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """A condition, as the author wrote it, and every sub-expression, outermost first, with its value or its Undecided
    or Bound.

    Literals, the inside of loops and the namespaces in a path have no lines of their own. A key in brackets is told
    behind a dot, so that one fact has one name, whose value may be one that is not shown.
    """
    evaluator, whole = Evaluator(facts, {}), _Dotted().visit(parse(text))
    found: dict[str, Any] = {}
    for node in _explained(whole):
        source = text if node is whole else written(node)
        if source not in found:
            try:
                found[source] = evaluator.run(node)
            except (Undecided, Bound) as error:
                found[source] = error
    return list(found.items())


def disagreement(checked: Checked, schema: Schema) -> str | None:
    """The first generated fact set on which the two evaluators differ, in words with both values; None when they
    agree on all.

    `schema` gives the types of limits that a text names but the plan no longer reads.
    """
    plan = as_fact(checked.plan, checked.item[0]) if checked.item else checked.plan
    paths = sorted(reads(plan))
    types = {**{path: schema.facts[path].type for path in paths if path in schema}, **checked.types}
    condition = build(plan, {path: index for index, path in enumerate(paths)})
    tree, reference = parse(checked.text), Evaluator({}, checked.constants)
    for facts in fact_sets([plan], types):
        ours = _outcome(lambda facts=facts: condition([facts[path] for path in paths]))
        reference.take(facts)
        theirs = _outcome(lambda: reference.holds(tree))
        if ours != theirs:
            shown = ", ".join(f"{path} = {facts[path]!r}" for path in paths)
            return clip(f"the evaluators disagree: {ours} here, {theirs} by the reference, with {shown}")
    return None


def fact_sets(plans: list[Plan], types: Mapping[str, Type], count: int = 64) -> list[dict[str, Any]]:
    """Values by path for the facts that `plans` read, the same each time: those that the plans name, values near them,
    and others of the fact's type; MISSING stands for an absent fact.
    """
    nodes = [node for plan in plans for node in walk(plan)]
    drawn = _Drawn(nodes)
    # A pattern that differs by environment is a limit, which has no other value than those.
    patterns = {node[2][1]: node[3] for node in nodes if _has_pattern(node) and node[2][0] == "fact"}
    found = []
    for _ in range(count):
        values = {
            path: drawn.pick(patterns[path]) if path in patterns else drawn.value(types.get(path, ANY))
            for path in sorted({node[1] for node in nodes if node[0] == "fact"})
        }
        found.append({path: MISSING if drawn.random.random() < _ABSENT else one for path, one in values.items()})
    return found


def _flat(given: Any) -> list[Any]:
    return [part for one in given for part in _flat(one)] if isinstance(given, list) else [given]


def _has_pattern(node: Plan) -> bool:
    return "pattern" in OPERATIONS[node[0]].takes


class _Drawn:
    """Values drawn by a fixed seed."""

    def __init__(self, nodes: list[Plan]) -> None:
        self.random = Random(0)  # noqa: S311 - the same facts each time
        named = [one for node in nodes if node[0] == "const" for one in _flat(node[1])]
        for node in nodes:
            if _has_pattern(node):
                given = node[2][1] if node[2][0] == "const" else node[3]
                named += _flat(given)
        self.keys = [str(node[2]) for node in nodes if node[0] in ("key", "field")]
        self.numbers = [0, 1, 2, *(one for one in named if isinstance(one, (int, float)) and abs(one) < 2**62)]
        texts = [one for one in named if isinstance(one, str)]
        self.texts = ["a/b.py", "", "Zoë ✓\n", *texts, *texts, *(one + "x" for one in texts), *map(str.upper, texts)]

    def pick(self, of: Any) -> Any:
        return self.random.choice(of)

    def value(self, kind: Type) -> Any:
        if kind.nullable and self.random.random() < _ABSENT:
            return None
        if kind.is_number:
            near = self.pick(self.numbers) + self.pick((0, 0, 1, -1) if kind.name == "int" else (0, 0.5, -0.5))
            near = near if kind.low is None else max(near, kind.low)
            near = near if kind.high is None else min(near, kind.high)
            return int(near) if kind.name == "int" else float(near)
        if kind.name == "str":
            return self.pick(kind.enum or self.texts)
        if kind.name == "list":
            return [self.value(kind.item or ANY) for _ in range(self.pick((0, 1, 1, 2, 4)))]
        if kind.name == "record":
            return {name: self.value(one.type) for name, one in kind.fields.items()}
        if kind.name == "map":
            return {key: self.value(ANY) for key in self.keys if self.random.random() > _ABSENT}
        if kind.name == "bool":
            return self.pick((True, False))
        return self.pick([None, True, 0.5, [], ["a"], {}, *self.numbers, *self.texts])


def _outcome(evaluate: Callable[..., Any]) -> str:
    """A result as both evaluators state it. Which of two faults comes first may differ, so their kinds are left out."""
    try:
        return repr(evaluate())
    except Undecided:
        return "undecidable"
    except Bound:
        return "out of bounds"


class _Dotted(ast.NodeTransformer):
    """Writes `a['b']` as `a.b`, which is the same."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(key, str) or not key.isidentifier():
            return node
        return ast.copy_location(ast.Attribute(node.value, key, ast.Load()), node)


def _explained(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = []
    is_word = isinstance(node, ast.Name) and node.id in LITERALS
    shown = not (is_word or isinstance(node, (ast.Constant, ast.GeneratorExp, ast.List, ast.Tuple)))
    if isinstance(node, ast.expr) and shown:
        found.append(node)
    if isinstance(node, ast.GeneratorExp):
        return _explained(node.generators[0].iter)
    if isinstance(node, (ast.Attribute, ast.Name)):
        return found
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and child is node.func:
            child = child.value if isinstance(child, ast.Attribute) else ast.Constant(None)
        found.extend(_explained(child))
    return found
