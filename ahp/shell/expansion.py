"""Word expansion before a command runs: quotes, escapes, braces, variables that the script itself set (bash(1))."""

import re
from collections.abc import Callable
from typing import NamedTuple

from tree_sitter import Node

from ahp.shell.grammar import original


class Word(NamedTuple):
    """One argument as the program would get it. `known` is false when a part depends on what happens at run time."""

    text: str
    known: bool = True
    glob: bool = False
    """It holds an unquoted `*`, `?` or `[`, so it may stand for other names."""


_ESCAPE = re.compile(r"\\(\n|.)", re.S)
_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_ANSI = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.S)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_GLOB = re.compile(r"(?<!\\)[*?\[]")
_BRACES = re.compile(r"(.*?)\{([^{}]*,[^{}]*)\}(.*)", re.S)
_MOST = 64

Substitution = Callable[[Node], Word]
"""Reads the commands inside a command or process substitution; returns what they print, where that is known."""


def words_of(node: Node, variables: dict[str, str | None], substitution: Substitution) -> list[Word]:
    """The words that one argument becomes: several by braces or an unquoted variable, none by an empty one."""
    if node.type in ("simple_expansion", "expansion"):
        value = _variable(node, variables, substitution)
        return [Word(text(node), False)] if value is None else [Word(part) for part in value.split()]
    if node.type == "command_substitution":
        word = word_of(node, variables, substitution)
        return [Word(part) for part in word.text.split()] if word.known else [word]
    if node.type in ("word", "concatenation") and all(part.type == "word" for part in node.named_children):
        raw = text(node)
        if "{" in raw and (expanded := _braces(raw)):
            return [_plain(part) for part in expanded]
    return [word_of(node, variables, substitution)]


def word_of(node: Node, variables: dict[str, str | None], substitution: Substitution) -> Word:
    """The one word that a quoted or plain argument becomes."""
    kind = node.type
    if kind in ("word", "number", "variable_name", "special_variable_name", "regex", "extglob_pattern"):
        return _plain(text(node))
    if kind == "raw_string":
        return Word(text(node)[1:-1])
    if kind == "ansi_c_string":
        return Word(_ANSI.sub(_ansi, text(node)[2:-1]))
    if kind in ("string", "translated_string"):
        return _joined(_string_parts(node, variables, substitution))
    if kind == "concatenation":
        return _joined([word_of(part, variables, substitution) for part in node.children])
    if kind in ("simple_expansion", "expansion"):
        value = _variable(node, variables, substitution)
        return Word(text(node), False) if value is None else Word(value)
    if kind in ("command_substitution", "process_substitution"):
        output = substitution(node)
        return Word(output.text.rstrip("\n")) if output.known else Word(text(node), False)
    for child in node.named_children:  # arithmetic, arrays: what runs inside them still runs
        word_of(child, variables, substitution)
    return Word(text(node), kind in ("{", "}", "$", "=") or (not node.named_children and kind != "brace_expression"))


def text(node: Node) -> str:
    """The source of a node."""
    return _decoded(node.text or b"")


def _decoded(source: bytes) -> str:
    return original(source.decode("ascii"))


def _plain(raw: str) -> Word:
    glob = bool(_GLOB.search(raw))
    return Word(_ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[1], raw), True, glob)


def _string_parts(node: Node, variables: dict[str, str | None], substitution: Substitution) -> list[Word]:
    """The parts between double quotes; the spaces that the grammar drops between them are put back."""
    parts: list[Word] = []
    source = node.text or b""
    position = source.index(b'"') + 1 if b'"' in source else 0
    for child in node.children:
        if child.type in ('"', '$"', "$") and child.type != "$":
            continue
        start, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        parts.append(Word(_decoded(source[position:start])))
        position = end
        if child.type == "string_content":
            parts.append(Word(_IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text(child))))
        else:
            parts.append(word_of(child, variables, substitution))
    return [*parts, Word(_decoded(source[position:-1]))]


def _joined(parts: list[Word]) -> Word:
    known, glob = all(part.known for part in parts), any(part.glob for part in parts)
    return Word("".join(part.text for part in parts), known, glob)


def _variable(node: Node, variables: dict[str, str | None], substitution: Substitution) -> str | None:
    """The value of `$X` or `${X}` where the script itself gave it; None for anything else."""
    for child in node.named_children:
        if child.type not in ("variable_name", "special_variable_name"):
            word_of(child, variables, substitution)
    raw = text(node)
    name = raw[2:-1] if raw.startswith("${") else raw[1:]
    return variables.get(name)


def _ansi(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1].upper()) & 0x1F)
    return _SIMPLE.get(code, code)


def _braces(raw: str) -> list[str]:
    """`a{b,c}d` as `abd`, `acd`; [] when there are none, or too many."""
    done: list[str] = []
    queue = [raw]
    while queue and len(done) + len(queue) <= _MOST:
        found = _BRACES.fullmatch(queue[0])
        first = queue.pop(0)
        if found is None:
            done.append(first)
        else:
            queue[:0] = [found[1] + part + found[3] for part in found[2].split(",")]
    return done if not queue and len(done) > 1 else []
