"""`coverage`: percent of lines plus branches, from coverage.xml, coverage.json or lcov (design §6)."""

TRIGGERS = None

_PERCENT = {"type": "float", "min": 0.0, "max": 100.0, "optional": True}

SCHEMA = {
    "current": {**_PERCENT, "doc": "covered lines and branches of all lines and branches, 0 to 100"},
    "threshold": {**_PERCENT, "doc": "what the policy asks for, else the criticality of the issue: 0, 70, 85, 90"},
    "previous": {**_PERCENT, "doc": "the same figure in the report of the base"},
    "is_stale": {"type": "bool", "optional": True, "doc": "a source is newer than the report: no `current`"},
}
