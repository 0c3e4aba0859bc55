"""Which issue an event is about: the one named, else the branch's, else Monoco's variable (design §4)."""

from ahp.protocol.text import one_line
from ahp.tickets import ids
from ahp.tickets.ticket_error import TicketError

VARIABLE = "MONOCO_ISSUE_ID"


def named(text: str) -> str:
    """The id that a person or a host named with `--issue`. Raises TicketError when it is none."""
    project, found = ids.reference(text)
    if not found or project:
        raise TicketError("", 0, f"`{one_line(text, 60)}` is no issue id; one looks like FEAT-0001")
    return found


def candidates(given: str | None, branch: str, env: dict[str, str]) -> list[str]:
    """The ids the event may be about, best first; what was named stands alone. Raises TicketError as `named` does.

    A branch like `release-2` names no issue unless there is a ticket RELEASE-2: the caller asks for tickets in turn.
    """
    if given:
        return [named(given)]
    found = [ids.of_branch(branch), ids.reference(env.get(VARIABLE, ""))[1]]
    return list(dict.fromkeys(issue_id for issue_id in found if issue_id))
