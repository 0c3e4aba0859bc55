"""What a merge takes from the default branch is in force there already: it makes no policy weaker (authority §2.6)."""

from ahp.facts.default_branch import default_branches, remotes
from ahp.protocol.event import Event
from ahp.system import tracking
from ahp.system.git import Repository

_TRIGGER = "pre-merge-commit"
_NAMED = "GITHEAD_"


def from_default(event: Event) -> list[str]:
    """Of the commits that a merge joins to its first parent those that the default branch has: the remote's as last
    fetched, where that is believed; without a remote the local one's. None of any other event. Raises GitError.
    """
    repo, view = event.repo, event.view
    if repo is None or view is None or event.trigger != _TRIGGER:
        return []
    made = view.new if view.kind == "commit" else ""  # type: ignore[attr-defined]
    joined = repo.line("rev-parse", f"{made}^@").split()[1:] if made else _joined_now(repo)
    # A merge that is on the default branch itself brought there what it joins.
    tips = [tip for tip in _tips(repo) if joined and not (made and _has(repo, tip, made))]
    return [parent for parent in joined if any(_has(repo, tip, parent) for tip in tips)]


def _joined_now(repo: Repository) -> list[str]:
    """While `git merge` runs its hook, only variables name what it joins."""
    named = [name.removeprefix(_NAMED) for name in repo.env if name.startswith(_NAMED)]
    return [found for one in repo.merge_heads() or named if (found := repo.commit_id(one))]


def _tips(repo: Repository) -> list[str]:
    found = []
    for name in default_branches(repo):
        refs = [f"refs/remotes/{remote}/{name}" for remote in remotes(repo)]
        known = [ref for ref in refs if repo.commit_id(ref)]
        ours = [f"refs/heads/{name}"] if not known and repo.branch() != name else []
        found += [tip for ref in known if tracking.believes(repo, ref) and (tip := repo.commit_id(ref))]
        found += [tip for ref in ours if (tip := repo.commit_id(ref))]
    return found


def _has(repo: Repository, tip: str, commit: str) -> bool:
    return not repo.line("rev-list", "--max-count=1", commit, f"^{tip}")
