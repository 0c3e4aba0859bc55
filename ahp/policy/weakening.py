"""What a change does to the policy and to all that belongs to it: the comparison behind `policy.*` (authority §2.6).

What a merge takes from the default branch is in force there already: it makes no policy weaker.
"""

import posixpath
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from ahp.facts import policy as names
from ahp.facts.default_branch import default_branches, remotes
from ahp.policy import diff, examples, judge_files, layers, succession, vendored, waivers, yamltext
from ahp.policy import tree as trees
from ahp.policy.diff import INCOMPARABLE, STRONGER, UNKNOWN, WEAKER, Change
from ahp.policy.problems import Place, PolicyError, quoted
from ahp.policy.rule import Policy
from ahp.policy.sources import TreeReader, TreeSource
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import tracking
from ahp.system.change import EXECUTABLE, FILE, FileChange
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import Repository
from ahp.system.history import RangeView
from ahp.system.view import View

_SHOWN = 100
# Parts that stand at no line of the new state.
_WITHOUT_LINE = ("rule", "file", "requires", "test", "waiver", "judge", "shared")


def facts(event: Event) -> dict[str, object]:
    """The facts of `policy` but `branch`, for an event whose change may touch the policy. Raises GitError, AhpError."""
    assert event.view is not None and event.repo is not None
    base = event.view.base()
    entries = event.view.change().entries
    sides = Sides(RangeView(event.repo, base, base), event.view, lambda: _in_force(event, base))
    touched = [*names.suspects(entries), *names.judging(entries)]
    found = [*_links(entries), *_without_merged(event, base, sides.changes(touched), touched)]
    weaker = [
        one for one in found if one.verdict in (WEAKER, INCOMPARABLE) or (event.actor.kind != "human" and one.weakens)
    ]
    return {
        "changed": any(map(sides.is_part, names.suspects(entries))) or any(one.part == "judge" for one in found),
        "weakened": bool(weaker),
        "weakenings": [_record(one) for one in found if one.weakens],
        "rules_weakened": sorted({one.key for one in weaker if one.trigger}),
    }


def _without_merged(event: Event, base: str, found: list[Change], touched: Collection[str]) -> list[Change]:
    """`found` without what a merge takes from the default branch, where that made it weaker and still has it so."""
    assert event.view is not None and event.repo is not None
    excused: set[tuple[str, str, str]] = set()
    for taken in from_default(event, base) if any(one.weakens for one in found) else ():
        parted, joined, *tips = [RangeView(event.repo, one, one) for one in (taken.parted, taken.joined, *taken.tips)]
        beyond = [one for tip in tips for one in Sides(tip, event.view).changes(touched) if one.weakens]
        if not any(one.part == "file" for one in beyond):  # else one of the two is none that can be compared
            excused |= _marks(Sides(parted, joined).changes(touched)) - _marks(beyond)
    return [one for one in found if not one.weakens or _mark(one) not in excused]


def _marks(found: Collection[Change]) -> set[tuple[str, str, str]]:
    return {_mark(one) for one in found if one.weakens}


def _mark(change: Change) -> tuple[str, str, str]:
    return (change.trigger, change.key, change.part)


def touches_only_policy(event: Event) -> bool:
    """Whether the change of `event` is not empty and has files of the policy alone: it may mend a wrong rule."""
    if event.view is None or event.repo is None:
        return False
    try:
        entries = event.view.change().entries
    except Unknown:
        return False
    paths = {path for entry in entries for path in (entry.path, entry.old_path) if path}
    if not paths or len(names.suspects(entries)) < len(paths):
        return False
    base = event.view.base()
    sides = Sides(RangeView(event.repo, base, base), event.view)
    return all(names.is_policy(path) or sides.is_part(path) for path in paths)


