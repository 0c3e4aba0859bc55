"""The checker: walks a syntax tree and builds the plan of what it knows; anything else is refused (design §5)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ahp.conditions.diagnostics import clip, quoted
from ahp.conditions.guards import Plan, result
from ahp.conditions.language import OPERATIONS, callables
from ahp.conditions.parse import Refused, place_of
from ahp.conditions.schema import ANY, Schema, Type

LITERALS = {"true": True, "false": False, "null": None}  # beside Python's spellings, which the parser reads
KNOWN_ARE = "known are "  # begins the hint for a name that resembles none
# Bools that may be null or absent.
_UNTESTED = ("fact", "item", "key", "field", "index", "entry", "at", "default", "if")
_NAMES = {
    "GeneratorExp": "a loop",
    "ListComp": "a list comprehension",
    "Starred": "'*'",
    "JoinedStr": "an f-string",
    "Slice": "a slice",
}
_TYPES = {
    **dict.fromkeys(["int", "float", "number"], "a number"),
    "str": "a text",
    "bool": "true or false",
    "null": "null",
    "any": "a map's value",
    "map": "a map",
    "record": "a record",
    "list": "a list",
}


@dataclass(frozen=True)
class Typed:
    """A checked expression: its plan, its type, and the node it came from (for messages only)."""

    plan: Plan
    type: Type
    node: ast.expr

    @property
    def bare(self) -> str:
        """The expression as the author wrote it, short."""
        return clip(ast.unparse(self.node), 60)

    @property
    def text(self) -> str:
        """The same in quotes, which a literal text has already."""
        bare = ast.unparse(self.node)
        return clip(bare, 60) if isinstance(self.node, ast.Constant) and bare[0] in "'\"" else quoted(bare)

    @property
    def group(self) -> str:
        """The kind of value that operations ask for: int and float are both `number`."""
        return "number" if self.type.is_number else self.type.name

    def is_const(self) -> bool:
        """Whether the plan is one literal or limit."""
        return bool(self.plan[0] == "const")


def a_type(kind: Type) -> str:
    """A type in words, for messages."""
    return _TYPES[kind.name]


class Checker:
    """Walks a syntax tree once and builds the plan; `problems` collects the mistakes of independent operands of and/or,
    `advice` what is allowed and seldom meant.

    `constructs` are the parts of the language by the type of their syntax node: each takes the checker and a node, and
    gives the checked expression or raises Refused.
    """

    def __init__(
        self,
        constructs: Mapping[type[ast.expr], Callable[[Checker, Any], Typed]],
        schema: Schema,
        constants: Mapping[str, Any],
        variants: Mapping[str, Sequence[Any]],
        item: tuple[str, Type] | None,
    ) -> None:
        self.constructs = constructs
        self.schema = schema
        self.constants = constants
        self.variants = {
            path: [list(one) if isinstance(one, tuple) else one for one in values] for path, values in variants.items()
        }
        self.scope: dict[str, Type] = {item[0]: item[1]} if item else {}
        self.types: dict[str, Type] = dict(self.scope)
        self.problems: list[Refused] = []
        self.advice: list[Refused] = []
        self.loops: tuple[str, ...] = ()

    def refuse(self, node: ast.AST, kind: str, message: str, hint: str = "") -> Refused:
        """A refusal at a node."""
        return Refused(kind, message, place_of(node), hint)

    def advise(self, node: ast.AST, what: str, hint: str) -> None:
        """A piece of advice about a node."""
        self.advice.append(self.refuse(node, "pitfall", what, hint))

    def expr(self, node: ast.expr) -> Typed:
        """The checked expression of any node. Raises Refused for a construct outside the language or a type error."""
        construct = self.constructs.get(type(node))
        if construct is None:
            name = type(node).__name__
            hint = "use it inside any(), all(), count() or sum()" if name == "GeneratorExp" else ""
            raise self.refuse(node, "syntax", f"{_NAMES.get(name, name)} is not part of a condition", hint)
        return construct(self, node)

    def value(self, node: ast.expr) -> Typed:
        """An expression that is compared with others: a single unknown word there was meant as a text."""
        try:
            return self.expr(node)
        except Refused as refused:
            if not isinstance(node, ast.Name) or not refused.hint.startswith(KNOWN_ARE):
                raise
            raise self.refuse(node, "name", refused.message, f"a text stands in quotes: '{node.id}'") from None

    def made(self, node: ast.expr, name: str, *operands: Typed, parameter: Any = None) -> Typed:
        """An operation of checked operands, with the type that follows. Raises SchemaError where theirs do not mix."""
        plan = [name, *(operand.plan for operand in operands), *([parameter] if OPERATIONS[name].parameter else [])]
        return Typed(plan, result(plan, [operand.type for operand in operands]), node)

    def typed(self, value: Typed, *kinds: str) -> Typed:
        """A map's value where one of certain types is needed: it is looked at when the condition runs."""
        return self.made(value.node, "as", value, parameter=list(kinds)) if value.type is ANY else value

    def boolean(self, node: ast.expr) -> Typed:
        """An expression used as a truth value: only bool is one."""
        typed = self.expr(node)
        if typed.type.name == "bool" or typed.type is ANY:
            return self.made(node, "flag", typed) if typed.plan[0] in _UNTESTED else typed
        hint = {
            "number": f"compare it: {typed.bare} > 0",
            "list": f"write len({typed.bare}) > 0",
            "str": "write the condition without quotes" if typed.is_const() else f"compare it: {typed.bare} != ''",
        }.get(typed.group, "")
        raise self.refuse(node, "type", f"{typed.text} is {a_type(typed.type)}, not true or false", hint)

    def needing(self, what: str, value: Typed, *kinds: str, hint: str = "") -> Typed:
        """An expression that `what` uses as a value of one of these kinds."""
        typed = self.typed(value, *kinds)
        if typed.group not in (*kinds, "any"):
            needs = (
                "numbers"
                if kinds == ("number",)
                else " or ".join(", ".join(_TYPES[one] for one in kinds).rsplit(", ", 1))
            )
            raise self.refuse(value.node, "type", f"{what} needs {needs}, {value.text} is {a_type(value.type)}", hint)
        return typed

    def items(self, node: ast.expr) -> Typed:
        """An expression that a loop goes through: a list whose items have a type, or the keys of a map."""
        typed = self.typed(self.expr(node), "list", "map")
        if typed.type.name == "map":  # as in Python: its keys
            return self.made(node, "keys", typed)
        if typed.type.name != "list" or typed.type.item is None:
            raise self.refuse(node, "type", f"{typed.text} is {a_type(typed.type)}, not a list with items")
        return typed

    def variable(self, node: ast.expr) -> str:
        """The name of a loop's variable: new, and no fact's or function's."""
        if not isinstance(node, ast.Name):
            raise self.refuse(node, "syntax", "a loop has one plain variable")
        name = node.id
        taken = {*self.scope, *self.schema.namespaces, *callables(), *LITERALS}
        taken |= {path.split(".")[0] for path in self.constants}
        if name in taken or name.startswith("_"):
            raise self.refuse(
                node, "name", f"{quoted(name)} cannot be a variable's name", "it is taken; choose another"
            )
        return name
