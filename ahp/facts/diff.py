"""`diff`: the lines the event adds and removes (design §6); empty, not absent, for a call that writes no text."""

from ahp.facts.groups import CHANGE

TRIGGERS = CHANGE

_LINE = {
    "path": {"type": "str", "doc": "the file"},
    "line": {"type": "int", "min": 1, "doc": "number of the line, from 1: in the new file (added), the old (removed)"},
    "text": {"type": "str", "doc": "the line without its end; bytes that are not UTF-8 as lone surrogates"},
}

SCHEMA = {
    "added": {"type": "list[record]", "fields": _LINE, "doc": "every added line of every text file"},
    "removed": {"type": "list[record]", "fields": _LINE, "doc": "every removed line of every text file"},
}
