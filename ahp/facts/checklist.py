"""`checklist`: the boxes of the event's ticket (design §6), whole and by section; cancelled boxes do not count."""

from ahp.facts.registry import ISSUE, Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event

_BOXES: "dict[str, dict[str, object]]" = {
    "total": {"type": "int", "min": 0, "doc": "boxes, without the cancelled ones"},
    "done": {"type": "int", "min": 0, "doc": "ticked boxes"},
    "incomplete_count": {"type": "int", "min": 0, "doc": "open boxes: to do, or begun"},
    "completion_rate": {
        "type": "float",
        "min": 0.0,
        "max": 1.0,
        "optional": True,
        "doc": "done of total, a fraction from 0 to 1; absent when there are no boxes",
    },
    "incomplete": {"type": "list[str]", "doc": "texts of the open boxes"},
    "incomplete_ids": {"type": "list[str]", "doc": "ids of the open boxes; one without gets its place: tasks-2"},
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


def gather(event: "Event", fields: "frozenset[str]", settings: "dict[str, Any]") -> "dict[str, object]":
    """The counts of the current ticket's boxes; the rate is absent where there are none.

    Raises Absent where no issue is current, TicketError where its ticket cannot be read: never an empty checklist.
    """
    from ahp.facts.absent import Absent
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
