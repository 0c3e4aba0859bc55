"""Who judges what goes where; what is alike for several changes of one run is made once (authority §4, §6)."""

from __future__ import annotations

from typing import NamedTuple

from ahp.facts.policy import APPROVERS
from ahp.hosts.ci.change import Change
from ahp.hosts.ci.platform import BRANCHES
from ahp.hosts.ci.report import RuleText, rule_text
from ahp.hosts.verdict_text import name_of
from ahp.policy import cache, policies, succession, targets
from ahp.policy import tree as trees
from ahp.policy.policies import NOBODY, Policies
from ahp.policy.problems import PolicyError
from ahp.policy.program import RuleAnswer
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event
from ahp.protocol.triggers import TRIGGERS
from ahp.system.errors import AhpError

ALL, POLICY, OTHERS = "all", "policy", "others"
_PUSH = "pre-push"


class Ruling(NamedTuple):
    """The rules that a change is asked: those of where it goes, and those that it brings itself.

    `of_range` are asked of the range at its own triggers, `at_once` those of commits that are asked once, of all that
    it changes. `rules` are the texts of all, by name.
    """

    of_range: Policies
    at_once: Policies
    rules: dict[str, RuleText]


class Place:
    """Where changes go: the policies that are `in_force` there, and of these the rules `of_each` commit.

    `broken` says which of them does not load where none judges, "" else; `allowed` is the text of `.ahp/approvers`,
    `software_keys` whether keys of files count there.
    """

    def __init__(self, event: Event, change: Change, part: str) -> None:
        self._event, self._part = event, part
        self.in_force, self.broken = _of_target(event, change)
        self.of_each = self.narrowed_to_each(self.in_force)
        tree = self.in_force.trees[0] if self.in_force.trees else None
        self.allowed = (tree.read(APPROVERS) if tree is not None else None) or b""
        judges = self.in_force.at(_PUSH)
        self.software_keys = bool(judges) and judges[0].answers(event).software_keys
        self._rulings: dict[bytes, Ruling] = {}

    def ruling(self, event: Event) -> Ruling:
        """Who judges the change of `event`, which goes there. Raises AhpError where none can."""
        assert event.repo is not None and event.push is not None
        tip = event.repo.commit_id(event.push.local_oid) if event.push.local_oid.strip("0") else None
        key = trees.of_commit(event.repo, tip, f"commit {tip[:10]}").key if tip else b""
        if key not in self._rulings:
            self._rulings[key] = self._with(targets.added_by_tip(event, self.in_force))
        return self._rulings[key]

    def narrowed_to_each(self, these: Policies) -> Policies:
        """Of `these` the rules that each commit is asked."""
        return policies.narrowed(these, self._event, lambda rule: self._is_asked(rule) and _is_of_each(rule))

    def _with(self, brought: Policies) -> Ruling:
        if self.broken and brought is NOBODY:  # else it may be the change that mends it
            raise AhpError(f"{self.broken}, and no older one does; a change with a policy that loads fixes this")
        every = policies.narrowed(self.in_force.and_those_of(brought), self._event, self._is_asked)
        at_once = policies.narrowed(every, self._event, lambda rule: not _is_of_each(rule))
        return Ruling(every, at_once, self._texts(every))

    def _is_asked(self, rule: RuleAnswer) -> bool:
        """Whether CI asks the rule, which is of the part that is wanted."""
        about_policy = any(path.partition(".")[0] == "policy" for path in rule.reads)
        return rule.ci != "skip" and (self._part == ALL or about_policy == (self._part == POLICY))

    def _texts(self, every: Policies) -> dict[str, RuleText]:
        found: dict[str, RuleText] = {}
        for trigger in TRIGGERS:
            for one in every.at(trigger):
                asked = {plan.key for plan in one.program.rules}
                for key, rule in one.answers(self._event.but(trigger=trigger)).rules.items():
                    if key in asked:
                        found.setdefault(name_of(key), rule_text(name_of(key), rule))
        return found


class Places:
    """Where the changes of one run go, each place once; `part` is the part of the rules that is wanted."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._known: dict[tuple[str, str, str], Place] = {}

    def of(self, event: Event, change: Change) -> Place:
        """The place that `change` goes to. Raises AhpError where its policy cannot judge."""
        alike = (change.default_tip, change.own_tip, change.target if change.own_tip else "")
        if alike not in self._known:
            self._known[alike] = Place(event, change, self._part)
        return self._known[alike]


def _is_of_each(rule: RuleAnswer) -> bool:
    """Whether each commit is asked: also where the rule would have the range, but reads what only a commit has."""
    return rule.ci == "each" or any(path.partition(".")[0] == "commit" for path in rule.reads)


def _of_target(event: Event, change: Change) -> tuple[Policies, str]:
    default = _tree(event, change.default_tip, change.default)
    own = _tree(event, change.own_tip, change.target)
    for tree in (default, own):
        _check_readable(tree, event.journal)
    is_default = change.target == BRANCHES + change.default
    found = targets.of_ref(event, change.target, is_default, default, lambda: [own] if own else [])
    broken = ""
    for tree in (own, default) if found is NOBODY else ():
        wrong = succession.program_of(tree, event.journal, _PUSH)[1] if tree and tree.has_policy else ""
        if tree and wrong:
            broken = f"the policy of {tree.name} does not load ({wrong})"
    return found, broken


def _tree(event: Event, commit: str, ref: str) -> PolicyTree | None:
    assert event.repo is not None
    return trees.of_commit(event.repo, commit, ref.removeprefix(BRANCHES)) if commit else None


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
            mend = "; fix: git fetch --refetch --no-filter" if error.is_unread else ""
            raise AhpError(f"the policy of {tree.name} cannot judge: {error}{mend}") from error
