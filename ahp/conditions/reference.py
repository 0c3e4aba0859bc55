"""Conditions by the reference evaluator: their value, the values of their parts, and whether production agrees.

Where both evaluators agree on generated facts, the plan says what the text says. `ahp policy lint` and the tests
compare them; `ahp explain` shows the parts of a condition by this one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ahp.conditions.checker import LITERALS
from ahp.conditions.diagnostics import clip
from ahp.conditions.evaluate import Bound, Undecided, build
from ahp.conditions.guards import as_fact, reads
from ahp.conditions.parse import parse
from ahp.conditions.parts import written
from ahp.conditions.reference_evaluator import Evaluator
from ahp.conditions.samples import fact_sets
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Checked


def value(text: str, facts: Mapping[str, Any], *, constants: Mapping[str, Any] | None = None) -> bool:
    """What a checked condition's text yields for facts by full path (an item's variable is a path of its own).

    MISSING and a path that is not there are absent alike. Works on a copy: nothing can change `facts`. Raises
    Undecided and Bound.
    """
    return Evaluator(facts, constants or {}).holds(parse(text))


def explain(
    text: str, facts: Mapping[str, Any], *, constants: Mapping[str, Any] | None = None
) -> list[tuple[str, Any]]:
    """A condition, as the author wrote it, and every sub-expression, outermost first, with its value or its Undecided
    or Bound.

    Literals, the inside of loops and the namespaces in a path have no lines of their own. A key in brackets is told
    behind a dot, so that one fact has one name, whose value may be one that is not shown.
    """
    evaluator, whole = Evaluator(facts, constants or {}), _Dotted().visit(parse(text))
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
