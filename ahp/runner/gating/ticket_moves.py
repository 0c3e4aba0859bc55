"""Moving the run's ticket itself, between the gates that the runner asks (`ahp issue` without its own questions)."""

from ahp.hosts import issue as host
from ahp.hosts.asking import branch_work
from ahp.protocol.text import one_line
from ahp.runner.gating.issue_gates import Move
from ahp.system import environ, git
from ahp.system.errors import AhpError
from ahp.system.git import NotARepository
from ahp.system.worktree import WorkTreeView
from ahp.tickets import ids
from ahp.tickets.find import Tickets


def check_branch(root: str, issue: str) -> None:
    """Raises AhpError when another branch than the issue's is checked out: a resumed run would work on that one."""
    try:
        repo = git.discover(root, environ.current())
    except NotARepository:
        return
    known = host.branches_of(repo, issue)
    if known and ids.of_branch(repo.branch()) != issue:
        raise AhpError(f"the work on {issue} is on {one_line(known[0])}; run: git switch {one_line(known[0])}")


def ticket_moves(root: str, issue: str) -> Move | None:
    """What moves `issue` in the project at `root`, `start` to its branch; None where it has no ticket.

    Then only the gates are asked.
    """
    try:
        repo = git.discover(root, environ.current())
    except NotARepository:
        return None

    def view() -> WorkTreeView:
        return branch_work(repo)

    if not repo.root or issue not in Tickets(view()).ids():
        return None

    def move(issue: str, verb: str) -> None:
        """Raises TicketError for a step from the wrong stage, AhpError when branch or file cannot be changed."""
        now = view()
        # A run that was killed between the step and its event finds it done when it goes on.
        if verb == "close" and Tickets(now).get(issue).phase == "done":
            return
        host.carry_out(verb, repo, now, issue)

    return move
