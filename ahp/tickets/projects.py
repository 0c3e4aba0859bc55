"""The projects of one repository that keep tickets: its top, and Monoco's projects in folders below it."""

import os

from ahp.protocol.text import one_line
from ahp.tickets.find import Files, Tickets
from ahp.tickets.ticket_error import TicketError

_MARK = ".monoco"


def folders(paths: list[str]) -> list[str]:
    """The folders of the projects in a tree with these paths, "" for its top, which comes first."""
    found = {path.partition(f"/{_MARK}/")[0] for path in paths if f"/{_MARK}/" in path}
    return ["", *sorted(found)]


def around(folder: str, root: str) -> str:
    """The project that a folder of the work tree at `root` lies in, relative to it; "" for the top."""
    root = os.path.realpath(root)
    place = os.path.realpath(folder)
    while place.startswith(root + os.sep):
        if os.path.isdir(f"{place}/{_MARK}"):
            return os.path.relpath(place, root)
        place = os.path.dirname(place)
    return ""


def of_issue(view: Files, issue_id: str, project: str = "") -> Tickets:
    """The tickets among which `issue_id` is: those of `project`, else of the one other project that has it.

    Where none has it, those of `project`. Raises TicketError when several others do.
    """
    own = Tickets(view, project)
    if own.has(issue_id):
        return own
    others = [Tickets(view, folder) for folder in folders(view.paths()) if folder != project]
    found = [tickets for tickets in others if tickets.has(issue_id)]
    if len(found) > 1:
        places = " and ".join(one_line(tickets.folder) for tickets in found[:4])
        raise TicketError("", 0, f"{issue_id} is a ticket in {places}; go to the folder of the one that is meant")
    return found[0] if found else own
