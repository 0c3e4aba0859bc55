"""Tickets that a range of commits moved: every gate between where they stood and where they stand now (design §9).

This is the check that no switch of another tool goes round: it asks about the state, not about the command.
"""

from ahp.protocol.event import Event
from ahp.system.history import RangeView
from ahp.tickets import life
from ahp.tickets.find import Tickets
from ahp.tickets.projects import folders
from ahp.tickets.ticket_error import TicketError


def gates_of(event: Event) -> list[Event]:
    """The events of the gates that the range of `event` has to pass on its tip, by issue and in the order of life.

    A ticket that is new stood nowhere, one that is gone needs no gate. Raises TicketError when a changed ticket cannot
    be read on the tip.
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
    """Where a ticket stood; nowhere when it was not there, or nobody could read it."""
    try:
        return tickets.get(issue).phase
    except TicketError:
        return ""
