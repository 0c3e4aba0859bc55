"""Whether a commit came of an attempt that was let past: git's reflog tells, once HEAD has moved (design §8.2)."""

from ahp.journal.episodes import Attempt
from ahp.journal.state import State
from ahp.system import reflogs
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import Repository
from ahp.system.history import RangeView


def is_given_up(repo: Repository, state: State, key: str, attempt: Attempt) -> bool:
    """Whether no commit came of `attempt` of the episode `key`; not where nothing tells, as without a reflog.

    A hook of another tool may have changed the files after it was judged: the same files are enough.
    """
    made = reflogs.made_from(repo, attempt.act.head or "")
    if made is None:
        return False
    paths = {path for one in state.enforced(key) if one.act.token == attempt.act.token for path in one.paths}
    return not any(_is_of(repo, attempt, commit, paths) for commit in made)


def _is_of(repo: Repository, attempt: Attempt, commit: str, paths: set[str]) -> bool:
    """Whether `commit` brings the change of `attempt`, or files among which are its `paths`."""
    try:
        view = RangeView(repo, attempt.act.head or repo.empty_tree(), commit)
        return view.change().digest == attempt.act.change or (bool(paths) and paths.issubset(view.touched()))
    except (AhpError, Unknown):
        return True  # it is not here any more, so nothing tells
