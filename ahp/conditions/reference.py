"""The reference evaluator: simpleeval, hardened, over our own syntax tree (design §5).

It shares nothing with the production evaluator but the parser, the pattern compilers and the exceptions: no plan, no
slots, no types. So where both agree on generated facts, the plan says what the text says. It is also what explains a
value in its parts.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

import simpleeval  # type: ignore[import-untyped,unused-ignore]

from ahp.conditions.diagnostics import clip
from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.operations import FUNCTIONS, LOOPS, METHODS, OPERATORS, kleene, null, number
from ahp.conditions.parse import parse
from ahp.conditions.plan import as_fact, reads
from ahp.conditions.samples import fact_sets
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Checked
from ahp.system.errors import Timeout


def value(text: str, facts: Mapping[str, Any], *, constants: Mapping[str, Any] | None = None) -> bool:
    """What a checked condition's text yields for facts by full path (an item's variable is a path of its own).

    MISSING and a path that is not there are absent alike. Works on a copy: nothing can change `facts`. Raises
    Undecided and Bound.
    """
    return _Evaluator(facts, constants or {}).holds(parse(text))


def explain(
    text: str, facts: Mapping[str, Any], *, constants: Mapping[str, Any] | None = None
) -> list[tuple[str, Any]]:
    """Every sub-expression of a condition as the author wrote it, outermost first, with its value or its Undecided or
    Bound.

    Literals, the inside of loops and the namespaces in a path have no lines of their own.
    """
    tree = parse(text)
    evaluator = _Evaluator(facts, constants or {})
    found: dict[str, Any] = {}
    for node in _explained(tree):
        source = ast.unparse(node)
        if source not in found:
            try:
                found[source] = evaluator.run(node)
            except (Undecided, Bound) as error:
                found[source] = error
    return list(found.items())


def disagreement(checked: Checked, schema: Schema, seconds: float | None = None) -> str | None:
    """The first generated fact set on which the two evaluators differ, in words with both values; None when they
    agree on all.

    `schema` gives the types of limits that a text names but the plan no longer reads. Raises Timeout after `seconds`.
    """
    started = monotonic()
    plan = as_fact(checked.plan, checked.item[0]) if checked.item else checked.plan
    paths = sorted(reads(plan))
    types = {**{path: schema.facts[path].type for path in paths if path in schema}, **checked.types}
    condition = build(plan, {path: index for index, path in enumerate(paths)})
    tree = parse(checked.text)
    for facts in fact_sets([plan], types):
        ours = _outcome(lambda facts=facts: condition([facts[path] for path in paths]))
        theirs = _outcome(lambda facts=facts: _Evaluator(facts, checked.constants).holds(tree))
        if ours != theirs:
            shown = ", ".join(f"{path} = {facts[path]!r}" for path in paths)
            return clip(f"the evaluators disagree: {ours} here, {theirs} by the reference, with {shown}")
        if seconds is not None and monotonic() - started > seconds:
            raise Timeout(f"comparing the evaluators took over {seconds} s; run ahp policy lint, which has no limit")
    return None


def _outcome(evaluate: Callable[..., Any]) -> str:
    """A result as both evaluators state it. The kinds are not compared: which of two faults comes first is nobody's
    concern.
    """
    try:
        return repr(evaluate())
    except Undecided:
        return "undecidable"
    except Bound:
        return "out of bounds"


def _explained(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = []
    if isinstance(node, ast.expr) and not isinstance(node, (ast.Constant, ast.GeneratorExp, ast.List, ast.Tuple)):
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


def _nested(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts by path as mappings in mappings, copied; absent ones are left out, their namespaces are there."""
    tree: dict[str, Any] = {}
    for path, found in facts.items():
        *spaces, name = path.split(".")
        inner = tree
        for space in spaces:
            inner = inner.setdefault(space, {})
        if found is not MISSING:
            inner[name] = copy.deepcopy(found)
    return tree


