"""`ahp ci`: a range judged by the policy of where it goes, from git's objects alone (authority §5, §6).

No ladder, no log, no layer of a user, nothing that the change could have written: the same range and the same policy
give the same answer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

from ahp.facts.absent import Absent
from ahp.facts.policy import APPROVERS
from ahp.gate.decide import decide
from ahp.gate.of_commits import OfCommits
from ahp.hosts import asking, objects
from ahp.hosts.ci.approvers import Approvers
from ahp.hosts.ci.change import Change
from ahp.hosts.ci.proposal import BRANCHES
from ahp.hosts.ci.report import Report, Result, RuleText, report, result, rule_text
from ahp.hosts.issue_transitions import gates_of
from ahp.hosts.verdict_text import name_of, rule_of, steps_of
from ahp.policy import cache, policies, succession, targets
from ahp.policy import tree as trees
from ahp.policy.policies import NOBODY, Policies
from ahp.policy.problems import PolicyError
from ahp.policy.program import RuleAnswer
from ahp.policy.tree import PolicyTree
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event, PushRef, Workspace
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system.commits import listed
from ahp.system.errors import AhpError
from ahp.system.git import NO_MONITOR, Repository
from ahp.system.terminal import Seen

ALL, POLICY, OTHERS = "all", "policy", "others"
_PUSH, _MERGE = "pre-push", "pre-merge"  # whose rules are asked of the range
_AT_ONCE = (objects.OF_CONTENT, objects.OF_MERGES)  # a message belongs to one commit
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


def repository_here() -> Repository:
    """The repository of the current folder, without the program that watches its work tree (git-config,
    core.fsmonitor): git would start it with every question, and no file of a work tree is asked for. Raises
    NotARepository.
    """
    repo = asking.repository_here()
    repo.env |= NO_MONITOR
    return repo


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for the policies that one run compiles: the clone's own cache may be the change's work."""
    return tempfile.TemporaryDirectory(prefix="ahp-ci-")


def judge(repo: Repository, question: Question, env: dict[str, str], folder: str, seen: Seen) -> Report:
    """What the policy of the target says to a change; `seen` is told how many commits are done, and of how many.

    `folder` keeps what is compiled (`scratch`). Raises AhpError where it cannot be judged.
    """
    return _Judging(repo, question, env, folder).report(seen)


def is_named(repo: Repository, branch: str, commit: str, folder: str) -> bool:
    """Whether `authority:` of the policy of `commit` ("" for none) names `branch`."""
    return bool(commit) and targets.names(trees.of_commit(repo, commit), branch, folder)


