"""Ranges of commits judged from git's objects: each commit, then all that the range changes (authority §5)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ahp.facts.registry import Absent
from ahp.gate.asked import Change, Context, asked, of_commit
from ahp.gate.decide import decide
from ahp.gate.of_commits import OfCommits, Told
from ahp.policy.policies import Policies
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.protocol.triggers import OF_CONTENT
from ahp.protocol.verdict import Verdict
from ahp.system import boundaries, commits, patience, remainder
from ahp.system.bare_merge import BareMerges
from ahp.system.commits import Past
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import RangeView
from ahp.system.terminal import Seen, unseen

_PUSH = "pre-push"
# What encodings in which ASCII is ASCII are called by. From another one (UTF-7, UTF-16, EBCDIC) git makes line ends and
# NUL of letters, so that a message ends or goes on elsewhere than where it is read as it is stored.
_WITH_ASCII = (
    *("utf-8", "utf8", "us-ascii", "ascii", "ansi-x3", "iso-8859-", "iso8859-", "latin", "windows-125", "koi8", "mac"),
    *("cp125", "cp437", "cp85", "cp86", "cp874", "cp932", "cp936", "cp949", "cp950", "tis-620", "viscii"),
    *("gb", "big5", "euc", "shift", "sjis", "iso-2022-"),
)


class Range(NamedTuple):
    """What comes to one ref: the ids of its `commits`, newest first, which `policies` judge, or those that `own` has
    for one, and the `view` of the range that they are in. Of a tree or a blob that the ref names, the `whole` of it,
    and no commits.
    """

    context: Context
    policies: Policies
    commits: Sequence[str] = ()
    own: Mapping[str, Policies] = {}
    whole: Change | None = None
    view: RangeView | None = None

    def reads(self, namespace: str = "") -> bool:
        """Whether there is a rule to ask of it, one that reads the namespace if that is named."""
        every = dict.fromkeys((self.policies, *self.own.values()))
        judges = [judge for one in every for judge in self.context.judges(one)]
        return any(not namespace or namespace in judge.program.reads for judge in judges)


def judge_each(repo: Repository, ranges: Sequence[Range], seen: Seen = unseen) -> list[OfCommits]:
    """What is said of each range. A commit is read once, however many ranges have it, and a hundred at a time; of which
    nothing is said for one, another that would say the same is not asked. Raises AhpError, which names the commit.
    """
    holding: dict[str, list[int]] = {}
    for number, one in enumerate(ranges):
        for oid in one.commits:
            holding.setdefault(oid, []).append(number)
    past = commits.listed(repo, list(holding))
    told: list[dict[str, list[Told]]] = [{} for _ in ranges]
    reads_text = any(one.commits and one.reads("diff") for one in ranges)
    for done, (commit, view) in enumerate(zip(past, commits.views(repo, past, reads_text), strict=True), 1):
        patience.doing = f"commit {commit.id[:10]}, {done} of {len(past)}"
        try:
            _check_encoding(commit.encoding)
            change, clean = of_commit(commit, view), set()
            for number in holding[commit.id]:
                context, policies = ranges[number].context, ranges[number].own.get(commit.id, ranges[number].policies)
                alike = context.alike(policies) if len(holding[commit.id]) > 1 else None
                if alike in clean:
                    continue
                if found := asked(change, policies, context):
                    told[number][commit.id] = [Told(commit, candidate) for candidate in found]
                elif alike is not None:
                    clean.add(alike)
        except AhpError as error:
            raise AhpError(f"commit {commit.id[:10]}: {error}") from error
        seen(done, len(past))
    made = []
    by_id = {commit.id: commit for commit in past}
    for one, by_commit in zip(ranges, told, strict=True):
        of_range = [said for oid in one.commits for said in by_commit.get(oid, ())]
        if any(by_id[oid].is_merge for oid in one.commits):
            of_range += _of_remainder(one, by_id)
        if one.whole is not None and one.whole.commit is not None:
            of_range += [Told(one.whole.commit, said) for said in asked(one.whole, one.policies, one.context)]
        made.append(OfCommits(of_range, one.context.notes, len(one.commits)))
    return made


def _of_remainder(one: Range, past: Mapping[str, Past]) -> list[Told]:
    """What the rules of content say of what the range changes and none of its commits changes itself."""
    if one.view is None or not any(judge.program.rules for judge in one.policies.at(OF_CONTENT)):
        return []
    with BareMerges(one.view.repo) as merges:
        view = remainder.of(one.view, merges, one.commits)
        if view is None:
            return []
        named = dict.fromkeys(oid for those in view.merges.values() for oid in those)
        newest = next(past[oid] for oid in one.commits if oid in named)
        places = {path: those[0] for path, those in view.merges.items()}
        found = asked(Change({OF_CONTENT: view}, newest), one.policies, one.context)
        for candidate in found:  # while what git made is there
            _ = candidate.message(), candidate.steps(), candidate.paths(), candidate.content(), candidate.evidence()
    if found:
        one.context.notes[view.said()] = None
    return [Told(newest, candidate, places) for candidate in found]


def foresee(repo: Repository, ranges: Sequence[tuple[RangeView, Policies]]) -> None:
    """Asks git at once what many ranges change, and what their commits say where a rule of the range reads that."""
    commits.foresee(repo, [view for view, _ in ranges])
    said = [view for view, by in ranges if any("messages" in one.program.reads.get("push", ()) for one in by.at(_PUSH))]
    commits.texts(repo, list(dict.fromkeys(oid for view in said for oid in boundaries.outgoing_of(view))))


def _check_encoding(name: str) -> None:
    """Raises AhpError where who reads a commit's message as it is stored sees other text than git shows here."""
    if name and not name.lower().replace("_", "-").startswith(_WITH_ASCII):
        mend = "git -c i18n.commitEncoding=UTF-8 commit --amend --no-edit"
        raise AhpError(f"it says that its message is in {one_line(name)}, which is not read here; fix: {mend}")


def judge_range(event: Event, policies: Policies, of_commits: OfCommits | None = None) -> Verdict:
    """The verdict on a range: what its own trigger's rules say of all it changes, with what was told of its commits.

    Raises AhpError.
    """
    verdict = decide(event, policies.at(event.trigger), of_commits)
    verdict.notes[:0] = [note for note in policies.notes if note not in verdict.notes]
    return verdict


def without_evidence(event: Event) -> Event:
    """The event of a range whose tip is not what lies in the work tree: what is known only there is absent."""
    why = "what is judged is not what is checked out"
    given = {name: Absent(why, elsewhere=True) for name in ("env", "session")}
    return event.but(from_objects=True, given={**given, **(event.given or {})})


def branch_of(source: str, target: str, is_default: bool, why: str) -> dict[str, object]:
    """The facts of `branch` for what comes from one branch to another; `why` the rest of them is not known."""
    past = Absent(why, elsewhere=True)
    told = {"name": source, "target": target, "is_default": is_default, "is_detached": not source}
    return {**told, "ahead": past, "behind": past}
