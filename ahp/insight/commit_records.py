"""The few records of a log that tell of certain commits: how they were judged, what was answered, which pushes were.

However long the log is, kept is what is about these commits, and one record a push.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ahp.journal.answers import RISK, kind_of
from ahp.protocol.triggers import OF_COMMITS
from ahp.system.commits import Past, PastView
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.view import View

_ID = re.compile(r"[0-9a-f]{40,64}")


def is_id(text: object) -> bool:
    """Whether it looks like the id of an object."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


class PolicyName(NamedTuple):
    """A policy by its digest; `commit` is one that has it, `origin` where it stood ("" where the log does not tell)."""

    digest: str
    commit: str
    origin: str


class Attempt:
    """One attempt about a change: its verdicts by hook, and what was said."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Mapping[str, object]] = {}
        self.signals: list[Mapping[str, object]] = []
        self.order = 0

    @property
    def passed(self) -> bool:
        """Whether its hooks let it pass."""
        return bool(self.verdicts) and all(one.get("decision") != "deny" for one in self.verdicts.values())


class CommitRecords:
    """What a log has of commits, by the digests of their `changes`; those of `empty` change nothing. It is fed the
    log's records, in their order.

    `attempts` are by change and by git command, `given` the overrides by what binds them (rule, rule digest, content)
    and `risks` by the signal that was answered, each with who and why; `before` are the tips that the first install
    found, None without one.
    """

    def __init__(self, changes: Mapping[str, Collection[str]], empty: Collection[str] = ()) -> None:
        self.changes, self.empty, self.ids = changes, empty, set(changes)
        self._wanted = {digest for digests in self.changes.values() for digest in digests}
        self.attempts: dict[str, dict[str, Attempt]] = {}
        self.policies: dict[str, PolicyName] = {}
        self.risks: dict[str, tuple[str, str]] = {}
        self.given: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.bypasses: dict[str, Mapping[str, object]] = {}
        self.pushes: list[Push] = []
        self.of_push: dict[str, list[Mapping[str, object]]] = {}
        self.before: list[str] | None = None
        self.begin = ""
        self._pushing: list[Mapping[str, object]] = []
        self._taken = 0

    def take(self, record: Mapping[str, object]) -> None:
        """Takes up one record."""
        kind = record.get("kind")
        self.begin = self.begin or str(record.get("timestamp") or "")
        if kind in ("signal", "verdict"):
            self._judged(record, kind == "verdict")
        elif kind == "policy":
            told = [str(record.get(name) or "") for name in ("digest", "commit", "origin")]
            self.policies.setdefault(told[0], PolicyName(*told))
        elif kind == "response" and record.get("action") == RISK and kind_of(str(record.get("by"))) == "human":
            self._answered(record)
        elif kind == "bypass" and (commit := str(record.get("commit"))) in self.ids:
            self.bypasses[commit] = record
        elif kind == "install" and self.before is None:
            tips = record.get("tips")
            self.before = [tip for tip in tips if is_id(tip)] if isinstance(tips, list) else []

    def _answered(self, record: Mapping[str, object]) -> None:
        details = record.get("details")
        reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
        by = str(record.get("by")), reason
        id, rule, digest, content = (str(record.get(name) or "") for name in ("id", "rule", "digest", "content"))
        self.risks[id] = by
        self.given[rule, digest, content] = by

    def _judged(self, record: Mapping[str, object], is_verdict: bool) -> None:
        hook = record.get("hook")
        if hook == "pre-push":
            self._pushed(record, is_verdict)
        elif hook in OF_COMMITS and (change := str(record.get("change"))) in self._wanted:
            attempts = self.attempts.setdefault(change, {})
            attempt = attempts.setdefault(str(record.get("attempt") or ""), Attempt())
            self._taken += 1
            attempt.order = self._taken
            if is_verdict:
                attempt.verdicts[str(hook)] = record
            else:
                attempt.signals.append(record)

    def _pushed(self, record: Mapping[str, object], is_verdict: bool) -> None:
        if not is_verdict:
            named = record.get("commits")
            if isinstance(named, list) and not self.ids.isdisjoint(map(str, named)):
                self._pushing.append(record)
            return
        head, count = str(record.get("head") or ""), record.get("commits")
        if record.get("decision") != "deny" and is_id(head):
            about = [one for one in self._pushing if one.get("attempt") == record.get("attempt")]
            judged = count if isinstance(count, int) and not isinstance(count, bool) else 0
            base = record.get("base")
            begins = [str(one) for one in base] if isinstance(base, list) else None
            self.pushes.append(Push(head, begins, judged, {**record, "said": about} if about else record))
        self._pushing = []

    def policy(self, digest: object) -> PolicyName:
        """What the log tells of a policy."""
        return self.policies.get(str(digest or ""), PolicyName(str(digest or ""), "", ""))


def changes_of(past: Sequence[Past], shown: Sequence[PastView]) -> tuple[dict[str, set[str]], set[str]]:
    """The digests of what commits change, by their views, and those of them that change nothing."""
    changes: dict[str, set[str]] = {one.id: set() for one in past}
    empty: set[str] = set()
    for one, view in zip(past, shown, strict=True):
        for part in (view, view.own):
            if digest := digest_of(part):
                changes[one.id].add(digest)
                if not part.change().entries:
                    empty.add(digest)
    return changes, empty


def digest_of(view: View) -> str:
    """The digest of what a view changes, "" where it is not known."""
    try:
        return view.digest()
    except AhpError:
        return ""


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
