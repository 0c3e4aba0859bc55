"""The state of a tree that is judged (design §1, §13): what all views have, and the index.  [light]

Facts and tickets read files and changes only through a view, so that what is judged is what will be committed.
"""

from ahp.system import change as changes
from ahp.system.errors import OutputLimit, Unknown
from ahp.system.git import GitError, Repository, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# `git add -N` stages no content: git commits nothing of such a file.
_INTENT = "--ita-invisible-in-index"
RAW = ("--raw", "--numstat", "-z", "-M", "--no-abbrev", _INTENT)
_PREFIX = ("--src-prefix=a/", "--dst-prefix=b/")
_EXACT = ("-U0", "--inter-hunk-context=0", "--submodule=short")
PATCH = ("-p", *_EXACT, _INTENT, "-M", "--no-color", "--full-index", *_PREFIX)
_LITERAL = "--literal-pathspecs"
SINGLY = "--no-renames"  # over several commits a path has to be the same thing each time
_PATHS_AT_ONCE = 100


class View:
    """One state of a repository's tree and what changed on the way to it."""

    __slots__ = ("_change", "_diff", "_encodings", "repo")
    kind = ""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self._change: changes.Change | None = None
        self._diff: bytes | None = None
        self._encodings: dict[str, str] | None = None

    def change(self) -> changes.Change:
        """What changed, read once. Raises Unknown where that cannot be told, GitError, AhpError."""
        if self._change is None:
            self._change = self._read_change()
        return self._change

    def doubt(self, contents: bool) -> str:
        """Why the files that changed, or with `contents` what is in them, cannot be told; "" where they can."""
        return ""

    def said(self) -> str:
        """Where what changed comes from, if that is not plain."""
        return ""

    def mend(self) -> str:
        """The command that gets what is not here of the change."""
        return "git fetch --refetch --no-filter"

    def unsure(self, path: str) -> str:
        """Why it cannot be told what a file holds after the change; "" where it can, as from git's objects."""
        return ""

    def joins(self) -> bool:
        """Whether the commit that comes about has more than one parent. Raises AhpError."""
        return bool(self.repo.merge_heads())

    def digest(self) -> str:
        """The digest of the change, "" where that cannot be told. Raises GitError, AhpError."""
        try:
            return self.change().digest
        except Unknown:
            return ""

    def digests(self) -> dict[str, str]:
        """A digest of what each file holds after a tool call, by path; of no other state. Raises AhpError."""
        return {}

    def touched(self) -> list[str]:
        """The paths that change, old names of renamed files included; none where that cannot be told.

        Raises GitError, AhpError.
        """
        try:
            entries = self.change().entries
        except Unknown:
            return []
        return [path for entry in entries for path in (entry.path, entry.old_path) if path]

    def base(self) -> str:
        """What the change is measured from: a commit, or a tree where there is none. Raises Unknown, GitError."""
        raise NotImplementedError

    def boundaries(self) -> list[str]:
        """The commits, or the empty tree, that a range begins at; none of another state, and where nobody knows."""
        return []

    def paths(self) -> list[str]:
        """Every path of the state, relative to the root. Raises GitError."""
        raise NotImplementedError

    def read(self, path: str) -> bytes | None:
        """The bytes of a file in this state, None where there is none. Raises GitError, AhpError."""
        raise NotImplementedError

    def mode(self, path: str) -> int:
        """git's mode of a path that does not change, 0 for one that git does not have. Raises Unknown, GitError."""
        listed = self.repo.line(*literally([path]), "ls-tree", "--full-tree", self.base(), "--", path)
        return int(listed.partition(" ")[0] or "0", 8)

    def size(self, path: str) -> int | None:
        """The bytes a file has in this state, None where there is none. Raises GitError, AhpError."""
        data = self.read(path)
        return None if data is None else len(data)

    def diff(self) -> bytes:
        """The change as a unified diff without context lines, asked once. Raises GitError, AhpError.

        What is text says ahp: an attribute, a driver, `core.bigFileThreshold` or a NUL that makes git call a file
        binary hides none of its lines. Files in UTF-16 are not in it (`ahp.system.lines`).
        """
        if self._diff is None:
            self._verify(self.change().entries)
            parts, hidden = [self._patch()], self._paths("utf-8")
            for start in range(0, len(hidden), _PATHS_AT_ONCE):
                parts.append(self._patch("--text", paths=hidden[start : start + _PATHS_AT_ONCE]))
            self._diff = b"".join(parts)
        return self._diff

    def sides(self) -> "list[View]":
        """This state over each of what its change is measured from: only what differs from all of them counts."""
        return [self]

    def known_lines(self) -> changes.Lines | None:
        """The lines where they are not what git tells of the two states. Raises AhpError."""
        return None

    def encodings(self) -> dict[str, str]:
        """The encoding of each changed file that git calls binary, by path; "" for one that is no text.

        Raises GitError, AhpError.
        """
        if self._encodings is None:
            lacking = self.change().lacking
            called = [e for e in self.change().entries if e.insertions is None and e.path not in lacking]
            if not called:
                return {}
            from ahp.system import encoding

            heads = self._heads(called)
            self._encodings = {e.path: encoding.of(h) for e, h in zip(called, heads, strict=True)}
        return self._encodings

    def blob_sizes(self, oids: list[str]) -> dict[str, int]:
        """The bytes of each blob that is here, by its id. Raises GitError."""
        if not oids:
            return {}
        from ahp.system import blobs

        return blobs.sizes(self.repo, oids)

    def blob_lines(self, sizes: dict[str, int]) -> dict[str, int]:
        """The number of lines of each blob, of which the size is given, by its id. Raises GitError."""
        if not sizes:
            return {}
        from ahp.system import blobs

        return blobs.lines(self.repo, sizes)

    def before(self, entry: changes.FileChange) -> bytes:
        """The bytes of a changed file before the change, none where it is new. Raises GitError, AhpError."""
        return (self._blob(entry.old_oid) or b"") if entry.old_mode else b""

    def after(self, entry: changes.FileChange) -> bytes:
        """The bytes of a changed file after the change, none where it is gone. Raises GitError, AhpError."""
        return (self.read(entry.path) or b"") if entry.new_mode else b""

    def patch(self, entries: list[changes.FileChange], *options: str) -> bytes:
        """git's diff of some changed files. Raises GitError, OutputLimit."""
        self._verify(entries)
        return self._patch(*options, paths=[path for e in entries for path in (e.path, e.old_path) if path])

    def _patch(self, *options: str, paths: "Sequence[str]" = ()) -> bytes:
        """git's diff, of all that changed or of some `paths`."""
        return self._told(*PATCH, *options, paths=paths)

    def _verify(self, entries: list[changes.FileChange]) -> None:
        """Sees to it that what git reads of changed files is what their ids say. Raises GitError."""
        lacking = self.change().lacking
        known = [e for e in entries if e.path not in lacking]
        sides = [side for e in known for side in ((e.old_mode, e.old_oid), (e.new_mode, e.new_oid))]
        verify(self.repo, [oid for mode, oid in sides if mode not in (0, changes.SUBMODULE)])

    def _list(self) -> changes.Change:
        """What git lists as changed; in a partial clone without the lines of what is not here. Raises GitError."""
        try:
            return changes.parse(self._told(*RAW))
        except GitError:
            from ahp.system import partial_clone

            if not partial_clone.is_one(self.repo):
                raise
            return partial_clone.change(self.repo, self._told, RAW)

    def _told(self, *options: str, paths: "Sequence[str]" = ()) -> bytes:
        """What git says of the two states under `options`, of all or of some `paths`. Raises GitError."""
        raise NotImplementedError

    def _paths(self, encoding: str) -> list[str]:
        """Paths of the change that hold text of this encoding, though git shows no line of them."""
        found = self.encodings()
        shown = [e for e in self.change().entries if found and found.get(e.path) == encoding]
        return [path for e in shown for path in (e.path, e.old_path) if path]

    def _heads(self, entries: list[changes.FileChange]) -> list[bytes]:
        """The first bytes of each file, of what it was where it is deleted; a NUL for what is not here."""
        from ahp.system import blobs
        from ahp.system.encoding import LOOKED_AT

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
            oid = self.repo.line("rev-parse", "-q", "--verify", "--end-of-options", name, ok=(0, 1, 128))
            self._verify([changes.FileChange("", "A", 0, changes.FILE, "", oid)] if oid else [])
            return self.repo.run("cat-file", "blob", name) if oid else None
        asked = name.encode("utf-8", "surrogateescape") + b"\n"
        try:
            answer = self.repo.run("cat-file", "--batch", stdin=asked, fetch=name.partition(":")[2][:5] == ".ahp/")
        except GitError:
            from ahp.system import partial_clone

            if partial_clone.is_one(self.repo):
                raise partial_clone.not_here(name) from None
            raise
        header, _, body = answer.partition(b"\n")
        if header.endswith((b" missing", b" ambiguous")):
            from ahp.system import partial_clone

            if partial_clone.lacks(self.repo, name):
                raise partial_clone.not_here(name)
            return None
        found, kind, size = header.rsplit(b" ", 2)
        if kind != b"blob":
            return None
        check(found.decode(), kind, body[: int(size)])
        return body[: int(size)]


