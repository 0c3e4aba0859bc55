"""Text to syntax tree, within bounds; the tree is only read, never passed on or compiled (design §5).

Only characters and words of the language reach Python's parser. Its tokenizer normalises identifiers, loads
`unicodedata` for `\\N{…}`, and it is slow or deep on some input. None of that is reachable from here: what passes is
short, ASCII outside strings, balanced, and made of a closed set of tokens.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from collections.abc import Iterator
from itertools import pairwise, takewhile
from keyword import kwlist
from typing import NamedTuple

from ahp.conditions.diagnostics import Spot
from ahp.conditions.language import METHOD, OPERATIONS
from ahp.conditions.spelling import MENDED, OPERATORS

# In eval mode CPython does not look for the source file, and no real file is named so.
_SOURCE = "<condition>"
_ASK_FOR_MORE = ("and", "or", "not", "in", "is", "if", "else")


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
            raise Refused("bound", f"the condition nests more than {MAX_DEPTH} deep", Spot()) from None
        except (ValueError, OverflowError) as error:
            raise Refused("syntax", f"not a condition: {error}", Spot()) from None
    _check(tree, source, tokens[0].at, text)
    return tree


def place_of(node: ast.AST) -> Spot:
    """Where a node begins, in characters of the condition's text."""
    return Spot(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def _on_one_line(tokens: list[Token]) -> str:
    """The tokens where they stand, blanks between them: a condition goes on in the next line, comments or not. Without
    the blanks before the first, which Python would read as indentation.
    """
    parts, at = [], tokens[0].at
    for token in tokens:
        parts += [" " * (token.at - at), token.text]
        at = token.at + len(token.text)
    return "".join(parts)


def _check(tree: ast.expr, source: str, before: int, text: str) -> None:
    """Checks the bounds, level by level, and places each node in the text, where the source begins at `before`.

    `ast` counts UTF-8 bytes.
    """
    data = source.encode("utf-8", "surrogatepass")
    is_moved = source != text or len(data) != len(text)
    level: list[ast.expr] = [tree]
    depth = count = 0
    while level:
        for node in level:
            if is_moved:
                found = place(text, before + len(data[: node.col_offset].decode("utf-8", "replace")))
                node.lineno, node.col_offset = found.line, found.column
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                refuse_hidden(node.value, place_of(node), "a string")  # an escape may have made it
        depth, count = depth + 1, count + len(level)
        if depth > MAX_DEPTH:
            raise Refused("bound", f"the condition nests more than {MAX_DEPTH} deep", place_of(level[0]))
        if count > MAX_NODES:
            raise Refused("bound", f"a condition has at most {MAX_NODES} parts", place_of(level[0]), "split the rule")
        level = [child for node in level for child in _below(node)]


def _below(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a node, those of a loop's clause and of named arguments too."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.expr):
            yield one
        elif isinstance(one, (ast.comprehension, ast.keyword)):
            yield from _below(one)


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
        hint = OPERATORS.get(tokens[number].text) or _of_two_parts(tokens, number, text)
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


MAX_TEXT = 4096
MAX_DEPTH = 24
MAX_NODES = 256
MAX_TOKENS = 1024
MAX_DIGITS = 20

# Signs of other languages: longer ones before an operator that they begin with, single ones where nothing else fits.
_LONGER, _SINGLE = (
    "|".join(re.escape(sign) for sign in sorted(MENDED, key=len, reverse=True) if (len(sign) > 1) is longer)
    for longer in (True, False)
)
_TOKEN = re.compile(
    rf"""(?P<blank>[ \t\r\n]+)|(?P<comment>\#[^\n]*)
    |(?P<string>(?:[A-Za-z_]\w*)?(?=['"]))|(?P<word>[A-Za-z_]\w*)
    |(?P<number>(?=\.?[0-9])(?:0[xX][\w.]*|(?:[eE][+-]|[\w.])+))
    |(?P<mended>{_LONGER})|(?P<op>//|[<>=!]=|[()\[\].,+\-*/%<>])|(?P<sign>{_SINGLE})""",
    re.VERBOSE | re.ASCII,
)
_UNTIL_QUOTE = re.compile(r"""(['"])((?:\\[^\r\n]|(?!\1)[^\\\r\n])*)""")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PAIRS = {")": "(", "]": "["}

_ALLOWED_KEYWORDS = frozenset(["False", "None", "True", "and", "or", "not", "in", "is", "if", "else", "for"])


class Refused(Exception):
    """A text that is not in the language; carries the kind, the place and a hint, until `check` knows the position."""

    def __init__(self, kind: str, message: str, place: Spot, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.place = place
        self.hint = hint


class Token(NamedTuple):
    """One token: kind (word, number, string, op), text, and the index at which it begins."""

    kind: str
    text: str
    at: int


def place(text: str, at: int) -> Spot:
    """The place of the character at an index of the text."""
    return Spot(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at) - 1)


def scan(text: str) -> list[Token]:
    """The tokens of a condition. Raises Refused for whatever cannot be part of one; never looks at meaning."""
    if len(text) > MAX_TEXT:
        raise Refused("bound", f"a condition has at most {MAX_TEXT} characters, this one {len(text)}", Spot())
    tokens: list[Token] = []
    opened: list[Token] = []
    at = 0
    while at < len(text):
        token = _next(text, at)
        at += len(token.text)
        if token.kind in ("blank", "comment"):
            continue
        tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise Refused("bound", f"a condition has at most {MAX_TOKENS} words and signs", place(text, at))
        if token.text in ("(", "["):
            opened.append(token)
            if len(opened) > MAX_DEPTH:
                raise Refused("bound", f"brackets nest at most {MAX_DEPTH} deep", place(text, token.at))
        elif token.text in _PAIRS and (not opened or opened.pop().text != _PAIRS[token.text]):
            raise Refused("syntax", f"'{token.text}' closes nothing", place(text, token.at))
    if opened:
        raise Refused("syntax", f"'{opened[-1].text}' is never closed", place(text, opened[-1].at))
    if not tokens:
        raise Refused("syntax", "the condition is empty", Spot(), "write 'true' for a rule that always holds")
    return tokens


def _next(text: str, at: int) -> Token:
    found = _TOKEN.match(text, at)
    if found is None:
        raise _foreign(text, at)
    kind, said = str(found.lastgroup), found.group()
    if kind in ("mended", "sign"):
        raise Refused("syntax", f"'{said}' is not part of a condition", place(text, at), MENDED[said])
    if kind == "string" and said not in _ALLOWED_KEYWORDS:
        return _string(text, at, said)
    if kind == "comment":
        refuse_hidden(said, place(text, at), "a comment")
    elif kind == "number":
        _check_number(said, place(text, at))
    elif kind == "word" and said in kwlist and said not in _ALLOWED_KEYWORDS:
        raise Refused("syntax", f"'{said}' is not part of a condition", place(text, at))
    return Token("word" if kind == "string" else kind, said, at)


def _string(text: str, at: int, prefix: str) -> Token:
    here, begin = place(text, at), at + len(prefix)
    if prefix not in ("", "r", "R"):
        what = f"a string has no prefix '{prefix[:10]}'"
        raise Refused("syntax", what, here, "write it without; only r'…' is known")
    if text[begin : begin + 3] == text[begin] * 3:
        raise Refused("syntax", "a string stands between single ' or \"", here)
    found = _UNTIL_QUOTE.match(text, begin)
    assert found is not None
    if not text.startswith(text[begin], found.end()):
        at_escape = text.startswith("\\", found.end())
        raise Refused("syntax", "the string is never closed", place(text, found.end()) if at_escape else here)
    named = next((one for one in _ESCAPED.finditer(text, *found.span(2)) if one[1] == "N"), None)
    if named is not None and not prefix:
        hint = "write the character itself"
        raise Refused("syntax", "\\N is not read in a string", place(text, named.start()), hint)
    refuse_hidden(found[2], here, "a string")
    return Token("string", text[at : found.end() + 1], at)


def _check_number(text: str, here: Spot) -> None:
    if len(text) > MAX_DIGITS:
        raise Refused("bound", f"a number has at most {MAX_DIGITS} characters", here)
    try:
        value = float(text) if text[:2].lower() not in ("0x", "0b", "0o") else int(text, 0)
    except ValueError:
        raise Refused("syntax", f"'{text}' is not a number", here) from None
    if value in (float("inf"), float("-inf")):
        raise Refused("bound", f"{text} is too large a number", here)


def _foreign(text: str, at: int) -> Refused:
    char = text[at]
    if char == "\\":
        return Refused("syntax", "'\\' is not part of a condition", place(text, at), "a line goes on without it")
    name = unicodedata.name(char, "a character without a name").lower()
    what = f"U+{ord(char):04X} ({name}) is not part of a condition"
    return Refused("syntax", what, place(text, at), "outside strings only ASCII is read")


# What a backslash makes of letters and digits that mean something else in a regular expression.
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v", **{chr(one): f"\\{one}" for one in range(1, 7)}}


def refuse_hidden(text: str, place: Spot, what: str) -> None:
    """Raises Refused for the first character of `text` that does not show as itself.

    Control and format characters (bidi, zero width), line separators, surrogates, unassigned and private code points.
    Tab, newline and carriage return pass.
    """
    for char in text:
        if char < "\x7f" and (char >= " " or char in "\t\n\r"):
            continue
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            message = f"{what} holds U+{ord(char):04X}, which does not show"
            hint = "a regex can name it: matches(text, '\\\\x{…}')"
            if what == "a string" and (written := _ESCAPES.get(char)):
                hint = f"'{written}' stands for it; where a regex is meant, put an r in front: r'…{written}…'"
            raise Refused("syntax", message, place, hint)