def _in_force(event: Event, base: str) -> TreeReader | None:
    """What judges where the policy of the commit `base` does not load, as long as that lasts."""
    assert event.repo is not None
    if event.repo.commit_id(base) is None:  # the empty tree
        return None
    found, _ = succession.in_force(trees.of_commit(event.repo, base), event.journal, event.trigger)
    tip = (found.commit or base) if found is not None else ""
    return RangeView(event.repo, tip, tip) if tip else None


class Sides:
    """Two states of a tree whose policies are compared. `in_force` is asked for the tree that judges in place of the
    old one where that does not load: its rules are what a change that mends it can make weaker.
    """

    def __init__(
        self, old: TreeReader, new: TreeReader, in_force: Callable[[], TreeReader | None] = lambda: None
    ) -> None:
        self.old, self.new = _Reader(old), _Reader(new)
        self._judging, self._in_force = self.old, in_force
        self._rules: list[Change] | None = None
        self.policies: tuple[Policy, Policy] | None = None  # those that were compared

    def changes(self, touched: Collection[str]) -> list[Change]:
        """What became of the policy by a change of the paths `touched`. A side that cannot be read is `unknown`."""
        places = (names.HOOKS, names.LOCK, names.FOLDER)
        found = list(self.rules()) if any(names.may_be_extended(one) or one in places for one in touched) else []
        return found + self.beside(touched)

    def rules(self) -> list[Change]:
        """The changes of the rules and of what they read; one `unknown` where a side does not load."""
        if self._rules is None:
            try:
                self._rules = self.compared()
            except AhpError as error:
                self._rules = [_unknown(names.HOOKS, error)]
        return self._rules

    def is_part(self, path: str) -> bool:
        """Whether one of the two policies has that file."""
        if not names.is_policy(path):
            self.rules()
        return names.is_policy(path) or any(path in one.read_paths for one in (self.old, self._judging, self.new))

    def beside(self, touched: Collection[str]) -> list[Change]:
        """The changes of waivers, approvers, policy tests and of who judges in CI among the paths `touched`."""
        found: list[Change] = []
        shared = any(path == names.LOCK or path.startswith(names.VENDOR) for path in touched)
        for path, is_touched, compare in (
            (names.LOCK, shared, _locks),
            (names.WAIVERS, shared or names.WAIVERS in touched, _waivers),
            (names.APPROVERS, names.APPROVERS in touched, _approvers),
        ):
            if is_touched:
                try:
                    found += compare(self.old, self.new)
                except AhpError as error:
                    found.append(_unknown(path, error))
        found += self._tests(sorted(path for path in touched if path.startswith(names.TESTS)))
        return found + judge_files.changes(self.old, self.new, touched)

    def compared(self) -> list[Change]:
        """As `rules`. Raises PolicyError for a side that does not load, GitError, AhpError."""
        before = self._before()
        if self.new.has(self._judging):
            return []
        after = layers.load(TreeSource(self.new, ""))
        self.policies = before, after
        if self._judging.read(names.HOOKS) is not None and self.new.read(names.HOOKS) is None:
            return [Change("", names.HOOKS, "file", WEAKER, "the policy is removed", Place(names.HOOKS))]
        first = self._judging.read(names.HOOKS) is None  # nothing that was there gets weaker by it
        settings = [] if first else _settings(before, after)
        return settings + diff.compare(before, after, prove=True) + self._requirements()

    def _before(self) -> Policy:
        try:
            return layers.load(TreeSource(self.old, "base"))
        except PolicyError:
            found = self._in_force()
            if found is None:
                raise
            self._judging = _Reader(found)
            return layers.load(TreeSource(self._judging, "base"))

    def _requirements(self) -> list[Change]:
        """`requires` of every file that takes part."""
        found = []
        for path in sorted(self._judging.read_paths | self.new.read_paths):
            one, two = (_requirement(side.read(path)) for side in (self._judging, self.new))
            if one != two:
                verdict = STRONGER if one is None else WEAKER if two is None else UNKNOWN
                place = Place(path)
                found.append(Change("", path, "requires", verdict, f"{quoted(one)} became {quoted(two)}", place))
        return found

    def _tests(self, paths: list[str]) -> list[Change]:
        """Policy tests that are in none of the changed files any more."""
        before: dict[str, str] = {}
        after: set[str] = set()
        for path in paths:
            try:
                before.update(dict.fromkeys(_test_names(self.old.read(path), path), path))
                after.update(_test_names(self.new.read(path), path))
            except AhpError as error:
                return [_unknown(path, error)]
        return [
            Change("", path, "test", WEAKER, f"the test {quoted(name)} is removed", Place(path))
            for name, path in before.items()
            if name not in after
        ]