class Unchanged(View):
    """A state without files in which nothing changed, for judging stated facts. It asks no repository."""

    __slots__ = ()

    def __init__(self) -> None:
        self._change, self._encodings = changes.Change([]), {}

    def diff(self) -> bytes:
        return b""

    def paths(self) -> list[str]:
        return []

    def read(self, path: str) -> bytes | None:
        return None


class IndexView(View):
    """What is staged, against HEAD; inside a hook the index that git names in the environment.

    While a merge is being concluded only what no parent has counts, as in the commit that it becomes (authority §5);
    with `whole` it is all that the merge brings to HEAD. `prefetched` is what git listed while Python was starting,
    and `tree` the id of what was staged then: it is read in place of the index, which anybody may change meanwhile.
    """

    __slots__ = ("_base", "_options", "_parents", "_prefetched", "_sides", "_whole", "tree")
    kind = "index"

    def __init__(self, repo: Repository, prefetched: bytes | None = None, whole: bool = False, tree: str = "") -> None:
        super().__init__(repo)
        self._prefetched, self._whole, self.tree = prefetched, whole, tree
        self._base = ""
        self._options: tuple[str, ...] = ()
        self._parents: list[str] | None = None  # of the commit that comes about, where HEAD is not the first
        self._sides: list[View] = []

    def change(self) -> changes.Change:
        is_read = self._change is not None
        found = super().change()
        if not is_read and not found.entries:
            self._verify([])  # no rule reads a content then, with which the trees are hashed
        return found

    def base(self) -> str:
        # HEAD, or the empty tree before the first commit.
        if not self._base:
            self._base = self.repo.head_id() or self.repo.empty_tree()
        return self._base

    def whole(self) -> "IndexView":
        """All that is brought to HEAD, by a merge too."""
        return IndexView(self.repo, self._prefetched, True, self.tree) if len(self.sides()) > 1 else self

    def amended(self) -> "IndexView":
        """The amended commit against HEAD's parents; the view itself where those are not here.

        Raises GitError.
        """
        head = self.repo.head_id()
        if not head or head in self.repo.shallow():
            return self
        view = IndexView(self.repo, tree=self.tree)
        view._parents = self.repo.line("rev-parse", f"{head}^@").split()
        view._base = view._parents[0] if view._parents else self.repo.empty_tree()
        return view

    def joins(self) -> bool:
        return super().joins() if self._parents is None else len(self._parents) > 1

    def sides(self) -> list[View]:
        if not self._sides:
            self._sides = [self._over(parent) for parent in sorted(self._joined())] or [self]
        return self._sides

    def _joined(self) -> list[str]:
        """The parents of a merge; none of a commit with one, or of what is asked as a `whole`."""
        if self._parents is not None:
            return self._parents if len(self._parents) > 1 else []
        merged = [] if self._whole else self.repo.merge_heads()
        head = self.repo.head_id() if merged else ""
        return [head, *merged] if head else []

    def _over(self, parent: str) -> "IndexView":
        """What is staged against one parent of a merge."""
        side = IndexView(self.repo, whole=True, tree=self.tree)
        side._base, side._options = parent, (SINGLY,)
        return side

    def _read_change(self) -> changes.Change:
        sides = self.sides()
        if len(sides) > 1:
            return changes.in_all([side.change() for side in sides])
        if self._prefetched is not None:
            self.repo.has_read([self.base(), self.tree], self._prefetched)
            return changes.parse(self._prefetched)
        return self._list()

    def paths(self) -> list[str]:
        if self.tree:
            return names(self.repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", self.tree))
        return names(self.repo.run("ls-files", "-z", "--cached"))

    def read(self, path: str) -> bytes | None:
        return self._blob(f"{self.tree}:{path}")

    def mend(self) -> str:
        return "git diff --cached --numstat" if self.change().lacking else super().mend()

    def _verify(self, entries: list[changes.FileChange]) -> None:
        if not self.tree and self.repo.unhashed is not None:
            # git has compared the index itself, and does not tell which trees it has opened for that.
            asked = ("diff-tree", "-r", *RAW[:1], "-z", "--no-abbrev", self.repo.empty_tree(), self.base())
            self.repo.run(*asked, objects=True)
        super()._verify(entries)

    def _told(self, *options: str, paths: "Sequence[str]" = ()) -> bytes:
        verb, *to = ("diff-tree", "-r", self.tree) if self.tree else ("diff-index", "--cached")
        asked = (*literally(paths), verb, *to[:1], *options, *self._options, self.base(), *to[1:], "--", *paths)
        return self.repo.run(*asked, objects=True)


def verify(repo: Repository, oids: "Iterable[str]" = ()) -> None:
    """Checks that these objects, and those in `unhashed`, are what their ids say. Raises GitError."""
    wanted = dict.fromkeys((*oids, *(repo.unhashed or ())))
    waiting = [[one for one in wanted if one.strip("0") and one not in repo.hashed]]
    while waiting:
        some = waiting.pop()
        try:
            repo.printed(some)
        except OutputLimit:  # nobody reads a single one that is so large
            middle = len(some) // 2
            waiting += [some[:middle], some[middle:]] if middle else []
    if repo.unhashed:
        repo.unhashed.clear()


def literally(paths: "Sequence[str]") -> "Sequence[str]":
    """git's option by which it takes paths by name and not as patterns; none where none is named."""
    return (_LITERAL,) if paths else ()


def names(data: bytes) -> list[str]:
    """The paths of a list that ends each with NUL."""
    return data.decode("utf-8", "surrogateescape").split("\0")[:-1]
