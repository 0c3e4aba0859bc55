"""What differs between two states of a tree, as `git diff-… --raw --numstat -z` tells it.  [light]"""

from ahp.system import digest
from ahp.system.errors import AhpError

FILE, EXECUTABLE, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000  # modes, as git has them
DIGEST = "change1:"  # how the digest of a change begins

Line = dict[str, object]


class FileChange:
    """One path of a change.

    `status` is git's letter (A, M, D, R, T), modes are ints (0 where the side is absent), `insertions` and `deletions`
    count lines (None for what git takes for binary), `old_path` is set for renames only. `content` tells one content
    from another where git has no object for it yet.
    """

    __slots__ = (
        "content",
        "deletions",
        "insertions",
        "new_mode",
        "new_oid",
        "old_mode",
        "old_oid",
        "old_path",
        "path",
        "status",
    )

    def __init__(
        self,
        path: str,
        status: str,
        old_mode: int,
        new_mode: int,
        old_oid: str,
        new_oid: str,
        old_path: str | None = None,
    ) -> None:
        self.path, self.old_path, self.status = path, old_path, status
        self.old_mode, self.new_mode, self.old_oid, self.new_oid = old_mode, new_mode, old_oid, new_oid
        self.content = ""
        self.insertions: int | None = None
        self.deletions: int | None = None


class Change:
    """The entries of a change in git's order, and its digest: `DIGEST` + SHA-256 over modes, ids and paths.

    The digest is of the change without rename detection, so that what was staged and what was committed compare equal.
    `lacking` are the paths whose content before or after is not in this partial clone: their lines are not counted.
    """

    __slots__ = ("_digest", "entries", "lacking")

    def __init__(self, entries: list[FileChange], lacking: "frozenset[str]" = frozenset()) -> None:
        self.entries, self.lacking = entries, lacking
        self._digest = ""

    @property
    def digest(self) -> str:
        if not self._digest:
            lines = "\0".join(sorted(self._lines()))
            self._digest = DIGEST + digest.sha256(lines.encode("utf-8", "surrogateescape"))
        return self._digest

    def identify(self, more: bytes) -> None:
        """Takes `more` into the digest: what tells this change from another that does the same to the tree."""
        self._digest = DIGEST + digest.sha256(self.digest.encode() + b"\0" + more)

    def _lines(self) -> list[str]:
        lines = []
        for e in self.entries:
            if e.old_path is None:
                lines.append(f"{e.old_mode:o} {e.new_mode:o} {e.old_oid} {e.content or e.new_oid} {e.path}")
            else:
                none = "0" * len(e.new_oid)
                lines.append(f"{e.old_mode:o} 0 {e.old_oid} {none} {e.old_path}")
                lines.append(f"0 {e.new_mode:o} {none} {e.content or e.new_oid} {e.path}")
        return lines


class Lines:
    """Records `{path, line, text}` of the lines, in git's order. Nothing is known of the lines of other files:
    `unread` are those past the limit, the largest first, as (path, bytes before and after together), `lacking` those
    whose content before or after is not in a partial clone.
    """

    __slots__ = ("added", "lacking", "removed", "unread")

    def __init__(self, added: list[Line], removed: list[Line], unread: list[tuple[str, int]]) -> None:
        self.added, self.removed, self.unread = added, removed, unread
        self.lacking: list[FileChange] = []


def in_all(sides: list[Change]) -> Change:
    """What differs from each of several states (two or more): the entries of the first whose path is in all."""
    first, *rest = [side.entries for side in sides]
    counted = {entry.path for entry in rest[0]}
    for entries in rest[1:]:
        counted &= {entry.path for entry in entries}
    lacking = [path for side in sides for path in side.lacking if path in counted]
    return Change([entry for entry in first if entry.path in counted], frozenset(lacking))


def parse(data: bytes) -> Change:
    """The change in the output of `git diff-index|diff-tree --raw --numstat -z [-M]`. Raises AhpError when cut."""
    fields = data.decode("utf-8", "surrogateescape").split("\0")
    entries: list[FileChange] = []
    by_path: dict[str, FileChange] = {}
    at, last = 0, len(fields) - 1  # the text ends with NUL
    try:
        if fields[last]:
            raise ValueError
        while at < last:
            head = fields[at]
            if head[0] == ":":
                old_mode, new_mode, old_oid, new_oid, status = head[1:].split(" ")
                letter = status[0]
                if letter in "RC":
                    old_path, path = fields[at + 1], fields[at + 2]
                    at += 3
                else:
                    old_path, path = None, fields[at + 1]
                    at += 2
                if "040000" in (old_mode, new_mode):
                    continue  # a tree (-t)
                source = old_path if letter == "R" else None
                entry = FileChange(path, letter, int(old_mode, 8), int(new_mode, 8), old_oid, new_oid, source)
                entries.append(entry)
                by_path[path] = entry
            else:
                insertions, deletions, path = head.split("\t", 2)
                if path:
                    at += 1
                else:  # a rename: both names follow
                    path = fields[at + 2]
                    at += 3
                if insertions != "-":
                    entry = by_path[path]
                    entry.insertions, entry.deletions = int(insertions), int(deletions)
        if at > last:
            raise IndexError
    except (ValueError, IndexError, KeyError):
        raise AhpError("git's list of changed files is cut or not understood") from None
    return Change(entries)