class _Evaluator(simpleeval.EvalWithCompoundTypes):  # type: ignore[misc,unused-ignore]
    """simpleeval with names and attributes that are mapping keys and nothing else, and with Kleene's logic."""

    def __init__(self, facts: Mapping[str, Any], constants: Mapping[str, Any]) -> None:
        names = {"true": True, "false": False, "null": None, **_nested({**facts, **constants})}
        super().__init__(operators=OPERATORS, functions=FUNCTIONS, names=names)
        self.functions = dict(FUNCTIONS)  # the base class adds constructors: list, dict, set
        self.constants = constants
        allowed = {
            ast.Constant: self._eval_constant,
            ast.Name: self._eval_name,
            ast.Attribute: self._eval_attribute,
            ast.Subscript: self._eval_subscript,
            ast.List: self._eval_list,
            ast.Tuple: self._eval_list,
            ast.UnaryOp: self._eval_unaryop,
            ast.BinOp: self._eval_binop,
            ast.BoolOp: self._eval_boolop,
            ast.Compare: self._eval_compare,
            ast.IfExp: self._eval_ifexp,
            ast.Call: self._eval_call,
        }
        self.nodes = allowed

    def run(self, tree: ast.expr) -> Any:
        """The value of a tree. Raises Undecided or Bound, as the production evaluator does."""
        try:
            return self.eval("", previously_parsed=tree)
        except ZeroDivisionError:
            raise Undecided("zero_division") from None
        except (OverflowError, RecursionError, simpleeval.InvalidExpression) as error:
            raise Bound(str(error)) from None

    def holds(self, tree: ast.expr) -> bool:
        """The truth value of a condition's tree: null and other values of a map are none. Raises Undecided or Bound."""
        found = self.run(tree)
        if not isinstance(found, bool):
            null()
        return found

    def _check_disallowed_items(self, item: Any) -> None:
        """Nothing to look for: values are copies of plain data, and functions cannot be values."""

    def _eval_name(self, node: ast.Name) -> Any:
        if node.id not in self.names:
            raise Undecided("missing_fact", node.id)
        return self.names[node.id]

    def _eval_attribute(self, node: ast.Attribute) -> Any:
        try:
            return self._key(self._eval(node.value), node.attr)
        except Undecided as error:
            if error.kind != "missing_fact":
                raise
            raise Undecided("missing_fact", ast.unparse(node)) from None

    def _eval_subscript(self, node: ast.Subscript) -> Any:
        base, key = self._eval(node.value), self._eval(node.slice)
        if isinstance(key, str):
            return self._key(base, key)
        if not isinstance(base, list):
            null()
        try:
            return base[key]
        except IndexError:
            raise Undecided("index") from None

    def _key(self, base: Any, name: str) -> Any:
        if not isinstance(base, dict):
            null()
        if name not in base:
            raise Undecided("missing_fact", name)
        return base[name]

    def _truth(self, node: ast.expr) -> bool:
        found = self._eval(node)
        if not isinstance(found, bool):
            null()
        return found

    def _eval_unaryop(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return not self._truth(node.operand)
        return super()._eval_unaryop(node)

    def _eval_ifexp(self, node: ast.IfExp) -> Any:
        return self._eval(node.body if self._truth(node.test) else node.orelse)

    def _eval_boolop(self, node: ast.BoolOp) -> bool:
        return kleene([lambda value=value: self._truth(value) for value in node.values], isinstance(node.op, ast.Or))

    def _eval_compare(self, node: ast.Compare) -> bool:
        operands = [node.left, *node.comparators]
        pairs = [
            lambda op=op, left=left, right=right: self.operators[type(op)](self._eval(left), self._eval(right))
            for op, left, right in zip(node.ops, operands, operands[1:], strict=False)
        ]
        return kleene(pairs, False)

    def _eval_call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, [self._affix(one) for one in node.args])
        name = node.func.id  # type: ignore[attr-defined]
        if name in ("has", "default"):
            return self._presence(name, node.args)
        if name in LOOPS:
            return self._loop(name, node.args[0])
        return super()._eval_call(node)

    def _affix(self, node: ast.expr) -> Any:
        """The argument of a text's method: several texts only where the author wrote them, or a limit holds them."""
        found = self._eval(node)
        fixed = isinstance(node, (ast.List, ast.Tuple)) or ast.unparse(node) in self.constants
        return tuple(found) if fixed and isinstance(found, (list, tuple)) else found

    def _method(self, func: ast.Attribute, arguments: list[Any]) -> Any:
        text = self._eval(func.value)
        fitting = isinstance(text, str) and all(isinstance(one, (str, tuple)) for one in arguments)
        if func.attr not in METHODS or not fitting:
            null()
        return getattr(text, func.attr)(*arguments)

    def _presence(self, name: str, arguments: list[ast.expr]) -> Any:
        try:
            found = self._eval(arguments[0])
        except Undecided as error:
            if error.kind != "missing_fact":
                raise
            return False if name == "has" else self._eval(arguments[1])
        if name == "has":
            return True
        return self._eval(arguments[1]) if found is None else found

    def _loop(self, name: str, loop: Any) -> Any:
        clause = loop.generators[0]
        items = self._eval(clause.iter)
        if not isinstance(items, list):
            null()
        var, results = clause.target.id, []
        for item in items:
            results.append(self._item(name, loop, clause, var, item))
        if name in ("any", "all"):
            return kleene(results, name == "any")
        total: Any = 0
        for result in results:  # one by one: sum() rounds floats differently since Python 3.12
            total = total + result()
        return total

    def _item(self, name: str, loop: Any, clause: Any, var: str, item: Any) -> Callable[[], Any]:
        def test(node: ast.expr) -> Callable[[], bool]:
            return lambda: self._truth(node)

        def ask() -> Any:
            self.names[var] = item
            try:
                chosen = [test(one) for one in clause.ifs]
                if name == "any":
                    return kleene([*chosen, test(loop.elt)], False)
                if name == "all":
                    return not kleene([*chosen, lambda: not self._truth(loop.elt)], False)
                if name == "sum":
                    return number(self._eval(loop.elt)) if kleene(chosen, False) else 0
                is_item = isinstance(loop.elt, ast.Name) and loop.elt.id == var and not isinstance(item, bool)
                counted = [] if is_item else [test(loop.elt)]
                return int(kleene([*chosen, *counted], False))
            finally:
                del self.names[var]

        return ask
