"""The life of an issue: draft, doing, review, done; each step a plan of changes."""

import os
from dataclasses import dataclass

from ahp.protocol.text import one_line
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.tickets.edit import Value, edit_keys
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.ticket import STAGES, Ticket

GIVEN_UP = ("cancelled", "wontfix", "duplicate")
SOLUTIONS = ("implemented", *GIVEN_UP)
STATUSES = ("open", "closed", "backlog", "archived")

_FROM = {"start": ("draft", "doing", "review"), "submit": ("doing", "review"), "close": ("review",)}
_TO = {"start": "doing", "submit": "review", "close": "done"}
_FIRST = {"draft": "start it first", "doing": "submit it first", "done": "it is done", "freezed": "open it first"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a step would make of a ticket: old and new path (relative to the root) and bytes."""

    issue: str
    path: str
    new_path: str
    before: bytes
    after: bytes

    def carry_out(self, root: str) -> None:
        """Takes the step in the work tree at `root`: the new text first, then the new place, so that a killed process
        leaves one ticket, and `ahp issue lint` names its place.

        Raises AhpError, and then nothing has changed: also when the file is not what the plan was made from, or another
        lies in its new place.
        """
        old, new = f"{root}/{self.path}", f"{root}/{self.new_path}"
        if os.path.islink(old):
            raise AhpError(f"{self.path} is a symbolic link; put the ticket itself there")
        if files.read(old) != self.before:
            raise AhpError(f"{self.path} was changed meanwhile; run the command again")
        if (old, self.before) == (new, self.after):
            return
        if old != new and os.path.lexists(new):
            raise AhpError(f"{self.new_path} exists already; keep one of the two tickets")
        mode = os.stat(old).st_mode & 0o777
        try:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            files.replace(old, self.after, mode)
            os.rename(old, new)
        except OSError as error:
            files.replace(old, self.before, mode)
            raise AhpError(f"cannot move the ticket to {self.new_path}: {error.strerror}") from None


def start(ticket: Ticket, folder: str) -> Plan:
    """To `doing`: from draft, or back from review. `folder` is where the project's tickets lie (`Issues/`).

    Raises TicketError from any other phase, as each step does.
    """
    return _plan(ticket, folder, "start", {})


def submit(ticket: Ticket, folder: str, changed: list[str] | None) -> Plan:
    """To `review`, with the changed files as the ticket's own, sorted and without the ticket itself.

    Where it is not known what changed (None) its `files` stay as they are.
    """
    files = None if changed is None else sorted({path for path in changed if path != ticket.path})
    return _plan(ticket, folder, "submit", {} if files is None else {"files": files})


def close(ticket: Ticket, folder: str, solution: str = "") -> Plan:
    """To `done` and closed, after review; a solution other than `implemented` may end an issue in any open phase."""
    if solution and solution not in SOLUTIONS:
        raise TicketError("", 0, f"a solution is one of {', '.join(SOLUTIONS)}")
    changes: dict[str, Value] = {} if ticket.is_record else {"status": "closed"}
    if solution:
        changes["solution"] = solution
    return _plan(ticket, folder, "close", changes, abandoned=solution not in ("", "implemented"))


def _plan(ticket: Ticket, folder: str, step: str, changes: dict[str, Value], abandoned: bool = False) -> Plan:
    phase, goal = ticket.phase, _TO[step]
    if phase not in _FROM[step] and not (abandoned and phase in STAGES[:3]):
        stage = one_line(phase or ticket.stage, 60)
        why = _FIRST.get(phase, "nobody knows that stage")
        raise TicketError(ticket.path, 0, f"cannot {step} {ticket.id}, which is in `{stage}`: {why}")
    if phase != goal:
        changes = {"status" if ticket.is_record else "stage": goal, **changes}
    status = goal if ticket.is_record else str(changes.get("status", ticket.status))
    before = ticket.front.data
    after = edit_keys(before, changes, ticket.path)
    return Plan(ticket.id, ticket.path, place(ticket.path, folder, status), before, after)


def place(path: str, folder: str, status: str) -> str:
    """Where a ticket of that status lies: the first folder named after a status gives way, else `path`.

    `Issues/Features/open/web/FEAT-1-x.md` closed is `Issues/Features/closed/web/FEAT-1-x.md`. The record documents
    keep drafts in `open`.
    """
    known = (*STAGES, "open", "closed") if status in STAGES else STATUSES
    *folders, name = path.removeprefix(folder).split("/")
    for index, part in enumerate(folders):
        if part in known:
            if (status, part) != ("draft", "open"):
                folders[index] = status
            break
    return folder + "/".join([*folders, name])


def gates(old: str, new: str, solution: str = "") -> list[str]:
    """The steps whose gates lie between two phases, in order; none on the way back.

    One that is given up, as its `solution` says, only has to pass the last: nothing of it is handed in.

    A ticket that is new, or frozen, stands where a draft does: `gates("draft", "review")` is start and submit.
    """
    places = [STAGES.index(phase) if phase in STAGES else 0 for phase in (old, new)]
    steps = {goal: step for step, goal in _TO.items()}
    passed = [steps[phase] for phase in STAGES[places[0] + 1 : places[1] + 1]]
    return passed[-1:] if new == "done" and solution in GIVEN_UP else passed
