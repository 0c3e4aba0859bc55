"""What a ticket waits for: its dependencies, done or not, and circles among them."""

from ahp.tickets.find import Tickets
from ahp.tickets.ticket import Ticket

_SHOWN = 10


def unmet(tickets: Tickets, ticket: Ticket) -> list[str]:
    """The dependencies of `ticket` that are not done, as it writes them; what cannot be found is not done.

    Reads the tickets it depends on and no other. Raises TicketError when one of them cannot be read.
    """
    waiting = []
    for reference in ticket.dependencies:
        found = tickets.referred(reference)
        if found is None or not found.is_done:
            waiting.append(reference)
    return waiting


def cycles(tickets: Tickets, ticket: Ticket) -> list[str]:
    """The circles of dependencies that lead from `ticket` back to itself, each `FEAT-1 -> FEAT-2 -> FEAT-1`.

    One a first step, the shortest, ten at most. Reads what `ticket` depends on, directly or not, and nothing behind
    a ticket that is done. Raises TicketError.
    """
    found = []
    for reference in ticket.dependencies:
        step = tickets.referred(reference)
        trail = _way_back(tickets, step, ticket.path) if step else []
        if trail:
            found.append(" -> ".join([ticket.id, *trail]))
    return found[:_SHOWN]


def _way_back(tickets: Tickets, start: Ticket, goal: str) -> list[str]:
    """Ids on the shortest way from `start` to the ticket in `goal`, [] when there is none; breadth first."""
    came: dict[str, Ticket | None] = {start.path: None}
    queue = [start]
    for ticket in queue:
        if ticket.path == goal:
            return _trail(came, ticket)
        if ticket.is_done:
            continue
        for reference in ticket.dependencies:
            step = tickets.referred(reference)
            if step and step.path not in came:
                came[step.path] = ticket
                queue.append(step)
    return []


def _trail(came: dict[str, Ticket | None], last: Ticket) -> list[str]:
    trail: list[str] = []
    step: Ticket | None = last
    while step:
        trail.append(step.id)
        step = came[step.path]
    return trail[::-1]
