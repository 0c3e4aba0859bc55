"""`files`: what the event changes (design §6); paths begin at the repository's top, with `/`.  [light]"""

from ahp.facts.registry import CHANGE, Absent, Namespace, fact, view_of
from ahp.protocol.event import Event
from ahp.system.change import FileChange
from ahp.system.view import View

_NOW = ("pre-commit", "pre-merge-commit", "commit-msg", "task-complete")  # what was written lies as it was written
NAMESPACE = Namespace(
    triggers=CHANGE,
    assumed=True,
    light=True,
    schema={
        "changed": fact("list[str]", "every path; of a renamed file both names", means="path"),
        "added": fact("list[str]", "new files, copies, new names", means="path"),
        "modified": fact("list[str]", "changed in content, mode or kind", means="path"),
        "deleted": fact("list[str]", "removed files, old names", means="path"),
        "renamed": fact("list[str]", "new names of renamed files", means="path"),
        "binary": fact("list[str]", "not text, whatever `.gitattributes` says", means="path"),
        "changes": fact(
            "list[record]",
            "a record for each file",
            fields={
                "path": fact("str", "", means="path"),
                "old_path": fact("str", "before a rename or copy", nullable=True, means="path"),
                "status": fact(
                    "str",
                    "",
                    enum=["added", "modified", "deleted", "renamed", "copied", "type-changed"],
                ),
                "insertions": fact("int", "", min=0),
                "deletions": fact("int", "", min=0),
                "lines": fact(
                    "int",
                    "lines now; null for git's binary files and over 8 MiB",
                    min=0,
                    nullable=True,
                ),
                "bytes": fact("int", "", min=0),
                "mode": fact("str", "100644, 100755 (program), 120000 (link), 160000; empty when deleted"),
            },
        ),
        "changed_count": fact("int", "a renamed file counts once", min=0),
        "insertions": fact("int", "lines added", min=0),
        "deletions": fact("int", "lines removed", min=0),
        "lines_changed": fact("int", "insertions plus deletions", min=0),
        "largest_bytes": fact("int", "size of the largest file", min=0),
        "unexplained": fact(
            "list[str]", "written in an agent's turn while none of its calls ran", triggers=_NOW, means="path"
        ),
    },
)

_COUNTED = ("binary", "changes", "insertions", "deletions", "lines_changed")
_SIZED = ("changes", "largest_bytes")
_STATUS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "type-changed"}
_NAMES = ("changed", "added", "modified", "deleted", "renamed", "changed_count")  # known without any content
_KIND = {"added": "ACR", "modified": "MTU", "renamed": "R"}


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`; sizes ask git once more, so only when read.

    Raises Absent without a view, Unknown, GitError, AhpError (limits).
    """
    view = view_of(event)
    entries, lacking, unread = view.change().entries, view.change().lacking, view.doubt(contents=True)
    found: dict[str, object] = {}
    for field in fields:
        if unread and field not in _NAMES:
            found[field] = Absent(unread)
        elif lacking and field in _COUNTED:
            found[field] = _uncounted(view)
        elif field == "changed":
            found[field] = [path for entry in entries for path in (entry.old_path, entry.path) if path]
        elif field == "changed_count":
            found[field] = len(entries)
        elif field in _KIND:
            letters = _KIND[field]
            found[field] = [entry.path for entry in entries if entry.status in letters]
        elif field == "deleted":
            gone = [entry.path if entry.status == "D" else entry.old_path for entry in entries]
            found[field] = [path for path in gone if path]
        elif field == "binary":
            found[field] = _binary(view, entries)
        elif field == "unexplained":
            found[field] = _unexplained(event, view, entries)
        elif field in _SIZED:
            found[field] = _sized(field, view, entries)
        else:
            found[field] = _lines(entries, field)
    return found


def _unexplained(event: Event, view: View, entries: list[FileChange]) -> "list[str] | Absent":
    """By the time of each file's last change, which no program can set: of a deleted one, that of its folder's."""
    import posix

    from ahp.journal import session_calls

    if view.kind not in ("index", "worktree"):
        return Absent("commits are judged, and git does not record who wrote a file", elsewhere=True)
    changed = {}
    for path in [path for entry in entries for path in (entry.old_path, entry.path) if path]:
        place = f"{event.root}/{path}"
        while path not in changed:
            try:
                changed[path] = posix.lstat(place).st_ctime
            except OSError:  # it is gone, or a part of it is no folder now
                place = place.rpartition("/")[0] or "/"
    return session_calls.unexplained(event.journal, changed)


def _uncounted(view: View) -> Absent:
    from ahp.protocol.text import one_line

    named = one_line(min(view.change().lacking), 100)
    return Absent(f"the content of {named} is not in this partial clone", view.mend(), unknowable=True)


def _sized(field: str, view: View, entries: list[FileChange]) -> object:
    """A field for which git is asked about the objects; unknowable where one of them is not here."""
    from ahp.facts import sizes
    from ahp.system.errors import Unknown

    try:
        if field == "changes":
            return _records(entries, sizes.line_counts(view, entries))
        return max(sizes.byte_counts(view, entries), default=0)
    except Unknown as unknown:
        return Absent(unknown.reason, unknown.command, unknowable=True)


def _binary(view: View, entries: list[FileChange]) -> list[str]:
    """The files without any text: `package-lock.json -diff` and the like hide lines from people, and make no binary."""
    uncounted = [entry.path for entry in entries if entry.insertions is None]
    text = view.encodings() if uncounted else {}
    return [path for path in uncounted if not text.get(path)]


def _lines(entries: list[FileChange], field: str) -> int:
    total = 0
    if field != "deletions":
        total += sum([entry.insertions or 0 for entry in entries])
    if field != "insertions":
        total += sum([entry.deletions or 0 for entry in entries])
    return total


def _records(entries: list[FileChange], counted: list[tuple[int, int | None]]) -> list[dict[str, object]]:
    return [
        {
            "path": entry.path,
            "old_path": entry.old_path,
            "status": _STATUS.get(entry.status, "modified"),
            "insertions": entry.insertions or 0,
            "deletions": entry.deletions or 0,
            "lines": lines,
            "bytes": size,
            "mode": f"{entry.new_mode:o}" if entry.new_mode else "",
        }
        for entry, (size, lines) in zip(entries, counted, strict=True)
    ]
