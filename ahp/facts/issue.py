"""`issue`: the ticket that is named (design §6), else the one that the branch names."""

from ahp.facts.registry import AGENT, ISSUE, Absent, Namespace, fact
from ahp.protocol.event import Event
from ahp.system.git import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.tickets.find import Files, Tickets
    from ahp.tickets.ticket import Ticket

NAMESPACE = Namespace(
    source="the ticket",
    past="git does not record for which issue a commit was made",
    certain=ISSUE,
    costly=True,
    schema={
        "id": fact("str", "FEAT-0123"),
        "type": fact("str", "feature, fix, chore, epic …"),
        "status": fact("str", "open, closed, backlog, archived …"),
        "stage": fact("str", "draft, doing, review, done …", optional=True),
        "title": fact("str", "title"),
        "solution": fact("str", "as what it is closed; at a close default implemented"),
        "criticality": fact("str", "low, medium, high, critical; default by type", optional=True),
        "dependencies": fact("list[str]", "tickets it needs"),
        "unmet_dependencies": fact("list[str]", "not done, or not found"),
        "unmet_dependency_count": fact("int", "their number", min=0),
        "files": fact("list[str]", "files it lists"),
    },
)

_CRITICALITY = {"fix": "high", "epic": "high", "feature": "medium", "chore": "low"}  # Monoco's
_WRITTEN = ("id", "type", "status", "stage", "title")


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`, read from the event's view; dependencies only when a field needs them.

    Raises Absent where no issue is current, TicketError where its ticket, or one that it depends on, cannot be read.
    """
    tickets, ticket = current(event)
    found: dict[str, object] = {field: getattr(ticket, field) for field in _WRITTEN if field in fields}
    if "criticality" in fields:
        stated = ticket.criticality or _CRITICALITY.get(ticket.type)
        found["criticality"] = stated or Absent(f"{ticket.id} states no criticality")
    if "solution" in fields:
        at_close = "implemented" if event.trigger.endswith("issue-close") else ""
        found["solution"] = event.solution or ticket.solution or at_close
    for field in ("dependencies", "files"):
        if field in fields:
            found[field] = list(getattr(ticket, field))
    if not fields.isdisjoint(("unmet_dependencies", "unmet_dependency_count")):
        from ahp.tickets.lint import unmet

        waiting = unmet(tickets, ticket)
        found.update(unmet_dependencies=waiting, unmet_dependency_count=len(waiting))
    return found


def current(event: Event) -> "tuple[Tickets, Ticket]":
    """The ticket the event is about, with the tickets around it, in the state that is judged.

    Raises Absent where there is none, TicketError where it cannot be read: an unreadable ticket is never an empty
    one. An agent's tool calls see it as absent, or no call could mend the file.
    """
    from ahp.tickets.frontmatter import NoTicket, TicketError

    tickets, found = _found(event)
    try:
        return tickets, tickets.get(found)
    except NoTicket:
        raise
    except TicketError as error:
        if event.trigger in AGENT:
            raise Absent(str(error), "ahp issue lint") from None
        raise


def _found(event: Event) -> "tuple[Tickets, str]":
    from ahp.tickets.frontmatter import TicketError
    from ahp.tickets.tracker import candidates, of_issue

    repository = event.repo
    branches = [] if repository is None else _branches(event, repository)
    ids = [found for branch in branches or [""] for found in candidates(event.issue, branch, event.env)]
    view = _view(event, repository) if ids else None
    if view is not None:
        for found in dict.fromkeys(ids):
            try:
                tickets = of_issue(view, found, event.project)
            except TicketError as error:
                if event.issue:
                    raise
                raise Absent(str(error), "name a branch after one issue") from None
            if event.issue or tickets.has(found):
                return tickets, found
    reason = f"no ticket for {' or '.join(dict.fromkeys(ids))}" if ids else "no issue is current"
    raise Absent(reason, "work on a branch named after the issue, FEAT-0001-…, or name it with --issue")


def _branches(event: Event, repository: Repository) -> list[str]:
    if event.push is None:
        return [repository.branch()]
    return [event.push.remote_ref, event.push.local_ref]


def _view(event: Event, repository: Repository | None) -> "Files | None":
    if event.view is not None or repository is None:
        return event.view
    from ahp.system.worktree import WorkTreeView  # a tool call that touches no file still belongs to an issue

    return WorkTreeView(repository)
