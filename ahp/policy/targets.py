"""Who judges what is pushed to a ref (authority §4): the policy of where it goes, never that of where it comes from.

The default branch's policy names the refs that have one of their own (`authority:`); these are judged by their old tip,
all others by the default branch, as last fetched. What is pushed can only add rules.
"""

from collections.abc import Callable

from ahp.facts.default_branch import default_branches, is_default
from ahp.policy import cache, policies, succession
from ahp.policy import tree as trees
from ahp.policy.judge import WORKING, Judge
from ahp.policy.policies import NOBODY, Policies
from ahp.policy.program import ALONE
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event, PushRef
from ahp.protocol.text import one_line
from ahp.system import tracking
from ahp.system.boundaries import range_over
from ahp.system.git import Repository

_BRANCHES = "refs/heads/"
_TRIGGER = "pre-push"


def of_push(event: Event, remote: str) -> Policies:
    """The policies that judge the push of `event` to `remote` (as git names it), without what its commits add.

    Nobody where the default branch gave its policy up; where nothing that is committed judges, the work tree's file, as
    long as a policy is being adopted. Raises PolicyError, GitError, AhpError.
    """
    assert event.repo is not None and event.push is not None
    repo, push = event.repo, event.push
    name = tracking.remote_of(repo, remote)
    default = default_of(repo, name)
    short = push.remote_ref.removeprefix(_BRANCHES)
    ruling = of_ref(event, push.remote_ref, is_default(repo, short, name), default, lambda: _own_of(repo, push, name))
    doubted, notes = _in_force(_doubted(repo, name), event.journal)
    if doubted:
        ruling = ruling.and_those_of(policies.committed(doubted, event.journal, notes))
    if ruling is not NOBODY:
        return ruling
    if default is not None and not default.has_policy and succession.was_given_up(repo, default):
        return ruling
    return _built_on(event, name, default) or _alone(event)


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
    """What the default branch has, of `remote` as last fetched; else of the remote that counts; None when unknown.

    Where two branches may be the default one, that which has a policy is.
    """
    names = default_branches(repo, remote) if remote else []
    fetched = [(f"{remote}/{name}", tip) for name in names if (tip := repo.commit_id(f"refs/remotes/{remote}/{name}"))]
    found = [trees.of_commit(repo, tip, name) for name, tip in fetched]
    found = found or list(succession.default_tips(repo, trees.of_commit(repo, "HEAD")))
    return next((tree for tree in found if tree.has_policy), found[0] if found else None)


def _doubted(repo: Repository, remote: str) -> list[PolicyTree]:
    """What is asked beside the default branch as last fetched, where something else than a fetch moved that ref since:
    the local branch of its name, and what is checked out.
    """
    names = default_branches(repo, remote) if remote else []
    moved = [name for name in names if tracking.doubts(repo, f"refs/remotes/{remote}/{name}")]
    local = [trees.of_commit(repo, here, name) for name in moved if (here := repo.commit_id(f"refs/heads/{name}"))]
    return [*local, trees.of_commit(repo, "HEAD")] if moved else []


def of_ref(
    event: Event, ref: str, counts_as_default: bool, default: PolicyTree | None, own: Callable[[], list[PolicyTree]]
) -> Policies:
    """The policies that judge what goes to `ref`: those it has itself (`own`) if `authority:` names it or it is the
    default branch, else that of the `default` branch. Beside its own, unless it is there alone, the locked and severe
    rules of the latter are asked. Nobody where neither has one. Raises PolicyError, GitError.
    """
    in_force, notes = _in_force([default] if default is not None else [], event.journal)
    ruling = policies.committed(in_force, event.journal, notes)
    short = ref.removeprefix(_BRANCHES)
    named = bool(in_force) and _naming(in_force[0], event.journal)(short)
    has_authority = ref.startswith(_BRANCHES) and (counts_as_default or named)
    if has_authority:
        found, told = _in_force(own(), event.journal)
        if found:
            beside = NOBODY
            if not counts_as_default and in_force and not _naming(in_force[0], event.journal, alone=True)(short):
                beside = policies.narrowed(ruling, event, lambda rule: rule.locked or rule.severity == "high")
            ruling = policies.committed(found, event.journal, told).and_those_of(beside)
    if ruling is not NOBODY:
        ruling.has_authority = has_authority
    return ruling