class _Reader:
    """A tree that remembers which of its files were read. Each is read once."""

    def __init__(self, tree: TreeReader) -> None:
        self._tree = tree
        self._known: dict[str, bytes | None] = {}

    @property
    def read_paths(self) -> set[str]:
        return {path for path, data in self._known.items() if data is not None}

    def has(self, other: "_Reader") -> bool:
        """Whether all that was read of `other`, and found or not, is the same here."""
        return all(self.read(path) == data for path, data in other._known.items())

    def paths(self) -> list[str]:
        """Every path, as far as the tree tells them."""
        return self._tree.paths() if isinstance(self._tree, View) else []

    def read(self, path: str) -> bytes | None:
        path = posixpath.normpath(path)
        if path not in self._known:
            self._known[path] = self._tree.read(path)
        return self._known[path]


def _settings(old: Policy, new: Policy) -> list[Change]:
    """What became of the keys that belong to no rule. `mode` is told once, beside what it does to each rule."""
    found = []
    for name in ("mode", "authority", "software_keys", "box"):
        one, two = old.raw.setting(name), new.raw.setting(name)
        told = f"{quoted(one)} became {quoted(two)}"
        if name == "mode":
            verdict = WEAKER if two == "observe" else STRONGER
            told = "every rule is logged and none is enforced" if two == "observe" else "rules are enforced again"
        elif name == "authority":  # a branch's own policy may be weaker or stricter than the default branch's
            verdict = UNKNOWN if sorted(one) != sorted(two) else diff.EQUAL
        elif name == "software_keys":
            verdict = WEAKER if two else STRONGER
        else:
            verdict, told = diff.compare_boxes(one.model_dump(), two.model_dump())
        if one != two and verdict != diff.EQUAL:
            field = new.raw.settings.get(name)
            place = field.place if field is not None else Place(names.HOOKS)
            found.append(Change("", names.HOOKS, name, verdict, told, place))
    return found


def _links(entries: list[FileChange]) -> list[Change]:
    """Files of the policy that are now links, or no files at all: what they lead to cannot be compared."""
    return [
        Change("", entry.path, "file", UNKNOWN, "it is no regular file", Place(entry.path))
        for entry in entries
        if entry.new_mode and entry.new_mode not in (FILE, EXECUTABLE) and names.suspects([entry])
    ]


def _locks(old: TreeReader, new: TreeReader) -> list[Change]:
    """Shared policies that went back to an older version, come from elsewhere, or may be signed by more people.

    What their rules became is compared as that of all rules. Raises AhpError.
    """
    before, after = (vendored.read_lock(side.read(names.LOCK)) for side in (old, new))
    told = []
    for name, now in after.shared.items():
        was = before.shared.get(name)
        if was is None:
            continue
        if was.repo != now.repo:
            told.append((UNKNOWN, f"the shared policy {quoted(name)} comes from another repository now"))
        elif now.at < was.at:
            told.append(
                (WEAKER, f"the shared policy {quoted(name)} goes back from {was.ref} to {now.ref}, an older one")
            )
        added = [line for line in now.signers if line not in was.signers]
        told += [(WEAKER, f"another key may sign the shared policy {quoted(name)}: {quoted(line)}") for line in added]
    if before.shared and before.repository != after.repository:
        told.append(
            (UNKNOWN, f"waivers are those of {quoted(after.repository)} now, not of {quoted(before.repository)}")
        )
    return [Change("", names.LOCK, "shared", verdict, what, Place(names.LOCK)) for verdict, what in told]


