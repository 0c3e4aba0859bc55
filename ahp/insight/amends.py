"""The parts in which hooks judge a commit that is amended: what it was first, and what each amend changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ahp.system import reflogs
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import CommitView, RangeView
from ahp.system.view import View

_MOST = 50  # amends of one commit


class Part(NamedTuple):
    """A change by its digest; `head` is the commit that was amended with it, "" for the first one."""

    head: str
    digest: str


def parts(repo: Repository, commits: Iterable[str]) -> dict[str, list[Part]]:
    """The parts, the newest first, of those of `commits` that the reflogs here call amends and whose former ones are
    here. Raises GitError.
    """
    amended = reflogs.amended(repo)
    found = {commit: list(_parts(repo, commit, amended)) for commit in commits if commit in amended}
    return {commit: told for commit, told in found.items() if told and all(one.digest for one in told)}


def _parts(repo: Repository, commit: str, amended: dict[str, str]) -> Iterator[Part]:
    for _ in range(_MOST):
        before = amended.get(commit)
        if before is None:
            yield Part("", _digest(repo, commit))
            return
        yield Part(before, _digest(repo, commit, before))
        commit = before
    yield Part("", "")


def _digest(repo: Repository, commit: str, before: str = "") -> str:
    """The digest of what a commit changes, "" where it is not known."""
    try:
        view: View = RangeView(repo, before, commit) if before else CommitView(repo, commit)
        return view.digest()
    except AhpError:
        return ""
