"""`checklist`: the boxes of the event's ticket (design §6), whole and by section; cancelled boxes do not count."""

from ahp.facts.absent import Absent
from ahp.facts.registry import ISSUE, Namespace, fact
from ahp.protocol.event import Event

_BOXES: dict[str, dict[str, object]] = {
    "total": fact("int", "boxes, without the cancelled ones", min=0),
    "done": fact("int", "ticked boxes", min=0),
    "incomplete_count": fact("int", "open boxes: to do, or begun", min=0),
    "completion_rate": fact("float", "done of total; absent when there are no boxes", min=0.0, max=1.0, optional=True),
    "incomplete": fact("list[str]", "texts of the open boxes"),
    "incomplete_ids": fact("list[str]", "ids of the open boxes; one without gets its place: tasks-2"),
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
    for section in dict.fromkeys(field.rpartition(".")[0] for field in fields):
        counts = tally(box for box in ticket.boxes if not section or box.section == section)
        place = f" in {section}" if section else ""
        counts.setdefault("completion_rate", Absent(f"{ticket.id} has no boxes{place}"))
        found.update({f"{section}.{name}" if section else name: value for name, value in counts.items()})
    return {field: found[field] for field in fields}
