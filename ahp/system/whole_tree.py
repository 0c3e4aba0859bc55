"""The whole tree as a change that adds every file: what `ahp check --all` judges.

The files are those that git tracks, as they lie on the disk, and the untracked ones that are not ignored. Of a file
that is too large to read no line is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from ahp.system import change as changes
from ahp.system import encoding
from ahp.system.change import Line, Lines
from ahp.system.encoding import LOOKED_AT
from ahp.system.git import Repository
from ahp.system.view import names
from ahp.system.worktree import FILE_LIMIT, WorkTreeView

LINES_LIMIT = 16 << 20
"""Bytes of text of which all lines are known at once; a single file may have more."""


def listed(repo: Repository) -> tuple[list[str], int]:
    """The paths of the tree, and how many of them git does not track. Raises GitError."""
    others = names(repo.run("ls-files", "-z", "--others", "--exclude-standard"))
    return sorted(WorkTreeView(repo, repo.empty_tree()).paths()), len(others)


class FilesView(WorkTreeView):
    """Some files of the work tree, each as new: all of them, or one that is judged alone."""

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
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        ends = "\r" if wide else ""
        return [{"path": path, "line": n, "text": line.removesuffix(ends)} for n, line in enumerate(lines, 1)]

    def _read_change(self) -> changes.Change:
        entries = [entry for path in self._listed if (entry := self._new_file(path)) is not None]
        return changes.Change(entries)
