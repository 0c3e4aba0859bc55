"""What the project's files hold at a moment, so that a run can tell what changed since, by itself or by others."""

from dataclasses import dataclass

from ahp.runner.verification.project import ours
from ahp.system import digest, environ, git
from ahp.system.change import SUBMODULE
from ahp.system.errors import AhpError
from ahp.system.worktree import WorkTreeView

_LARGEST = 16 << 20  # bytes of a file that is read; of larger ones the size tells
_MOST = 2_000  # files; of more it is only known how many there are


def view_of(root: str, base: str = "") -> WorkTreeView | None:
    """The work tree at `root` against `base` (default: HEAD); None in a bare repository. Raises AhpError."""
    repo = git.discover(root, environ.current())
    return WorkTreeView(repo, base or None) if repo.root else None


@dataclass(frozen=True)
class Snapshot:
    """The files that differed from the commit `base`: path → id of the content, "" for a deleted one."""

    base: str
    files: dict[str, str]


def take(root: str, base: str = "") -> Snapshot | None:
    """The project at `root` now, against `base` (default: HEAD); None where git cannot tell, or for too many files.

    Tracked and untracked files count, ignored ones do not, nor new ones in folders such as `.venv`.
    """
    try:
        view = view_of(root, base)
        if view is None:
            return None
        entries = view.change().entries
        if len(entries) > _MOST:
            return None
        files: dict[str, str] = {}
        for entry in entries:
            if not entry.old_mode and not ours(entry.path):
                continue
            if entry.old_path:
                files[entry.old_path] = ""
            is_file = entry.new_mode not in (0, SUBMODULE)
            mode = "+x" if is_file and entry.new_mode & 0o111 else ""
            files[entry.path] = _id(view, entry.path) + mode if is_file else entry.new_oid if entry.new_mode else ""
        return Snapshot(view.base(), files)
    except AhpError:
        return None


def _id(view: WorkTreeView, path: str) -> str:
    """What tells one content from another, whether git knows it or not."""
    size = view.size(path) or 0
    return digest.sha256((view.read(path) or b"") if size <= _LARGEST else f"{size} bytes".encode())[:16]


def changed_since(root: str, before: Snapshot) -> list[str] | None:
    """The files that hold something else than at `before`, in order; None where that cannot be told any more.

    What was committed meanwhile as it lay there has not changed.
    """
    now = take(root, before.base)
    if now is None:
        return None
    return differing(before, now)


def differing(before: Snapshot, now: Snapshot) -> list[str]:
    """The files that hold something else in two snapshots against one commit, in order."""
    paths = before.files.keys() | now.files.keys()
    return sorted(path for path in paths if before.files.get(path) != now.files.get(path))
