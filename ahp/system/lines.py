"""The lines that a change adds and removes, also of files in UTF-16, and what of them is too much to read."""

from ahp.system import encoding, patch
from ahp.system.change import FileChange, Line, Lines
from ahp.system.errors import OutputLimit
from ahp.system.view import View

LIMIT = 64 << 20  # bytes of diff that are read
_AT_ONCE = 16 << 20  # bytes of content in one question to git: its diff may be twice as long
_FILES_AT_ONCE = 100


def of(view: View, with_added: bool = True, with_removed: bool = True) -> Lines:
    """The lines of the change of `view`: added over all that it is measured from, removed over the first of it.

    Raises Unknown, GitError, AhpError.
    """
    if not view.change().entries:
        return Lines([], [], [])
    if (known := view.known_lines()) is not None:
        return known
    first, *others = [_read(side, with_added, with_removed) for side in view.sides()]
    if not others:
        return first
    counted = {entry.path for entry in view.change().entries}
    unread = dict(first.unread)
    lacking = {entry.path: entry for side in (first, *others) for entry in side.lacking}
    for other in others:
        there = {(line["path"], line["line"]) for line in other.added}
        unsure = {**dict(other.unread), **{entry.path: 0 for entry in other.lacking}}
        first.added = [one for one in first.added if (one["path"], one["line"]) in there or one["path"] in unsure]
        unread = {**dict(other.unread), **unread}
    added = [line for line in first.added if line["path"] in counted]
    removed = [line for line in first.removed if line["path"] in counted]
    both = Lines(added, removed, [(path, size) for path, size in unread.items() if path in counted])
    both.lacking = [entry for path, entry in lacking.items() if path in counted]
    return both


def _read(view: View, with_added: bool, with_removed: bool) -> Lines:
    lacking = view.change().lacking
    entries = [entry for entry in view.change().entries if entry.path not in lacking]
    try:
        text = view.diff() if not lacking else _patch(view, entries)
        found = Lines(*patch.parse(text, with_added, with_removed), [])
    except OutputLimit:
        found = _smallest_first(view, entries)
    # What only has another name or mode has no such lines.
    found.lacking = [e for e in view.change().entries if e.path in lacking and e.old_oid != e.new_oid]
    gone = {path for path, _ in found.unread}
    for entry in entries:
        name = view.encodings().get(entry.path, "") if entry.insertions is None and entry.path not in gone else ""
        if name not in ("", "utf-8"):
            _add_wide(found, view, entry, name)
    return found


def _smallest_first(view: View, entries: list[FileChange]) -> Lines:
    """As much as fits into the limit, the smallest files first; then no small file goes unread for a large one."""
    weights = _weights(view, entries)
    waiting = sorted(entries, key=lambda entry: weights[entry.path])[::-1]  # the smallest last: it is taken first
    found, left = Lines([], [], []), LIMIT
    while waiting and left > 0:
        some, total = [waiting.pop()], weights[waiting[-1].path] if waiting else 0
        while waiting and len(some) < _FILES_AT_ONCE and total <= _AT_ONCE:
            some.append(waiting.pop())
            total += weights[waiting[-1].path] if waiting else 0
        try:
            text = _patch(view, some)
        except OutputLimit:
            text = b" " * (left + 1)
        left -= len(text)
        if left < 0:
            waiting += some[::-1]
            break
        added, removed = patch.parse(text)
        found.added += added
        found.removed += removed
    found.unread = [(entry.path, weights[entry.path]) for entry in waiting]
    return found


def _patch(view: View, entries: list[FileChange]) -> bytes:
    known = view.encodings()
    hidden = [entry for entry in entries if entry.insertions is None and known.get(entry.path) == "utf-8"]
    plain = [entry for entry in entries if entry.insertions is not None]
    return (view.patch(plain) if plain else b"") + (view.patch(hidden, "--text") if hidden else b"")


def _weights(view: View, entries: list[FileChange]) -> dict[str, int]:
    """The bytes of each of these changed files, before and after together."""
    known = view.blob_sizes([oid for e in entries for oid in (e.old_oid, e.new_oid) if oid.strip("0")])
    found = {}
    for e in entries:
        stored = e.new_oid.strip("0") or not e.new_mode
        new = known.get(e.new_oid, 0) if stored else view.size(e.path) or 0
        found[e.path] = known.get(e.old_oid, 0) + new
    return found


def _add_wide(found: Lines, view: View, entry: FileChange, name: str) -> None:
    """Adds the lines of a file that is in UTF-16 or UTF-32 now, or was when it was deleted."""
    try:
        old, new = view.before(entry), view.after(entry)
    except OutputLimit:
        found.unread.append((entry.path, LIMIT))
        return
    before, after = _texts(old, name), _texts(new, name)
    for old_from, old_to, new_from, new_to in patch.regions(before, after):
        found.removed += _records(entry.old_path or entry.path, before, old_from, old_to)
        found.added += _records(entry.path, after, new_from, new_to)


def _texts(data: bytes, name: str) -> list[str]:
    """The lines of a file, without their ends; one side of a change may be in another encoding than the other."""
    own = encoding.of(data[: encoding.LOOKED_AT]) or name
    text = data.decode("utf-8", "surrogateescape") if own == "utf-8" else encoding.decoded(data, own)
    return [line.removesuffix("\r") for line in patch.lines_of(text)]


def _records(path: str, lines: list[str], start: int, end: int) -> list[Line]:
    return [{"path": path, "line": at + 1, "text": lines[at]} for at in range(start, end)]
