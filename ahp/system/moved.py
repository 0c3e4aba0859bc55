"""The texts of the files that a change gives another path: git tells no line of them but those it edits."""

from ahp.system import blobs, encoding
from ahp.system.change import EXECUTABLE, FILE, FileChange
from ahp.system.errors import Unknown
from ahp.system.view import View

LENGTH = 1 << 20  # bytes of each file that are read
LIMIT = 64 << 20  # characters of all of them together
_AT_ONCE = 100


class Moved:
    """The files with another path as records `{path, old_path, text}`, in git's order, `text` the first megabyte and ""
    of what is no text; `unread` are the paths of those past the limit, `lacking` of those not in a partial clone.
    """

    __slots__ = ("files", "lacking", "unread")

    def __init__(self) -> None:
        self.files: list[dict[str, object]] = []
        self.unread: list[str] = []
        self.lacking: list[str] = []


def of(view: View) -> Moved:
    """The files that the change of `view` moves; none of a change that is measured from several states, which git is
    asked without renames. Raises Unknown, GitError, AhpError.
    """
    entries = [e for e in view.change().entries if e.status == "R" and e.new_mode in (FILE, EXECUTABLE)]
    found, total = Moved(), 0
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        if total > LIMIT:
            found.unread += [entry.path for entry in some]
            continue
        for entry, data in _read(view, some):
            if data is None:
                found.lacking.append(entry.path)
                continue
            text = _text(data)
            total += len(text)
            found.files.append({"path": entry.path, "old_path": entry.old_path, "text": text})
    return found


def _read(view: View, entries: list[FileChange]) -> list[tuple[FileChange, bytes | None]]:
    """The beginning of each file; None of one that is not here."""
    known = blobs.heads(view.repo, [entry.new_oid for entry in entries if entry.new_oid.strip("0")], LENGTH)
    return [(entry, known[entry.new_oid] if entry.new_oid in known else _asked(view, entry)) for entry in entries]


def _asked(view: View, entry: FileChange) -> bytes | None:
    """The same of a file that git has no object of: an edit of the work tree may have an id for all that."""
    try:
        return view.after(entry)[:LENGTH]
    except Unknown:
        return None


def _text(data: bytes) -> str:
    name = encoding.of(data)
    if name == "utf-8":
        return data.decode("utf-8", "surrogateescape")
    return encoding.decoded(data, name) if name else ""
