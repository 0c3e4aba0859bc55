"""What `ahp doctor` tells of the policy: is it what judges, can its commands run.

The same for people and agents: nothing here is a way round the gate.
"""

import os
from collections.abc import Callable
from functools import cached_property, partial

from ahp.hosts import asking, command_trust
from ahp.hosts.table import FIX, Check
from ahp.policy import cache, layers
from ahp.policy import compile as compiling
from ahp.policy import tree as trees
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError
from ahp.policy.program import Answers, Program
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource, TreeReader, TreeSource, misnamed
from ahp.policy.weakening import Sides
from ahp.protocol.event import Workspace, identify
from ahp.system import environ, jsontext
from ahp.system.digest import tagged
from ahp.system.git import Repository
from ahp.system.history import CommitView
from ahp.system.worktree import WorkTreeView

Find = Callable[[str], Program | None]
"""What is stored of a policy for a trigger."""


class ClonePolicy:
    """One policy: `name` says whose it is, `find` what is stored of it. Raises PolicyError where it does not load."""

    def __init__(self, name: str, source: FileSource | TreeSource, find: Find) -> None:
        self.name, self.find, self._source = name, find, source

    @cached_property
    def policy(self) -> Policy:
        return layers.load(self._source)

    @cached_property
    def programs(self) -> dict[str, Program]:
        """By trigger, as the policy says and not as they are stored."""
        return compiling.programs(self.policy, self._source.watched)

    def is_that_of(self, tree: TreeReader) -> bool:
        """Whether `tree` has each of its files as it is; False where it does not load.

        Packs lie with ahp, by absolute paths, and are the same for both.
        """
        try:
            _ = self.policy
        except PolicyError:
            return False
        own = [(path, digest) for path, digest in self._source.watched if not os.path.isabs(path)]
        return all(tagged(tree.read(path) or b"") == digest for path, digest in own)


class ClonePolicies:
    """HEAD's policy, and the work tree's with the user's layer at the path `user`. Raises AhpError."""

    def __init__(self, repo: Repository, user: str) -> None:
        self.repo, self.user = repo, user

    @cached_property
    def of_head(self) -> ClonePolicy | None:
        """None where HEAD has none."""
        tree = trees.of_commit(self.repo, "HEAD")
        find = partial(cache.find_committed, tree, self.repo.ahp_dir)
        return ClonePolicy("HEAD's policy", TreeSource(tree), find) if tree.has_policy else None

    @cached_property
    def of_work_tree(self) -> ClonePolicy:
        source = FileSource(self.repo.root, self.user)
        find = partial(cache.find, self.repo.root, self.repo.ahp_dir, user=self.user)
        return ClonePolicy("the work tree's policy", source, find)

    @cached_property
    def looked_at(self) -> ClonePolicy:
        """The work tree's; HEAD's where that is not there or does not load. Raises PolicyError."""
        if self.of_head is not None and not os.path.lexists(self.repo.root + cache.PROJECT):
            return self.of_head
        try:
            _ = self.of_work_tree.policy
        except PolicyError:
            if self.of_head is None:
                raise
            return self.of_head
        return self.of_work_tree


def loaded(repo: Repository, user_policy: str) -> Check:
    """Whether a policy judges here, and each of its files loads."""
    where = Workspace(repo.root, repo.ahp_dir, environ.current(), repo, user_policy=user_policy)
    event = asking.event("pre-commit", "doctor", identify(where.env), where, mode="dry")
    try:
        judges = judges_of(event)
    except PolicyError as error:
        return Check("policy", "wrong", str(error), "correct the file, then: ahp policy lint")
    notes = [note for judge in judges for note in judge.notes]
    if notes:
        return Check("policy", "note", "; ".join(notes), "fix the file, then: ahp policy lint")
    if judges[0].adds:
        why = "the default branch had a policy and removed it: nobody judges, and a file in the work tree only adds"
        return Check("policy", "note", why, "ahp init, and commit it; or: ahp uninstall git")
    if not any(judge.program.triggers for judge in judges):
        others = misnamed(repo.root)
        detail = "; ".join(["there is none here, so every commit passes", *others])
        return Check("policy", "note", detail, "give it that name" if others else "ahp init")
    known = [cache.rules_of(judge.program) for judge in judges]
    if None in known:
        return Check("policy", "ok", "it loads; what is compiled of it is not kept, so each hook takes longer")
    rules = len({str(rule[1]) for listed in known for rule in listed or ()})
    return Check("policy", "ok", f"{rules} rule{'s' * (rules != 1)}")


