"""Whether a run has changed the project: the work tree at its start against the work tree now."""

from dataclasses import dataclass

from ahp.system import environ, git
from ahp.system.errors import AhpError
from ahp.system.worktree import WorkTreeView


@dataclass(frozen=True)
class WorkTreeMark:
    """What the work tree at `root` held at one moment: `digest` of its change against the commit `base`."""

    base: str
    digest: str


def mark(root: str, base: str = "") -> WorkTreeMark | None:
    """The state of the work tree now, against `base` (a commit; default HEAD); None where git cannot tell.

    Tracked and untracked files count, ignored ones do not.
    """
    try:
        view = view_of(root, base)
        return None if view is None else WorkTreeMark(view.base(), view.change().digest)
    except AhpError:
        return None


def view_of(root: str, base: str = "") -> WorkTreeView | None:
    """The work tree at `root` against `base` (default: HEAD); None in a bare repository. Raises AhpError."""
    repo = git.discover(root, environ.current())
    return WorkTreeView(repo, base or None) if repo.root else None


def changed_since(root: str, before: WorkTreeMark) -> bool:
    """Whether the work tree holds something else than at `before`; what cannot be told any more counts as changed."""
    return mark(root, before.base) != before
