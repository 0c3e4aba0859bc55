"""`checklist`: the boxes of the event's ticket (design §6), whole and by section; cancelled boxes do not count."""

from ahp.facts.groups import ISSUE

TRIGGERS = None
CERTAIN = ISSUE

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
    "incomplete_ids": {"type": "list[str]", "doc": "ids of the open boxes, where they have any"},
}

SCHEMA: "dict[str, dict[str, object]]" = dict(_BOXES)
for _section in ("acceptance", "tasks", "review"):
    for _field, _entry in _BOXES.items():
        SCHEMA[_section + "." + _field] = {**_entry, "doc": f"{_entry['doc']} ({_section} section)"}
