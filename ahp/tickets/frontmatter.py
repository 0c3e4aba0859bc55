"""The YAML at the head of a ticket, with the line of everything and the span of every top-level value.

Scalars stay text: a ticket's id, dates and titles are words, whatever YAML would make of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from ahp.protocol.text import one_line
from ahp.tickets.errors import TicketError

LIMIT = 8 << 20
_DEPTH = 16
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOM = "\ufeff"


class Node(NamedTuple):
    """A value: text, a list of nodes or a mapping of nodes. `start` and `end` are offsets into the ticket's text."""

    value: "str | list[Node] | dict[str, Node] | None"
    line: int
    start: int
    end: int
    flow: bool = False
    """Written inline, in brackets or braces."""
    key_end: int = 0
    """For the value of a mapping: the offset just past its key."""

    def plain(self) -> object:
        """The value without its places: texts, None, lists and dicts."""
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return self.value


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A ticket's text cut in three. `text` is the whole, without a BOM; `first` and `last` bound the YAML in it."""

    text: str
    bom: bool
    first: int
    last: int
    body_line: int
    """The line number, from 1, of the first line of the body."""
    root: Node

    @property
    def data(self) -> bytes:
        """The ticket's bytes."""
        return (("\ufeff" if self.bom else "") + self.text).encode("utf-8")

    @property
    def body(self) -> str:
        """What follows the line that closes the front matter."""
        return self.text[self.text.find("\n", self.last) + 1 :] if "\n" in self.text[self.last :] else ""

    @property
    def newline(self) -> str:
        """The line end that the front matter uses."""
        return "\r\n" if self.text[: self.first].endswith("\r\n") else "\n"

    @property
    def column(self) -> int:
        """How far the top-level keys are indented."""
        return self.root.start - (self.text.rfind("\n", 0, self.root.start) + 1)

    @property
    def keys(self) -> dict[str, Node]:
        """The top-level values by key."""
        assert isinstance(self.root.value, dict)
        return self.root.value


def parse(path: str, data: bytes) -> FrontMatter:
    """The front matter of the ticket `data`. Raises TicketError with the line of what is wrong."""
    if len(data) > LIMIT:
        raise TicketError(path, 0, f"has {len(data)} bytes, more than the {LIMIT} of a ticket")
    text = _decode(path, data)
    bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    first, last = _bounds(path, text)
    root = _tree(path, text[first:last], first, 2)
    if root.value is None:
        root = Node({}, 2, first, first)
    if not isinstance(root.value, dict):
        raise TicketError(path, root.line, "the front matter is not a mapping; write one `key: value` a line")
    return FrontMatter(text, bom, first, last, text.count("\n", 0, last) + 2, root)


def document(path: str, data: bytes) -> Node:
    """The YAML document in `data`, a whole file; an empty one has the value None. Raises TicketError."""
    return _tree(path, _decode(path, data[:LIMIT]).removeprefix(_BOM), 0, 1)


def _decode(path: str, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TicketError(path, 1, "is not UTF-8 but UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TicketError(path, line, f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8") from None


def _bounds(path: str, text: str) -> tuple[int, int]:
    """Offsets of the YAML: past the opening `---` line, and of the closing one."""
    first = text.find("\n") + 1
    if text[: first or None].rstrip() != "---" or not text.startswith("---"):
        raise TicketError(path, 1, "has no front matter; a ticket begins with a line `---`")
    position = first
    while first and position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if text.startswith("---", position) and text[position:end].rstrip() == "---":
            return first, position
        position = end + 1
    raise TicketError(path, 1, "the front matter is never closed; end it with a line `---`")


def _tree(path: str, text: str, offset: int, line: int) -> Node:
    """The document in `text`, which stands at `offset` and `line` of the ticket. Raises TicketError."""
    try:
        return _Builder(path, offset, line).document(yaml.parse(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        at = line + _fault(text, error)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        raise TicketError(path, at, f"the front matter is not YAML: {one_line(str(problem))}") from None


def _fault(text: str, error: yaml.YAMLError) -> int:
    """How many lines into `text` the fault lies; what is never closed is at fault where it opens."""
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow
        bad = next((i for i, c in enumerate(text) if not c.isprintable() and c not in "\t\r\n"), 0)
        return text.count("\n", 0, bad)
    written = text.rstrip()
    line = context.line if context and mark.index >= len(written) else mark.line
    return min(int(line), written.count("\n"))


class _Builder:
    """Builds nodes from parser events; a loop with a depth limit where the composer would recurse."""

    def __init__(self, path: str, offset: int, line: int) -> None:
        self.path, self.offset, self.line, self.depth = path, offset, line, 0

    def document(self, events: Iterator[Any]) -> Node:
        root = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise self._error(event, "a second YAML document in the front matter")
                root = self._node(next(events), events)
        return root or Node(None, self.line, self.offset, self.offset)

    def _node(self, event: Any, events: Iterator[Any], key_end: int = 0) -> Node:
        line, start = self.line + event.start_mark.line, self.offset + event.start_mark.index
        if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag:
            raise self._error(event, "anchors, aliases and tags are not read in a ticket; write the value out")
        if isinstance(event, yaml.ScalarEvent):
            empty = event.implicit[0] and event.value in _NULLS
            return Node(None if empty else event.value, line, start, self.offset + _end(event), False, key_end)
        self.depth += 1
        if self.depth > _DEPTH:
            raise self._error(event, f"nested deeper than {_DEPTH} levels")
        value, end = (self._items if isinstance(event, yaml.SequenceStartEvent) else self._pairs)(events)
        self.depth -= 1
        return Node(value, line, start, self.offset + end, bool(event.flow_style), key_end)

    def _items(self, events: Iterator[Any]) -> tuple[list[Node], int]:
        items: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._node(event, events))
        return items, _end(event)

    def _pairs(self, events: Iterator[Any]) -> tuple[dict[str, Node], int]:
        pairs: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._node(event, events)
            if not isinstance(key.value, str):
                raise self._error(event, "a key that is not a word")
            if key.value in pairs:
                first = pairs[key.value].line
                raise self._error(event, f"`{one_line(key.value, 60)}` is written twice, first near line {first}")
            pairs[key.value] = self._node(next(events), events, key.end)
        return pairs, _end(event)

    def _error(self, event: Any, what: str) -> TicketError:
        return TicketError(self.path, self.line + event.start_mark.line, f"the front matter cannot be read: {what}")


def _end(event: Any) -> int:
    index: int = event.end_mark.index
    return index