class _Judging:
    def __init__(self, repo: Repository, question: Question, env: dict[str, str], folder: str) -> None:
        self._repo, self._change, self._part = repo, question.change, question.part
        self._event = self._asked(question, env, folder)
        self._broken = ""
        self._in_force = self._of_target()
        brought = targets.added_by_tip(self._event, self._in_force)
        if self._broken and brought is NOBODY:  # else it may be the change that mends it
            raise AhpError(f"{self._broken}, and no older one does; a change that brings one that loads mends this")
        self._ruling = self._narrow(self._in_force.and_those_of(brought), lambda rule: True)
        self._approvers = self._who_may_excuse()

    def report(self, seen: Seen) -> Report:
        of_commits = self._judge_commits(seen)
        verdicts = []
        if self._ruling.at(_PUSH):
            verdicts.append(objects.judge_range(self._event, self._ruling, of_commits))
        if self._asks(_MERGE):
            verdicts.append(objects.judge_range(self._at(_MERGE), self._ruling))
        at_once = policies.narrowed(self._ruling, self._event, lambda rule: not _is_of_each(rule))
        verdicts += [decide(self._at(name), at_once.at(name)) for name in _AT_ONCE if _has_rules(at_once, name)]
        if any(self._asks(name) for name in TRIGGERS if name.startswith("pre-issue-")):
            verdicts += [decide(gate, self._ruling.at(gate.trigger)) for gate in gates_of(self._event)]
        return self._told(verdicts, of_commits.judged)

    @property
    def _is_object(self) -> bool:
        """Whether it is a tree or a blob that a ref comes to name."""
        return not self._change.head and bool(self._change.view.change().entries)

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
        return objects.without_evidence(event)

    def _branch(self) -> dict[str, object]:
        change = self._change
        target = change.target.removeprefix(BRANCHES) if change.target.startswith(BRANCHES) else ""
        past = Absent("CI judges a range, and no branch that is checked out", elsewhere=True)
        told = {"name": change.source, "target": target, "is_default": bool(target) and target == change.default}
        return {**told, "is_detached": not change.source, "ahead": past, "behind": past}

    def _of_target(self) -> Policies:
        change = self._change
        default = self._tree(change.default_tip, change.default) if change.default_tip else None
        own = self._tree(change.own_tip, change.target) if change.own_tip else None
        for tree in (default, own):
            _check_readable(tree, self._event.journal)
        is_default = change.target == BRANCHES + change.default
        found = targets.of_ref(self._event, change.target, is_default, default, lambda: [own] if own else [])
        for tree in (own, default) if found is NOBODY else ():
            wrong = succession.program_of(tree, self._event.journal, _PUSH)[1] if tree and tree.has_policy else ""
            if tree and wrong:
                self._broken = f"the policy of {tree.name} does not load ({wrong})"
        return found

    def _tree(self, commit: str, ref: str) -> PolicyTree:
        return trees.of_commit(self._repo, commit, ref.removeprefix(BRANCHES))

    def _narrow(self, these: Policies, keep: Callable[[RuleAnswer], bool]) -> Policies:
        """The rules that CI asks, of the part that is wanted."""

        def is_asked(rule: RuleAnswer) -> bool:
            about_policy = any(path.partition(".")[0] == "policy" for path in rule.reads)
            wanted = self._part == ALL or about_policy == (self._part == POLICY)
            return wanted and rule.ci != "skip" and keep(rule)

        return policies.narrowed(these, self._event, is_asked)

    def _who_may_excuse(self) -> Approvers:
        tree = self._in_force.trees[0] if self._in_force.trees else None
        allowed = tree.read(APPROVERS) if tree is not None else None
        judges = self._in_force.at(_PUSH)
        software_keys = bool(judges) and judges[0].answers(self._event).software_keys
        return Approvers(self._repo, allowed or b"", time.time(), software_keys)

    def _judge_commits(self, seen: Seen) -> OfCommits:
        change = self._change
        revisions = change.view.revisions() if change.head and change.head not in change.view.boundaries() else []
        ids = self._repo.run("rev-list", *revisions, "--").decode().split() if revisions else []
        own = policies.of_commits(self._repo, ids, self._event, self._in_force)
        narrow = {id(one): self._narrow(one, _is_of_each) for one in {id(one): one for one in own.values()}.values()}
        asked = objects.CommitJudge(
            self._event,
            self._narrow(self._in_force, _is_of_each),
            own={commit: narrow[id(one)] for commit, one in own.items()},
            known={"branch": self._branch()},
            gathered=("actor", "issue", "checklist"),
            excuse=self._approvers.excuse,
        )
        if self._is_object:
            assert self._event.push is not None
            return objects.judge_object(asked, self._event.push.local_oid, self._change.view)
        return objects.judge_commits(asked, self._event, listed(self._repo, ids), seen) if ids else OfCommits()

    def _at(self, trigger: str) -> Event:
        return self._event.but(trigger=trigger)

    def _asks(self, trigger: str) -> bool:
        return _has_rules(self._ruling, trigger)

    def _told(self, verdicts: list[Verdict], commits: int) -> Report:
        rules = self._rules()
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
        if self._change.merged and code == 1:
            code = 0
            notes.append("this is merged already: what is wrong with it is told, and nothing is refused")
        if self._change.merged and self._change.had != self._change.own_tip:
            gone = f"{self._change.had[:10]}, which the last good build was of, is not in this clone any more"
            notes.append(f"{gone}: judged is what {self._change.head[:10]} adds to its first parent")
        if self._in_force is NOBODY:
            why = self._broken or "where this goes there is no policy yet"
            notes.append(f"{why}: the rules that it brings itself are asked")
        return report(self._about(commits, bool(results)), code, list(rules.values()), list(results.values()), notes)

    def _about(self, commits: int, is_told: bool) -> str:
        change = self._change
        by = self._in_force.trees[0] if self._in_force.trees else None
        whose = f", by the policy of {by.name} ({by.commit[:10]})" if by is not None else ""
        count = f"{commits} commit{'s' if commits != 1 else ''}"
        if self._is_object:
            return f"what {change.target} names, which is no commit{whose}"
        if not change.head:
            return f"{change.target} is deleted{whose}"
        if not commits:
            nothing = f"{change.head[:10]} brings no commit to {change.target.removeprefix(BRANCHES)}"
            return nothing + whose if is_told else f"nothing to judge: {nothing}"
        return f"{count} up to {change.head[:10]}, bound for {change.target.removeprefix(BRANCHES)}{whose}"

    def _rules(self) -> dict[str, RuleText]:
        """Every rule that is asked, by its name."""
        found: dict[str, RuleText] = {}
        for trigger in TRIGGERS:
            for one in self._ruling.at(trigger):
                asked = {plan.key for plan in one.program.rules}
                for key, rule in one.answers(self._at(trigger)).rules.items():
                    if key in asked:
                        found.setdefault(name_of(key), rule_text(name_of(key), rule))
        return found


def _is_of_each(rule: RuleAnswer) -> bool:
    """Whether each commit is asked: also where the rule would have the range, but reads what only a commit has."""
    return rule.ci == "each" or any(path.partition(".")[0] == "commit" for path in rule.reads)


def _has_rules(these: Policies, trigger: str) -> bool:
    return any(one.program.rules for one in these.at(trigger))


def _check_readable(tree: PolicyTree | None, folder: str) -> None:
    """Raises AhpError for a policy that asks for another ahp, or is not in this clone: no older one takes its place in
    CI (authority §2.4). A partial clone may have the one that a change left long ago, and not that of its target.
    """
    if tree is None or not tree.has_policy or cache.find_committed(tree, folder, _PUSH) is not None:
        return
    from ahp.policy import compile as compiling

    try:
        compiling.committed(tree, folder)
    except PolicyError as error:
        if error.is_for_another_ahp or error.is_unread:
            mend = "; mend: git fetch --refetch --no-filter" if error.is_unread else ""
            raise AhpError(f"the policy of {tree.name} cannot judge: {error}{mend}") from error
