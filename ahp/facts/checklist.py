"""`checklist`: the boxes of the ticket (design §6), whole and by section.

What is argued away instead of done can be asked about: boxes that are cancelled, marked in a way that nobody knows, or
that the base has and the ticket has no more.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from ahp.facts.registry import ISSUE, Absent, Namespace, fact
from ahp.protocol.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.tickets.tasklist import Box
    from ahp.tickets.ticket import Ticket

_BOXES: dict[str, dict[str, object]] = {
    "total": fact("int", "boxes, none cancelled", min=0),
    "done": fact("int", "ticked", min=0),
    "incomplete_count": fact("int", "open, begun or invalid", min=0),
    "completion_rate": fact("float", "done of total", min=0.0, max=1.0, optional=True),
    "incomplete": fact("list[str]", "texts of open boxes"),
    "incomplete_ids": fact("list[str]", "their ids, else places: tasks-2"),
    "cancelled_count": fact("int", "cancelled", min=0),
    "invalid_count": fact("int", "unknown marks; they are open", min=0),
    "removed": fact(
        "list[str]",
        "texts that the base has and the ticket lacks",
        optional=True,
    ),
}

_SCHEMA = dict(_BOXES)
for _section in ("acceptance", "tasks", "review"):
    for _field, _entry in _BOXES.items():
        _SCHEMA[_section + "." + _field] = {**_entry, "doc": f"{_entry['doc']} ({_section} section)"}

NAMESPACE = Namespace(
    source="the boxes of the ticket",
    past="git does not record for which issue a commit was made",
    certain=ISSUE,
    costly=True,
    schema=_SCHEMA,
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The counts of the current ticket's boxes; the rate is absent where there are none.

    Raises Absent where no issue is current, TicketError where its ticket cannot be read: never an empty checklist.
    """
    from ahp.facts.issue import current
    from ahp.tickets.ticket import tally

    _, ticket = current(event)
    found: dict[str, object] = {}
    earlier = _of_base(event, ticket) if any(field.endswith("removed") for field in fields) else ()
    for section in dict.fromkeys(field.rpartition(".")[0] for field in fields):
        counts = tally(box for box in ticket.boxes if not section or box.section == section)
        place = f" in {section}" if section else ""
        counts.setdefault("completion_rate", Absent(f"{ticket.id} has no boxes{place}"))
        counts["removed"] = earlier if isinstance(earlier, Absent) else _removed(earlier, ticket, section)
        found.update({f"{section}.{name}" if section else name: value for name, value in counts.items()})
    return {field: found[field] for field in fields}


def _of_base(event: Event, ticket: "Ticket") -> "tuple[Box, ...] | Absent":
    """The boxes that the ticket has in what the change is measured from, else in the first commit that gave it any.

    Those without a text are a template's, still to be filled in.
    """
    from ahp.system.errors import Unknown
    from ahp.system.git import GitError
    from ahp.system.history import RangeView
    from ahp.system.partial_clone import WHOLE
    from ahp.tickets.frontmatter import NoTicket, TicketError
    from ahp.tickets.tracker import of_issue

    if event.view is None or event.repo is None:
        return Absent("there is no base to compare the ticket with")
    try:
        base = event.view.base()
    except Unknown as unknown:
        return Absent(unknown.reason, unknown.command, unknowable=True)
    try:
        for commit in (base, *_commits_of(event, base, ticket.id)):
            try:
                view = RangeView(event.repo, commit, commit)
                boxes = of_issue(view, ticket.id, event.project).get(ticket.id).boxes
            except NoTicket:
                continue
            if any(box.text for box in boxes):
                return boxes
    except GitError as error:
        return Absent(f"the history of the ticket is not in this clone ({error})", WHOLE, unknowable=True)
    except TicketError as error:
        return Absent(f"the ticket of the base cannot be read: {error}")
    return ()


def _commits_of(event: Event, base: str, issue_id: str) -> "Iterator[str]":
    """The commits of a change that touch a file named for the issue, the oldest first."""
    view, repo = event.view, event.repo
    assert view is not None and repo is not None
    tip = getattr(view, "new", "") or repo.commit_id("HEAD")
    if tip and tip != base:
        since = [] if base == repo.empty_tree() else ["--not", base]
        yield from (
            repo.run(*("rev-list", "--topo-order", "--reverse", tip, *since, "--", f":(icase)*{issue_id}*"))
            .decode()
            .split()
        )


def _removed(earlier: "Iterable[Box]", ticket: "Ticket", section: str) -> list[str]:
    """The labels of earlier boxes of a section ("" for any) that are in no section now; a moved box is still there."""
    left = Counter(_name(box) for box in ticket.boxes)
    gone = []
    for box in earlier:
        name = _name(box)
        if left[name]:
            left[name] -= 1
        elif box.state != "cancelled" and (box.text or box.named) and section in ("", box.section):
            gone.append(box.label)
    return gone


def _name(box: "Box") -> str:
    """What a box is known by: the id that its author gave it, else its words."""
    return box.id if box.named else " ".join(box.text.casefold().split())
