"""Who judges what is pushed to a ref (authority §4): the policy of where it goes, never that of where it comes from.

The default branch's policy names the refs that have one of their own (`authority:`); these are judged by their old tip,
all others by the default branch, as last fetched. What is pushed can only add rules.
"""

from ahp.facts.default_branch import default_branch, is_default
from ahp.policy import policies, succession
from ahp.policy import tree as trees
from ahp.policy.judge import WORKING, Judge
from ahp.policy.policies import NOBODY, Policies
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event, PushRef
from ahp.system import tracking
from ahp.system.git import Repository

_BRANCHES = "refs/heads/"
_TRIGGER = "pre-push"


def of_push(event: Event, remote: str) -> Policies:
    """The policies that judge the push of `event` to `remote` (as git names it), without what its commits add.

    Nobody where the default branch gave its policy up; where nothing that is committed judges, the work tree's file, as
    long as a policy is being adopted. Raises PolicyError, GitError, AhpError.
    """
    assert event.repo is not None and event.push is not None
    repo, folder, push = event.repo, event.journal, event.push
    name = tracking.remote_of(repo, remote)
    default = default_of(repo, name)
    in_force, notes = _in_force([default] if default is not None else [], folder)
    ruling = policies.committed(in_force, folder, notes)
    if has_authority(repo, push.remote_ref, name, ruling, event):
        own, told = _in_force(_own_of(repo, push, name), folder)
        if own:
            ruling = policies.committed(own, folder, told)
    if ruling is not NOBODY:
        return ruling
    if default is not None and not default.has_policy and succession.was_given_up(repo, default):
        return ruling
    return _alone(event)


def judges(event: Event) -> list[Judge]:
    """Who judges the range of a push, what its tip adds included. Raises as `of_push`."""
    in_force = of_push(event, event.remote or "")
    found = in_force.and_those_of(added_by_tip(event, in_force)).at(event.trigger)
    for judge in found[:1]:
        judge.notes = in_force.notes
    return found


def added_by_tip(event: Event, in_force: Policies) -> Policies:
    """The rules that what is pushed brings itself, which the range is asked beside those in force."""
    assert event.repo is not None and event.push is not None
    tip = event.repo.commit_id(event.push.local_oid) if event.push.local_oid.strip("0") else None
    if tip is None:
        return NOBODY
    return policies.added_by(trees.of_commit(event.repo, tip, f"commit {tip[:10]}"), event, in_force)


def default_of(repo: Repository, remote: str) -> PolicyTree | None:
    """What the default branch has, of `remote` as last fetched; else of the remote that counts; None when unknown."""
    name = default_branch(repo, remote)
    if remote and name and (tip := repo.commit_id(f"refs/remotes/{remote}/{name}")):
        return trees.of_commit(repo, tip, f"{remote}/{name}")
    return succession.default_tip(repo, trees.of_commit(repo, "HEAD"))


def has_authority(repo: Repository, ref: str, remote: str, ruling: Policies, event: Event) -> bool:
    """Whether `ref` has a policy of its own: by `authority:` of the default branch's policy, else that branch alone."""
    if not ref.startswith(_BRANCHES):
        return False
    name = ref.removeprefix(_BRANCHES)
    judges = ruling.at(_TRIGGER)
    patterns = judges[0].answers(event.but(trigger=_TRIGGER)).authority if judges else []
    if is_default(repo, name, remote):
        return True
    from ahp.conditions.globs import glob

    return bool(patterns) and glob([one.removeprefix(_BRANCHES) for one in patterns])(name)


def _own_of(repo: Repository, push: PushRef, remote: str) -> list[PolicyTree]:
    """What the ref itself has: its old tip, from git's own line; where that is not here, as it was last fetched."""
    if not push.remote_oid.strip("0"):
        return []
    short = push.remote_ref.removeprefix(_BRANCHES)
    for name in (push.remote_oid, f"refs/remotes/{remote}/{short}" if remote else ""):
        if name and (tip := repo.commit_id(name)):
            return [trees.of_commit(repo, tip, f"{remote}/{short}" if remote else short)]
    return []


def _in_force(found: list[PolicyTree], folder: str) -> tuple[list[PolicyTree], list[str]]:
    """Those that have a policy that loads, or had one before, and what has to be said of it."""
    known = [succession.in_force(tree, folder, _TRIGGER) for tree in found]
    return [tree for tree, _ in known if tree is not None], [note for _, note in known if note]


def _alone(event: Event) -> Policies:
    """No policy is where this goes: that of what is pushed judges, or the file of the work tree, not committed yet."""
    assert event.repo is not None and event.push is not None
    tip = event.repo.commit_id(event.push.local_oid) if event.push.local_oid.strip("0") else None
    tree = trees.of_commit(event.repo, tip, f"commit {tip[:10]}") if tip else None
    found, notes = _in_force([tree] if tree is not None else [], event.journal)
    if found:
        said = "nothing that the remote is known to have holds a policy: the one that is pushed judges"
        return policies.committed(found, event.journal, [*notes, said])

    return Policies(lambda trigger: [Judge(succession.of_work_tree(event.but(trigger=trigger)), WORKING)])
