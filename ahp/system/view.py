"""The state of a tree that is judged: the index, the work tree, a commit, a range (design §1, §13).

Facts and tickets read files and changes only through a view, so that what is judged is what will be committed.
"""

import posix

from ahp.system import change as changes
from ahp.system import digest, files
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository

# A `.gitmodules` may tell git to hide what a submodule is moved to.
_MODULES = "--ignore-submodules=dirty"
RAW = ("--raw", "--numstat", "-z", "-M", "--no-abbrev", "--no-ext-diff", "--no-textconv", _MODULES)
_PREFIX = ("--src-prefix=a/", "--dst-prefix=b/")
_EXACT = ("-U0", "--inter-hunk-context=0", "--submodule=short", _MODULES)
PATCH = ("-p", *_EXACT, "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index", *_PREFIX)
_LITERAL = "--literal-pathspecs"
_PATHS_AT_ONCE = 100
_HEAD = 8000  # bytes in which git looks for a NUL
_FILE_LIMIT = 64 << 20
_LINK = 0o120000


class View:
    """One state of a repository's tree and what changed on the way to it."""

    __slots__ = ("_change", "repo")
    kind = ""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self._change: changes.Change | None = None

    def change(self) -> changes.Change:
        """What changed, read once. Raises GitError, AhpError."""
        if self._change is None:
            self._change = self._read_change()
        return self._change

    def base(self) -> str:
        """What the change is measured from: a commit, or a tree where there is none. Raises GitError."""
        raise NotImplementedError

    def paths(self) -> list[str]:
        """Every path of the state, relative to the root. Raises GitError."""
        raise NotImplementedError

    def read(self, path: str) -> bytes | None:
        """The bytes of a file in this state, None where there is none. Raises GitError, AhpError."""
        raise NotImplementedError

    def size(self, path: str) -> int | None:
        """The bytes a file has in this state, None where there is none. Raises GitError, AhpError."""
        data = self.read(path)
        return None if data is None else len(data)

    def diff(self) -> bytes:
        """The change as a unified diff without context lines. Raises GitError, AhpError.

        A file is text unless there is a NUL among its first bytes: an attribute, a driver or `core.bigFileThreshold`
        that makes git call it binary hides none of its lines.
        """
        parts, hidden = [self._patch()], self._hidden()
        for start in range(0, len(hidden), _PATHS_AT_ONCE):
            parts.append(self._patch("--text", paths=hidden[start : start + _PATHS_AT_ONCE]))
        return b"".join(parts)

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        """git's diff, of all that changed or of some `paths`."""
        raise NotImplementedError

    def _hidden(self) -> list[str]:
        """Paths of the change that hold text, though git shows no line of them."""
        called = [e for e in self.change().entries if e.insertions is None]
        if not called:
            return []
        shown = [e for e, head in zip(called, self._heads(called), strict=True) if b"\0" not in head[:_HEAD]]
        return [path for e in shown for path in (e.path, e.old_path) if path]

    def _heads(self, entries: list[changes.FileChange]) -> list[bytes]:
        """The first bytes of each file, of what it was where it is deleted."""
        from ahp.system import blobs

        oids = [e.new_oid if e.new_mode else e.old_oid for e in entries]
        found = blobs.heads(self.repo, oids, _HEAD)
        return [found.get(oid, b"\0") for oid in oids]

    def _read_change(self) -> changes.Change:
        raise NotImplementedError

    def _blob(self, name: str) -> bytes | None:
        """The object `name`; None where git says that the path is not there."""
        if "\0" in name:
            return None
        if "\n" in name or name.endswith("\r"):  # one line is one request of the batch, which takes CRLF for its end
            present = self.repo.run("rev-parse", "-q", "--verify", "--end-of-options", name, ok=(0, 1, 128))
            return self.repo.run("cat-file", "blob", name) if present else None
        answer = self.repo.run("cat-file", "--batch", stdin=name.encode("utf-8", "surrogateescape") + b"\n")
        header, _, body = answer.partition(b"\n")
        if header.endswith((b" missing", b" ambiguous")):
            return None
        _, kind, size = header.rsplit(b" ", 2)
        return body[: int(size)] if kind == b"blob" else None


class IndexView(View):
    """What is staged, against HEAD; inside a hook the index that git names in the environment.

    `prefetched` is what `git diff-index` printed while Python was starting, ending in the mark that it succeeded.
    """

    __slots__ = ("_base", "_prefetched")
    kind = "index"
    DONE = b"\0ahp:done\0"

    def __init__(self, repo: Repository, prefetched: bytes | None = None) -> None:
        super().__init__(repo)
        self._prefetched = prefetched
        self._base = ""

    def base(self) -> str:
        # HEAD, or the empty tree before the first commit.
        if not self._base:
            self._base = self.repo.commit_id("HEAD") or self.repo.empty_tree()
        return self._base

    def _read_change(self) -> changes.Change:
        data = self._prefetched
        if data is not None and data.endswith(self.DONE):
            return changes.parse(data[: -len(self.DONE)])
        return changes.parse(self.repo.run("diff-index", "--cached", *RAW, self.base(), "--"))

    def paths(self) -> list[str]:
        return _names(self.repo.run("ls-files", "-z", "--cached"))

    def read(self, path: str) -> bytes | None:
        return self._blob(f":{path}")

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        return self.repo.run(_LITERAL, "diff-index", "--cached", *PATCH, *options, self.base(), "--", *paths)


