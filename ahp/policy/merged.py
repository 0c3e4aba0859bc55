"""What a merge takes from the default branch is in force there already: it makes no policy weaker (authority §2.6)."""

from collections.abc import Iterator
from typing import NamedTuple

from ahp.facts.default_branch import default_branches, remotes
from ahp.protocol.event import Event
from ahp.system import tracking
from ahp.system.git import Repository

_TRIGGER = "pre-merge-commit"
_NAMED = "GITHEAD_"


class Taken(NamedTuple):
    """What a merge takes: the change from `parted`, where the two lines of history parted, to the commit `joined`.

    `tips` is what the default branch has now: one commit, two where two branches may be the default one.
    """

    parted: str
    joined: str
    tips: list[str]


def from_default(event: Event, base: str) -> list[Taken]:
    """What a merge takes from the default branch into the commit `base`: from the remote's as last fetched, where that
    is believed; without a remote from the local one. Nothing for any other event. Raises GitError.
    """
    repo, view = event.repo, event.view
    if repo is None or view is None or event.trigger != _TRIGGER or view.kind not in ("commit", "index"):
        return []
    made = view.new if view.kind == "commit" else ""  # type: ignore[attr-defined]
    joined = repo.line("rev-parse", f"{made}^@").split()[1:] if made else _joined_now(repo)
    branches = list(_branches(repo)) if joined else []
    # A merge that is on the default branch itself brought there what it joins.
    lines = [[tip for tip in tips if not (made and _has(repo, tip, made))] for tips in branches]
    found = []
    for commit in joined:
        having = [next((tip for tip in tips if _has(repo, tip, commit)), "") for tips in lines]
        parted = repo.line("merge-base", base, commit, ok=(0, 1)) if having and all(having) else ""
        if parted:
            found.append(Taken(parted, commit, having))
    return found


def _joined_now(repo: Repository) -> list[str]:
    """While `git merge` runs its hook, only variables name what it joins; whoever runs git may set more of them."""
    named = [name.removeprefix(_NAMED) for name in repo.env if name.startswith(_NAMED)]
    return [found for one in repo.merge_heads() or named if (found := repo.commit_id(one))]


def _branches(repo: Repository) -> Iterator[list[str]]:
    """Of each branch that may be the default one, the commits that it has."""
    for name in default_branches(repo):
        refs = [f"refs/remotes/{remote}/{name}" for remote in remotes(repo)]
        known = [ref for ref in refs if repo.commit_id(ref)]
        if known:
            believed = [ref for ref in known if tracking.believes(repo, ref)]
        else:
            believed = [f"refs/heads/{name}"] if repo.branch() != name else []
        yield [tip for ref in believed if (tip := repo.commit_id(ref))]


def _has(repo: Repository, tip: str, commit: str) -> bool:
    return not repo.line("rev-list", "--max-count=1", commit, f"^{tip}")
