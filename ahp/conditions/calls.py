"""Functions, methods and loops of the language: arity, types, and the plan of each."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ahp.conditions import comparisons, globs, regexes
from ahp.conditions.diagnostics import quoted
from ahp.conditions.expression import Typed
from ahp.conditions.plan import Plan
from ahp.conditions.schema import ANY, BOOL, INT, STR, SchemaError, Type, join
from ahp.conditions.spelling import FUNCTIONS, METHODS, nearest

if TYPE_CHECKING:
    from ahp.conditions.checker import Checker

_ARITY = {
    "len": (1, 1), "abs": (1, 1), "min": (2, 16), "max": (2, 16), "contains": (2, 2), "default": (2, 2), "has": (1, 1),
    "glob": (2, 2), "matches": (2, 2), "any": (1, 1), "all": (1, 1), "count": (1, 1), "sum": (1, 1),
    "startswith": (1, 1), "endswith": (1, 1), "lower": (0, 0), "upper": (0, 0), "strip": (0, 1),
}  # fmt: skip
_PATHS = ("fact", "item", "key", "field", "index")


def call(checker: Checker, node: ast.expr) -> Typed:
    """The checked call of a function or method. Raises Refused for an unknown one, a wrong arity or a wrong type."""
    assert isinstance(node, ast.Call)
    func = node.func
    if node.keywords:
        raise checker.refuse(node.keywords[0].value, "syntax", "a call has no named arguments")
    if isinstance(func, ast.Attribute):
        return _method(checker, node, func)
    if not isinstance(func, ast.Name) or func.id not in FUNCTIONS:
        raise _unknown(checker, node, func)
    _arity(checker, node, func.id, node.args)
    if func.id in ("any", "all", "count", "sum"):
        return _loop(checker, node, func.id)
    return _FUNCTIONS[func.id](checker, node)


def method_hint(name: str, text: str) -> str:
    """How to write what was tried as a method or field `name` of `text`; empty when nothing fits."""
    near = nearest(name, (*FUNCTIONS, *METHODS))
    if near in METHODS:
        return f"did you mean {text}.{near}()?" if near != name else ""
    if near in ("len", "abs"):
        return f"write {near}({text})"
    return f"write {near}({text}, …)" if near else ""


def _unknown(checker: Checker, node: ast.Call, func: ast.expr) -> Exception:
    if not isinstance(func, ast.Name):
        return checker.refuse(node, "type", f"{quoted(ast.unparse(func))} cannot be called")
    if func.id in checker.scope or func.id in checker.schema.namespaces:
        return checker.refuse(node, "type", f"{quoted(func.id)} is a fact and cannot be called")
    near = nearest(func.id, (*FUNCTIONS, *METHODS))
    hint = f"functions are {', '.join(FUNCTIONS)}"
    if near:
        hint = f"did you mean {quoted(near)}?" if near in FUNCTIONS else f"write text.{near}(…)"
    return checker.refuse(func, "name", f"there is no function {quoted(func.id)}", hint)


def _arity(checker: Checker, node: ast.Call, name: str, args: list[ast.expr]) -> None:
    low, high = _ARITY[name]
    if not low <= len(args) <= high:
        wanted = str(low) if low == high else f"{low} to {high}"
        hint = "to find the largest of a list compare each: any(x > 5 for x in LIST)" if name in ("min", "max") else ""
        raise checker.refuse(node, "type", f"{name}() takes {wanted} arguments, not {len(args)}", hint)


def _method(checker: Checker, node: ast.Call, func: ast.Attribute) -> Typed:
    if func.attr.startswith("_"):
        raise checker.refuse(func, "name", f"{quoted(func.attr)} cannot be called: no name begins with '_'")
    base = checker.expr(func.value)
    if func.attr not in METHODS:
        hint = method_hint(func.attr, base.text[1:-1])
        raise checker.refuse(func, "name", f"there is no method {quoted(func.attr)}", hint)
    text = checker.string(func.value, f"{func.attr}()")
    _arity(checker, node, func.attr, node.args)
    operands = [text.plan, *(_affix(checker, arg, func.attr) for arg in node.args)]
    return Typed(["call", func.attr, operands], STR if func.attr in ("lower", "upper", "strip") else BOOL, node)


def _affix(checker: Checker, node: ast.expr, name: str) -> Plan:
    """The argument of a text's method; startswith and endswith take a literal list of texts too."""
    typed = checker.expr(node)
    many = name in ("startswith", "endswith") and typed.group == "list" and typed.is_const()
    if many and all(isinstance(one, str) for one in typed.plan[1]):
        return typed.plan
    return checker.string(node, f"{name}()").plan


def _len(checker: Checker, node: ast.Call) -> Typed:
    typed = checker.expr(node.args[0])
    if typed.type is ANY:
        return Typed(["call", "len", [["as", ["str", "list", "map"], typed.plan]]], INT, node)
    if typed.group not in ("str", "list", "map"):
        raise checker.refuse(node, "type", f"len() needs a text, a list or a map; {typed.text} is none")
    return Typed(["call", "len", [typed.plan]], INT, node)


def _numbers(checker: Checker, node: ast.Call) -> Typed:
    name = node.func.id  # type: ignore[attr-defined]
    parts = [checker.number(arg, f"{name}()") for arg in node.args]
    names = {part.type.name for part in parts}
    kind = Type(names.pop() if len(names) == 1 else "number" if "number" in names else "float")
    return Typed(["call", name, [part.plan for part in parts]], kind, node)


