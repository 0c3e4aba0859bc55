"""The work tree as a state that is judged: the files as they lie on the disk (design §1, §13)."""

import posix
from collections.abc import Sequence

from ahp.system import change as changes
from ahp.system import digest, encoding, files, patch
from ahp.system.change import Line, Lines
from ahp.system.encoding import LOOKED_AT
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import Repository
from ahp.system.view import PATCH, View, literally, names

FILE_LIMIT = 64 << 20
LINES_LIMIT = 16 << 20
"""Bytes of text of which all lines are known at once; a single file may have more."""
_POLICY = ".ahp/"  # lies in no folder that anybody names for a sparse checkout, and is in force all the same


class WorkTreeView(View):
    """The files as they lie on the disk, tracked and untracked, against `base` (a commit; default HEAD).

    An `Unknown` for a base says why it is not known against what: the files can be read, what changed cannot be told.
    """

    __slots__ = ("_base",)
    kind = "worktree"

    def __init__(self, repo: Repository, base: str | Unknown | None = None) -> None:
        super().__init__(repo)
        self._base = base or repo.commit_id("HEAD") or repo.empty_tree()

    def base(self) -> str:
        if isinstance(self._base, Unknown):
            raise self._base
        return self._base

    def _read_change(self) -> changes.Change:
        known = self._list()
        for path in self._untracked():
            entry = self._new_file(path)
            if entry is not None:
                known.entries.append(entry)
        for entry in known.entries:
            if entry.new_mode and not entry.new_oid.strip("0"):
                size = self.size(entry.path) or 0  # git gives what is not in its store no id
                data = self.read(entry.path) if size <= FILE_LIMIT else f"{size} bytes".encode()
                entry.content = digest.sha256(data or b"")[:40]
        return known

    def _new_file(self, path: str) -> changes.FileChange | None:
        """The entry of an untracked file as `git add` would take it; None for a pipe, or when it is gone."""
        mode = _git_mode(self._place(path))
        if not mode:
            return None
        entry = changes.FileChange(path, "A", 0, mode, "0" * 40, "0" * 40)
        # Past the limit its lines are not counted, so that a rule about large files reports it instead of this limit.
        data = self.read(path) if (self.size(path) or 0) <= FILE_LIMIT else None
        if data is not None and b"\0" not in data[:LOOKED_AT]:  # as git counts
            entry.insertions, entry.deletions = data.count(b"\n") + (not data.endswith(b"\n") and bool(data)), 0
        return entry

    def _untracked(self) -> list[str]:
        return names(self.repo.run("ls-files", "-z", "--others", "--exclude-standard"))

    def paths(self) -> list[str]:
        listed = names(self.repo.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"))
        deleted = set(names(self.repo.run("ls-files", "-z", "--deleted")))
        return [path for path in listed if path not in deleted]

    def read(self, path: str) -> bytes | None:
        parts = path.split("/")
        if path.startswith("/") or ".." in parts:
            raise AhpError(f"{path} lies outside the repository")
        place = self._place(path)
        if _git_mode(place) == changes.LINK:  # git keeps where it points, and never follows it out of the repository
            return posix.readlink(place.encode("utf-8", "surrogateescape"))
        data = files.read(place, FILE_LIMIT)
        if data is None and path.startswith(_POLICY) and is_left_out(self.repo, path):
            return self._blob(f":{path}")
        return data

    def size(self, path: str) -> int | None:
        # Without reading it: a rule about large files must not stumble over the first one.
        try:
            return posix.lstat(self._place(path)).st_size
        except OSError:
            return None

    def _place(self, path: str) -> str:
        return f"{self.repo.root}/{path}"

    def diff(self) -> bytes:
        return b"".join([super().diff(), *map(self._new_patch, self._untracked())])

    def patch(self, entries: list[changes.FileChange], *options: str) -> bytes:
        untracked = set(self._untracked())
        tracked = [entry for entry in entries if entry.path not in untracked]
        parts = [super().patch(tracked, *options)] if tracked else []
        return b"".join([*parts, *[self._new_patch(e.path) for e in entries if e.path in untracked]])

    def _new_patch(self, path: str) -> bytes:
        """git's diff of a file that it does not track; of none in UTF-16."""
        name = encoding.of(self._beginning(path))
        if name not in ("", "utf-8"):
            return b""
        text = ("--text",) if name else ()
        return self.repo.run("diff", "--no-index", *PATCH, *text, "--", "/dev/null", path, ok=(0, 1))

    def _told(self, *options: str, paths: Sequence[str] = ()) -> bytes:
        # `diff`, not `diff-index`: it looks into files whose time stamp alone changed, without writing the index. For
        # that it needs what they were before: in a partial clone, too.
        asked = (*literally(paths), "diff", *options, "--no-relative", self.base(), "--", *paths)
        return self.repo.run(*asked, fetch=True)

    def _heads(self, entries: list[changes.FileChange]) -> list[bytes]:
        return [self._beginning(e.path) if e.new_mode else super(WorkTreeView, self)._heads([e])[0] for e in entries]

    def _beginning(self, path: str) -> bytes:
        """The first bytes of a file, however large; a NUL for what cannot be read."""
        place = self._place(path)
        if _git_mode(place) == changes.LINK:
            return self.read(path) or b""
        try:
            fd = posix.open(place, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
        except OSError:
            return b"\0"
        try:
            return posix.read(fd, LOOKED_AT)
        except OSError:
            return b"\0"
        finally:
            files.let_go(fd)


def is_left_out(repo: Repository, path: str) -> bool:
    """Whether a sparse checkout leaves a file that is tracked out of the work tree (git-sparse-checkout)."""
    return repo.line("--literal-pathspecs", "ls-files", "-t", "--", path).startswith("S ")


def _git_mode(place: str) -> int:
    """The mode git gives a file: of a link, a program or another file; 0 for what git does not keep."""
    try:
        mode = posix.lstat(place).st_mode
    except (OSError, ValueError):
        return 0
    kind = mode & 0o170000
    if kind == changes.LINK:
        return changes.LINK
    return (changes.EXECUTABLE if mode & 0o100 else changes.FILE) if kind == 0o100000 else 0


def listed(repo: Repository) -> tuple[list[str], int]:
    """The paths of the tree, and how many of them git does not track. Raises GitError."""
    others = names(repo.run("ls-files", "-z", "--others", "--exclude-standard"))
    return sorted(WorkTreeView(repo, repo.empty_tree()).paths()), len(others)


class FilesView(WorkTreeView):
    """Some files of the work tree, each as new: all of them for `ahp check --all`, or one that is judged alone.

    Of a file that is too large to read no line is known.
    """

    __slots__ = ("_every", "_listed")
    kind = "tree"

    def __init__(self, repo: Repository, base: str, listed: Sequence[str]) -> None:
        super().__init__(repo, base)
        self._listed = listed
        self._every: Lines | None = None

    def paths(self) -> list[str]:
        return list(self._listed)

    def known_lines(self) -> Lines:
        """All lines as added, the smallest files first where they are more than the limit."""
        if self._every is None:
            texts = [
                (e.path, self.size(e.path) or 0) for e in self.change().entries if encoding.of(self._beginning(e.path))
            ]
            total, left = sum(size for _, size in texts), LINES_LIMIT
            found: list[Line] = []
            unread: list[tuple[str, int]] = []
            for path, size in texts if total <= left else sorted(texts, key=lambda one: one[1]):
                left -= size
                if size > FILE_LIMIT or (left < 0 and len(texts) > 1):
                    unread.append((path, size))
                else:
                    found += self._lines(path)
            self._every = Lines(found, [], unread[::-1])
        return self._every

    def mend(self) -> str:
        return ""

    def _lines(self, path: str) -> list[Line]:
        data = self.read(path) or b""
        name = encoding.of(data[:LOOKED_AT])
        wide = name not in ("", "utf-8")
        text = encoding.decoded(data, name) if wide else data.decode("utf-8", "surrogateescape")
        lines = patch.lines_of(text)
        ends = "\r" if wide else ""
        return [{"path": path, "line": n, "text": line.removesuffix(ends)} for n, line in enumerate(lines, 1)]

    def _read_change(self) -> changes.Change:
        entries = [entry for path in self._listed if (entry := self._new_file(path)) is not None]
        return changes.Change(entries)
