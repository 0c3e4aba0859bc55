"""`ahp ci`: a range judged by the policy of where it goes, from git's objects alone (authority §5, §6).

No ladder, no log, no layer of a user, nothing that the change could have written: the same range and the same policy
give the same answer.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ahp.gate import of_range, overrides
from ahp.gate.asked import Context, of_object
from ahp.gate.candidate import Candidate
from ahp.gate.decide import decide
from ahp.gate.of_commits import OfCommits
from ahp.gate.of_range import Range
from ahp.gate.signalling import why_not
from ahp.hosts import asking
from ahp.hosts.ci.change import Change
from ahp.hosts.ci.platform import BRANCHES
from ahp.hosts.ci.report import Judged, Report, Result, RuleText, found, report, result
from ahp.hosts.ci.ruling import ALL, Place, Places
from ahp.hosts.ci.signatures import NotApproved, approval
from ahp.hosts.issue_transitions import gates_of
from ahp.hosts.verdict_text import name_of, rule_of, steps_of
from ahp.policy import policies, targets
from ahp.policy import tree as trees
from ahp.policy.policies import NOBODY, Policies
from ahp.protocol.event import Actor, Event, PushRef, Workspace
from ahp.protocol.text import one_line
from ahp.protocol.triggers import OF_CONTENT, OF_MERGES, TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import boundaries, clock, digest, files
from ahp.system.commits import Past
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import Seen
from ahp.system.version import __version__

_PUSH, _MERGE = "pre-push", "pre-merge"  # whose rules are asked of the range
_AT_ONCE = (OF_CONTENT, OF_MERGES)  # a message belongs to one commit
_BUDGET = 3600.0  # s; CI has a limit of its own
_EXCUSES = ("waived", "overridden")


class Question(NamedTuple):
    """What is asked: about which change, brought by whom, and by which part of the rules.

    `actor` is the account that the platform vouches for, "" for none; `part` is `ALL`, `POLICY` for the rules that read
    `policy.*`, `OTHERS` for those that do not. `push` is what git says of the ref, on a server.
    """

    change: Change
    actor: str = ""
    part: str = ALL
    push: PushRef | None = None


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for the policies that one run compiles: the clone's own cache may be the change's work."""
    return tempfile.TemporaryDirectory(prefix="ahp-ci-")


def judge(repo: Repository, question: Question, env: dict[str, str], folder: str, seen: Seen) -> Report:
    """What the policy of the target says to a change; `seen` is told how many commits are done, and of how many.

    `folder` keeps what is compiled (`scratch`). Raises AhpError where it cannot be judged.
    """
    return next(judge_all(repo, [question], env, folder, seen))


def judge_all(
    repo: Repository, questions: Sequence[Question], env: dict[str, str], folder: str, seen: Seen
) -> Iterator[Report]:
    """`judge` for several changes of one run, with their actor and part in common: what they share is asked once.

    Of those before one that has nobody who can judge it, what is said is told before that is raised.
    """
    places = Places(questions[0].part if questions else ALL)
    asked: list[_Judging] = []
    wrong: AhpError | None = None
    for question in questions:
        try:
            asked.append(_Judging(repo, question, places, env, folder))
        except AhpError as error:
            wrong = error
            break
    if len(asked) > 1:
        of_range.foresee(repo, [(one.change.view, one.ruling.of_range) for one in asked])
    own = _own(repo, asked)
    ranges = [one.range_by(own[id(one.place)]) for one in asked]
    for one, said in zip(asked, of_range.judge_each(repo, ranges, seen), strict=True):
        yield one.report(said)
    if wrong is not None:
        raise wrong


def is_named(repo: Repository, branch: str, commit: str, folder: str) -> bool:
    """Whether `authority:` of the policy of `commit` ("" for none) names `branch`."""
    return bool(commit) and naming(repo, commit, folder)(branch)


def naming(repo: Repository, commit: str, folder: str) -> Callable[[str], bool]:
    """Tells of a branch whether `authority:` of the policy of `commit` names it."""
    return targets.names(trees.of_commit(repo, commit), folder)


def _own(repo: Repository, asked: Sequence[_Judging]) -> dict[int, dict[str, Policies]]:
    """By place, commit → who judges it instead, of those commits whose own policy adds rules."""
    found: dict[int, dict[str, Policies]] = {}
    for place in {id(one.place): one.place for one in asked}.values():
        those = [one for one in asked if one.place is place]
        every = list(dict.fromkeys(oid for one in those for oid in one.commits))
        own = policies.of_commits(repo, every, those[0].event, place.in_force)
        narrow = {id(one): place.narrowed_to_each(one) for one in {id(one): one for one in own.values()}.values()}
        found[id(place)] = {commit: narrow[id(one)] for commit, one in own.items()}
    return found