def _contains(checker: Checker, node: ast.Call) -> Typed:
    container, item = checker.expr(node.args[0]), checker.expr(node.args[1])
    return Typed(comparisons.membership(checker, item, container, node), BOOL, node)


def _has(checker: Checker, node: ast.Call) -> Typed:
    return Typed(["has", _fact(checker, node, "has").plan], BOOL, node)


def _default(checker: Checker, node: ast.Call) -> Typed:
    fact, other = _fact(checker, node, "default"), checker.expr(node.args[1])
    try:
        kind = join([fact.type, other.type])
    except SchemaError as error:
        raise checker.refuse(
            node.args[1], "type", f"default() stands in with a value of the fact's type: {error}"
        ) from None
    assert kind is not None
    if kind.name == "any":
        return Typed(["default", fact.plan, other.plan], ANY, node)
    return Typed(["default", fact.plan, other.plan], kind if other.type.nullable else kind.without_null(), node)


def _fact(checker: Checker, node: ast.Call, name: str) -> Typed:
    typed = checker.expr(node.args[0])
    if typed.plan[0] not in (*_PATHS, "const") or (typed.is_const() and isinstance(node.args[0], ast.Constant)):
        raise checker.refuse(node.args[0], "type", f"{name}() asks about a fact; {typed.text} is none")
    return typed


def _pattern(checker: Checker, node: ast.Call) -> Typed:
    """glob and matches; the pattern is known when the policy is read, so that it can be compiled and refused there."""
    name = node.func.id  # type: ignore[attr-defined]
    text = checker.expr(node.args[0])
    if text.group == "list":
        hint = f"write any({name}(x, …) for x in {text.text[1:-1]})"
        raise checker.refuse(node.args[0], "type", f"{name}() needs a text, {text.text} is a list", hint)
    if text.type is not ANY:
        text = checker.string(node.args[0], f"{name}()")
    pattern = checker.expr(node.args[1])
    if pattern.is_const():
        values = [pattern.plan[1]]
    elif pattern.plan[0] == "fact" and pattern.plan[1] in checker.variants:
        values = [list(one) if isinstance(one, tuple) else one for one in checker.variants[pattern.plan[1]]]
    else:
        raise checker.refuse(
            node.args[1], "pattern", f"the pattern of {name}() is a literal or a limit", "put it under limits:"
        )
    for value in values:
        _compile(checker, node.args[1], name, value)
    return Typed([name, text.plan, pattern.plan, [] if pattern.is_const() else values], BOOL, node)


def _compile(checker: Checker, node: ast.expr, name: str, value: Any) -> None:
    several = value if isinstance(value, list) else [value]
    if not several or not all(isinstance(one, str) for one in several):
        raise checker.refuse(node, "pattern", f"the pattern of {name}() is a text or a list of texts")
    what = "glob" if name == "glob" else "regular expression"
    for one in several:
        try:
            globs.glob(one) if name == "glob" else regexes.regex(one)
        except globs.PatternError as error:
            raise checker.refuse(node, "pattern", f"{quoted(one, 40)} is no {what}: {error}") from None


def _loop(checker: Checker, node: ast.Call, name: str) -> Typed:
    generator = node.args[0]
    if not isinstance(generator, ast.GeneratorExp):
        hint = "len(LIST) counts items" if name == "count" else ""
        raise checker.refuse(node.args[0], "type", f"{name}() takes a loop: {name}(… for x in LIST)", hint)
    if checker.in_loop or len(generator.generators) != 1:
        raise checker.refuse(node, "syntax", "loops are not nested")
    clause = generator.generators[0]
    var = checker.variable(clause.target)
    source = checker.items(clause.iter)
    assert source.type.item is not None
    checker.in_loop, checker.scope[var] = True, source.type.item
    try:
        chosen = [checker.boolean(test).plan for test in clause.ifs]
        built, kind = _body(checker, generator.elt, name, var, chosen)
    finally:
        checker.in_loop = False
        del checker.scope[var]
    return Typed([name, var, built[0], source.plan, *built[1:]], kind, node)


def _body(checker: Checker, element: ast.expr, name: str, var: str, chosen: list[Plan]) -> tuple[list[Plan], Type]:
    """What a loop asks of every item: an `if` becomes part of the question, for all() as `not chosen or question`."""
    if name == "sum":
        value = checker.number(element, "sum()")
        return [value.plan, _joined("and", chosen)], Type(value.type.name)
    if name == "count" and isinstance(element, ast.Name) and element.id == var and checker.scope[var].name != "bool":
        return [_joined("and", chosen)], INT
    question = checker.boolean(element).plan
    if name == "all":
        return [_joined("or", [*(["not", one] for one in chosen), question])], BOOL
    return [_joined("and", [*chosen, question])], BOOL if name == "any" else INT


def _joined(op: str, parts: list[Plan]) -> Plan:
    if not parts:
        return ["const", True]
    return parts[0] if len(parts) == 1 else [op, parts]


_FUNCTIONS = {
    "len": _len,
    "abs": _numbers,
    "min": _numbers,
    "max": _numbers,
    "contains": _contains,
    "has": _has,
    "default": _default,
    "glob": _pattern,
    "matches": _pattern,
}
