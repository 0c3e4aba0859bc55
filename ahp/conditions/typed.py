"""The checker: one method a construct of the language; what has no method does not exist (design §5)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ahp.conditions import calls
from ahp.conditions.errors import quoted
from ahp.conditions.evaluate import Builder
from ahp.conditions.lexical import Refused, word_hint
from ahp.conditions.names import FUNCTIONS, METHODS, nearest
from ahp.conditions.parse import place_of
from ahp.conditions.plan import Plan, walk
from ahp.conditions.schema import ANY, BOOL, Schema, SchemaError, Type, join, type_of_value

_ALIASES = {"true": True, "false": False, "null": None}
_ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_RAW = ("fact", "item", "key", "field", "index", "default", "if")


@dataclass(frozen=True)
class Typed:
    """A checked expression: its plan, its type, and the node it came from (for messages only)."""

    plan: Plan
    type: Type
    node: ast.expr

    @property
    def text(self) -> str:
        """The expression as the author wrote it, quoted and short."""
        return quoted(ast.unparse(self.node))

    @property
    def group(self) -> str:
        """The kind of value that operations ask for: int and float are both `number`."""
        return "number" if self.type.is_number else self.type.name

    def is_const(self) -> bool:
        """Whether the plan is one literal or limit."""
        return bool(self.plan[0] == "const")


class Checker:
    """Walks a syntax tree once and builds the plan; `problems` collects what independent operands of and/or got
    wrong.
    """

    def __init__(
        self,
        schema: Schema,
        constants: Mapping[str, Any],
        variants: Mapping[str, Sequence[Any]],
        item: tuple[str, Type] | None,
    ) -> None:
        self.schema = schema
        self.constants = constants
        self.variants = variants
        self.scope: dict[str, Type] = {item[0]: item[1]} if item else {}
        self.types: dict[str, Type] = {}
        self.problems: list[Refused] = []
        self.in_loop = False

    def condition(self, tree: ast.expr) -> Plan:
        """The plan of a whole condition; a refusal lands in `problems`."""
        try:
            return self.boolean(tree).plan
        except Refused as refused:
            self.problems.append(refused)
            return ["const", True]

    def each(self, tree: ast.expr) -> tuple[str, Typed]:
        """The variable and the list of an `each` clause. Raises Refused."""
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.In)):
            raise self.refuse(tree, "syntax", "an each clause reads 'x in LIST'", "for example: l in diff.added")
        var = self.variable(tree.left)
        return var, self.items(tree.comparators[0])

    def refuse(self, node: ast.AST, kind: str, message: str, hint: str = "") -> Refused:
        """A refusal at a node."""
        return Refused(kind, message, place_of(node), hint)

    def expr(self, node: ast.expr) -> Typed:
        """The checked expression of any node. Raises Refused for a construct outside the language or a type error."""
        method = _METHODS.get(type(node))
        if method is None:
            name = type(node).__name__
            hint = "use it inside any(), all(), count() or sum()" if name == "GeneratorExp" else ""
            raise self.refuse(node, "syntax", f"{_WORDS.get(name, name)} is not part of a condition", hint)
        return method(self, node)

    def boolean(self, node: ast.expr) -> Typed:
        """An expression used as a truth value: only bool is one."""
        typed = self.expr(node)
        if typed.type.name == "bool" or typed.type is ANY:
            if typed.plan[0] in _RAW:
                return Typed(["flag", typed.plan], BOOL, node)
            return typed
        hint = {
            "number": f"compare it: {typed.text[1:-1]} > 0",
            "list": f"write len({typed.text[1:-1]}) > 0",
            "str": "a condition stands without quotes" if typed.is_const() else f"compare it: {typed.text[1:-1]} != ''",
        }.get(typed.group, "")
        raise self.refuse(node, "type", f"{typed.text} is {_a(typed.type)}, not true or false", hint)

    def number(self, node: ast.expr, what: str) -> Typed:
        """An expression used as a number."""
        typed = self.expr(node)
        if typed.type is ANY:
            return Typed(["as", ["number"], typed.plan], Type("number"), node)
        if not typed.type.is_number:
            raise self.refuse(node, "type", f"{what} needs numbers, {typed.text} is {_a(typed.type)}")
        return Typed(typed.plan, typed.type.without_null(), node)

    def string(self, node: ast.expr, what: str) -> Typed:
        """An expression used as a text."""
        typed = self.expr(node)
        if typed.type is ANY:
            return Typed(["as", ["str"], typed.plan], Type("str"), node)
        if typed.type.name != "str":
            raise self.refuse(node, "type", f"{what} needs a text, {typed.text} is {_a(typed.type)}")
        return typed

    def items(self, node: ast.expr) -> Typed:
        """An expression that a loop goes through: a list whose items have a type."""
        typed = self.expr(node)
        if typed.type is ANY:
            return Typed(["as", ["list"], typed.plan], Type("list", ANY), node)
        if typed.type.name != "list" or typed.type.item is None:
            raise self.refuse(node, "type", f"{typed.text} is {_a(typed.type)}, not a list with items")
        return typed

    def variable(self, node: ast.expr) -> str:
        """The name of a loop's variable: new, and no fact's or function's."""
        if not isinstance(node, ast.Name):
            raise self.refuse(node, "syntax", "a loop has one plain variable")
        name = node.id
        taken = name in self.scope or name in self.schema.namespaces or name in FUNCTIONS or name in _ALIASES
        if taken or name.startswith("_") or any(path.split(".")[0] == name for path in self.constants):
            raise self.refuse(
                node, "name", f"{quoted(name)} cannot be a variable's name", "it is taken; choose another"
            )
        return name

    def _constant(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.Constant)
        value = node.value
        if value is not None and type(value) not in (bool, int, float, str):
            raise self.refuse(node, "syntax", f"{quoted(str(value))} is not part of a condition")
        return Typed(["const", value], type_of_value(value), node)

    def _name(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.Name)
        if node.id in self.scope:
            return Typed(["item", node.id], self.scope[node.id], node)
        return self._path(node.id, node) or self._unknown(node)

    def _path(self, path: str, node: ast.expr) -> Typed | None:
        """The limit or fact of a full path, None where there is none. Raises Refused for a namespace."""
        if path in self.constants:
            value = self.constants[path]
            return Typed(["const", list(value) if isinstance(value, tuple) else value], type_of_value(value), node)
        if path in self.schema:
            kind = self.schema.facts[path].type
            self.types[path] = kind
            return Typed(["fact", path], kind, node)
        if path in _ALIASES:
            return Typed(["const", _ALIASES[path]], type_of_value(_ALIASES[path]), node)
        if self.schema.is_prefix(path) or any(known.startswith(f"{path}.") for known in self.constants):
            some = ", ".join(self._under(path)[:4])
            raise self.refuse(node, "type", f"{quoted(path)} is a namespace, not a fact", f"it has {some} …")
        return None

    def _under(self, prefix: str) -> list[str]:
        start = f"{prefix}." if prefix else ""
        limits = [path[len(start) :].split(".")[0] for path in self.constants if path.startswith(start)]
        return sorted({*self.schema.names_under(prefix), *limits})

    def _unknown(self, node: ast.Name) -> Typed:
        if node.id in FUNCTIONS:
            raise self.refuse(node, "name", f"{quoted(node.id)} is a function", f"call it: {node.id}(…)")
        known = [*self._under(""), *self.scope, *_ALIASES]
        near = nearest(node.id, known)
        hint = word_hint(node.id) or (
            f"did you mean {quoted(near)}?" if near else f"known are {', '.join(sorted(known)[:12])}"
        )
        raise self.refuse(node, "name", f"unknown name {quoted(node.id)}", hint)

    def _attribute(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.Attribute)
        return self._member(node, node.value, node.attr)

    def _member(self, node: ast.expr, base: ast.expr, name: str) -> Typed:
        if name.startswith("_"):
            raise self.refuse(node, "name", f"{quoted(name)} cannot be read: no name begins with '_'")
        path, prefix = _dotted(node), _dotted(base)
        if path is not None and prefix is not None and path.split(".")[0] not in self.scope:
            found = self._path(path, node)
            if found is not None:
                return found
            if prefix not in self.schema and self._under(prefix):
                near = nearest(name, self._under(prefix))
                hint = f"did you mean {quoted(near)}?" if near else f"it has {', '.join(self._under(prefix)[:12])}"
                raise self.refuse(node, "name", f"{quoted(prefix)} has no fact {quoted(name)}", hint)
        typed = self.expr(base)
        if typed.type is ANY or typed.type.name == "map":
            return Typed(["key", typed.plan, name], ANY, node)
        if typed.type.name == "record":
            field = typed.type.fields.get(name)
            if field is None:
                near = nearest(name, typed.type.fields)
                hint = (
                    f"did you mean {quoted(near)}?" if near else f"it has {', '.join(sorted(typed.type.fields)[:12])}"
                )
                raise self.refuse(node, "name", f"{typed.text} has no field {quoted(name)}", hint)
            return Typed(["field", typed.plan, name], field.type, node)
        hint = calls.method_hint(name, typed.text[1:-1]) or (f"call it: {name}()" if name in METHODS else "")
        raise self.refuse(node, "name", f"{typed.text} is {_a(typed.type)} and has no field {quoted(name)}", hint)

    def _subscript(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.Subscript)
        key = _literal(node.slice)
        if isinstance(key, str):
            return self._member(node, node.value, key)
        if type(key) is not int:
            raise self.refuse(
                node.slice, "syntax", "an index is one literal number or key", "items[0], input['command']"
            )
        typed = self.expr(node.value)
        if typed.type is ANY or (typed.type.name == "list" and typed.type.item is not None):
            return Typed(["index", typed.plan, key], typed.type.item or ANY, node)
        raise self.refuse(node, "type", f"{typed.text} is {_a(typed.type)} and has no items")

    def _list(self, node: ast.expr) -> Typed:
        assert isinstance(node, (ast.List, ast.Tuple))
        parts = [self.expr(part) for part in node.elts]
        for part in parts:
            if part.group not in ("number", "str", "bool", "null", "any"):
                raise self.refuse(
                    part.node, "type", f"a list holds texts, numbers, true or false; {part.text} is {_a(part.type)}"
                )
        try:
            item = join([part.type for part in parts])
        except SchemaError as error:
            raise self.refuse(node, "type", f"a list holds values of one type: {error}") from None
        kind = Type("list", item)
        if all(part.is_const() for part in parts):
            return Typed(["const", [part.plan[1] for part in parts]], kind, node)
        return Typed(["list", [part.plan for part in parts]], kind, node)

    def _unary(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.UnaryOp)
        if isinstance(node.op, ast.Not):
            return Typed(["not", self.boolean(node.operand).plan], BOOL, node)
        operand = self.number(node.operand, "a sign")
        kind = Type(operand.type.name)
        if isinstance(node.op, ast.UAdd):
            # A plan of its own, so that +null is undecided like every other arithmetic with null.
            return Typed(operand.plan if operand.is_const() else ["-", operand.plan, ["const", 0]], kind, node)
        if operand.is_const():
            return Typed(["const", -operand.plan[1]], kind, node)
        return Typed(["neg", operand.plan], kind, node)

    def _binary(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.BinOp)
        op = _ARITHMETIC.get(type(node.op))
        if op is None:
            raise self.refuse(node, "syntax", "this operator is not part of a condition")
        left, right = self.number(node.left, f"'{op}'"), self.number(node.right, f"'{op}'")
        names = {left.type.name, right.type.name}
        name = "float" if op == "/" or "float" in names else "int" if names == {"int"} else "number"
        built = [op, left.plan, right.plan]
        self._fold(built, node)
        return Typed(built, Type(name), node)

    def _fold(self, built: Plan, node: ast.expr) -> None:
        """A calculation on literals alone must have a value; a divisor that is the literal zero never has."""
        divides_by_zero = built[0] in ("/", "//", "%") and built[2] in (["const", 0], ["const", 0.0])
        value = None
        if not divides_by_zero and not any(part[0] in ("fact", "item") for part in walk(built)):
            try:
                value = Builder({}).build(built)([])
            except ZeroDivisionError:
                divides_by_zero = True
            except OverflowError:
                raise self.refuse(node, "bound", "the number is too large") from None
        if divides_by_zero:
            raise self.refuse(node, "type", "division by zero")
        if value is not None and value != value:
            raise self.refuse(node, "bound", "the calculation has no number for a result")

    def _logic(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.BoolOp)
        parts: list[Plan] = []
        for value in node.values:
            try:
                parts.append(self.boolean(value).plan)
            except Refused as refused:
                self.problems.append(refused)
        return Typed(["and" if isinstance(node.op, ast.And) else "or", parts or [["const", True]]], BOOL, node)

    def _ternary(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.IfExp)
        test, then, other = self.boolean(node.test), self.expr(node.body), self.expr(node.orelse)
        try:
            kind = join([then.type, other.type])
        except SchemaError as error:
            raise self.refuse(node, "type", f"both values of a conditional have one type: {error}") from None
        assert kind is not None
        return Typed(["if", test.plan, then.plan, other.plan], ANY if kind.name == "any" else kind, node)

    def _compare(self, node: ast.expr) -> Typed:
        assert isinstance(node, ast.Compare)
        operands = [self.expr(one) for one in (node.left, *node.comparators)]
        parts = [
            self.pair(op, left, right, node) for op, left, right in zip(node.ops, operands, operands[1:], strict=False)
        ]
        return Typed(parts[0] if len(parts) == 1 else ["and", parts], BOOL, node)

    def pair(self, op: ast.cmpop, left: Typed, right: Typed, node: ast.expr) -> Plan:
        """The plan of one comparison. Raises Refused when the types cannot be compared."""
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.membership(left, right, node)
        elif isinstance(op, (ast.Is, ast.IsNot)):
            if right.plan != ["const", None]:
                raise self.refuse(node, "type", "'is' only asks for None", "to compare write '=='")
            found = ["null", left.plan]
        elif type(op) in _ORDER:
            return self._order(_ORDER[type(op)], left, right, node)
        else:
            found = self._equal(left, right, node)
        if isinstance(op, (ast.NotIn, ast.IsNot, ast.NotEq)):
            return ["!=", *found[1:]] if found[0] == "==" else ["not", found]
        return found

    def _order(self, op: str, left: Typed, right: Typed, node: ast.expr) -> Plan:
        if left.type is ANY and right.type is ANY:
            return ["alike", op, left.plan, right.plan]
        groups = {left.group, right.group} - {"any"}
        if groups not in ({"number"}, {"str"}):
            lists = next((one for one in (left, right) if one.group == "list"), None)
            hint = f"write len({lists.text[1:-1]})" if lists else ""
            message = f"'{op}' compares two numbers or two texts, not {_a(left.type)} with {_a(right.type)}"
            raise self.refuse(node, "type", message, hint)
        plans = [["as", sorted(groups), one.plan] if one.type is ANY else one.plan for one in (left, right)]
        return [op, *plans]

    def _equal(self, left: Typed, right: Typed, node: ast.expr) -> Plan:
        for one, other in ((left, right), (right, left)):
            if other.plan == ["const", None]:
                return ["null", one.plan]
        if ANY in (left.type, right.type):
            return ["same", left.plan, right.plan]
        both = left.group == right.group and left.group not in ("map", "record")
        if both and left.group == "list" and left.type.item and right.type.item:
            both = _groups_meet(left.type.item, right.type.item)
        if not both:
            raise self.refuse(
                node, "type", f"{_a(left.type)} never equals {_a(right.type)}: {left.text} and {right.text}"
            )
        self._enum(left, [right])
        self._enum(right, [left])
        return ["==", left.plan, right.plan]

    def membership(self, item: Typed, container: Typed, node: ast.expr) -> Plan:
        """The plan of `item in container`: a text in a text, a key in a map, a value in a list. Raises Refused."""
        kind = container.type
        if kind is ANY or (kind.name == "list" and (kind.item is ANY or item.type is ANY)):
            return ["within", item.plan, container.plan]
        if kind.name in ("str", "map"):
            if item.type is ANY:
                return ["in", ["as", ["str"], item.plan], container.plan]
            if item.group == "str":
                return ["in", item.plan, container.plan]
        if kind.name == "list" and (kind.item is None or _groups_meet(item.type, kind.item)):
            values = container.plan[1] if container.is_const() else []
            self._enum(item, [Typed(["const", value], type_of_value(value), container.node) for value in values])
            return ["in", item.plan, container.plan]
        hint = "write it in a list: in ['a', 'b']" if kind.name not in ("list", "str", "map") else ""
        raise self.refuse(
            node, "type", f"{_a(item.type)} cannot be in {_a(kind)}: {item.text} in {container.text}", hint
        )

    def _enum(self, fact: Typed, others: list[Typed]) -> None:
        """A literal that the fact never equals is a typo."""
        enum = fact.type.enum
        for other in others:
            if enum is None or not other.is_const() or other.plan[1] is None or other.plan[1] in enum:
                continue
            value = other.plan[1]
            near = nearest(str(value), [str(one) for one in enum])
            hint = f"did you mean {quoted(near)}?" if near else f"it is one of {', '.join(map(str, enum))}"
            self.problems.append(self.refuse(other.node, "enum", f"{fact.text} is never {quoted(str(value))}", hint))


