"""Tickets whose stage a range of commits changed: every gate between the old stage and the new one (design §9).

It asks about the state and not about a command, so no option of another tool avoids it.
"""

from ahp.protocol.event import Event
from ahp.system.history import RangeView
from ahp.tickets import life
from ahp.tickets.find import Tickets
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.tracker import folders


def gates_of(event: Event) -> list[Event]:
    """The events of the gates that the range of `event` has to pass on its tip, by issue and in the order of stages.

    A new ticket has to pass every gate up to its stage. One that is deleted, or moved to where no tickets are, has to
    pass the gate of a close as it last was, unless it was done. Raises TicketError when a changed ticket cannot be read
    on the tip.
    """
    view = event.view
    assert isinstance(view, RangeView)
    old = RangeView(view.repo, view.old, view.old)
    touched = [path for entry in view.change().entries for path in (entry.path, entry.old_path) if path]
    events: list[Event] = []
    here = {project: Tickets(view, project) for project in folders(view.paths())}
    there = {project: Tickets(old, project) for project in folders(old.paths())}
    for project, now in here.items():
        before = there.get(project) or Tickets(old, project)
        for issue in now.named_by(touched):
            ticket = now.get(issue)
            steps = life.gates(_phase(before, issue), ticket.phase, ticket.solution)
            events += [
                event.but(trigger=f"pre-issue-{step}", subject=issue, issue=issue, project=project) for step in steps
            ]
    for project, before in there.items():
        for issue in before.named_by(touched):
            phase = _phase(before, issue)
            if phase in ("", "done") or any(now.has(issue) for now in here.values()):
                continue
            kept = _WithTicket(view, before.path_of(issue))
            events.append(event.but(trigger="pre-issue-close", subject=issue, issue=issue, project=project, view=kept))
    return events


class _WithTicket(RangeView):
    """A range whose tip still has one file, a ticket, that it took away: as it was before."""

    __slots__ = ("_path",)

    def __init__(self, view: RangeView, path: str) -> None:
        super().__init__(view.repo, view.old, view.new)
        self._path = path

    def paths(self) -> list[str]:
        return [*super().paths(), self._path]

    def read(self, path: str) -> bytes | None:
        return self._blob(f"{self.old}:{path}") if path == self._path else super().read(path)


def _phase(tickets: Tickets, issue: str) -> str:
    """The phase of a ticket, "" when it is not there or cannot be read."""
    try:
        return tickets.get(issue).phase
    except TicketError:
        return ""
