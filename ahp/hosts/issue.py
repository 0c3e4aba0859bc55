"""The life of an issue without another tool: the gate before, the change, the gate after (seed 002 §4.2, §6.1)."""

import os
from dataclasses import dataclass, field

from ahp.gate.decide import decide
from ahp.hosts.api import Gate
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import NotARepository, Repository
from ahp.system.view import View
from ahp.tickets import life, tasklist
from ahp.tickets.find import Tickets
from ahp.tickets.template import slug
from ahp.tickets.ticket import Ticket
from ahp.tickets.tracker import named, of_issue

_SWITCH = 300.0  # s: a checkout of a large tree, and the hooks it runs


@dataclass
class Moved:
    """What became of a step: the verdict before it, and, unless that refused, what was changed and what followed."""

    issue: str
    step: str
    before: Verdict
    plan: life.Plan | None = None
    branch: str = ""
    """The branch that `start` made or switched to."""
    after: Verdict | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def denied(self) -> bool:
        return self.before.denied

    def as_dict(self) -> dict[str, object]:
        """The step as JSON shows it."""
        return {
            "issue": self.issue,
            "step": self.step,
            "decision": self.before.decision,
            "path": self.plan.new_path if self.plan else None,
            "branch": self.branch or None,
            "before": self.before.as_dict(),
            "after": self.after.as_dict() if self.after else None,
        }

    def summary(self) -> str:
        """What was done, in one line."""
        done = {"start": "is in doing", "submit": "is in review", "close": "is closed"}[self.step]
        return f"{self.issue} {done}" + (f", on branch {one_line(self.branch)}" if self.branch else "")


def move(step: str, issue: str, solution: str = "") -> Moved:
    """Takes an issue one step on: `start`, `submit` or `close`; refused, nothing has changed.

    Raises AhpError, and then nothing has changed either: no such ticket, a step from the wrong stage, the wrong
    branch, a policy that cannot be judged.
    """
    issue_id = named(issue)
    event = _here().event(f"pre-issue-{step}", issue_id=issue_id)
    event.solution = solution
    repo, view = _project(event)
    check(step, repo, view, issue_id, solution, event.project)  # the gate is not asked about an impossible step
    moved = Moved(issue_id, step, decide(event))
    if moved.denied:
        return moved
    done = carry_out(step, repo, view, issue_id, solution, event.project)
    moved.plan, moved.branch = done.plan, done.branch
    _follow(moved)
    return moved


@dataclass(frozen=True)
class Done:
    """A step that was carried out: what it changed, and the branch that `start` made or switched to."""

    plan: life.Plan
    branch: str = ""


def check(step: str, repo: Repository, view: View, issue_id: str, solution: str = "", project: str = "") -> life.Plan:
    """What a step would change now, without asking the gate; `project` is where the issue is looked for first.

    Raises AhpError when it cannot be taken.
    """
    tickets = of_issue(view, issue_id, project)
    ticket = tickets.get(issue_id)
    if step == "start":
        return life.start(ticket, tickets.folder)
    if step == "close":
        return life.close(ticket, tickets.folder, solution)
    plan = life.submit(ticket, tickets.folder, _changed(view, issue_id))
    _check_branch(repo, issue_id)
    return plan


def _changed(view: View, issue_id: str) -> list[str] | None:
    """The files that the work on an issue changed, without its own ticket; None where that cannot be told."""
    try:
        return [entry.path for entry in view.change().entries if tasklist.of_file(entry.path) != issue_id]
    except Unknown:
        return None


def carry_out(step: str, repo: Repository, view: View, issue_id: str, solution: str = "", project: str = "") -> Done:
    """Takes the step itself, for whoever has asked the gate: the branch and the ticket, both or neither.

    Raises AhpError, and then nothing has changed.
    """
    if step == "start":
        return _start(repo, of_issue(view, issue_id, project), issue_id)
    plan = check(step, repo, view, issue_id, solution, project)
    plan.carry_out(repo.root)
    return Done(plan)


def _project(event: Event) -> tuple[Repository, View]:
    if event.repo is None or event.view is None:
        raise NotARepository("issues live in a git repository with a work tree; there is none here")
    return event.repo, event.view


def _check_branch(repo: Repository, issue_id: str) -> None:
    """A submit from elsewhere would judge and record the wrong files. Raises AhpError."""
    branch = repo.branch()
    if tasklist.of_branch(branch) != issue_id:
        where = f"on {one_line(branch)}" if branch else "on a detached head"
        known = branches_of(repo, issue_id)
        do = f"git switch {known[0]}" if known else f"ahp issue start {issue_id}"
        raise AhpError(f"{issue_id} is submitted from its own branch, and this is {where}; run: {do}")


def branches_of(repo: Repository, issue_id: str) -> list[str]:
    """The local branches whose names carry the id."""
    listed = repo.line("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
    return [name for name in listed.split("\n") if tasklist.of_branch(name) == issue_id]


def _start(repo: Repository, tickets: Tickets, issue_id: str) -> Done:
    """Makes the branch, or switches to it, and changes the ticket there; both or neither."""
    name, is_new = _branch_for(repo, tickets.get(issue_id))
    undo = _switch(repo, name, is_new) if name != repo.branch() else []
    try:
        there = Tickets(tickets.view, tickets.project)  # on its own branch the ticket may say something else
        plan = life.start(there.get(issue_id), there.folder)
        plan.carry_out(repo.root)
    except BaseException:
        for command in undo:
            repo.run(*command, timeout=_SWITCH, for_person=True)
        raise
    return Done(plan, name)


def _branch_for(repo: Repository, ticket: Ticket) -> tuple[str, bool]:
    """The branch of an issue, and whether it has to be made. Raises AhpError when there are several."""
    current = repo.branch()
    if tasklist.of_branch(current) == ticket.id:
        return current, False
    known = branches_of(repo, ticket.id)
    if len(known) > 1:
        raise AhpError(f"{ticket.id} has {len(known)} branches, {', '.join(known[:4])}; switch to the right one first")
    return (known[0], False) if known else (f"{ticket.id}-{slug(ticket.title or ticket.type)}", True)


def _switch(repo: Repository, name: str, is_new: bool) -> list[list[str]]:
    """Switches branches; the git commands that take it back."""
    head, branch = repo.commit_id("HEAD"), repo.branch()
    repo.run("switch", "-q", *(["-c"] if is_new else []), name, timeout=_SWITCH, for_person=True)
    if head is None:
        return [["symbolic-ref", "HEAD", f"refs/heads/{branch}"]]
    back = [["switch", "-q", *([branch] if branch else ["--detach", head])]]
    return [*back, ["branch", "-q", "-D", name]] if is_new else back


def _here() -> Gate:
    return Gate(os.getcwd(), host="cli")


def _follow(moved: Moved) -> None:
    """The gate after the step, which is made already: an error becomes a note."""
    try:
        moved.after = decide(_here().event(f"post-issue-{moved.step}", issue_id=moved.issue))
    except AhpError as error:
        moved.notes.append(f"{moved.issue} has moved; what follows could not be judged: {error}")