class _Judging:
    """One change that is judged: its event, who judges it, and its `commits`, newest first."""

    def __init__(self, repo: Repository, question: Question, places: Places, env: dict[str, str], folder: str) -> None:
        self._repo, self.change = repo, question.change
        self._brings = question.part == ALL and (question.change.merged or question.push is not None)
        self.event = self._asked(question, env, folder)
        self.place: Place = places.of(self.event, self.change)
        self.ruling = self.place.ruling(self.event)
        self._approvers = Approvers(repo, self.place.allowed, time.time(), self.place.software_keys)
        self.change.view.base()  # raises Unknown where nobody can tell which commits are in it
        self.commits = boundaries.outgoing_of(self.change.view) if self.change.head else []

    def range_by(self, own: dict[str, Policies]) -> Range:
        """What is asked of its commits, of which `own` has those that are judged by another policy, too."""
        context = Context(
            self.event,
            known={"branch": self._branch()},
            gathered=("actor", "issue", "checklist"),
            excuse=self._approvers.excuse,
        )
        assert self.event.push is not None
        whole = of_object(self.event.push.local_oid, self.change.view) if self._is_object else None
        return Range(context, self.place.of_each, self.commits, own, whole, self.change.view)

    @property
    def _is_object(self) -> bool:
        """Whether it is a tree or a blob that a ref comes to name."""
        return not self.change.head and bool(self.change.view.change().entries)

    def report(self, said: OfCommits) -> Report:
        """What is told of it, with what was `said` of its commits."""
        asked, verdicts = self.ruling.of_range, []
        if asked.at(_PUSH):
            verdicts.append(of_range.judge_range(self.event, asked, said))
        if _has_rules(asked, _MERGE):
            verdicts.append(of_range.judge_range(self._at(_MERGE), asked))
        at_once = self.ruling.at_once
        verdicts += [decide(self._at(name), at_once.at(name)) for name in _AT_ONCE if _has_rules(at_once, name)]
        if any(_has_rules(asked, name) for name in TRIGGERS if name.startswith("pre-issue-")):
            verdicts += [decide(gate, asked.at(gate.trigger)) for gate in gates_of(self.event)]
        return self._told(verdicts, said)

    def _asked(self, question: Question, env: dict[str, str], folder: str) -> Event:
        """The event of the range: as the push that would bring it to its target."""
        change, repo = question.change, self._repo
        where = Workspace(repo.root or repo.git_dir, folder, env, repo)
        actor = Actor("ci", question.actor, is_verified=bool(question.actor))
        event = asking.event(_PUSH, "ci", actor, where, mode="replay", budget=_BUDGET)
        event.view, event.remote = change.view, change.remote
        brings = PushRef(BRANCHES + change.source, change.head, change.target, change.had)
        event.push = question.push or brings
        event.subject = asking.subject_of(change.source)
        event.given = {"branch": self._branch()}
        return of_range.without_evidence(event)

    def _branch(self) -> dict[str, object]:
        change = self.change
        target = change.target.removeprefix(BRANCHES) if change.target.startswith(BRANCHES) else ""
        is_default = bool(target) and target == change.default
        why = "CI judges a range, and no branch that is checked out"
        return of_range.branch_of(change.source, target, is_default, why)

    @property
    def _begin(self) -> list[str]:
        """The commits that the range begins after."""
        return [one for one in self.change.view.boundaries() if one != self._repo.empty_tree()]

    def _at(self, trigger: str) -> Event:
        return self.event.but(trigger=trigger)

    def _told(self, verdicts: list[Verdict], said: OfCommits) -> Report:
        rules = self.ruling.rules
        results: dict[str, Result] = {}
        for verdict in verdicts:
            for signal in verdict.signals:
                name = rule_of(signal)
                results.setdefault(name, result(signal, name, steps_of(signal.payload)))
            for dropped in verdict.dropped:
                name = name_of(dropped["rule"])
                if dropped["why"].startswith(_EXCUSES) and name not in results:
                    known = rules.get(name, RuleText(name, "block", "", "", "", 0))
                    results[name] = Result(name, known.level, known.about, [], [], 0, dropped["why"])
        notes = list(dict.fromkeys([note for verdict in verdicts for note in verdict.notes] + self._approvers.notes))
        code = 1 if any(verdict.denied for verdict in verdicts) else 0
        signals = [signal for verdict in verdicts for signal in verdict.signals]
        if any(signal.intensity == "block" and signal.context.get("unknowable") for signal in signals):
            code = 2
        judged = self._judged(said, list(results.values()), code)
        if self.change.merged and code == 1:
            code = 0
            notes.append("this is merged already: problems are shown, nothing is refused")
        if self.place.in_force is NOBODY:
            why = self.place.broken or "where this goes there is no policy yet"
            notes.append(f"{why}: the rules that it brings itself are asked")
        about = self._about(said.judged, bool(results))
        return report(about, code, list(rules.values()), list(results.values()), notes, self._begin, judged)

    def _judged(self, said: OfCommits, results: list[Result], code: int) -> Judged:
        """What the judgement is evidence of; `code` is 1 also where nothing can be refused any more."""
        change, in_force = self.change, self.place.in_force
        by = [
            {"ref": one.tree.name, "commit": one.tree.commit, "digest": one.program.policy}
            for one in in_force.at(_PUSH)
            if one.tree is not None
        ]
        of_each = [
            found(commit.id, name_of(one.key), one.intensity, max(one.total, 1), exemption)
            for commit, one, _ in said.told
            if (exemption := why_not(one) if one.waived or one.dropped.startswith(_EXCUSES) else "") or one.enforced
        ]
        known = {one["rule"] for one in of_each}
        of_range = [
            found(None, one.rule, one.level, max(one.total, 1), one.excused) for one in results if one.rule not in known
        ]
        moves = self._brings and bool(change.head and change.own_tip and by) and code != 2
        tip, ahp = change.own_tip or None, (clock.iso(clock.now()), __version__, sources_digest())
        return Judged(*ahp, change.target, tip, change.head, self.commits, by, [*of_each, *of_range], not code, moves)

    def _about(self, commits: int, is_told: bool) -> str:
        change = self.change
        by = self.place.in_force.trees[0] if self.place.in_force.trees else None
        whose = f", by the policy of {by.name} ({by.commit[:10]})" if by is not None else ""
        count = f"{commits} commit{'s' if commits != 1 else ''}"
        if self._is_object:
            return f"what {change.target} names, which is no commit{whose}"
        if not change.head:
            return f"{change.target} is deleted{whose}"
        if not commits:
            nothing = f"{change.head[:10]} brings no commit to {change.target.removeprefix(BRANCHES)}"
            return nothing + whose if is_told else f"nothing to judge: {nothing} that was not judged already"
        after = f" after {' and '.join(one[:10] for one in self._begin)}" if self._begin else " from the first one"
        return f"{count}{after} up to {change.head[:10]}, bound for {change.target.removeprefix(BRANCHES)}{whose}"


