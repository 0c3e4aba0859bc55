"""Where a range of commits begins: the best common ancestors of its tip and of what is known already (authority §3)."""

import heapq
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count

from ahp.system.errors import Unknown
from ahp.system.git import GitError, Repository
from ahp.system.history import RangeView

_SEVERAL = 2
_LISTING, _WITH_EDGES = (
    ("rev-list", "--ignore-missing", "--stdin"),
    ("rev-list", "--boundary", "--ignore-missing", "--stdin"),
)


def range_over(repo: Repository, tip: str, known: list[str], whole: bool = True) -> RangeView:
    """What the commit `tip` brings over the commits `known`, of which some may not be here.

    Without a common ancestor it is all that `tip` has, as of a root commit, or, unless `whole`, unknown. Where a
    shallow clone was cut off inside the range, or may hide which ancestor is the best, it is unknown, also where the
    range goes back to the first commit: what was cut off is then what is known of it. Raises GitError.
    """
    try:
        found, outgoing = _of(repo, tip, known)
    except GitError as error:
        return _unknown(repo, tip, f"git cannot follow the history ({error})", "git fetch")
    shallow = repo.shallow()
    verb, *options = _LISTING
    firsts = (verb, "--max-parents=0", "--max-count=1", *options)
    is_cut = not found or len(found) > 1 or bool(shallow.intersection(outgoing))
    if shallow and (is_cut or repo.run(*firsts, stdin=_asked(tip, known))):
        return _unknown(repo, tip, "this clone was cut off before the range begins", "git fetch --unshallow")
    if not found and not whole:
        return _unknown(repo, tip, "the two have no commit in common", "")
    first, *others = sorted(found) or [repo.empty_tree()]
    return RangeView(repo, first, tip, tuple(others))


def _of(repo: Repository, tip: str, known: list[str]) -> tuple[list[str], list[str]]:
    """The boundaries, and the commits between them and `tip`. Raises GitError."""
    if not known:
        return [], []
    listed = repo.run(*_WITH_EDGES, stdin=_asked(tip, known)).decode().split()
    outgoing = [line for line in listed if line[0] not in "-"]
    if not outgoing:
        return [tip], []
    edges = [line[1:] for line in listed if line[0] == "-"]
    if len(edges) > 1:  # a fork point that a later merge overtook is none
        edges = repo.run("merge-base", "--independent", *edges).decode().split()
    return edges, outgoing


def outgoing(repo: Repository, tip: str, known: Sequence[str]) -> list[str]:
    """The commits of `tip` that none of `known`, of which some may be gone, has, newest first. Raises GitError."""
    return repo.run(*_LISTING, stdin=_asked(tip, known)).decode().split()


def with_parents(repo: Repository, tip: str, known: Sequence[str]) -> dict[str, list[str]]:
    """The commits of `tip` that none of `known` has, newest first, each with its parents. Raises GitError."""
    verb, *options = _LISTING
    told = repo.run(verb, "--parents", *options, stdin=_asked(tip, known)).decode()
    return {commit: parents for commit, *parents in map(str.split, told.splitlines())}


def outgoing_of(view: RangeView) -> list[str]:
    """The commits of a range, newest first; none of a tree or a blob, and where they are not known. Raises GitError."""
    tip, known = view.repo.commit_id(view.new), view.boundaries()
    return [] if tip is None or view.unknown is not None or tip in known else outgoing(view.repo, tip, known)


def foresee(repo: Repository, ranges: Iterable[tuple[str, Sequence[str], Sequence[str]]]) -> None:
    """Asks git once what each (tip, known, alike) of many ranges brings, also where it begins; kept for `range_over`
    and `outgoing` of tip and known.

    `alike` are commits that have the same of `tip` as `known`: those of equal ones are asked together.
    """
    groups: dict[tuple[str, ...], list[tuple[str, Sequence[str]]]] = {}
    for tip, known, alike in ranges:
        groups.setdefault(tuple(sorted(set(alike))), []).append((tip, known))
    for alike, some in groups.items():
        tips = dict.fromkeys(tip for tip, _ in some)
        if len(some) < _SEVERAL:
            continue
        graph = _Graph(repo, list(tips), alike)
        for tip, known in some:
            asked = _asked(tip, known)
            repo.foresee(*_LISTING, stdin=asked, answer=partial(graph.listed, tip))
            repo.foresee(*_WITH_EDGES, stdin=asked, answer=partial(graph.listed, tip, True))


class _Graph:
    """The commits that some tips have and others have not, with their times and parents; read once it is asked."""

    def __init__(self, repo: Repository, tips: list[str], known: Sequence[str]) -> None:
        self._repo, self._tips, self._known = repo, tips, known
        self._read: list[dict[str, tuple[int, list[str]]] | None] = []

    def listed(self, tip: str, with_edges: bool = False) -> bytes | None:
        """What `git rev-list` prints of one tip, in its order: by time, of one time as they were come to. None where
        git could not tell of all.
        """
        if not self._read:
            self._read.append(self._commits())
        if (commits := self._read[0]) is None:
            return None
        found: list[str] = []
        edges: dict[str, None] = {}
        waiting: list[tuple[int, int, str]] = []
        seen, come_to, number = {tip}, [tip], count()
        while come_to or waiting:
            for commit in come_to:
                if commit in commits:
                    heapq.heappush(waiting, (-commits[commit][0], next(number), commit))
                else:
                    edges[commit] = None
            if not waiting:
                break
            commit = heapq.heappop(waiting)[2]
            found.append(commit)
            come_to = [one for one in dict.fromkeys(commits[commit][1]) if one not in seen]
            seen.update(come_to)
        if not found:
            return b""
        return "".join([f"{one}\n" for one in found] + [f"-{one}\n" for one in edges if with_edges]).encode()

    def _commits(self) -> dict[str, tuple[int, list[str]]] | None:
        asked = "".join([*[f"{one}\n" for one in self._tips], *[f"^{one}\n" for one in self._known]]).encode()
        verb, *options = _LISTING
        try:
            told = self._repo.run(verb, "--parents", "--timestamp", *options, stdin=asked).decode()
        except GitError:
            return None
        lines = map(str.split, told.splitlines())
        return {commit: (int(made), others) for made, commit, *others in lines}


def _asked(tip: str, known: Sequence[str]) -> bytes:
    return "".join([f"{tip}\n", *[f"^{commit}\n" for commit in known]]).encode()


def _unknown(repo: Repository, tip: str, reason: str, command: str) -> RangeView:
    return RangeView(repo, repo.empty_tree(), tip, unknown=Unknown(reason, command))