def names(default: PolicyTree, folder: str) -> Callable[[str], bool]:
    """Tells of a branch whether `authority:` of the policy that is in force on the default branch names it."""
    in_force, _ = _in_force([default], folder)
    return _naming(in_force[0], folder) if in_force else lambda branch: False


def _naming(tree: PolicyTree, folder: str, alone: bool = False) -> Callable[[str], bool]:
    program, _ = succession.program_of(tree, folder, _TRIGGER)
    if program is None:
        return lambda branch: False
    if program.answers is None and not cache.read_answers(program):
        from ahp.policy import compile as compiling

        program = compiling.committed(tree, folder)[_TRIGGER]
    listed = program.answers.authority if program.answers is not None else []
    patterns = [one.removesuffix(ALONE) for one in listed if one.endswith(ALONE) or not alone]
    if not patterns:
        return lambda branch: False
    from ahp.conditions.globs import glob

    # Of the whole name: who may push ann/stable has no word in what is asked of stable.
    return glob(["/" + one.removeprefix(_BRANCHES).lstrip("/") for one in patterns])


def _own_of(repo: Repository, push: PushRef, remote: str) -> list[PolicyTree]:
    """What the ref itself has: its old tip, from git's own line; where that is not here, as it was last fetched."""
    if not push.remote_oid.strip("0"):
        return []
    short = push.remote_ref.removeprefix(_BRANCHES)
    for name in (push.remote_oid, f"refs/remotes/{remote}/{short}" if remote else ""):
        if name and (tip := repo.commit_id(name)):
            return [trees.of_commit(repo, tip, f"{remote}/{short}" if remote else short)]
    return []


def _below(repo: Repository, push: PushRef, remote: str) -> list[str]:
    """The commits of `remote` that what is pushed is built on: the ref's old one, and where it left what is known."""
    old = [found] if push.remote_oid.strip("0") and (found := repo.commit_id(push.remote_oid)) else []
    tip = repo.commit_id(push.local_oid) if push.local_oid.strip("0") else None
    known = [*old, *tracking.believed(repo, remote)]
    view = range_over(repo, tip, known) if tip is not None and known else None
    if view is None or view.unknown is not None:
        return known
    return [*old, *view.boundaries()]


def _in_force(found: list[PolicyTree], folder: str) -> tuple[list[PolicyTree], list[str]]:
    """Those that have a policy that loads, or had one before, and what has to be said of it."""
    known = [succession.in_force(tree, folder, _TRIGGER) for tree in found]
    return [tree for tree, _ in known if tree is not None], [note for _, note in known if note]


def _built_on(event: Event, remote: str, default: PolicyTree | None) -> Policies | None:
    """The policies that judge where the default branch is not here, as in a clone of one branch, or has none yet: those
    of what the remote has and the pushed commit is built on.
    """
    assert event.repo is not None and event.push is not None
    below = _below(event.repo, event.push, remote)
    found, notes = _in_force([trees.of_commit(event.repo, one, one[:10]) for one in below], event.journal)
    if not found:
        return None
    if default is not None:
        said = f"{one_line(default.name)} has no policy yet: the policy of the commit that this is built on judges"
    else:
        get = f"git remote set-branches {remote} '*' && git fetch {remote} && git remote set-head {remote} --auto"
        said = "the policy of the default branch is not here: the policy of the commit that this is built on judges"
        said += f"; to get it: {one_line(get)}" if remote else ""
    return policies.committed(found, event.journal, [*notes, said])


def _alone(event: Event) -> Policies:
    """The target has no policy: the pushed commit's own judges, else that of the commit that the log names last, else
    the file of the work tree.
    """
    assert event.repo is not None and event.push is not None
    tip = event.repo.commit_id(event.push.local_oid) if event.push.local_oid.strip("0") else None
    tree = trees.of_commit(event.repo, tip, f"commit {tip[:10]}") if tip else None
    found, notes = _in_force([tree] if tree is not None else [], event.journal)
    if found:
        said = "the remote has no policy yet: the one in this push is used"
        return policies.committed(found, event.journal, [*notes, said])
    recorded = succession.of_record(event)
    found, notes = _in_force([recorded] if recorded is not None else [], event.journal)
    if found:
        return policies.committed(found, event.journal, notes)
    return Policies(lambda trigger: [Judge(succession.of_work_tree(event.but(trigger=trigger)), WORKING)])
