"""Tickets whose stage a range of commits changed: every gate between the old stage and the new one (design §9).

It asks about the state and not about a command, so no option of another tool avoids it.
"""

from ahp.protocol.event import Event
from ahp.system.history import RangeView
from ahp.tickets import life
from ahp.tickets.find import Tickets
from ahp.tickets.projects import folders
from ahp.tickets.ticket_error import TicketError


def gates_of(event: Event) -> list[Event]:
    """The events of the gates that the range of `event` has to pass on its tip, by issue and in the order of stages.

    A new ticket has to pass every gate up to its stage, a deleted one none. Raises TicketError when a changed ticket
    cannot be read on the tip.
    """
    view = event.view
    assert isinstance(view, RangeView)
    old = RangeView(view.repo, view.old, view.old)
    touched = [path for entry in view.change().entries for path in (entry.path, entry.old_path) if path]
    events: list[Event] = []
    for project in folders(view.paths()):
        now, before = Tickets(view, project), Tickets(old, project)
        for issue in now.named_by(touched):
            steps = life.gates(_phase(before, issue), now.get(issue).phase)
            events += [
                event.but(trigger=f"pre-issue-{step}", subject=issue, issue=issue, project=project) for step in steps
            ]
    return events


def _phase(tickets: Tickets, issue: str) -> str:
    """The phase of a ticket, "" when it is not there or cannot be read."""
    try:
        return tickets.get(issue).phase
    except TicketError:
        return ""
