"""Which push was the first to bring a commit, by the verdicts of a log and the history that git has."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ahp.system.git import Repository


class Push(NamedTuple):
    """A push that the gate let pass.

    `head` is the id of what was pushed, `base` what it begins at (None where the log does not tell), `commits` how many
    commits were judged one by one, `record` the verdict.
    """

    head: str
    base: list[str] | None
    commits: int
    record: Mapping[str, object]


class Pushed(NamedTuple):
    """Of each commit the first push that brought it, and whether it was judged there by itself (None: not known).

    `before` are the commits that were there when the gate was installed.
    """

    brought: dict[str, tuple[Push, bool | None]]
    before: set[str]


def pushed(repo: Repository, commits: Sequence[str], pushes: Sequence[Push], tips: Sequence[str]) -> Pushed:
    """Of `commits`, by `pushes` in their order; `tips` are what the first install found. Raises GitError.

    A push judges one by one at most what it brings and was not there before the gate: where these are as many as its
    verdict counts, it is these. Where the verdict does not tell what it began at, only its head is known to be of it.
    """
    heads = _peeled(repo, [push.head for push in pushes])
    history = _History(repo, [*commits, *heads.values(), *tips])
    there = history.brings(tips, ())
    found: dict[str, tuple[Push, bool | None]] = {}
    wanted = set(commits)
    for push in pushes:
        head = heads.get(push.head)
        if head is None:
            continue
        if push.base is None:
            found.setdefault(head, (push, None if push.commits else False))
            continue
        brings = history.brings([head], push.base) - there
        by_itself = False if not push.commits else True if len(brings) == push.commits else None
        for commit in brings & wanted:
            found.setdefault(commit, (push, by_itself))
    return Pushed({commit: told for commit, told in found.items() if commit in wanted}, there & wanted)


class _History:
    """The parents of every commit that some tips have, and an order in which no parent comes before its child."""

    def __init__(self, repo: Repository, tips: Sequence[str]) -> None:
        asked = "".join(f"{tip}\n" for tip in dict.fromkeys(tips)).encode()
        options = ("--topo-order", "--parents", "--ignore-missing", "--stdin")
        told = repo.run("rev-list", *options, stdin=asked).decode() if asked else ""
        lines = [line.split() for line in told.splitlines()]
        self.parents = {commit: parents for commit, *parents in lines}
        self.order = {line[0]: number for number, line in enumerate(lines)}

    def brings(self, tips: Iterable[str], base: Iterable[str]) -> set[str]:
        """What `tips` have and `base` has not, as `git rev-list TIPS --not BASE`."""
        known = {commit for commit in base if commit in self.order}
        found = {commit for commit in tips if commit in self.order} - known
        queue = [self.order[commit] for commit in known | found]
        names = {self.order[commit]: commit for commit in known | found}
        heapq.heapify(queue)
        waiting = len(found)  # nothing new is found once only what is known is left
        while queue and waiting:
            commit = names[heapq.heappop(queue)]
            is_new = commit not in known
            waiting -= is_new
            for parent in self.parents[commit]:
                if parent not in self.order:
                    continue
                number = self.order[parent]
                if number not in names:
                    names[number] = parent
                    heapq.heappush(queue, number)
                    if is_new:
                        found.add(parent)
                        waiting += 1
                    else:
                        known.add(parent)
                elif not is_new and parent not in known:
                    known.add(parent)
                    found.discard(parent)
                    waiting -= 1
        return found


def _peeled(repo: Repository, ids: Sequence[str]) -> dict[str, str]:
    """The commit that each id is or, for a tag, names in the end; those that are not here are left out."""
    listed = list(dict.fromkeys(ids))
    asked = "".join(f"{id}^{{commit}}\n" for id in listed).encode()
    told = repo.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).decode() if listed else ""
    answers = [line.split() for line in told.splitlines()]
    return {id: answer[0] for id, answer in zip(listed, answers, strict=True) if answer[1:] == ["commit"]}
