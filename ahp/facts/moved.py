"""`moved`: the files that the event gives another path: git tells no line of them but those that it edits.  [light]"""

from ahp.facts.registry import CHANGE, EVERY_FIELD, NO_VIEW, Absent, Namespace, fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event
    from ahp.system.moved import Moved

NAMESPACE = Namespace(
    triggers=CHANGE,
    private=EVERY_FIELD,
    assumed=True,
    light=True,
    schema={
        "files": fact(
            "list[record]",
            "one record a file; none where a change is measured from several commits, for which `diff` has all lines",
            fields={
                "path": fact("str", "the path now", means="path"),
                "old_path": fact("str", "the path before", means="path"),
                "text": fact("str", "what the file holds now, up to 1 MiB; empty where that is no text"),
            },
        ),
    },
)

_NAMED = 3


def gather(event: "Event", fields: frozenset[str], settings: object) -> dict[str, object]:
    """The files. Raises Absent where it is not told what changes, Unknown, GitError, AhpError.

    Where a content is not here, or there is too much of it, they are absent, with those that could be read.
    """
    view = event.view
    if view is None:
        raise NO_VIEW
    if all(entry.status != "R" for entry in view.change().entries):
        return {"files": []}
    from ahp.system import moved

    found = moved.of(view)
    return {"files": _unknown(found, view.mend()) if found.lacking or found.unread else found.files}


def _unknown(found: "Moved", mend: str) -> Absent:
    from ahp.protocol.text import one_line

    paths = found.lacking or found.unread
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    named = ", ".join([one_line(path, 100) for path in paths[:_NAMED]]) + more
    if found.lacking:
        why = f"the content of {named} is not in this partial clone"
        return Absent(why, mend, unknowable=True, known=found.files)
    return Absent(f"there is too much text in moved files; not read: {named}", unknowable=True, known=found.files)
