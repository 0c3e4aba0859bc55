"""The state of a tree that is judged (design §1, §13): what all views have, and the index.

Facts and tickets read files and changes only through a view, so that what is judged is what will be committed.
"""

from ahp.system import change as changes
from ahp.system.git import Repository

# A `.gitmodules` may tell git to hide what a submodule is moved to.
_MODULES = "--ignore-submodules=dirty"
# `git add -N` stages no content: git commits nothing of such a file.
_INTENT = "--ita-invisible-in-index"
RAW = ("--raw", "--numstat", "-z", "-M", "--no-abbrev", "--no-ext-diff", "--no-textconv", _INTENT, _MODULES)
_PREFIX = ("--src-prefix=a/", "--dst-prefix=b/")
_EXACT = ("-U0", "--inter-hunk-context=0", "--submodule=short", _MODULES)
PATCH = ("-p", *_EXACT, _INTENT, "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index", *_PREFIX)
LITERAL = "--literal-pathspecs"
_PATHS_AT_ONCE = 100
LOOKED_AT = 8000  # bytes in which git looks for a NUL


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

    def doubt(self, contents: bool) -> str:
        """Why the files that changed, or with `contents` what is in them, cannot be told; "" where they can."""
        return ""

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
        shown = [e for e, head in zip(called, self._heads(called), strict=True) if b"\0" not in head[:LOOKED_AT]]
        return [path for e in shown for path in (e.path, e.old_path) if path]

    def _heads(self, entries: list[changes.FileChange]) -> list[bytes]:
        """The first bytes of each file, of what it was where it is deleted."""
        from ahp.system import blobs

        oids = [e.new_oid if e.new_mode else e.old_oid for e in entries]
        found = blobs.heads(self.repo, oids, LOOKED_AT)
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
        return names(self.repo.run("ls-files", "-z", "--cached"))

    def read(self, path: str) -> bytes | None:
        return self._blob(f":{path}")

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        return self.repo.run(LITERAL, "diff-index", "--cached", *PATCH, *options, self.base(), "--", *paths)


def names(data: bytes) -> list[str]:
    """The paths of a list that ends each with NUL."""
    return data.decode("utf-8", "surrogateescape").split("\0")[:-1]
