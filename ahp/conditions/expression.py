"""A checked expression: what the checker knows of one node, and how messages name its type."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ahp.conditions.diagnostics import quoted
from ahp.conditions.plan import Plan
from ahp.conditions.schema import Type


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


def a_type(kind: Type) -> str:
    """A type in words, for messages."""
    words = {"int": "a number", "float": "a number", "number": "a number", "str": "a text", "bool": "true or false"}
    words |= {"null": "null", "any": "a map's value", "map": "a map", "record": "a record"}
    return "a list" if kind.name == "list" else words[kind.name]
