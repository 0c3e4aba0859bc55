"""Text to syntax tree, within bounds; the tree is only read, never passed on or compiled (design §5)."""

from __future__ import annotations

import ast
import warnings
from itertools import pairwise

from ahp.conditions.diagnostics import Place
from ahp.conditions.lexical import MAX_DEPTH, MAX_NODES, Refused, Token, refuse_hidden, scan

# In eval mode CPython does not look for the source file, and no real file is named so.
_SOURCE = "<condition>"
_ASK_FOR_MORE = ("and", "or", "not", "in", "is", "if", "else")
_UNCOUNTED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.comprehension, ast.Expression)


def parse(text: str) -> ast.expr:
    """The syntax tree of a condition that passed the lexical gate. Raises Refused, and nothing else, for any text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as Python's own tokenizer reads line ends
    tokens = scan(text)
    _neighbours(tokens)
    source, before = _leading(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unknown escape like '\\d' keeps its backslash, which is what regexes want
        try:
            tree = ast.parse(source, _SOURCE, mode="eval").body
        except SyntaxError as error:
            raise _syntax(error, source, before, tokens) from None
        except (RecursionError, MemoryError):
            raise Refused("bound", f"the condition nests more than {MAX_DEPTH} deep", Place()) from None
        except (ValueError, OverflowError) as error:
            raise Refused("syntax", f"not a condition: {error}", Place()) from None
    _relocate(tree, source, before)
    _bounds(tree)
    return tree


def place_of(node: ast.AST) -> Place:
    """Where a node begins, in characters of the condition's text."""
    return Place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def _leading(text: str) -> tuple[str, Place]:
    """The text without blanks around it, and where it begins: Python would read a leading blank as indentation."""
    body = text.lstrip(" \t\r\n")
    skipped = text[: len(text) - len(body)]
    return body.rstrip(" \t\r\n"), Place(1 + skipped.count("\n"), len(skipped) - (skipped.rfind("\n") + 1))


def _relocate(tree: ast.expr, source: str, before: Place) -> None:
    """Positions in characters of the whole text; `ast` counts UTF-8 bytes of the trimmed one."""
    lines = [line.encode("utf-8", "surrogatepass") for line in source.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            prefix = lines[node.lineno - 1][: node.col_offset]
            column = len(prefix.decode("utf-8", "replace"))
            node.col_offset = column + (before.column if node.lineno == 1 else 0)
            node.lineno += before.line - 1


def _bounds(tree: ast.expr) -> None:
    count = 0
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        counted = [node for node in level if not isinstance(node, _UNCOUNTED)]
        count += len(counted)
        if depth > MAX_DEPTH:
            raise Refused("bound", f"the condition nests more than {MAX_DEPTH} deep", place_of(counted[0]))
        if count > MAX_NODES:
            raise Refused("bound", f"a condition has at most {MAX_NODES} parts", place_of(counted[0]), "split the rule")
        level = [child for node in level for child in _inner(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            refuse_hidden(node.value, place_of(node), "a string")  # an escape may have made it


def _inner(node: ast.AST) -> list[ast.AST]:
    """The parts of a node; a comprehension and what only marks an operator are not levels of their own."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            found.extend(ast.iter_child_nodes(child))
        elif not isinstance(child, _UNCOUNTED):
            found.append(child)
    return [child for child in found if not isinstance(child, _UNCOUNTED)]


def _neighbours(tokens: list[Token]) -> None:
    """Mistakes that Python reads as something else, or words badly."""
    for left, right in pairwise(tokens):
        if left.kind == right.kind == "string":
            raise Refused("syntax", "two strings side by side", right.place, "is a comma missing?")
        if left.text == right.text == "." or (left.text == "." and right.kind == "op"):
            raise Refused("syntax", "a name is missing after '.'", right.place)


def _syntax(error: SyntaxError, source: str, before: Place, tokens: list[Token]) -> Refused:
    line = min(max(error.lineno or 1, 1), source.count("\n") + 1)
    column = max((error.offset or 1) - 1, 0)
    place = Place(line + before.line - 1, column + (before.column if line == 1 else 0))
    last = tokens[-1]
    ends_open = last.text not in (")", "]") if last.kind == "op" else last.text in _ASK_FOR_MORE
    if ends_open:
        return Refused("syntax", f"the condition ends after '{last.text}'", last.place)
    following = next((t for t in tokens if (t.place.line, t.place.column) >= (place.line, place.column)), last)
    message = error.msg or "invalid syntax"
    if "invalid syntax" in message or "comma" in message or "not in" in message:
        message = f"'{following.text[:40]}' cannot stand here"
    return Refused("syntax", message, place)
