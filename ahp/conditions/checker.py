"""The checker: one method a construct of the language; what has no method does not exist (design §5)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ahp.conditions import calls, comparisons, paths
from ahp.conditions.diagnostics import quoted
from ahp.conditions.evaluate import Builder
from ahp.conditions.expression import Typed, a_type
from ahp.conditions.lexical import Refused
from ahp.conditions.parse import place_of
from ahp.conditions.paths import ALIASES
from ahp.conditions.plan import Plan, walk
from ahp.conditions.schema import ANY, BOOL, Schema, SchemaError, Type, join, type_of_value
from ahp.conditions.spelling import FUNCTIONS

_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_RAW = ("fact", "item", "key", "field", "index", "default", "if")


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
        self.types: dict[str, Type] = dict(self.scope)
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
        raise self.refuse(node, "type", f"{typed.text} is {a_type(typed.type)}, not true or false", hint)

    def number(self, node: ast.expr, what: str) -> Typed:
        """An expression used as a number."""
        typed = self.expr(node)
        if typed.type is ANY:
            return Typed(["as", ["number"], typed.plan], Type("number"), node)
        if not typed.type.is_number:
            raise self.refuse(node, "type", f"{what} needs numbers, {typed.text} is {a_type(typed.type)}")
        return Typed(typed.plan, typed.type.without_null(), node)

    def string(self, node: ast.expr, what: str) -> Typed:
        """An expression used as a text."""
        typed = self.expr(node)
        if typed.type is ANY:
            return Typed(["as", ["str"], typed.plan], Type("str"), node)
        if typed.type.name != "str":
            raise self.refuse(node, "type", f"{what} needs a text, {typed.text} is {a_type(typed.type)}")
        return typed

    def items(self, node: ast.expr) -> Typed:
        """An expression that a loop goes through: a list whose items have a type."""
        typed = self.expr(node)
        if typed.type is ANY:
            return Typed(["as", ["list"], typed.plan], Type("list", ANY), node)
        if typed.type.name != "list" or typed.type.item is None:
            raise self.refuse(node, "type", f"{typed.text} is {a_type(typed.type)}, not a list with items")
        return typed

    def variable(self, node: ast.expr) -> str:
        """The name of a loop's variable: new, and no fact's or function's."""
        if not isinstance(node, ast.Name):
            raise self.refuse(node, "syntax", "a loop has one plain variable")
        name = node.id
        taken = name in self.scope or name in self.schema.namespaces or name in FUNCTIONS or name in ALIASES
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

    def _list(self, node: ast.expr) -> Typed:
        assert isinstance(node, (ast.List, ast.Tuple))
        parts = [self.expr(part) for part in node.elts]
        for part in parts:
            if part.group not in ("number", "str", "bool", "null", "any"):
                raise self.refuse(
                    part.node, "type", f"a list holds texts, numbers, true or false; {part.text} is {a_type(part.type)}"
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
            comparisons.pair(self, op, left, right, node)
            for op, left, right in zip(node.ops, operands, operands[1:], strict=False)
        ]
        return Typed(parts[0] if len(parts) == 1 else ["and", parts], BOOL, node)


_WORDS = {
    "GeneratorExp": "a loop",
    "ListComp": "a list comprehension",
    "Starred": "'*'",
    "JoinedStr": "an f-string",
    "Slice": "a slice",
}
_METHODS: dict[type[ast.expr], Callable[[Checker, ast.expr], Typed]] = {
    ast.Constant: Checker._constant,
    ast.Name: paths.name,
    ast.Attribute: paths.attribute,
    ast.Subscript: paths.subscript,
    ast.List: Checker._list,
    ast.Tuple: Checker._list,
    ast.UnaryOp: Checker._unary,
    ast.BinOp: Checker._binary,
    ast.BoolOp: Checker._logic,
    ast.IfExp: Checker._ternary,
    ast.Compare: Checker._compare,
    ast.Call: lambda checker, node: calls.call(checker, node),
}
