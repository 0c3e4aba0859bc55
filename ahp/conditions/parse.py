"""Text to syntax tree, within bounds; the tree is only read, never passed on or compiled (design §5)."""

from __future__ import annotations

import ast
import warnings
from itertools import pairwise, takewhile

from ahp.conditions.diagnostics import Place
from ahp.conditions.language import METHOD, OPERATIONS
from ahp.conditions.lexical import MAX_DEPTH, MAX_NODES, Refused, Token, place, refuse_hidden, scan
from ahp.conditions.spelling import operator_hint

# In eval mode CPython does not look for the source file, and no real file is named so.
_SOURCE = "<condition>"
_ASK_FOR_MORE = ("and", "or", "not", "in", "is", "if", "else")
_UNCOUNTED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.comprehension, ast.Expression)


def parse(text: str) -> ast.expr:
    """The syntax tree of a condition that passed the lexical gate. Raises Refused, and nothing else, for any text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as Python's own tokenizer reads line ends
    tokens = scan(text)
    _neighbours(tokens, text)
    source = _on_one_line(tokens)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unknown escape like '\\d' keeps its backslash, which is what regexes want
        try:
            tree = ast.parse(source, _SOURCE, mode="eval").body
        except SyntaxError as error:
            raise _syntax(error, tokens, text) from None
        except (RecursionError, MemoryError):
            raise Refused("bound", f"the condition nests more than {MAX_DEPTH} deep", Place()) from None
        except (ValueError, OverflowError) as error:
            raise Refused("syntax", f"not a condition: {error}", Place()) from None
    nodes = list(ast.walk(tree))
    _relocate(nodes, source, tokens[0].at, text)
    _bounds(tree, nodes)
    return tree


def place_of(node: ast.AST) -> Place:
    """Where a node begins, in characters of the condition's text."""
    return Place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def _on_one_line(tokens: list[Token]) -> str:
    """The tokens where they stand, blanks between them: a condition goes on in the next line, comments or not. Without
    the blanks before the first, which Python would read as indentation.
    """
    parts, at = [], tokens[0].at
    for token in tokens:
        parts += [" " * (token.at - at), token.text]
        at = token.at + len(token.text)
    return "".join(parts)


def _relocate(nodes: list[ast.AST], source: str, before: int, text: str) -> None:
    """Positions in characters of the text as it was written; `ast` counts UTF-8 bytes of the trimmed line."""
    data = source.encode("utf-8", "surrogatepass")
    for node in nodes:
        if isinstance(node, ast.expr):
            found = place(text, before + len(data[: node.col_offset].decode("utf-8", "replace")))
            node.lineno, node.col_offset = found.line, found.column


def _bounds(tree: ast.expr, nodes: list[ast.AST]) -> None:
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
    for node in nodes:
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


def _neighbours(tokens: list[Token], text: str) -> None:
    """Mistakes that Python reads as something else, or words badly."""
    for left, right in pairwise(tokens):
        if left.kind == right.kind == "string":
            raise Refused("syntax", "two strings side by side", place(text, right.at), "is a comma missing?")
        if left.text == right.text == "." or (left.text == "." and right.kind == "op"):
            raise Refused("syntax", "a name is missing after '.'", place(text, right.at))


def _syntax(error: SyntaxError, tokens: list[Token], text: str) -> Refused:
    offset = tokens[0].at + max((error.offset or 1) - 1, 0)
    last = tokens[-1]
    ends_open = last.text not in (")", "]") if last.kind == "op" else last.text in _ASK_FOR_MORE
    if ends_open:
        return Refused("syntax", f"the condition ends after '{last.text}'", place(text, last.at))
    number = next((n for n, token in enumerate(tokens) if token.at >= offset), len(tokens) - 1)
    message, hint = error.msg or "invalid syntax", ""
    if "invalid syntax" in message or "comma" in message or "not in" in message:
        message = f"'{tokens[number].text[:40]}' cannot stand here"
        hint = operator_hint(tokens[number].text) or _of_two_parts(tokens, number, text)
    return Refused("syntax", message, place(text, offset), hint)


def _of_two_parts(tokens: list[Token], number: int, text: str) -> str:
    """What was meant where a word or value follows another."""
    if number == 0:
        return ""
    operation = OPERATIONS.get(tokens[number].text)
    if operation is not None and operation.call and number + 1 < len(tokens):
        left, right = _dotted(tokens[:number][::-1])[::-1], _dotted(tokens[number + 1 :])
        words = [("".join(token.text for token in part) or "…") for part in (left, right)]
        shape = "{1}.{0}({2})" if operation.call == METHOD else "{0}({1}, {2})"
        return f"write {shape.format(operation.name, *words)}"
    if "\n" in text[tokens[number - 1].at : tokens[number].at]:
        return "a condition is one expression: join its lines with 'and' or 'or'"
    return ""


def _dotted(tokens: list[Token]) -> list[Token]:
    """The path, text or number that a row of tokens begins with."""
    if tokens and tokens[0].kind in ("string", "number"):
        return tokens[:1]
    return list(takewhile(lambda token: token.kind == "word" or token.text == ".", tokens))
