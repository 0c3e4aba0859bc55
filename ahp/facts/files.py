"""`files`: what the event changes (design §6); paths are relative to the repository's top, `/` between parts."""

from ahp.facts.groups import CHANGE

TRIGGERS = CHANGE

_PATHS = {"type": "list[str]"}
_COUNT = {"type": "int", "min": 0}

SCHEMA = {
    "changed": {**_PATHS, "doc": "every path the change touches; a renamed file under its new name"},
    "added": {**_PATHS, "doc": "new files, copies included"},
    "modified": {**_PATHS, "doc": "files whose content, mode or kind changed in place"},
    "deleted": {**_PATHS, "doc": "files that are gone"},
    "renamed": {**_PATHS, "doc": "the new names of renamed files"},
    "binary": {**_PATHS, "doc": "changed files that git takes for binary"},
    "changes": {
        "type": "list[record]",
        "fields": {
            "path": {"type": "str", "doc": "the path, after a rename"},
            "old_path": {"type": "str", "nullable": True, "doc": "the path before a rename or copy, else null"},
            "status": {
                "type": "str",
                "enum": ["added", "modified", "deleted", "renamed", "copied", "type-changed"],
                "doc": "what happened to the file",
            },
            "insertions": {**_COUNT, "doc": "lines added; 0 for a binary file"},
            "deletions": {**_COUNT, "doc": "lines removed; 0 for a binary file"},
            "lines": {**_COUNT, "nullable": True, "doc": "lines the file has now; null for binary and over 8 MiB"},
            "bytes": {**_COUNT, "doc": "size of the file now; 0 when deleted"},
        },
        "doc": "one record a changed file",
    },
    "changed_count": {**_COUNT, "doc": "number of changed files"},
    "insertions": {**_COUNT, "doc": "lines added over all text files"},
    "deletions": {**_COUNT, "doc": "lines removed over all text files"},
    "lines_changed": {**_COUNT, "doc": "insertions plus deletions"},
    "largest_bytes": {**_COUNT, "doc": "size of the largest changed file after the change; 0 when there is none"},
}
