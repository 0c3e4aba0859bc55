"""Commits and ranges as states that are judged (design §1, §13)."""

from ahp.system import change as changes
from ahp.system.git import GitError, Repository
from ahp.system.view import LITERAL, PATCH, RAW, View, names


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
        return names(self.repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", self.new))

    def read(self, path: str) -> bytes | None:
        return self._blob(f"{self.new}:{path}")

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        return self.repo.run(LITERAL, "diff-tree", "-r", *PATCH, *options, self.old, self.new, "--", *paths)


class CommitView(RangeView):
    """A commit against its first parent; against nothing for a root commit. Raises GitError for an unknown one."""

    __slots__ = ()
    kind = "commit"

    def __init__(self, repo: Repository, commit: str) -> None:
        full = repo.commit_id(commit)
        if full is None:
            raise GitError(f"no commit {commit}")
        super().__init__(repo, repo.commit_id(f"{full}^1") or repo.empty_tree(), full)