def compiled(policies: ClonePolicies) -> Check:
    """Whether the compiled policies are what the policies say: they are compiled anew and compared."""
    name, found = "compiled policy", 0
    for one in filter(None, (policies.of_head, policies.of_work_tree)):
        for trigger, fresh in _programs(one).items():
            stored = one.find(trigger)
            if stored is None:
                continue
            found += 1
            answers = stored.answers if cache.read_answers(stored) else fresh.answers
            if _text(stored, answers) != _text(fresh, fresh.answers):
                told = f"what is stored of {one.name} for {trigger} is not what it says: another program wrote it"
                return Check(name, "wrong", told, FIX)
    return Check(name, "ok", "what the policy says" if found else "not made yet; the next hook does")


def renew(repo: Repository, user_policy: str) -> None:
    """Compiles the policies anew that `compiled` looks at, and stores them. Raises AhpError."""
    compiling.build(repo.root, repo.ahp_dir, user_policy)
    head = trees.of_commit(repo, "HEAD")
    if head.has_policy:
        compiling.committed(head, repo.ahp_dir)


def _programs(one: ClonePolicy) -> dict[str, Program]:
    """The programs of a policy; none of one that does not load: nothing is stored of it."""
    try:
        return one.programs
    except PolicyError:
        return {}


def _text(*halves: Program | Answers | None) -> list[str]:
    return [jsontext.encode(half) for half in halves]


def committed(policies: ClonePolicies) -> Check:
    """Whether the policy of the work tree is that of HEAD."""
    name, repo, same = "committed policy", policies.repo, "the work tree's is HEAD's"
    head, new = repo.commit_id("HEAD"), WorkTreeView(repo)
    here = new.read(cache.PROJECT[1:]) is not None
    old = CommitView(repo, head) if head else None
    if old is None or old.read(cache.PROJECT[1:]) is None:
        return Check(name, "ok", "not committed yet, so nobody else has it" if here else "none")
    if not here:
        return Check(name, "note", f"{cache.PROJECT[1:]} is missing; HEAD's judges", "git restore .ahp")
    if policies.of_head is not None and policies.of_head.is_that_of(new):
        return Check(name, "ok", same)
    changes = Sides(old, new).rules()
    if not changes:
        return Check(name, "ok", same)
    weaker = sum(change.weakens for change in changes)
    count = f"{len(changes)} place{'s' * (len(changes) != 1)}"
    told = f"the work tree's differs from HEAD's in {count}, {weaker} of them not as strict"
    told += "; until it is committed HEAD's judges, and it can only add"
    return Check(name, "note", told, "see them: ahp policy diff; then commit the policy or take it back")


def commands(policies: ClonePolicies) -> Check:
    """Whether the commands of the policy can run: accepted here, and on PATH. Raises PolicyError."""
    where = asking.around(policies.repo.root)
    specs, waiting = command_trust.of_policy(policies.looked_at.policy, where)
    if lost := command_trust.not_found(specs, where):
        return Check("commands", "note", *command_trust.say_not_found(lost))
    if waiting:
        return Check("commands", "note", *command_trust.say_waiting(waiting))
    return Check("commands", "ok", f"{len(specs)} accepted and found" if specs else "none")