@cache
def sources_digest() -> str:
    """A digest of the code that runs, by which one version of ahp is told from another that calls itself the same."""
    top = __file__.rpartition("/hosts/")[0]
    found = sorted(f"{folder}/{name}" for folder, _, names in os.walk(top) for name in names if name.endswith(".py"))
    listed = [f"{path[len(top) :]}\0{digest.sha256(files.read(path) or b'')}\n" for path in found]
    return digest.tagged("".join(listed).encode())


def _has_rules(these: Policies, trigger: str) -> bool:
    return any(one.program.rules for one in these.at(trigger))


_SIGN = "here somebody whom .ahp/approvers names signs it: git commit --amend -S"


class Approvers:
    """Who may let a rule pass: the text of `.ahp/approvers` in the tree of the policy that judges.

    `notes` say of each override that does not count why it does not.
    """

    def __init__(self, repo: Repository, allowed: bytes, now: float, software_keys: bool) -> None:
        self._repo, self._allowed, self._now, self._software_keys = repo, allowed, now, software_keys
        self.notes: list[str] = []

    def excuse(self, commit: Past, candidate: Candidate) -> str:
        """The reason for which a commit passes a rule that it breaks, "" for none."""
        rule = candidate.rule
        found = overrides.lines(commit.message.encode("utf-8", "surrogateescape"))
        line = found.get((one_line(candidate.key), rule.digest, candidate.content())) if rule.overridable else None
        if line is None:
            if any(bound[0] == one_line(candidate.key) for bound in found):
                what = "it is not for this rule as it is, or not for this change" if rule.overridable else "it may not"
                self._refuse(commit, candidate, what)
            return ""
        try:
            signed = self._repo.run("cat-file", "commit", commit.id)
            who = approval(signed, self._allowed, self._now, self._software_keys)
        except NotApproved as why:
            self._refuse(commit, candidate, str(why))
            return ""
        reason = line.rpartition(" sha256:")[2].partition(" ")[2]
        return f"overridden by {who}: {one_line(reason, 300)}"

    def _refuse(self, commit: Past, candidate: Candidate, why: str) -> None:
        note = f"the override of {candidate.key} in commit {commit.id[:10]} does not count: {why}; {_SIGN}"
        if note not in self.notes:
            self.notes.append(note)