def _a(kind: Type) -> str:
    """A type in words, for messages."""
    words = {"int": "a number", "float": "a number", "number": "a number", "str": "a text", "bool": "true or false"}
    words |= {"null": "null", "any": "a map's value", "map": "a map", "record": "a record"}
    return "a list" if kind.name == "list" else words[kind.name]


def _groups_meet(one: Type, other: Type) -> bool:
    if ANY in (one, other) or "null" in (one.name, other.name):
        return True
    return one.name == other.name or (one.is_number and other.is_number)


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


_WORDS = {
    "GeneratorExp": "a loop",
    "ListComp": "a list comprehension",
    "Starred": "'*'",
    "JoinedStr": "an f-string",
    "Slice": "a slice",
}
_METHODS: dict[type[ast.expr], Callable[[Checker, ast.expr], Typed]] = {
    ast.Constant: Checker._constant,
    ast.Name: Checker._name,
    ast.Attribute: Checker._attribute,
    ast.Subscript: Checker._subscript,
    ast.List: Checker._list,
    ast.Tuple: Checker._list,
    ast.UnaryOp: Checker._unary,
    ast.BinOp: Checker._binary,
    ast.BoolOp: Checker._logic,
    ast.IfExp: Checker._ternary,
    ast.Compare: Checker._compare,
    ast.Call: lambda checker, node: calls.call(checker, node),
}