def _waivers(old: TreeReader, new: TreeReader) -> list[Change]:
    """Waivers that no former one covers: new, longer, or less bound. Raises PolicyError, AhpError."""
    before = waivers.in_force(old.read).waivers
    found = []
    for waiver in waivers.in_force(new.read).waivers:
        same = [
            one
            for one in before
            if one.rule == waiver.rule
            and one.subject in (waiver.subject, "*")
            and (one.repository is None) == (waiver.repository is None)
        ]
        if not any(one.expires >= waiver.expires and one.digest in (None, waiver.digest) for one in same):
            what = "is longer or less bound than before" if same else "is new"
            detail = f"the waiver of {quoted(waiver.rule)} on {quoted(waiver.subject)} until {waiver.expires} {what}"
            file = names.WAIVERS if waiver.repository is None else names.LOCK
            found.append(Change("", file, "waiver", WEAKER, detail, Place(file)))
    return found


def _approvers(old: TreeReader, new: TreeReader) -> list[Change]:
    """Lines of the allowed signers (ssh-keygen(1)) that were not there: whoever they name may approve now."""
    known = set(_lines(old.read(names.APPROVERS) or b""))
    return [
        Change("", names.APPROVERS, "approver", WEAKER, f"a new line: {quoted(line)}", Place(names.APPROVERS, number))
        for line, number in _lines(new.read(names.APPROVERS) or b"").items()
        if line not in known
    ]


def _lines(data: bytes) -> dict[str, int]:
    """Each line that says something, with its number."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    stripped = {line.strip(): number for number, line in enumerate(lines, start=1)}
    return {line: number for line, number in stripped.items() if line and not line.startswith("#")}


def _requirement(data: bytes | None) -> object:
    node = yamltext.parse(data or b"", "")
    plain = node.plain() if node is not None else None
    return plain.get("requires") if isinstance(plain, dict) else None


def _test_names(data: bytes | None, path: str) -> list[str]:
    """The names of the policy tests in a file; their facts are not looked at. Raises PolicyError."""
    node = yamltext.parse(data or b"", path)
    plain = node.plain() if node is not None else []
    found = plain if isinstance(plain, list) else []
    return [str(one["name"]) for one in found if isinstance(one, dict) and "name" in one]


def _unknown(path: str, error: AhpError) -> Change:
    place = error.problems[0].place if isinstance(error, PolicyError) else Place(path)
    why = one_line(str(error).splitlines()[0], _SHOWN)
    return Change("", path, "file", UNKNOWN, f"cannot be compared: {why}", place._replace(file=path))


def _record(change: Change) -> dict[str, object]:
    """One item of `policy.weakenings`."""
    # The file is shown beside it; these details say themselves what they are about.
    said = (
        change.detail
        if change.part in ("file", "test", "waiver", "judge", "shared")
        else f"{change.part}: {change.detail}"
    )
    if change.trigger:
        said = f"`{change.key}` at {change.trigger}: {change.part}: {change.detail}"
    cannot = "; this cannot be compared" if change.verdict == UNKNOWN and change.part != "file" else ""
    shown = "".join(f"; {one}" for one in examples.told(change)[:1] if change.verdict != UNKNOWN)
    removed = change.part == "rule"  # its place is in the former policy, or in a pack
    return {
        "what": one_line(said + cannot + shown, 500),
        "rule": change.key if change.trigger else "",
        "verdict": change.verdict,
        "file": names.HOOKS if removed else change.place.file,
        "line": None if change.part in _WITHOUT_LINE else change.place.line,
    }


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
