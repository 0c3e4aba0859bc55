"""A ticket: what its file says, in Monoco's layout or in that of the AHP record documents."""

from collections.abc import Iterable
from dataclasses import dataclass

from ahp.protocol.text import one_line
from ahp.system.yamltree import Node
from ahp.tickets import frontmatter, tasklist
from ahp.tickets.frontmatter import FrontMatter, TicketError
from ahp.tickets.tasklist import Box

STAGES = ("draft", "doing", "review", "done")
"""The life of an issue in order; Monoco writes it as `stage`, the record documents as `status`."""

TYPES = {"EPIC": "epic", "FEAT": "feature", "CHORE": "chore", "FIX": "fix", "ARCH": "arch"}
_DEFAULT_STAGE = {"open": "draft", "closed": "done", "archived": "done", "backlog": "freezed"}


@dataclass(frozen=True, slots=True)
class Ticket:
    """One issue file, read. Words are lower case as conditions compare them; `title` and `files` are as written."""

    path: str
    id: str
    type: str
    status: str
    stage: str
    title: str
    criticality: str | None
    solution: str
    dependencies: tuple[str, ...]
    files: tuple[str, ...]
    boxes: tuple[Box, ...]
    front: FrontMatter

    @property
    def is_record(self) -> bool:
        """Laid out as in the AHP record documents: the stages are its `status`."""
        return self.status in STAGES

    @property
    def phase(self) -> str:
        """Where it stands in STAGES, or `freezed`, in either layout; "" for a stage nobody knows."""
        word = self.status if self.is_record else self.stage
        return word if word in STAGES or word == "freezed" else ""

    @property
    def is_done(self) -> bool:
        """Whether what depends on it may start: closed or archived (Monoco), done (record documents)."""
        return self.status in ("closed", "archived", "done")


def read(path: str, data: bytes) -> Ticket:
    """The ticket in `data`. Raises TicketError with the line of whatever cannot be read."""
    front = frontmatter.parse(path, data)
    fields = _Fields(path, front.keys)
    issue_id = _id(path, fields)
    status = fields.word("status") or "open"
    default_stage = status if status in STAGES else _DEFAULT_STAGE.get(status, "")
    return Ticket(
        path=path,
        id=issue_id,
        type=fields.word("type") or TYPES.get(issue_id.partition("-")[0], issue_id.partition("-")[0].lower()),
        status=status,
        stage=fields.word("stage") or default_stage,
        title=fields.text("title"),
        criticality=fields.word("criticality") or None,
        solution=fields.word("solution"),
        dependencies=tuple(dict.fromkeys((*fields.texts("dependencies"), *fields.texts("depends_on")))),
        files=tuple(fields.texts("files")),
        boxes=(*fields.checklist(), *tasklist.scan(front.body, front.body_line, issue_id)),
        front=front,
    )


def _id(path: str, fields: "_Fields") -> str:
    written = fields.text("id")
    if not written:
        raise TicketError(path, 1, "the front matter has no `id`")
    found = tasklist.exact(written)
    line = fields.line("id")
    if not found:
        raise TicketError(path, line, f"`{one_line(written, 60)}` is no issue id; one looks like FEAT-0001")
    named = tasklist.of_file(path)
    if named and named != found:
        raise TicketError(path, line, f"the id is {found} but the file name says {named}; make them agree")
    return found


class _Fields:
    """The front matter, field by field; keys may be capitalised, as Monoco allows."""

    def __init__(self, path: str, keys: dict[str, Node]) -> None:
        self.path = path
        self.keys = keys

    def _node(self, key: str) -> Node | None:
        for spelling in (key, key.capitalize(), key.upper()):
            if spelling in self.keys:
                return self.keys[spelling]
        return None

    def line(self, key: str) -> int:
        node = self._node(key)
        return node.line if node else 1

    def text(self, key: str) -> str:
        node = self._node(key)
        if node is None or node.value is None:
            return ""
        if not isinstance(node.value, str):
            raise TicketError(self.path, node.line, f"`{key}` must be one word or line of text")
        return node.value.strip()

    def word(self, key: str) -> str:
        return self.text(key).lower()

    def texts(self, key: str) -> list[str]:
        """A list of texts; one text stands for a list of it, null for none."""
        node = self._node(key)
        if node is None or node.value is None:
            return []
        if isinstance(node.value, str):
            return [node.value]
        if not isinstance(node.value, list):
            raise TicketError(self.path, node.line, f"`{key}` must be a list")
        return [self._item(key, item) for item in node.value]

    def _item(self, key: str, item: Node) -> str:
        if item.value is None:
            raise TicketError(self.path, item.line, f"an empty entry in `{key}`; put text that begins with # in quotes")
        if not isinstance(item.value, str):
            raise TicketError(self.path, item.line, f"an entry of `{key}` is not a text")
        return item.value

    def checklist(self) -> list[Box]:
        """The items of the record documents' `checklist:`, as boxes of the section tasks."""
        node = self._node("checklist")
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            raise TicketError(self.path, node.line, "`checklist` must be a list of `{id, item, checked}`")
        found: dict[str, Box] = {}
        for position, item in enumerate(node.value, 1):
            box = self._box(item, position)
            if box.id in found:
                raise TicketError(self.path, box.line, f"the checklist has two items `{one_line(box.id, 60)}`")
            found[box.id] = box
        return list(found.values())

    def _box(self, item: Node, position: int) -> Box:
        if not isinstance(item.value, dict):
            raise TicketError(self.path, item.line, "an item of `checklist` is not a mapping `{id, item, checked}`")
        inner = _Fields(self.path, item.value)
        name = inner.text("id")
        checked = inner.word("checked") or "false"
        if checked not in ("true", "false", "yes", "no"):
            raise TicketError(self.path, inner.line("checked"), "`checked` must be true or false")
        state = "done" if checked in ("true", "yes") else "todo"
        return Box(name or f"tasks-{position}", inner.text("item"), state, "tasks", item.line, bool(name))


def tally(found: Iterable[Box]) -> dict[str, object]:
    """The facts of a checklist (design §6): counts without the cancelled boxes, the rate absent without boxes."""
    boxes = list(found)
    live = [box for box in boxes if box.state != "cancelled"]
    unfinished = [box for box in live if box.is_open]
    facts: dict[str, object] = {
        "total": len(live),
        "done": len(live) - len(unfinished),
        "incomplete_count": len(unfinished),
        "incomplete": [box.label for box in unfinished],
        "incomplete_ids": [box.id for box in unfinished],
        "cancelled_count": len(boxes) - len(live),
        "invalid_count": sum(box.state == "invalid" for box in live),
    }
    if live:
        facts["completion_rate"] = (len(live) - len(unfinished)) / len(live)
    return facts
