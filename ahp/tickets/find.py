"""Finding tickets in a view: by file name first, so that a gate opens only the tickets it needs."""

import difflib
import re
from typing import Protocol

from ahp.protocol.text import one_line
from ahp.system.yamltree import Node
from ahp.tickets import frontmatter, tasklist
from ahp.tickets.frontmatter import NoTicket, TicketError
from ahp.tickets.ticket import Ticket, read

_WORKSPACE = ".monoco/workspace.yaml"
_PROJECT = ".monoco/project.yaml"
_DIGITS = re.compile(r"(\d+)")


class Files(Protocol):
    """What tickets need of a view (design §13): the paths of one state of the tree, and their bytes."""

    def paths(self) -> list[str]: ...

    def read(self, path: str) -> bytes | None: ...


class Tickets:
    """The tickets of one project in one state of the tree.

    `project` is the project's folder in the repository, "" for its root. Tickets lie in `Issues/` there, or where
    Monoco's workspace file says (`paths: {issues: …}`).
    """

    def __init__(self, view: Files, project: str = "") -> None:
        self.view = view
        self.project = project.strip("/") + "/" if project.strip("/") else ""
        paths = view.paths()
        self.folder = self._folder(paths)
        self._known: dict[str, Ticket] = {}
        self._named: dict[str, list[str]] = {}
        self._unnamed: list[str] = []
        for path in paths:
            if path.startswith(self.folder) and path.endswith(".md"):
                found = tasklist.of_file(path)
                if found:
                    self._named.setdefault(found, []).append(path)
                else:
                    self._unnamed.append(path)
        self._by_content: dict[str, list[str]] | None = None

    def ids(self) -> list[str]:
        """Every id that a file name carries, in natural order (FEAT-2 before FEAT-10)."""
        return sorted(self._named, key=natural)

    def paths(self) -> list[str]:
        """Every ticket file: those named after an id, in its order, then Markdown that only claims one inside."""
        named = [path for issue_id in self.ids() for path in self._named[issue_id]]
        return named + sorted({path for found in self._contents().values() for path in found})

    def path_of(self, issue_id: str) -> str:
        """Where the ticket `issue_id` lies. Raises NoTicket when nowhere, TicketError when in two places."""
        found = self._named.get(issue_id) or self._contents().get(issue_id, [])
        if not found:
            raise NoTicket("", 0, self._unknown(issue_id))
        if len(found) > 1:
            others = " and ".join(one_line(path) for path in sorted(found)[:4])
            raise TicketError("", 0, f"{issue_id} has {len(found)} tickets, {others}; keep one")
        return found[0]

    def has(self, issue_id: str) -> bool:
        """Whether some file is the ticket `issue_id`."""
        return bool(self._named.get(issue_id) or self._contents().get(issue_id))

    def get(self, issue_id: str) -> Ticket:
        """The ticket `issue_id`, read once. Raises NoTicket, TicketError."""
        return self.at(self.path_of(issue_id))

    def at(self, path: str) -> Ticket:
        """The ticket in the file `path`, read once. Raises NoTicket when the view has no such file, TicketError."""
        if path not in self._known:
            self._known[path] = self.once(path)
        return self._known[path]

    def once(self, path: str) -> Ticket:
        """The same, not kept: for who looks at thousands."""
        data = self.view.read(path)
        if data is None:
            raise NoTicket(path, 0, "the ticket is gone")
        return read(path, data)

    def named_by(self, paths: list[str]) -> list[str]:
        """The ids of those of these files that are tickets of this state, in natural order."""
        wanted = {path for path in paths if path.startswith(self.folder) and path.endswith(".md")}
        found = {issue_id for issue_id in map(tasklist.of_file, wanted) if issue_id in self._named}
        found |= {issue_id for path in wanted.intersection(self._unnamed) if (issue_id := self._claimed(path))}
        return sorted(found, key=natural)

    def referred(self, reference: str) -> Ticket | None:
        """The ticket that another one refers to (`FEAT-1`, `#FEAT-1`, `project::FEAT-1`), None when there is none.

        Another project is looked up among Monoco's `project: {members: …}`, inside this view. Raises TicketError.
        """
        name, issue_id = tasklist.reference(reference)
        tickets = self._member(name) if name else self
        if not issue_id or tickets is None or not tickets.has(issue_id):
            return None
        return tickets.get(issue_id)

    def next_id(self, prefix: str) -> str:
        """The first free id of a prefix after the highest one: `FEAT-0042`."""
        numbers = [int(known.partition("-")[2]) for known in self._named if known.startswith(prefix + "-")]
        return f"{prefix}-{max(numbers, default=0) + 1:04d}"

    def _folder(self, paths: list[str]) -> str:
        name = "Issues"
        workspace = self.project + _WORKSPACE
        if workspace in paths:
            written = _text(self._yaml(workspace), "paths", "issues")
            name = written.removeprefix("./").strip("/") or name
        return f"{self.project}{name}/"

    def _member(self, name: str) -> "Tickets | None":
        place = ""
        for file in (_PROJECT, _WORKSPACE):
            place = place or _text(self._yaml(self.project + file), "project", "members", name)
        parts = [part for part in f"{self.project}{place}".split("/") if part not in ("", ".")]
        return None if not place or place.startswith("/") or ".." in parts else Tickets(self.view, "/".join(parts))

    def _yaml(self, path: str) -> Node | None:
        data = self.view.read(path)
        return None if data is None else frontmatter.document(path, data)

    def _contents(self) -> dict[str, list[str]]:
        """Paths by id of the Markdown files whose names carry no id; files that are no tickets are passed over."""
        if self._by_content is None:
            self._by_content = {}
            for path in self._unnamed:
                issue_id = self._claimed(path)
                if issue_id:
                    self._by_content.setdefault(issue_id, []).append(path)
        return self._by_content

    def _claimed(self, path: str) -> str:
        data = self.view.read(path)
        if data is None or not data[:6].lstrip(b"\xef\xbb\xbf").startswith(b"---"):
            return ""  # a README
        try:
            node = frontmatter.parse(path, data).keys.get("id")
        except TicketError:
            return ""  # plain Markdown may start with `---`, too
        return tasklist.exact(node.value) if node and isinstance(node.value, str) else ""

    def _unknown(self, issue_id: str) -> str:
        near = difflib.get_close_matches(issue_id, list(self._named), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"no ticket {one_line(issue_id, 60)} in {one_line(self.folder)}{hint}"


def natural(issue_id: str) -> list[str | int]:
    """A sort key that counts: FEAT-2 before FEAT-10."""
    return [int(part) if part.isdigit() else part for part in _DIGITS.split(issue_id)]


def _text(node: Node | None, *keys: str) -> str:
    for key in keys:
        node = node.value.get(key) if node and isinstance(node.value, dict) else None
    return node.value if node and isinstance(node.value, str) else ""
