"""What is wrong with the tickets of a project, all at once."""

from collections.abc import Iterator

from ahp.protocol.text import one_line
from ahp.tickets import life, tasklist
from ahp.tickets.find import Tickets
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.ticket import STAGES, Ticket


def lint(tickets: Tickets) -> list[TicketError]:
    """Every fault of every ticket, by path and line. What cannot be read is a fault, never an exception."""
    found: list[TicketError] = []
    for issue_id in tickets.ids():
        try:
            tickets.path_of(issue_id)
        except TicketError as error:
            found.append(TicketError(tickets.folder, 0, error.what))
    for path in tickets.paths():
        try:
            found.extend(_faults(tickets, tickets.at(path)))
        except TicketError as error:
            found.append(TicketError(error.path or path, error.line, error.what))
    once = {(fault.path, fault.line, fault.what): fault for fault in found}
    return [once[key] for key in sorted(once)]


def _faults(tickets: Tickets, ticket: Ticket) -> Iterator[TicketError]:
    yield from (TicketError(ticket.path, line, what) for line, what in _words(ticket))
    home = life.place(ticket.path, tickets.folder, ticket.status)
    if home != ticket.path:
        yield TicketError(ticket.path, 0, f"its status is {ticket.status}; it belongs at {one_line(home)}")
    yield from (TicketError(ticket.path, line, what) for line, what in _odd_boxes(ticket))
    if line := tasklist.conflict(ticket.front.body, ticket.front.body_line):
        yield TicketError(ticket.path, line, "a merge conflict is not resolved; the boxes of both sides count")
    if ticket.is_done and any(box.is_open for box in ticket.boxes):
        first = next(box for box in ticket.boxes if box.is_open)
        yield TicketError(ticket.path, first.line, "it is done, and this box is open")
    node = ticket.front.keys.get("dependencies") or ticket.front.keys.get("depends_on")
    line = node.line if node else 0
    for reference in ticket.dependencies:
        if tickets.referred(reference) is None:
            yield TicketError(
                ticket.path, line, f"it depends on {one_line(reference, 60)}, and there is no such ticket"
            )


def _words(ticket: Ticket) -> Iterator[tuple[int, str]]:
    """Words that no layout knows; the record documents give their own names to the stages."""
    known = {"status": (*life.STATUSES, *STAGES), "criticality": ("low", "medium", "high", "critical")}
    if not ticket.is_record:
        known["stage"] = (*STAGES, "freezed")
    for key, words in known.items():
        value = getattr(ticket, key)
        node = ticket.front.keys.get(key)
        if node and value is not None and value not in words:
            yield node.line, f"`{key}: {one_line(value, 60)}` is none of {', '.join(words)}"


def _odd_boxes(ticket: Ticket) -> Iterator[tuple[int, str]]:
    for box in ticket.boxes:
        if box.state == "invalid":
            yield box.line, "this box has an unknown mark and counts as open; write [ ], [x], [/] or [~]"
        if not box.text and ticket.phase != "draft":  # a new ticket has two, to be filled in
            yield box.line, "a box without a text; say what is to be done, or take it away"


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
