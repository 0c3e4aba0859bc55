"""Moving the run's ticket itself, between the gates that the runner asks (`ahp issue` without its own questions)."""

from ahp.hosts.events import merge_base
from ahp.runner.issue_gates import Move
from ahp.system import environ, git
from ahp.system.git import NotARepository
from ahp.system.view import WorkTreeView
from ahp.tickets import ids, life
from ahp.tickets.find import Tickets


def ticket_moves(root: str, issue: str) -> Move | None:
    """What moves `issue` in the project at `root`; None where it has no ticket: then only the gates are asked."""
    try:
        repo = git.discover(root, environ.current())
    except NotARepository:
        return None

    def view() -> WorkTreeView:
        return WorkTreeView(repo, merge_base(repo))

    if not repo.root or issue not in Tickets(view()).ids():
        return None

    def move(issue: str, verb: str) -> None:
        """Raises TicketError for a step from the wrong stage, AhpError when the file cannot be changed."""
        now = view()
        tickets = Tickets(now)
        ticket = tickets.get(issue)
        if verb == "start":
            plan = life.start(ticket, tickets.folder)
        elif verb == "submit":
            changed = [entry.path for entry in now.change().entries if ids.of_file(entry.path) != issue]
            plan = life.submit(ticket, tickets.folder, changed)
        else:
            plan = life.close(ticket, tickets.folder)
        life.apply(plan, repo.root)

    return move
