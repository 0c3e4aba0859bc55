"""`diff`: the lines the event adds and removes (design §6); of a tool call, those that it tells."""

from ahp.facts.registry import CHANGE, EVERY_FIELD, Absent, Namespace, fact, view_of
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import lines
from ahp.system.lines import LIMIT

_LINE = {
    "path": fact("str", "", means="path"),
    "line": fact("int", "", min=1),
    "text": fact("str", ""),
}

NAMESPACE = Namespace(
    triggers=CHANGE,
    private=EVERY_FIELD,
    assumed=True,
    schema={
        "added": fact("list[record]", "added lines of text files, UTF-16 and UTF-32 too", fields=_LINE),
        "removed": fact("list[record]", "removed lines", fields=_LINE),
    },
)

_MEBIBYTE = 1 << 20
_NAMED = 3


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where it is not told what changes, Unknown, GitError, AhpError.

    Where the change is too large, each is absent, with the lines of the smallest files that could be read.
    """
    view = view_of(event, contents=None)
    found = lines.of(view, "added" in fields, "removed" in fields)
    told: dict[str, list[dict[str, object]]] = {"added": found.added, "removed": found.removed}
    doubt = view.doubt(contents=True)
    if doubt and not (found.added or found.removed):
        raise Absent(doubt)
    if not found.unread and not found.lacking:
        return {**told}
    lacking = {
        "added": [entry.path for entry in found.lacking if entry.new_mode],
        "removed": [entry.path for entry in found.lacking if entry.old_mode],
    }
    return {
        name: Absent(
            _unread(view.kind, found.unread, lacking[name]),
            view.mend() if lacking[name] else "",  # no command makes a diff shorter
            unknowable=True,
            known=those,
        )
        if found.unread or lacking[name]
        else those
        for name, those in told.items()
    }


def _unread(kind: str, unread: list[tuple[str, int]], lacking: list[str]) -> str:
    if not lacking:
        return _too_much(
            "there is too much text to read at once"
            if kind == "tree"
            else f"the diff is longer than {LIMIT // _MEBIBYTE} MiB",
            unread,
        )
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    named = ", ".join(one_line(path, 100) for path in lacking[:_NAMED])
    return f"the content of {named}{more} is not in this partial clone"


def _too_much(what: str, unread: list[tuple[str, int]]) -> str:
    largest = sorted(unread, key=lambda one: -one[1])
    named = [f"{one_line(path, 100)} ({-(-size // _MEBIBYTE)} MiB)" for path, size in largest[:_NAMED]]
    more = f" and {len(largest) - _NAMED} more" if len(largest) > _NAMED else ""
    return f"{what}; the lines of {', '.join(named)}{more} were not read"
