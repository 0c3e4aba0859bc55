"""Names and paths: which fact, limit, map key or record field the words mean, and the nearest one when none."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ahp.conditions import calls, globs
from ahp.conditions.checker import KNOWN_ARE, LITERALS, Checker, Typed, a_type
from ahp.conditions.diagnostics import quoted
from ahp.conditions.language import FUNCTION, LOOP, METHOD, OPERATIONS, callables
from ahp.conditions.parse import Refused
from ahp.conditions.schema import ANY, Fact, Type
from ahp.conditions.spelling import WORDS, ending, nearest

_NAMED = 12
_LONGEST_ITEM = 4  # letters of a variable such as `l` or `line`


def name(checker: Checker, node: ast.Name) -> Typed:
    if node.id in checker.scope:
        return Typed(["item", node.id], checker.scope[node.id], node)
    return _path(checker, node.id, node) or _unknown(checker, node)


def _path(checker: Checker, path: str, node: ast.expr) -> Typed | None:
    """The limit or fact of a full path, None where there is none. Raises Refused for a namespace."""
    if path in checker.constants:
        value = checker.constants[path]
        if value in ([], ()):  # a limit that is a list holds texts
            return Typed(["const", []], Type("list", Type("str")), node)
        return checker.made(node, "const", parameter=list(value) if isinstance(value, tuple) else value)
    if path in checker.schema:
        kind = checker.schema.facts[path].type
        checker.types[path] = kind
        return Typed(["fact", path], kind, node)
    if path in LITERALS:
        return checker.made(node, "const", parameter=LITERALS[path])
    if below := _under(checker, path):
        some = ", ".join(below[:4])
        raise checker.refuse(node, "type", f"{quoted(path)} is a namespace, not a fact", f"it has {some} …")
    return None


def _under(checker: Checker, prefix: str) -> list[str]:
    start = f"{prefix}." if prefix else ""
    limits = [path[len(start) :].split(".")[0] for path in checker.constants if path.startswith(start)]
    return sorted({*checker.schema.names_under(prefix), *limits})


def _some(names: Iterable[str]) -> str:
    """The first twelve of these names, and how many more there are."""
    told = sorted(names)
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return ", ".join(told[:_NAMED]) + more


def _unknown(checker: Checker, node: ast.Name) -> Typed:
    operation = OPERATIONS.get(node.id)
    if operation is not None and operation.call in (FUNCTION, LOOP):
        raise checker.refuse(node, "name", f"{quoted(node.id)} is a function", f"call it: {node.id}(…)")
    known = [*_under(checker, ""), *checker.scope, *LITERALS]
    near = ending(node.id, [*checker.constants, *(fact.path for fact in checker.schema)])[:3]
    near = near or [one for one in (nearest(node.id, known),) if one]
    hint = WORDS.get(node.id) or (
        f"did you mean {' or '.join(map(quoted, near))}?" if near else f"{KNOWN_ARE}{_some(known)}"
    )
    raise checker.refuse(node, "name", f"unknown name {quoted(node.id)}", hint)


def attribute(checker: Checker, node: ast.Attribute) -> Typed:
    return _member(checker, node, node.value, node.attr)


def _member(checker: Checker, node: ast.expr, base: ast.expr, name: str) -> Typed:
    if name.startswith("_"):
        raise checker.refuse(node, "name", f"{quoted(name)} cannot be read: no name begins with '_'")
    path, prefix = _dotted(node), _dotted(base)
    if path is not None and prefix is not None and path.split(".")[0] not in checker.scope:
        found = _path(checker, path, node)
        if found is not None:
            return found
        if prefix not in checker.schema and (prefix == "env" or _under(checker, prefix)):
            near = nearest(name, _under(checker, prefix))
            hint = f"did you mean {quoted(near)}?" if near else f"it has {_some(_under(checker, prefix))}"
            if prefix == "env" and not near:
                hint = f"list the variable at the top of the policy: env_allow: [{name}]"
            raise checker.refuse(node, "name", f"{quoted(prefix)} has no fact {quoted(name)}", hint)
    typed = _owner(checker, base)
    if typed.plan[0] == "fact" and (fact := checker.schema.facts.get(typed.plan[1])) and fact.keys:
        return _value(checker, node, fact, name)
    if typed.type is ANY or typed.type.name == "map":
        return checker.made(node, "key", typed, parameter=name)
    if typed.type.name == "record":
        field = typed.type.fields.get(name)
        if field is None:
            near = nearest(name, typed.type.fields)
            hint = f"did you mean {quoted(near)}?" if near else f"it has {_some(typed.type.fields)}"
            raise checker.refuse(node, "name", f"{typed.text} has no field {quoted(name)}", hint)
        return checker.made(node, "field", typed, parameter=name)
    hint = calls.method_hint(name, typed.bare) or (f"call it: {name}()" if name in callables(METHOD) else "")
    raise checker.refuse(node, "name", f"{typed.text} is {a_type(typed.type)} and has no field {quoted(name)}", hint)


def _value(checker: Checker, node: ast.expr, fact: Fact, key: str) -> Typed:
    """One value of a map whose values are facts of their own."""
    kind = next((kind for pattern, kind in fact.keys.items() if globs.glob(pattern)(key)), None)
    if kind is None:
        kinds = ", ".join(fact.keys)
        raise checker.refuse(node, "type", f"{quoted(key)} is no key of {fact.path}", f"it has {kinds}")
    path = f"{fact.path}['{key}']"
    checker.types[path] = kind
    return Typed(["fact", path], kind, node)


def _owner(checker: Checker, node: ast.expr) -> Typed:
    """What a field is asked of; an unknown word there may be an item of a list that nobody named."""
    try:
        return checker.expr(node)
    except Refused as refused:
        if not isinstance(node, ast.Name) or not refused.hint.startswith(KNOWN_ARE) or checker.scope:
            raise
        if len(node.id) > _LONGEST_ITEM:  # rather a fact that does not exist
            raise
        hint = (
            f"where it is an item, the rule has a line `each: {node.id} in LIST`, like `each: {node.id} in diff.added`"
        )
        raise checker.refuse(node, "name", refused.message, hint) from None


def subscript(checker: Checker, node: ast.Subscript) -> Typed:
    key = _literal(node.slice)
    if isinstance(key, str):
        return _member(checker, node, node.value, key)
    typed = checker.expr(node.value)
    if type(key) is not int and (typed.type is ANY or typed.type.name == "map"):
        name = checker.needing("a key", checker.expr(node.slice), "str")
        return checker.made(node, "entry", typed, name)
    if type(key) is not int:
        raise checker.refuse(
            node.slice, "syntax", "an index is one literal number or key", "items[0], input['command']"
        )
    if typed.type is ANY or (typed.type.name == "list" and typed.type.item is not None):
        return checker.made(node, "index", typed, parameter=key)
    raise checker.refuse(node, "type", f"{typed.text} is {a_type(typed.type)} and has no items")


def _dotted(node: ast.expr) -> str | None:
    """The path that a chain of names spells, `files['changed']` included; None when anything else is in it."""
    if isinstance(node, ast.Name):
        return node.id
    name = node.attr if isinstance(node, ast.Attribute) else None
    if isinstance(node, ast.Subscript):
        name = _literal(node.slice)
    if not isinstance(name, str) or not name.isidentifier():
        return None
    base = _dotted(node.value)  # type: ignore[attr-defined]
    return f"{base}.{name}" if base else None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return -inner if type(inner) is int else None
    return node.value if isinstance(node, ast.Constant) else None
