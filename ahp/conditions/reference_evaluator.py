"""The reference evaluator: simpleeval, hardened, over our own syntax tree (design §5).

It shares nothing with the production evaluator but the parser, the pattern compilers, the plain functions of the
language and the exceptions: no plan, no slots, no types, and simpleeval's own operators.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NoReturn

import simpleeval  # type: ignore[import-untyped,unused-ignore]

from ahp.conditions import globs, regexes
from ahp.conditions.closures import steps_of
from ahp.conditions.evaluate import MISSING, Bound, Undecided
from ahp.conditions.language import FUNCTION, LOOP, METHOD, OPERATIONS, Operation, callables
from ahp.conditions.runtime import key_of


def _nested(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts by path as mappings in mappings; absent ones are left out, their namespaces are there."""
    tree: dict[str, Any] = {}
    for path, found in facts.items():
        *spaces, name = path.split(".")
        inner = tree
        for space in spaces:
            inner = inner.setdefault(space, {})
        if found is not MISSING:
            inner[name] = found
    return tree


def _copied(found: Any) -> Any:
    """A copy of plain data; `copy.deepcopy` takes many times as long for it."""
    if isinstance(found, list):
        return [_copied(value) for value in found]
    if isinstance(found, dict):
        return {key: _copied(value) for key, value in found.items()}
    return found if found is None or isinstance(found, (str, int, float)) else copy.deepcopy(found)


# What operators and functions accept, told by the values alone.


def _null() -> NoReturn:
    raise Undecided("null_operand")


def _kind(found: Any) -> str:
    if found is None or isinstance(found, bool):
        return type(found).__name__
    if isinstance(found, (int, float)):
        return "number"
    return "list" if isinstance(found, (list, tuple)) else type(found).__name__


