"""The remainder of a range: what it changes over its boundary and no commit of it changes itself (authority §8.1).

A merge is judged by what no parent has. One that keeps an old side, or has an old commit for a parent, takes back what
others changed, and no commit changes that. Where every merge has what git makes of its parents, nothing is left.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from ahp.system import boundaries, commits, digest, lines, patch
from ahp.system import change as changes
from ahp.system.bare_merge import BareMerges
from ahp.system.change import Change, FileChange, Line, Lines
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository
from ahp.system.history import RangeView
from ahp.system.view import PATCH, SINGLY, literally, names

_RAW = ("--raw", "-z", "--no-abbrev", SINGLY)
_AT_ONCE = 300  # paths on a command line

_Commits = Mapping[str, Sequence[str]]  # the parents by commit, the newest first
_Compared = Mapping[tuple[str, str], Change]  # by commit and parent; without those that git cannot tell of
_Act = tuple[object, ...]


class RemainderView(RangeView):
    """What is left of a range, with the lines that are. `merges` has by path those that are not what git makes of their
    parents there, the newest first.
    """

    __slots__ = ("_left", "is_staged", "merges")

    def __init__(self, at: RangeView, entries: list[FileChange], left: Lines, merges: dict[str, list[str]]) -> None:
        super().__init__(at.repo, at.old, at.new)
        self._change, self._left, self.merges = Change(entries), left, merges
        self.is_staged = False

    def said(self) -> str:
        which = dict.fromkeys(f"merge {oid[:10]}" for those in self.merges.values() for oid in those)
        names = ", ".join(which) if not self.is_staged else "this merge"
        return f"{names} is not what git itself makes of its parents; the difference is judged, too"

    def known_lines(self) -> Lines:
        return self._left

    def digest(self) -> str:
        """Of what is left alone: the same wherever the range begins."""
        told = [repr((e.path, e.status, e.new_mode, e.insertions is None and e.new_oid)) for e in self.change().entries]
        for sign, those in (("+", self._left.added), ("-", self._left.removed)):
            told += [f"{sign}{line['path']!r}:{line['text']!r}" for line in those]
        return changes.DIGEST + digest.sha256("\n".join(sorted(told)).encode("utf-8", "surrogateescape"))


class _Some(RangeView):
    """A range without renames: at the paths `only`, where they are given, and not at those `without`."""

    __slots__ = ("_only", "_without")

    def __init__(
        self,
        repo: Repository,
        old: str,
        new: str,
        others: Sequence[str] = (),
        only: Collection[str] | None = None,
        without: Collection[str] = (),
    ) -> None:
        super().__init__(repo, old, new, tuple(others))
        self._only, self._without, self._options = only, without, (SINGLY,)

    def at(self, paths: Collection[str]) -> "_Some":
        """Those of its own paths that are in `paths`."""
        own = {entry.path for entry in self.change().entries}
        return _Some(self.repo, self.old, self.new, self.others, [path for path in paths if path in own])

    def sides(self) -> "list[_Some]":  # type: ignore[override]
        if not self.others:
            return [self]
        return [_Some(self.repo, old, self.new, (), self._only, self._without) for old in (self.old, *self.others)]

    def _read_change(self) -> Change:
        found = super()._read_change()
        only, without = self._only, self._without
        kept = [e for e in found.entries if (only is None or e.path in only) and e.path not in without]
        return Change(kept, found.lacking)

    def _told(self, *options: str, paths: Sequence[str] = ()) -> bytes:
        return super()._told(*options, paths=paths or _few(self._only or ()))


def of(view: RangeView, merges: BareMerges, judged: Collection[str]) -> RemainderView | None:
    """What is left of `view` where a merge of `judged` is not what git makes of its parents; None where nothing is.

    `merges` has to stay as long as what is left is looked at. Raises AhpError.
    """
    repo, begin = view.repo, view.boundaries()
    range_ = boundaries.with_parents(repo, view.new, begin) if begin else {}
    if not any(len(parents) > 1 for parents in range_.values()):
        return None
    net = _net(view, merges)
    entries = {entry.path: entry for part in net for entry in part.change().entries}
    compared = _compared(repo, range_, list(entries)) if entries else {}
    waiting = {path: entries[path] for path in entries.keys() - _led_to(entries, range_, compared)}
    if not waiting:
        return None
    kept, left = _less(waiting, [part.at(waiting) for part in net], _Own(repo, range_, compared, list(waiting)))
    named = _that_differ(merges, {oid: range_[oid] for oid in range_ if oid in judged}, compared, list(kept))
    if not named:
        return None
    rest = Lines(
        [line for line in left.added if line["path"] in named],
        [line for line in left.removed if line["path"] in named],
        [(path, size) for path, size in left.unread if path in named],
    )
    rest.lacking = [entry for entry in left.lacking if entry.path in named]
    return RemainderView(net[0], [kept[path] for path in sorted(named)], rest, named)


def of_staged(merges: BareMerges, parents: Sequence[str], known: str) -> RemainderView | None:
    """What is left of a merge of `parents` that is staged and not committed yet, over the commit `known`."""
    try:
        tip = merges.index(parents)
    except GitError:
        if merges.repo.run("ls-files", "--unmerged"):
            return None  # git commits nothing as long as a conflict is there
        raise
    left = of(boundaries.range_over(merges.repo, tip, [known]), merges, [tip])
    if left is not None:
        left.is_staged = True
    return left


def _net(view: RangeView, merges: BareMerges) -> list[_Some]:
    """What the range changes: over what git makes of several boundaries, at the paths in conflict there over all."""
    first, *others = view.boundaries()
    over_all = _Some(view.repo, first, view.new, others)
    made = merges.of([first, *others]) if others else None
    if made is None:
        return [over_all]
    tree, clashing = made
    joined = _Some(merges.repo, tree, view.new, without=clashing)
    try:
        joined.change()
    except AhpError:  # an object that a partial clone lacks
        return [over_all]
    return [joined, over_all.at(clashing)] if clashing else [joined]


def _compared(repo: Repository, range_: _Commits, paths: Sequence[str]) -> _Compared:
    """What git tells of each commit and each of its parents, at these paths."""
    pairs = [(oid, parent) for oid, parents in range_.items() for parent in sorted(parents) or [""]]
    wanted, found = set(paths), {}
    for part, told in commits.compared(repo, pairs, _RAW, _few(paths)):
        for pair, (_, raw) in zip(part, commits.split_raw(told), strict=True):
            found[pair] = Change([entry for entry in changes.parse(raw).entries if entry.path in wanted])
    return found


def _own_entries(oid: str, parents: Sequence[str], compared: _Compared) -> list[FileChange]:
    """What a commit changes itself; nothing where git cannot tell."""
    sides = [side for parent in sorted(parents) or [""] if (side := compared.get((oid, parent))) is not None]
    if len(sides) < max(len(parents), 1):
        return []
    return sides[0].entries if len(sides) == 1 else changes.in_all(sides).entries


def _led_to(entries: Mapping[str, FileChange], range_: _Commits, compared: _Compared) -> set[str]:
    """The paths at which commits lead, one after the other, from what the boundary has to what the tip has."""
    steps: dict[str, dict[tuple[int, str], set[tuple[int, str]]]] = {}
    for oid, parents in range_.items():
        for e in _own_entries(oid, parents, compared) if len(parents) < 2 else ():
            steps.setdefault(e.path, {}).setdefault((e.old_mode, e.old_oid), set()).add((e.new_mode, e.new_oid))
    found = set()
    for path, by in steps.items():
        entry = entries[path]
        seen, coming = set(), [(entry.old_mode, entry.old_oid)]
        while coming:
            state = coming.pop()
            seen.add(state)
            coming += by.get(state, set()) - seen
        if (entry.new_mode, entry.new_oid) in seen:
            found.add(path)
    return found


class _Own:
    """What the commits of a range change themselves: how often which line, and what else becomes of a file."""

    def __init__(self, repo: Repository, range_: _Commits, compared: _Compared, paths: Sequence[str]) -> None:
        self.lines: dict[str, Counter[tuple[str, str]]] = {"+": Counter(), "-": Counter()}
        self.acts: Counter[_Act] = Counter()
        wanted, pairs = set(paths), []
        for oid, parents in range_.items():
            entries = [e for e in _own_entries(oid, parents, compared) if e.path in wanted]
            self.acts.update([act for e in entries for act in (*_acts(e), (e.path, "blob", e.new_oid))])
            if entries and len(parents) > 1:
                first, *others = sorted(parents)
                found = lines.of(_Some(repo, first, oid, others, [e.path for e in entries]))
                self._count(found.added, found.removed)
            elif entries:
                pairs.append((oid, parents[0] if parents else ""))
        for _, told in commits.compared(repo, pairs, (*PATCH, SINGLY), _few(paths)):
            self._count(*patch.parse(told))

    def _count(self, added: list[Line], removed: list[Line]) -> None:
        for sign, those in (("+", added), ("-", removed)):
            self.lines[sign].update([(str(line["path"]), str(line["text"])) for line in those])


def _acts(entry: FileChange) -> Iterator[_Act]:
    """What becomes of a file beside its lines."""
    e = entry
    if e.status == "A":
        yield e.path, "A", e.new_mode
    elif e.status == "D":
        yield e.path, "D", e.old_oid
    elif e.old_mode != e.new_mode:
        yield e.path, e.status, e.new_mode, e.new_oid


def _less(waiting: Mapping[str, FileChange], net: Sequence[_Some], own: _Own) -> tuple[dict[str, FileChange], Lines]:
    """What commits do not account for: the paths with what is left there, and the lines of all of these."""
    left, kept = Lines([], [], []), {}
    for part in net:
        found = lines.of(part)
        for sign, those, into in (("+", found.added, left.added), ("-", found.removed, left.removed)):
            for line in those:
                key = (str(line["path"]), str(line["text"]))
                entry = waiting.get(key[0])
                if entry is not None and (entry.insertions is None or own.lines[sign][key] <= 0):
                    into.append(line)
                own.lines[sign][key] -= 1
        left.unread += found.unread
        left.lacking += found.lacking
    unknown = {path for path, _ in left.unread} | {entry.path for entry in left.lacking}
    count = [Counter([line["path"] for line in those]) for those in (left.added, left.removed)]
    for path, entry in waiting.items():
        is_binary = entry.insertions is None
        acts = [act for act in _acts(entry) if not own.acts[act]]
        if is_binary and entry.new_mode and not own.acts[path, "blob", entry.new_oid]:
            acts.append(())
        if not (acts or path in unknown or (not is_binary and (count[0][path] or count[1][path]))):
            continue
        rest = kept[path] = FileChange(path, entry.status, entry.old_mode, entry.new_mode, entry.old_oid, entry.new_oid)
        if not is_binary:
            rest.insertions, rest.deletions = count[0][path], count[1][path]
        if not acts and entry.new_mode:
            rest.status, rest.old_mode = "M", entry.new_mode
    return kept, left


def _that_differ(merges: BareMerges, of_range: _Commits, compared: _Compared, paths: list[str]) -> dict[str, list[str]]:
    """By path the merges that have something else there than git makes of their parents."""
    found: dict[str, list[str]] = {}
    for oid, parents in of_range.items():
        sides = [compared.get((oid, parent)) for parent in parents] if len(parents) > 1 else []
        touched = {entry.path for side in sides if side is not None for entry in side.entries}
        here = [path for path in paths if path in touched or None in sides]
        if not here:
            continue
        made = merges.of(parents)
        if made is not None:
            tree, clashing = made
            asked = (*literally(some := _few(here)), "diff-tree", "-r", "-z", "--name-only", SINGLY, tree, oid, "--")
            other = {*clashing, *names(merges.repo.run(*asked, *some))}
            here = [path for path in here if path in other]
        for path in here:
            found.setdefault(path, []).append(oid)
    return found


def _few(paths: Collection[str]) -> list[str]:
    """The paths as git can be told them; none, and with that all there are, where they are many."""
    return list(paths) if len(paths) <= _AT_ONCE else []