class WorkTreeView(View):
    """The files as they lie on the disk, tracked and untracked, against `base` (a commit; default HEAD)."""

    __slots__ = ("_base",)
    kind = "worktree"

    def __init__(self, repo: Repository, base: str | None = None) -> None:
        super().__init__(repo)
        self._base = base or repo.commit_id("HEAD") or repo.empty_tree()

    def base(self) -> str:
        return self._base

    def _read_change(self) -> changes.Change:
        # `diff`, not `diff-index`: it looks into files whose time stamp alone changed, without writing the index.
        known = changes.parse(self.repo.run("diff", *RAW, "--no-relative", self._base, "--"))
        for path in self._untracked():
            entry = self._new_file(path)
            if entry is not None:
                known.entries.append(entry)
        for entry in known.entries:
            if entry.new_mode and not entry.new_oid.strip("0"):
                entry.content = self._content_id(entry.path)
        return changes.Change(known.entries)

    def _content_id(self, path: str) -> str:
        """What tells one content of a file from another; git gives what is not in its store no id."""
        size = self.size(path) or 0
        data = self.read(path) if size <= _FILE_LIMIT else f"{size} bytes".encode()
        return digest.sha256(data or b"")[:40]

    def _new_file(self, path: str) -> changes.FileChange | None:
        """The entry of an untracked file as `git add` would take it; None for a pipe, or when it is gone."""
        mode = _git_mode(self._place(path))
        if not mode:
            return None
        entry = changes.FileChange(path, "A", 0, mode, "0" * 40, "0" * 40)
        # Past the limit its lines are not counted: a rule about large files is to speak, not the limit.
        data = self.read(path) if (self.size(path) or 0) <= _FILE_LIMIT else None
        if data is not None and b"\0" not in data[:_HEAD]:
            entry.insertions, entry.deletions = data.count(b"\n") + (not data.endswith(b"\n") and bool(data)), 0
        return entry

    def _untracked(self) -> list[str]:
        return _names(self.repo.run("ls-files", "-z", "--others", "--exclude-standard"))

    def paths(self) -> list[str]:
        listed = _names(self.repo.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"))
        deleted = set(_names(self.repo.run("ls-files", "-z", "--deleted")))
        return [path for path in listed if path not in deleted]

    def read(self, path: str) -> bytes | None:
        parts = path.split("/")
        if path.startswith("/") or ".." in parts:
            raise AhpError(f"{path} lies outside the repository")
        place = self._place(path)
        if _git_mode(place) == _LINK:  # git keeps where it points, and never follows it out of the repository
            return posix.readlink(place.encode("utf-8", "surrogateescape"))
        return files.read(place, _FILE_LIMIT)

    def size(self, path: str) -> int | None:
        # Without reading it: a rule about large files must not stumble over the first one.
        try:
            return posix.lstat(self._place(path)).st_size
        except OSError:
            return None

    def _place(self, path: str) -> str:
        return f"{self.repo.root}/{path}"

    def diff(self) -> bytes:
        parts = [super().diff()]
        for path in self._untracked():
            entry = self._new_file(path)
            text = ("--text",) if entry is not None and entry.insertions is not None else ()
            parts.append(self.repo.run("diff", "--no-index", *PATCH, *text, "--", "/dev/null", path, ok=(0, 1)))
        return b"".join(parts)

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        return self.repo.run(_LITERAL, "diff", *PATCH, *options, "--no-relative", self._base, "--", *paths)

    def _heads(self, entries: list[changes.FileChange]) -> list[bytes]:
        return [self._head(entry) for entry in entries]

    def _head(self, entry: changes.FileChange) -> bytes:
        if not entry.new_mode:
            return super()._heads([entry])[0]
        return (self.read(entry.path) or b"") if (self.size(entry.path) or 0) <= _FILE_LIMIT else b"\0"


class RangeView(View):
    """The tip of a range of commits and what it brings over `old` (a tree or commit id)."""

    __slots__ = ("new", "old")
    kind = "range"

    def __init__(self, repo: Repository, old: str, new: str) -> None:
        super().__init__(repo)
        self.old, self.new = old, new

    def base(self) -> str:
        return self.old

    def _read_change(self) -> changes.Change:
        return changes.parse(self.repo.run("diff-tree", "-r", *RAW, self.old, self.new, "--"))

    def paths(self) -> list[str]:
        return _names(self.repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", self.new))

    def read(self, path: str) -> bytes | None:
        return self._blob(f"{self.new}:{path}")

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        return self.repo.run(_LITERAL, "diff-tree", "-r", *PATCH, *options, self.old, self.new, "--", *paths)


class CommitView(RangeView):
    """A commit against its first parent; against nothing for a root commit. Raises GitError for an unknown one."""

    __slots__ = ()
    kind = "commit"

    def __init__(self, repo: Repository, commit: str) -> None:
        full = repo.commit_id(commit)
        if full is None:
            raise GitError(f"no commit {commit}")
        super().__init__(repo, repo.commit_id(f"{full}^1") or repo.empty_tree(), full)


def _git_mode(place: str) -> int:
    """The mode git gives a file: of a link, a program or another file; 0 for what git does not keep."""
    try:
        mode = posix.lstat(place).st_mode
    except (OSError, ValueError):
        return 0
    kind = mode & 0o170000
    if kind == _LINK:
        return _LINK
    return (0o100755 if mode & 0o100 else 0o100644) if kind == 0o100000 else 0


def _names(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\0")[:-1]
