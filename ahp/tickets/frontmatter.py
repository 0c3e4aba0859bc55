"""The YAML at the head of a ticket, with the line of everything and the span of every top-level value.

Scalars stay text: a ticket's id, dates and titles are words, whatever type YAML gives them.
"""

from dataclasses import dataclass
from typing import cast

from ahp.protocol.text import one_line
from ahp.system import yamltree
from ahp.system.errors import AhpError
from ahp.system.yamltree import Node, Place, YamlError
from ahp.tickets import tasklist

LIMIT = 8 << 20
_BOM = "\ufeff"


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
        return cast("dict[str, Node]", self.root.value)


def parse(path: str, data: bytes) -> FrontMatter:
    """The front matter of the ticket `data`. Raises TicketError with the line of what is wrong."""
    text = _decode(path, data)
    first, last = _bounds(path, text)
    root = _tree(path, text[:last])  # with the opening `---`, so that offsets and lines are the ticket's
    if root is None:
        place = Place(path, 2)
        root = Node({}, place, place, first, first)
    if not isinstance(root.value, dict):
        raise TicketError(path, root.line, "the front matter is not a mapping; write one `key: value` a line")
    bom = data.startswith(_BOM.encode())
    return FrontMatter(text, bom, first, last, text.count("\n", 0, last) + 2, root)


def document(path: str, data: bytes) -> Node | None:
    """The YAML document in `data`, a whole file; None for an empty one. Raises TicketError."""
    return _tree(path, _decode(path, data))


def _decode(path: str, data: bytes) -> str:
    try:
        return yamltree.decode(data, path, LIMIT)
    except YamlError as error:
        raise TicketError(path, error.faults[0].place.line, error.faults[0].what) from None


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


def _tree(path: str, text: str) -> Node | None:
    try:
        return yamltree.read(text, path, texts=True)
    except YamlError as error:
        if line := tasklist.conflict(text):
            raise TicketError(path, line, "a merge conflict in the front matter is not resolved") from None
        fault = error.faults[0]
        why = "is not YAML" if fault.kind else "cannot be read"
        raise TicketError(path, fault.place.line, f"the front matter {why}: {one_line(fault.what)}") from None


class TicketError(AhpError):
    """A ticket that cannot be read or changed: `path:line: what is wrong` (lines from 1; 0 means the whole file).

    An empty `path` means that no single file is at fault.
    """

    def __init__(self, path: str, line: int, what: str) -> None:
        place = one_line(path) + (f":{line}" if line else "")
        super().__init__(f"{place}: {what}" if path else what)
        self.path, self.line, self.what = path, line, what


class NoTicket(TicketError):
    """No ticket file carries the id that was asked for."""