def _of(kinds: tuple[str, ...], function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of values that are all of one of these kinds."""

    def checked(*values: Any) -> Any:
        found = {_kind(one) for one in values}
        return function(*values) if len(found) == 1 and found <= set(kinds) else _null()

    return checked


def _finite(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(*values: Any) -> Any:
        found = function(*values)
        if found != found:
            raise Bound("not a number")
        return found

    return computed


_number = _of(("number",), lambda found: found)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(one, right[name]) for name, one in left.items())
    return _kind(left) == _kind(right) and bool(left == right)


def _inside(item: Any, container: Any) -> bool:
    kind = _kind(container)
    if kind == "list":
        return any(_equal(item, one) for one in container)
    return item in container if kind in ("str", "dict") and isinstance(item, str) else _null()


def _matching(compiler: Callable[[str], Callable[[str], bool]]) -> Callable[[Any, Any], bool]:
    def test(text: Any, pattern: Any) -> bool:
        if not isinstance(text, str) or pattern is None:
            _null()
        return any(compiler(one)(text) for one in (pattern if isinstance(pattern, (list, tuple)) else [pattern]))

    return test


_NODES = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.UnaryOp, ast.BinOp, ast.BoolOp),
    *(ast.Compare, ast.IfExp, ast.Call),
)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    **{node: _of(("number",), _finite(simpleeval.DEFAULT_OPERATORS[node])) for node in _ARITHMETIC},
    **{node: _of(("number", "str"), simpleeval.DEFAULT_OPERATORS[node]) for node in _ORDER},
    ast.Eq: _equal,
    ast.NotEq: lambda a, b: not _equal(a, b),
    ast.In: _inside,
    ast.NotIn: lambda a, b: not _inside(a, b),
    ast.Is: lambda a, b: a is None and b is None,
    ast.IsNot: lambda a, b: not (a is None and b is None),
}
_KINDS = {
    "map": ("dict",),
    "number": ("number",),
    "text": ("str",),
    "text or texts": ("str", "tuple"),  # a list that the condition holds, not one that a fact or a map does
    "text or list or map": ("str", "list", "tuple", "dict"),
}


def _function(operation: Operation) -> Callable[..., Any]:
    """A plain function of the language, of arguments of the kinds that its entry names."""

    def checked(*values: Any) -> Any:
        kinds = ["tuple" if isinstance(one, tuple) else _kind(one) for one in values]
        wanted = operation.kinds(len(values))
        if not all(kind in _KINDS[one] for kind, one in zip(kinds, wanted, strict=True)):
            _null()
        return operation.function(*values)  # type: ignore[misc]

    return checked


# A condition is asked of many sets of facts, one after the other: its patterns are compiled once.
_globs = _matching(lru_cache(maxsize=64)(globs.glob))
_matches = _matching(lru_cache(maxsize=16)(regexes.regex))


def _kleene(questions: Sequence[Callable[..., bool]], decisive: bool) -> bool:
    """`and` (decisive: False) or `or` (True): the decisive value wins in any order, then a doubt, then the other."""
    doubt: Undecided | None = None
    for question in questions:
        try:
            if question() is decisive:
                return decisive
        except Undecided as error:
            doubt = doubt or error
        except ZeroDivisionError:
            doubt = doubt or Undecided("zero_division")
    if doubt is not None:
        raise doubt
    return not decisive


def _groups(text: Any, patterns: Any) -> list[str]:
    if not isinstance(text, str) or patterns is None:
        _null()
    several = patterns if isinstance(patterns, (list, tuple)) else [patterns]
    return next((found for one in several if (found := regexes.groups(one)(text))), [])


class Evaluator(simpleeval.EvalWithCompoundTypes):  # type: ignore[misc,unused-ignore]
    """simpleeval with names and attributes that are mapping keys and nothing else, and with Kleene's logic."""

    def __init__(self, facts: Mapping[str, Any], constants: Mapping[str, Any]) -> None:
        super().__init__(operators=_OPERATORS)
        self._given = {path: _copied(found) for path, found in constants.items()}
        self.take(facts)
        self.functions = {  # the base class adds constructors: list, dict, set
            "contains": lambda container, item: _inside(item, container),
            "glob": _globs,
            "matches": _matches,
            "groups": _groups,
            **{name: _function(entry) for name, entry in callables(FUNCTION).items() if entry.function},
        }
        self.constants = constants
        self.nodes: dict[Any, Any] = {kind: self.nodes[kind] for kind in _NODES} | {ast.Tuple: self._eval_list}

    def take(self, facts: Mapping[str, Any]) -> None:
        """From now on evaluates with a copy of these facts; the constants stay."""
        own = {path: found if found is MISSING else _copied(found) for path, found in facts.items()}
        self._values = {path: found for path, found in own.items() if key_of(path)[1] is not None}
        whole = {path: found for path, found in own.items() if path not in self._values}
        self.names = {"true": True, "false": False, "null": None, **_nested({**whole, **self._given})}

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
            _null()
        return found

    def _check_disallowed_items(self, item: Any) -> None:
        """Nothing to look for: values are copies of plain data, and functions cannot be values."""

    def _eval_name(self, node: ast.Name) -> Any:
        if node.id not in self.names:
            raise Undecided("missing_fact", node.id)
        return self.names[node.id]

    def _eval_attribute(self, node: ast.Attribute) -> Any:
        try:
            return self._value(node.value, node.attr)
        except Undecided as error:
            if error.kind != "missing_fact":
                raise
            raise Undecided("missing_fact", ast.unparse(node)) from None

    def _eval_subscript(self, node: ast.Subscript) -> Any:
        key = self._eval(node.slice)
        if isinstance(key, str):
            return self._value(node.value, key)
        base = self._eval(node.value)
        if not isinstance(base, list):
            _null()
        try:
            return base[key]
        except IndexError:
            raise Undecided("index") from None

    def _value(self, owner: ast.expr, name: str) -> Any:
        """A key's value, which may be a fact of its own."""
        path = f"{ast.unparse(owner)}['{name}']"
        if path not in self._values:
            return self._key(self._eval(owner), name)
        if self._values[path] is MISSING:
            raise Undecided("missing_fact", path)
        return self._values[path]

    def _key(self, base: Any, name: str) -> Any:
        if not isinstance(base, dict):
            _null()
        if name not in base:
            raise Undecided("missing_fact", name)
        return base[name]

    def _truth(self, node: ast.expr) -> bool:
        found = self._eval(node)
        if not isinstance(found, bool):
            _null()
        return found

    def _eval_unaryop(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return not self._truth(node.operand)
        return super()._eval_unaryop(node)

    def _eval_ifexp(self, node: ast.IfExp) -> Any:
        return self._eval(node.body if self._truth(node.test) else node.orelse)

    def _eval_boolop(self, node: ast.BoolOp) -> bool:
        return _kleene([partial(self._truth, value) for value in node.values], isinstance(node.op, ast.Or))

    def _eval_compare(self, node: ast.Compare) -> bool:
        operands = [node.left, *node.comparators]
        pairs = zip(node.ops, operands, operands[1:], strict=False)
        return _kleene([partial(self._compared, *pair) for pair in pairs], False)

    def _compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        return bool(self.operators[type(op)](self._eval(left), self._eval(right)))

    def _eval_call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, [self._affix(one) for one in node.args])
        name = node.func.id  # type: ignore[attr-defined]
        if name in ("has", "default"):
            return self._presence(name, node.args)
        if name == "at":
            return self._at(self._eval(node.args[0]), steps_of(self._eval(node.args[1])))
        operation = OPERATIONS.get(name)
        if operation is not None and operation.call == LOOP:
            return self._loop(name, node.args[0])  # type: ignore[arg-type]
        return super()._eval_call(node)

    def _at(self, found: Any, steps: list[str | None]) -> Any:
        """What stands at the steps; from the first `*` on a list of what all of its values have there."""
        if not steps:
            return found
        if steps[0] is not None:
            if isinstance(found, list) and steps[0].isdigit() and int(steps[0][:9]) < len(found):
                return self._at(found[int(steps[0])], steps[1:])
            if isinstance(found, dict) and steps[0] in found:
                return self._at(found[steps[0]], steps[1:])
            if None in steps:
                return []
            raise Undecided("missing_fact")
        values: list[Any] = []
        for one in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
            try:
                below = self._at(one, steps[1:])
            except Undecided:
                continue
            values += below if None in steps[1:] else [below]
        return values

    def _affix(self, node: ast.expr) -> Any:
        """The argument of a text's method: several texts only where the author wrote them, or a limit holds them."""
        found = self._eval(node)
        fixed = isinstance(node, (ast.List, ast.Tuple)) or ast.unparse(node) in self.constants
        return tuple(found) if fixed and isinstance(found, (list, tuple)) else found

    def _method(self, func: ast.Attribute, arguments: list[Any]) -> Any:
        operation = OPERATIONS.get(func.attr)
        if operation is None or operation.call != METHOD:
            _null()
        return _function(operation)(self._eval(func.value), *arguments)

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

    def _loop(self, name: str, loop: ast.GeneratorExp) -> Any:
        items = self._eval(loop.generators[0].iter)
        if not isinstance(items, list | dict):
            _null()
        answers = [partial(self._item, name, loop, item) for item in items]
        if name in ("any", "all"):
            return _kleene(answers, name == "any")
        if name == "distinct":
            return list(dict.fromkeys(text for answer in answers for text in answer()))
        total: Any = 0
        for answer in answers:  # one by one: sum() rounds floats differently since Python 3.12
            total = total + answer()
        return total == 1 if name == "exists_one" else total

    def _item(self, name: str, loop: ast.GeneratorExp, item: Any) -> Any:
        clause = loop.generators[0]
        var = clause.target.id  # type: ignore[attr-defined]
        self.names[var] = item
        try:
            questions = [partial(self._truth, node) for node in clause.ifs]
            if name == "distinct":
                return [_of(("str",), str)(self._eval(loop.elt))] if _kleene(questions, False) else []
            if name == "sum":
                return _number(self._eval(loop.elt)) if _kleene(questions, False) else 0
            if name == "all":
                return not _kleene([*questions, lambda: not self._truth(loop.elt)], False)
            is_item = isinstance(loop.elt, ast.Name) and loop.elt.id == var
            if name in ("any", "exists_one") or not is_item:
                questions.append(partial(self._truth, loop.elt))
            return _kleene(questions, False)
        finally:
            del self.names[var]
