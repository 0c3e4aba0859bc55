"""Changing single keys of a ticket's front matter; every other byte stays as it is."""

import re

from ahp.protocol.text import one_line
from ahp.system.yamltree import Node
from ahp.tickets import frontmatter
from ahp.tickets.frontmatter import FrontMatter, TicketError

Value = str | list[str]
_Edit = tuple[int, int, str]
"""Start and end offset of a span of the text, and what takes its place."""

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./+@-]*(?: [A-Za-z0-9_./+@(][A-Za-z0-9_./+@()-]*)*")
# Other readers of the file take these for something else than text.
_TYPED = re.compile(
    r"null|true|false|yes|no|on|off|y|n|[-+.]*|[-+.]?[0-9][0-9_.:e+-]*|0[xob].*|[-+]?\.(inf|nan)|\d{4}-\d\d?-.*", re.I
)


def edit_keys(data: bytes, changes: dict[str, Value], path: str = "") -> bytes:
    """The ticket `data` with the top-level keys in `changes` set; all else stays byte for byte.

    A key that is not there is added at the end of the front matter; a list that changes loses the comments in it.
    Raises TicketError when the ticket cannot be read, or a value stands so that it cannot be changed alone.
    """
    front = frontmatter.parse(path, data)
    if front.root.flow:
        raise TicketError(path, front.root.line, "the front matter stands in braces; write one key a line")
    edits: list[_Edit] = []
    added = ""
    wanted: dict[str, object] = {}
    for name, value in changes.items():
        key = _spelling(path, front, name)
        node = front.keys.get(key)
        wanted[key] = value
        if node is None:
            added += _new_line(front, key, value)
        elif node.plain() != value:
            edits.extend(_replaced(path, front, node, value))
    edits.append((front.last, front.last, added))  # behind what belongs to the last key
    result = (("\ufeff" if front.bom else "") + _applied(front.text, edits)).encode("utf-8")
    _prove(path, front, result, wanted)
    return result


def _applied(text: str, edits: list[_Edit]) -> str:
    parts, position = [], 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        parts += [text[position:start], new]
        position = end
    return "".join([*parts, text[position:]])


def scalar(text: str) -> str:
    """`text` as YAML on one line, so that every reader takes it for this text."""
    if _PLAIN.fullmatch(text) and not _TYPED.fullmatch(text):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(c: str) -> str:
    if c.isprintable():
        return "\\" + c if c in '"\\' else c
    return f"\\U{ord(c):08x}"


def _spelling(path: str, front: FrontMatter, key: str) -> str:
    if not _KEY.fullmatch(key):
        raise TicketError(path, 0, f"`{one_line(key, 60)}` cannot be a key of a ticket")
    return next((name for name in (key, key.capitalize(), key.upper()) if name in front.keys), key)


def _new_line(front: FrontMatter, key: str, value: Value) -> str:
    indent = " " * front.column
    if isinstance(value, list) and value:
        return f"{indent}{key}:{front.newline}{_entries(front, value)}"
    return f"{indent}{key}: {_inline(value)}{front.newline}"


def _inline(value: Value) -> str:
    return scalar(value) if isinstance(value, str) else "[]"


def _entries(front: FrontMatter, values: list[str]) -> str:
    return "".join(f"{' ' * front.column}- {scalar(value)}{front.newline}" for value in values)


def _replaced(path: str, front: FrontMatter, node: Node, value: Value) -> list[_Edit]:
    if isinstance(node.value, dict) or front.text[node.start : node.end].startswith(("|", ">")):
        raise TicketError(path, node.line, "a mapping or a block of text stands where a value is to be set")
    if isinstance(node.value, list) and not node.flow:
        return _replaced_block(path, front, node, node.value, value)
    after_colon = front.text.index(":", node.key_end) + 1
    if node.start == node.end:  # nothing is written, and the parser places nothing where it likes
        return _replaced_span(front, after_colon, after_colon, value)
    return _replaced_span(front, node.start, node.end, value)


def _replaced_span(front: FrontMatter, start: int, end: int, value: Value) -> list[_Edit]:
    """A value written inline gives way to another, or to a list below its line."""
    text = front.text
    if isinstance(value, str) or not value:
        return [(start, end, ("" if text[start - 1].isspace() else " ") + _inline(value))]
    line_end = text.index("\n", end) + 1
    if not text[end:line_end].strip():  # no comment follows: leave no blank before the line's end
        start = len(text[:start].rstrip(" "))
    return [(start, end, ""), (line_end, line_end, _entries(front, value))]


def _replaced_block(path: str, front: FrontMatter, node: Node, items: list[Node], value: Value) -> list[_Edit]:
    """A list of one entry a line is written anew, from its first line to its last."""
    text = front.text
    spans = [_line_span(path, text, item) for item in items]
    start, end = spans[0][0], spans[-1][1]
    if isinstance(value, str) or not value:
        after_colon = text.index(":", node.key_end) + 1
        return [(after_colon, after_colon, " " + _inline(value)), (start, end, "")]
    lead = text[start : items[0].start]
    return [(start, end, "".join(f"{lead}{scalar(entry)}{front.newline}" for entry in value))]


def _line_span(path: str, text: str, item: Node) -> tuple[int, int]:
    """Offsets of the line, or lines, of an entry. Raises TicketError when it does not stand beside its dash."""
    start = text.rfind("\n", 0, item.start) + 1
    if text[start : item.start].strip() != "-" or not isinstance(item.value, str):
        raise TicketError(path, item.line, "an entry of the list is not one text beside its dash")
    return start, text.index("\n", item.end - 1) + 1


def _prove(path: str, front: FrontMatter, result: bytes, wanted: dict[str, object]) -> None:
    """Reads the result again: no file is written that does not say what was meant. Raises TicketError."""
    try:
        after = frontmatter.parse(path, result)
    except TicketError as error:
        raise TicketError(path, error.line, f"cannot be changed without harm ({error.what}); edit it by hand") from None
    meant = {key: node.plain() for key, node in front.keys.items()} | wanted
    if after.root.plain() != meant or after.body != front.body:
        raise TicketError(path, front.root.line, "cannot be changed without touching other keys; edit it by hand")
