"""Named parts of conditions: a rule's `let`, the policy's `conditions`; each stands where its name does.

What a condition means with its parts is a condition again, so that everything else reads one without. What a part's
loop gives is kept for as long as the facts are the same (`runtime.Builder`), however often its name stands there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from ahp.conditions.diagnostics import quoted
from ahp.conditions.parse import MAX_NODES, Refused, parse, place_of

SHARED = "conditions"
_parsed = lru_cache(maxsize=64)(parse)  # rules have the same `each` and `when`, and stand at several triggers
_WRITE = "split the rule"


def filled(text: str, parts: Mapping[str, str], var: str = "") -> tuple[ast.expr, str]:
    """The tree of a condition with its parts in it, at the places of their names, and the text that says the same.

    `parts` are texts by name, those of the policy as `conditions.NAME`; `var` is the variable of the rule's `each`.
    Raises Refused for a part that needs itself, and where all of it together is no condition.
    """
    tree = _parsed(text)
    if not parts or not any(_name(node) in parts for node in ast.walk(tree)):
        return tree, text
    tree = parse(text)  # one to write in
    filler = _Filler(parts, {var, *_variables(tree)})
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension) and _name(node.target) in parts:
            raise Refused("name", f"{quoted(_name(node.target))} is a part, and no variable", place_of(node.target))
    whole = filler.visit(tree)
    said = written(whole)
    try:
        parse(said)
    except Refused as error:
        raise Refused(error.kind, f"with its parts in it: {error.message}", place_of(tree), error.hint) from None
    return whole, said


def named(text: str, parts: Mapping[str, str]) -> set[str]:
    """The parts whose names stand in a text, or in the parts that it names. The text is known to be right."""
    found = {name for node in ast.walk(parse(text)) if (name := _name(node)) in parts}
    return found.union(*(named(parts[name], parts) for name in found))


def written(node: ast.expr) -> str:
    """The text of a tree, without the second pair of parentheses that `ast.unparse` gives to a loop."""
    text = ast.unparse(node)
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.GeneratorExp):
            text = text.replace(ast.unparse(call), ast.unparse(call.func) + ast.unparse(call.args[0]))
    return text


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    owner = node.value if isinstance(node, ast.Attribute) else None
    return f"{SHARED}.{node.attr}" if isinstance(owner, ast.Name) and owner.id == SHARED else ""  # type: ignore[attr-defined]


def _variables(tree: ast.expr) -> set[str]:
    return {_name(node.target) for node in ast.walk(tree) if isinstance(node, ast.comprehension)}


class _Filler(ast.NodeTransformer):
    """Puts parts in the place of their names. `taken` are the variables that may stand around them."""

    def __init__(self, parts: Mapping[str, str], taken: set[str]) -> None:
        self.parts, self.taken = parts, taken
        self.inside: list[str] = []
        self.count = 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._part(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._part(node) if _name(node) in self.parts else self.generic_visit(node)  # type: ignore[return-value]

    def _part(self, node: ast.Name | ast.Attribute) -> ast.expr:
        name = _name(node)
        if name not in self.parts:
            return node
        if name in self.inside:
            raise Refused("name", f"{quoted(name)} needs itself", place_of(node))
        found = parse(self.parts[name])
        for own in _variables(found) & self.taken:
            for one in ast.walk(found):
                if isinstance(one, ast.Name) and one.id == own:
                    one.id = own + "_"
        self.count += sum(isinstance(one, ast.expr) for one in ast.walk(found))
        if self.count > MAX_NODES:
            raise Refused("bound", f"a condition has at most {MAX_NODES} parts", place_of(node), _WRITE)
        self.inside.append(name)
        found = cast(ast.expr, self.visit(found))
        self.inside.pop()
        for one in ast.walk(found):
            if isinstance(one, ast.expr):
                ast.copy_location(one, node)
        return found
