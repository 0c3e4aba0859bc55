"""Calls: who is called, how many arguments of which kinds, and the loops `NAME(ask for x in LIST if condition)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from ahp.conditions import globs, operators, pitfalls, regexes
from ahp.conditions.checker import Checker, Typed, a_type
from ahp.conditions.diagnostics import quoted
from ahp.conditions.language import FUNCTION, LOOP, METHOD, OPERATIONS, Operation, callables
from ahp.conditions.runtime import names
from ahp.conditions.schema import ANY, SchemaError
from ahp.conditions.spelling import nearest

_PATH = re.compile(r'(?:"[^"]*"|\*|[^."*]+)(?:\.(?:"[^"]*"|\*|[^."*]+))*')
_LOOKS = re.compile(r"\(\?<?[=!]")
_METHODS = f"methods of a text are {', '.join(sorted(callables(METHOD)))}"
_OUTER = "the rule takes the outer one: `each: x in LIST`, and its condition keeps the inner one"
_PATHS = ("fact", "item", "key", "field", "index", "entry", "at")


def call(checker: Checker, node: ast.Call) -> Typed:
    """The checked call of a function or method. Raises Refused for an unknown one, a wrong arity or a wrong type."""
    if node.keywords:
        raise checker.refuse(node.keywords[0].value, "syntax", "a call has no named arguments")
    if isinstance(node.func, ast.Attribute):
        return _method(checker, node, node.func)
    operation = OPERATIONS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    if operation is None or operation.call not in (FUNCTION, LOOP):
        raise _unknown(checker, node, node.func)
    if operation.call == LOOP:
        return _loop(checker, node, operation)
    return _made(checker, node, operation, [])


def method_hint(name: str, text: str, arguments: int = 0) -> str:
    """How to write what was tried as a method or field `name` of `text`; empty when nothing fits."""
    near = _meant(name, arguments > 0)
    if near is None:
        return ""
    operation = OPERATIONS[near]
    if operation.call == METHOD:
        return f"did you mean {text}.{near}()?" if near != name else ""
    if operation.call == LOOP:
        return f"write {near}(… for x in {text})"
    return f"write {near}({text})" if operation.most == 1 else f"write {near}({text}, …)"


def _meant(name: str, asks: bool) -> str | None:
    """The function or method that `name` stands for; `asks` whether it was given a question about items, too."""
    return "any" if name == "exists" and asks else nearest(name, callables())


def _unknown(checker: Checker, node: ast.Call, func: ast.expr) -> Exception:
    if not isinstance(func, ast.Name):
        return checker.refuse(node, "type", f"{quoted(ast.unparse(func))} cannot be called")
    if func.id in checker.scope or func.id in checker.schema.namespaces:
        return checker.refuse(node, "type", f"{quoted(func.id)} is a fact and cannot be called")
    near = _meant(func.id, len(node.args) > 1)
    hint = f"functions are {', '.join(name for name, one in callables().items() if one.call != METHOD)}"
    if near:
        shapes = {METHOD: f"write text.{near}(…)", LOOP: f"write {near}(… for x in LIST)"}
        hint = shapes.get(OPERATIONS[near].call, f"did you mean {quoted(near)}?")
    return checker.refuse(func, "name", f"there is no function {quoted(func.id)}", hint)


def _method(checker: Checker, node: ast.Call, func: ast.Attribute) -> Typed:
    if func.attr.startswith("_"):
        raise checker.refuse(func, "name", f"{quoted(func.attr)} cannot be called: no name begins with '_'")
    base = checker.expr(func.value)
    operation = OPERATIONS.get(func.attr)
    if operation is None or operation.call != METHOD:
        hint = method_hint(func.attr, base.bare, len(node.args)) or _METHODS
        raise checker.refuse(func, "name", f"there is no method {quoted(func.attr)}", hint)
    return _made(checker, node, operation, [base])


def _made(checker: Checker, node: ast.Call, operation: Operation, before: list[Typed]) -> Typed:
    """The call with its arguments checked; `before` is what stands before the dot of a method."""
    _arity(checker, node, operation, len(before))
    arguments = [*before, *(checker.expr(argument) for argument in node.args)]
    if operation.takes == ("text", "pattern") and arguments[0].is_const() and _is_path(checker, arguments[1]):
        mend = f"the text comes first: {operation.name}({arguments[1].bare}, {arguments[0].bare})"
        raise checker.refuse(node, "pattern", f"the pattern of {operation.name}() is a literal or a limit", mend)
    kinds = operation.kinds(len(arguments))
    operands = [KINDS[kind](checker, value, operation) for kind, value in zip(kinds, arguments, strict=True)]
    if operation.name in ("startswith", "endswith"):
        pitfalls.compared(checker, *operands)
    if operation.name == "glob":
        pitfalls.globbed(checker, *operands)
    elif operation.name in ("matches", "groups"):
        pitfalls.searched(checker, operands[1])
    if operation.name == "contains":
        return operators.membership(checker, operands[1], operands[0], node)
    last = operands[-1].plan
    known = checker.variants.get(last[1], []) if last[0] == "fact" else []
    try:
        return checker.made(node, operation.name, *operands, parameter=known)
    except SchemaError as error:
        what = f"{operation.name}() stands in with a value of the fact's type: {error}"
        raise checker.refuse(node.args[-1], "type", what) from None


def _is_path(checker: Checker, value: Typed) -> bool:
    """Whether it is a fact or a part of one, not a limit."""
    return value.plan[0] in _PATHS and not (value.plan[0] == "fact" and value.plan[1] in checker.variants)


def _arity(checker: Checker, node: ast.Call, operation: Operation, before: int) -> None:
    low, high = operation.least - before, operation.most - before
    if not low <= len(node.args) <= high:
        wanted = f"{low} to {high} arguments" if low != high else "1 argument" if low == 1 else f"{low} arguments"
        variadic = operation.most > len(operation.takes)
        hint = "to find the largest of a list compare each: any(x > 5 for x in LIST)" if variadic else ""
        if operation.call == LOOP:
            hint = f"write {operation.name}(… for x in LIST)"
        what = f"{operation.name}() takes {wanted}, not {len(node.args)}"
        raise checker.refuse(node, "type", what, hint)


# The kinds of arguments that entries of the language name: what each accepts, and as what.


def _kinds(*kinds: str) -> Callable[[Checker, Typed, Operation], Typed]:
    return lambda checker, value, operation: checker.needing(f"{operation.name}()", value, *kinds)


def _text(checker: Checker, value: Typed, operation: Operation) -> Typed:
    name = operation.name
    each = f"x.{name}(…)" if operation.call == METHOD else f"{name}(x, …)"
    hint = f"write any({each} for x in {value.bare})" if value.group == "list" else ""
    if value.type.name == "record":
        parts = [f"{value.bare}.{field}" for field, kind in value.type.fields.items() if kind.type.name == "str"]
        hint = f"write {parts[0]}" if len(parts) == 1 else f"texts of it are {', '.join(parts)}" if parts else ""
    return checker.needing(f"{name}()", value, "str", hint=hint)


def _text_or_texts(checker: Checker, value: Typed, operation: Operation) -> Typed:
    literal = value.is_const() and value.group == "list"
    if literal and all(isinstance(one, str) for one in value.plan[1]):
        return value
    return checker.needing(f"{operation.name}()", value, "str")


def _fact(checker: Checker, value: Typed, operation: Operation) -> Typed:
    limit = value.is_const() and not isinstance(value.node, ast.Constant)
    if value.plan[0] not in _PATHS and not limit:
        raise checker.refuse(value.node, "type", f"{operation.name}() asks about a fact; {value.text} is not one")
    return value


def _document(checker: Checker, value: Typed, operation: Operation) -> Typed:
    if value.type is not ANY and value.type.name not in ("map", "list", "record"):
        what = f"{operation.name}() looks into a map or a list, {value.text} is {a_type(value.type)}"
        raise checker.refuse(value.node, "type", what)
    return value


def _steps(checker: Checker, value: Typed, operation: Operation) -> Typed:
    if not (value.is_const() and isinstance(value.plan[1], str)):
        raise checker.refuse(value.node, "pattern", f"the path of {operation.name}() is a literal text or a limit")
    if not _PATH.fullmatch(value.plan[1]):
        hint = "a path is keys with dots between them, `*` for each; a key with one of both stands in double quotes"
        raise checker.refuse(value.node, "pattern", f"{value.text} is no path: {hint}")
    return value


def _pattern(checker: Checker, value: Typed, operation: Operation) -> Typed:
    """A pattern is known when the policy is read, so that it can be compiled and refused there."""
    name, plan = operation.name, value.plan
    if value.is_const():
        known = [plan[1]]
    elif plan[0] == "fact" and plan[1] in checker.variants:
        known = checker.variants[plan[1]]
    else:
        what = f"the pattern of {name}() is a literal or a limit"
        raise checker.refuse(value.node, "pattern", what, "put it under limits:")
    for one in known:
        _compile(checker, value.node, name, one)
    return value


def _compile(checker: Checker, node: ast.expr, name: str, pattern: Any) -> None:
    several = pattern if isinstance(pattern, list) else [pattern]
    is_nothing = not several and isinstance(node, (ast.List, ast.Tuple))  # a limit may have nothing: none matches
    if is_nothing or not all(isinstance(one, str) for one in several):
        raise checker.refuse(node, "pattern", f"the pattern of {name}() is a text or a list of texts")
    what = "glob" if name == "glob" else "regular expression"
    whose = f" of {ast.unparse(node)}" if isinstance(node, ast.Attribute) else ""
    for one in several:
        try:
            {"glob": globs.glob, "groups": regexes.groups}.get(name, regexes.regex)(one)
        except globs.PatternError as error:
            hint = "" if name == "glob" else _mended(one)
            raise checker.refuse(node, "pattern", f"{quoted(one, 40)}{whose} is not a {what}: {error}", hint) from None


def _mended(pattern: str) -> str:
    """What to write in place of a regular expression that RE2 refuses."""
    if _LOOKS.search(pattern):
        return "RE2 looks neither ahead nor back: ask twice, matches(…) and not matches(…)"
    if pattern.startswith("*"):
        return f"a pattern with * for any text is glob(…, {quoted(pattern, 40)})"
    return ""


KINDS: dict[str, Callable[[Checker, Typed, Operation], Typed]] = {
    "number": _kinds("number"),
    "text": _text,
    "text or texts": _text_or_texts,
    "text or list or map": _kinds("str", "list", "map"),
    "fact": _fact,
    **dict.fromkeys(["value", "container", "item"], lambda checker, value, operation: value),
    "pattern": _pattern,
    "map": _kinds("map"),
    "document": _document,
    "path": _steps,
}


def _loop(checker: Checker, node: ast.Call, operation: Operation) -> Typed:
    name = operation.name
    _arity(checker, node, operation, 0)
    generator = node.args[0]
    if not isinstance(generator, ast.GeneratorExp):
        hint = "len(LIST) counts items" if name == "count" else ""
        raise checker.refuse(generator, "type", f"{name}() takes a loop: {name}(… for x in LIST)", hint)
    if len(generator.generators) != 1:
        raise checker.refuse(node, "syntax", "loops are not nested", _OUTER)
    clause = generator.generators[0]
    var, source = checker.variable(clause.target), checker.items(clause.iter)
    assert source.type.item is not None
    outer, checker.loops, checker.scope[var] = checker.loops, (*checker.loops, var), source.type.item
    try:
        chosen = [checker.boolean(test) for test in clause.ifs]
        made = _asked(checker, node, operation, generator.elt, chosen, source, var)
    finally:
        checker.loops = outer
        del checker.scope[var]
    if (read := next((one for one in outer if names(made.plan, one)), None)) is not None:
        raise checker.refuse(node, "syntax", f"loops are not nested, and this one reads {quoted(read)}", _OUTER)
    return made


def _asked(
    checker: Checker,
    node: ast.Call,
    operation: Operation,
    element: ast.expr,
    chosen: list[Typed],
    source: Typed,
    var: str,
) -> Typed:
    """What a loop asks of every item: an `if` becomes part of the question, for all() as `not chosen or question`."""
    if operation.takes != ("condition",):
        value = KINDS[operation.takes[0]](checker, checker.expr(element), operation)
        return checker.made(node, operation.name, value, source, _joined(checker, node, "and", chosen), parameter=var)
    is_item = isinstance(element, ast.Name) and element.id == var
    if operation.name != "count" or not is_item:
        question = checker.boolean(element)
        if operation.name == "all":
            chosen = [*(checker.made(node, "not", one) for one in chosen), question]
        else:
            chosen = [*chosen, question]
    question = _joined(checker, node, "or" if operation.name == "all" else "and", chosen)
    if operation.name != "exists_one":
        return checker.made(node, operation.name, question, source, parameter=var)
    how_many = checker.made(node, "count", question, source, parameter=var)
    return checker.made(node, "==", how_many, checker.made(node, "const", parameter=1))


def _joined(checker: Checker, node: ast.expr, op: str, parts: list[Typed]) -> Typed:
    if not parts:
        return checker.made(node, "const", parameter=True)
    return parts[0] if len(parts) == 1 else checker.made(node, op, *parts)
