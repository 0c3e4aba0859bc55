"""The life of the run's issue, each move between its gates (seed 002 §4.2)."""

from collections.abc import Callable

from ahp.hosts import issue as host
from ahp.hosts.asking import around, branch_work
from ahp.protocol.text import one_line
from ahp.runner.run.run_state import Stop
from ahp.runner.run.session import Session
from ahp.system.errors import AhpError
from ahp.tickets import tasklist
from ahp.tickets.find import Tickets

Move = Callable[[str, str], None]


class IssueGates:
    """Starts, submits and closes `issue`, each once; `move(issue, verb)` does it, when given."""

    def __init__(self, session: Session, issue: str, move: Move | None) -> None:
        self._session = session
        self._issue = issue
        self._move = move

    def start(self) -> None:
        """Starts the issue before any work. Raises Stop when the gate refuses: no work can mend that."""
        refused = self._pass("start")
        if refused:
            raise Stop("GATE_BLOCKED", refused, self._session.desk.overridable)

    def finish(self) -> str | None:
        """Submits and closes the issue as the settings say, each once; why the gate refuses, or None."""
        config = self._session.config
        for verb, wanted in (("submit", config.submit), ("close", config.close)):
            refused = self._pass(verb) if wanted else None
            if refused:
                return refused
        return None

    def _pass(self, verb: str) -> str | None:
        """One move between its gates. Raises Stop when the gate cannot judge or the move fails."""
        if verb in self._session.state.moved:
            return None
        notes = f"To {verb} {one_line(self._issue, 80)}" if verb != "start" else ""
        told = f"the gate refuses to {verb} {self._issue}"
        refused = self._session.refused(f"pre-issue-{verb}", f"issue {verb}", told, notes)
        if refused:
            return refused
        try:
            if self._move is not None:
                self._move(self._issue, verb)
        except AhpError as error:
            raise Stop("ISSUE_ERROR", f"could not {verb} {self._issue}: {error}") from error
        self._session.tools.look()
        self._session.events("issue_moved", issue=self._issue, verb=verb)
        self._session.desk.ask(f"post-issue-{verb}")
        return None


def check_branch(root: str, issue: str) -> None:
    """Raises AhpError when another branch than the issue's is checked out: a resumed run would work on that one."""
    repo = around(root).repo
    known = host.branches_of(repo, issue) if repo is not None else []
    if repo is not None and known and tasklist.of_branch(repo.branch()) != issue:
        raise AhpError(f"the work on {issue} is on {one_line(known[0])}; run: git switch {one_line(known[0])}")


def ticket_moves(root: str, issue: str) -> Move | None:
    """What moves `issue` in the project at `root`, `start` to its branch; None where it has no ticket.

    Then only the gates are asked.
    """
    repo = around(root).repo
    if repo is None or not repo.root or issue not in Tickets(branch_work(repo)).ids():
        return None

    def move(issue: str, verb: str) -> None:
        """Raises TicketError for a step from the wrong stage, AhpError when branch or file cannot be changed."""
        now = branch_work(repo)
        # A run that was killed between the step and its event finds it done when it goes on.
        if verb == "close" and Tickets(now).get(issue).phase == "done":
            return
        host.carry_out(verb, repo, now, issue)

    return move
