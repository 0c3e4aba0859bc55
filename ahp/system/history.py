"""Commits and ranges as states that are judged (design §1, §13), from git's objects."""

from collections.abc import Callable, Sequence

from ahp.system import change as changes
from ahp.system import encoding, patch
from ahp.system.errors import AhpError, OutputLimit, Unknown
from ahp.system.git import GitError, Repository
from ahp.system.partial_clone import WHOLE
from ahp.system.view import SINGLY, View, literally, names


class RangeView(View):
    """The tip of a range of commits and what it brings over `old` (a tree or commit id).

    With `others`, further commits that the range begins at (authority §3), a path counts if it differs from each of
    them, and an added line if its path and number in the tip are added over each. Statuses, counts and removed lines
    are those over `old`. `unknown` says why nothing is known of what changed.
    """

    __slots__ = ("_options", "new", "old", "others", "unknown")
    kind = "range"

    def __init__(
        self,
        repo: Repository,
        old: str,
        new: str,
        others: tuple[str, ...] = (),
        unknown: Unknown | None = None,
    ) -> None:
        super().__init__(repo)
        self.old, self.new, self.others, self.unknown = old, new, others, unknown
        self._options: tuple[str, ...] = ()

    def base(self) -> str:
        if self.unknown is not None:
            raise self.unknown
        return self.old

    def boundaries(self) -> list[str]:
        return [] if self.unknown is not None else [self.old, *self.others]

    def sides(self) -> list[View]:
        if not self.others:
            return [self]
        sides = [RangeView(self.repo, old, self.new) for old in (self.base(), *self.others)]
        for side in sides:
            side._options = (SINGLY,)
        return [*sides]

    def revisions(self) -> list[str]:
        """What names the commits of the range to git. Raises Unknown where that cannot be told."""
        return [self.new, "--not", self.base(), *self.others]

    def paths(self) -> list[str]:
        return names(self.repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", self.new))

    def read(self, path: str) -> bytes | None:
        return self._blob(f"{self.new}:{path}")

    def read_already(self, sides: list[changes.Change]) -> None:
        """Takes what was read of its sides, in their order, for many ranges at once."""
        self._change = changes.in_all(sides)

    def _read_change(self) -> changes.Change:
        if not self.others:
            return self._list() if self.base() != self.new else changes.Change([])
        self.read_already([side.change() for side in self.sides()])
        assert self._change is not None
        return self._change

    def _list(self) -> changes.Change:
        try:
            return super()._list()
        except GitError as error:
            raise self._incomplete(error) from None

    def _patch(self, *options: str, paths: Sequence[str] = ()) -> bytes:
        try:
            return super()._patch(*options, paths=paths)
        except GitError as error:
            raise self._incomplete(error) from None

    def _told(self, *options: str, paths: Sequence[str] = ()) -> bytes:
        asked = (*literally(paths), "diff-tree", "-r", *options, *self._options, self.base(), self.new, "--", *paths)
        return self.repo.run(*asked, objects=True)

    @property
    def is_plain(self) -> bool:
        """Whether it is one commit over another."""
        return self.unknown is None and not self.others and self.old not in (self.new, self.repo.empty_tree())

    def foresee(self, answer: Callable[[], bytes | None], *options: str) -> None:
        """Has what git would say of the two ends under `options` come from `answer` (`Repository.foresee`)."""
        asked = ("diff-tree", "-r", *options, self.old, self.new, "--")
        self.repo.foresee(*asked, answer=answer, objects=True)

    def mend(self) -> str:
        return f"git diff --numstat {self.base()[:16]} {self.new[:16]}" if self.change().lacking else super().mend()

    def _incomplete(self, error: GitError) -> AhpError:
        """What to raise: Unknown where an object of the change is not here, else the error itself."""
        tips = "".join(f"{name}\n" for name in (self.base(), self.new)).encode()
        asked = ("rev-list", "--objects", "--missing=print", "--no-walk", "--stdin")
        if b"\n?" not in b"\n" + self.repo.run(*asked, stdin=tips, ok=(0, 128)):
            return error
        return Unknown(f"an object of what changed is not in this clone ({error})", WHOLE)


class CommitView(RangeView):
    """A commit against its first parent; against nothing for a root commit. Raises GitError for an unknown one."""

    __slots__ = ()
    kind = "commit"

    def __init__(self, repo: Repository, commit: str) -> None:
        full = repo.commit_id(commit)
        if full is None:
            raise GitError(f"there is no commit {commit}")
        parent = repo.commit_id(f"{full}^1")
        super().__init__(repo, parent or repo.empty_tree(), full, unknown=None if parent else cut(repo, full))


class BlobView(RangeView):
    """A single blob that a ref names, as one new file: the ref is its path."""

    __slots__ = ("_path",)

    def __init__(self, repo: Repository, blob: str, path: str) -> None:
        super().__init__(repo, repo.empty_tree(), blob)
        self._path = path

    def revisions(self) -> list[str]:
        return [self.old]

    def paths(self) -> list[str]:
        return [self._path]

    def read(self, path: str) -> bytes | None:
        return self._blob(self.new) if path == self._path else None

    def _read_change(self) -> changes.Change:
        entry = changes.FileChange(self._path, "A", 0, changes.FILE, "0" * len(self.new), self.new)
        try:
            data = self._blob(self.new) or b""
        except OutputLimit:
            return changes.Change([entry])
        if encoding.of(data) == "utf-8":
            entry.insertions, entry.deletions = len(patch.lines_of(data.decode("utf-8", "surrogateescape"))), 0
        return changes.Change([entry])

    def _patch(self, *options: str, paths: Sequence[str] = ()) -> bytes:
        data = self._blob(self.new) or b""
        is_text = self.encodings().get(self._path, "utf-8") == "utf-8"
        return patch.unified(self._path, "", data.decode("utf-8", "surrogateescape")) if is_text else b""


def cut(repo: Repository, commit: str) -> Unknown | None:
    """Why the parents of `commit`, which git shows as a root, are not known: the clone was cut off there."""
    if commit not in repo.shallow():
        return None
    return Unknown("this clone does not have what came before", "git fetch --unshallow")
