"""The tickets of the repository around the current folder, as its work tree has them: read, told, made."""

import os

from ahp.protocol.text import one_line
from ahp.system import clock, environ, git
from ahp.system.errors import AhpError
from ahp.system.worktree import WorkTreeView
from ahp.tickets import lint, tasklist, template
from ahp.tickets.find import Files, Tickets
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.ticket import Ticket, tally


class Tracker:
    """A work tree and its tickets. Raises NotARepository, AhpError in a bare repository."""

    def __init__(self, folder: str) -> None:
        repo = git.discover(folder, environ.current())
        if not repo.root:
            raise AhpError("a bare repository has no work tree to keep tickets in")
        self.root = repo.root
        self.tickets = Tickets(WorkTreeView(repo), around(folder, repo.root))

    def create(self, kind: str, title: str, needs: tuple[str, ...] = (), criticality: str = "") -> str:
        """Writes the next ticket of a kind and gives its path. Raises TicketError, AhpError; never over a file."""
        stamp = clock.iso(clock.now())
        _, path, text = template.new_ticket(self.tickets, kind, title, stamp, needs, criticality)
        place = f"{self.root}/{path}"
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "x", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            raise AhpError(f"cannot write {path}: {error.strerror}") from None
        return path

    def summaries(self, closed: bool = False) -> tuple[list[dict[str, object]], list[str]]:
        """A row a ticket (id, type, status, stage, done, total, title, path), and what could not be read."""
        rows: list[dict[str, object]] = []
        faults: list[str] = []
        for path in self.tickets.paths():
            try:
                ticket = self.tickets.once(path)
            except TicketError as error:
                faults.append(str(error))
                continue
            if closed or not ticket.is_done:
                rows.append(_row(ticket))
        return rows, faults

    def detail(self, issue: str) -> dict[str, object]:
        """One ticket whole: its row, what it waits for, its files and its boxes. Raises TicketError."""
        ticket = self.tickets.get(named(issue))
        return {
            **_row(ticket),
            "criticality": ticket.criticality,
            "dependencies": list(ticket.dependencies),
            "unmet_dependencies": lint.unmet(self.tickets, ticket),
            "files": list(ticket.files),
            "boxes": [
                {"id": box.id, "section": box.section, "state": box.state, "line": box.line, "text": box.text}
                for box in ticket.boxes
            ],
        }


def _row(ticket: Ticket) -> dict[str, object]:
    counts = tally(ticket.boxes)
    return {
        "id": ticket.id,
        "type": ticket.type,
        "status": ticket.status,
        "stage": ticket.stage,
        "done": counts["done"],
        "total": counts["total"],
        "title": ticket.title,
        "path": ticket.path,
    }


VARIABLE = "MONOCO_ISSUE_ID"


def named(text: str) -> str:
    """The id that a person or a host named with `--issue`. Raises TicketError when it is none."""
    project, found = tasklist.reference(text)
    if not found or project:
        raise TicketError("", 0, f"`{one_line(text, 60)}` is no issue id; one looks like FEAT-0001")
    return found


def candidates(given: str | None, branch: str, env: dict[str, str]) -> list[str]:
    """The ids the event may be about, best first; what was named stands alone. Raises TicketError as `named` does.

    A branch like `release-2` names no issue unless there is a ticket RELEASE-2: the caller asks for tickets in turn.
    """
    if given:
        return [named(given)]
    found = [tasklist.of_branch(branch), tasklist.reference(env.get(VARIABLE, ""))[1]]
    return list(dict.fromkeys(issue_id for issue_id in found if issue_id))


_MARK = ".monoco"


def folders(paths: list[str]) -> list[str]:
    """The folders of the projects in a tree with these paths, "" for its top, which comes first."""
    found = {path.partition(f"/{_MARK}/")[0] for path in paths if f"/{_MARK}/" in path}
    return ["", *sorted(found)]


def around(folder: str, root: str) -> str:
    """The project that a folder of the work tree at `root` lies in, relative to it; "" for the top."""
    root = os.path.realpath(root)
    place = os.path.realpath(folder)
    while place.startswith(root + os.sep):
        if os.path.isdir(f"{place}/{_MARK}"):
            return os.path.relpath(place, root)
        place = os.path.dirname(place)
    return ""


def of_issue(view: Files, issue_id: str, project: str = "") -> Tickets:
    """The tickets among which `issue_id` is: those of `project`, else of the one other project that has it.

    Where none has it, those of `project`. Raises TicketError when several others do.
    """
    own = Tickets(view, project)
    if own.has(issue_id):
        return own
    others = [Tickets(view, folder) for folder in folders(view.paths()) if folder != project]
    found = [tickets for tickets in others if tickets.has(issue_id)]
    if len(found) > 1:
        places = " and ".join(one_line(tickets.folder) for tickets in found[:4])
        raise TicketError("", 0, f"{issue_id} is a ticket in {places}; go to the folder of the one that is meant")
    return found[0] if found else own
