"""`issue`: the ticket the event is about (design §6): the one named, else the one the branch names."""

from ahp.facts.groups import ISSUE

TRIGGERS = None
# Elsewhere there may be no current ticket, and then the namespace is absent.
CERTAIN = ISSUE

SCHEMA = {
    "id": {"type": "str", "doc": "its id: FEAT-0123"},
    "type": {"type": "str", "doc": "feature, fix, chore, epic …, lower case"},
    "status": {"type": "str", "doc": "open, closed, backlog, archived …, lower case"},
    "stage": {"type": "str", "optional": True, "doc": "draft, doing, review, done …, lower case"},
    "title": {"type": "str", "doc": "its title"},
    "criticality": {"type": "str", "optional": True, "doc": "low, medium, high, critical"},
    "dependencies": {"type": "list[str]", "doc": "ids of the tickets it needs"},
    "unmet_dependencies": {"type": "list[str]", "doc": "those that are not done, or not to be found"},
    "unmet_dependency_count": {"type": "int", "min": 0, "doc": "number of unmet dependencies"},
    "files": {"type": "list[str]", "doc": "the files it lists as its own"},
}
