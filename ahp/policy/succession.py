"""Who judges where HEAD's policy and the work tree's are not one that loads (authority §2.3, §2.4).  [light]

In this order: HEAD's policy, or the newest one of its first-parent line that loads; the default branch's in the same
way; nobody, where that branch had one and removed it; that of the commit which the log names last; the work tree's
alone. The work tree's is asked beside each.
"""

import posix

from ahp.facts.default_branch import default_branches, remotes
from ahp.journal.append import Journal
from ahp.policy import cache
from ahp.policy import tree as trees
from ahp.policy.judge import COMMITTED, WORKING, Judge, is_here, is_link, working
from ahp.policy.tree import PolicyTree
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system import files
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ahp.policy.program import Program
    from ahp.protocol.event import Event
    from ahp.system.git import Repository

_LOOKED_AT = 100  # commits that changed the policy, where the newest does not load
_MEMO = "/cache/default-branch"


def judges(event: "Event", head: PolicyTree) -> list[Judge]:
    """The judges of an event of a repository whose HEAD has `head`. Raises PolicyError, GitError, AhpError."""
    assert event.repo is not None
    first = _of_line(event, head)
    if first is None:
        tips = list(default_tips(event.repo, head))
        first = next((judge for tip in tips if tip is not head and (judge := _of_line(event, tip))), None)
        if first is None and any(not _wrong_with(event, tip) and was_given_up(event.repo, tip) for tip in tips):
            return _given_up(event)
        recorded = None if first else of_record(event)
        first = _of_line(event, recorded) if recorded is not None else first
    judge = first or Judge(of_work_tree(event), WORKING)
    if judge.tree is not head and not judge.notes and (wrong := _wrong_with(event, head)):
        instead = f"{trees.HOOKS} here" if judge.program.triggers else "nobody"
        instead = f"that of {judge.tree.name}" if judge.tree is not None else instead
        _tell(event, judge, f"the policy of HEAD does not load ({wrong}); {instead} judges")
    beside = _beside(event, first, head) if first is not None else None
    return [judge] if beside is None else [judge, beside]


def default_tips(repo: "Repository", head: PolicyTree) -> "Iterator[PolicyTree]":
    """What the default branch has: the remote's as last fetched, without one the local branch's; none when unknown.

    It is `head` itself where that is checked out. The local branch follows, too, where something else than a fetch
    moved the remote's. Raises GitError, AhpError.
    """
    for name in default_branches(repo):
        is_known = False
        for ref in [f"refs/remotes/{remote}/{name}" for remote in remotes(repo) if _has_tracking_refs(repo)]:
            if tip := repo.commit_id(ref):
                from ahp.system import tracking  # as little as possible is read where a policy is being adopted

                yield trees.of_commit(repo, tip, ref.removeprefix("refs/remotes/"))
                is_known = is_known or not tracking.doubts(repo, ref)
        if is_known:
            continue
        if repo.branch() == name:
            if repo.head_id():
                yield head
        elif tip := repo.commit_id(f"refs/heads/{name}"):
            yield trees.of_commit(repo, tip, name)


def was_given_up(repo: "Repository", tip: PolicyTree) -> bool:
    """Whether the branch of `tip`, which has no policy with a rule, had one on its first-parent line.

    That it never had is noted, so that only what came later is looked at again. Raises GitError.
    """
    memo, commit = repo.ahp_dir + _MEMO, tip.commit or repo.head_id()
    known = (files.read(memo, 1 << 10) or b"").decode("ascii", "replace").strip()
    if known == commit:
        return False
    since = [f"^{known}"] if known and repo.commit_id(known) else []
    if repo.line("rev-list", "--first-parent", "--max-count=1", commit, *since, "--", trees.HOOKS):
        return True
    try:
        files.make_dirs(repo.ahp_dir + "/cache")
        files.replace(memo, f"{commit}\n".encode())
    except AhpError:
        return False  # a git directory that cannot be written is looked through each time
    return False


def in_force(tip: PolicyTree, folder: str, trigger: str) -> tuple[PolicyTree | None, str]:
    """The policy of `tip`, or the newest of its first-parent line that loads, with a note then (authority §2.4).

    None where that has no rule. `folder` keeps what was compiled, `trigger` is one of those that will be asked.
    Raises GitError, AhpError.
    """
    if not tip.has_policy:
        return None, ""
    program, wrong = program_of(tip, folder, trigger)
    if program is None:
        return _newest(tip, folder, trigger, wrong)
    return (tip, "") if program.triggers else (None, "")


def program_of(tree: PolicyTree, folder: str, trigger: str) -> "tuple[Program | None, str]":
    """The program of a tree's policy for `trigger`; else None and what is wrong with it."""
    found = cache.find_committed(tree, folder, trigger)
    if found is not None:
        return found, ""
    from ahp.policy import compile as compiling

    try:
        return compiling.committed(tree, folder)[trigger], ""
    except AhpError as error:
        return None, _first_problem(error)


def _of_line(event: "Event", tip: PolicyTree) -> Judge | None:
    """The judge by `in_force`."""
    tree, note = in_force(tip, event.journal, event.trigger)
    program = program_of(tree, event.journal, event.trigger)[0] if tree is not None else None
    if program is None:
        return None
    judge = Judge(program, COMMITTED, tree)
    if note:
        _tell(event, judge, note)
    return judge


def _newest(tip: PolicyTree, folder: str, trigger: str, wrong: str) -> tuple[PolicyTree | None, str]:
    rev, limit = tip.commit or "HEAD", f"--max-count={_LOOKED_AT}"
    changed = tip.repo.line("rev-list", "--first-parent", limit, rev, "--", trees.FOLDER).split()
    for commit in changed[1:]:
        tree = trees.of_commit(tip.repo, commit, commit[:10])
        program = program_of(tree, folder, trigger)[0] if tree.has_policy else None
        if program is None:
            continue
        that = f"the policy of commit {commit[:10]} judges until it is fixed"
        note = f"the policy of {tip.name} does not load ({wrong}); {that}"
        return (tree, note) if program.triggers else (None, "")
    return None, ""


def _wrong_with(event: "Event", tip: PolicyTree) -> str:
    """Why the policy of `tip` does not load; "" where it does, and where there is none."""
    return program_of(tip, event.journal, event.trigger)[1] if tip.has_policy else ""


def of_record(event: "Event") -> PolicyTree | None:
    """What the commit has whose policy the log names last, where that commit is here."""
    assert event.repo is not None
    known = Journal(event.journal, event.genesis).index().policies
    commit = next((named for named in reversed(known.values()) if named), "")
    if not commit or not event.repo.commit_id(commit):
        return None
    return trees.of_commit(event.repo, commit, f"commit {commit[:10]}")


def _working(event: "Event") -> "tuple[Program | None, str]":
    """The program of the work tree's policy; else None and why it has no effect."""
    if wrong := _unfit(event):
        return None, wrong
    try:
        return working(event), ""
    except AhpError as error:
        return None, f"does not load ({_first_problem(error)})"


def _first_problem(error: AhpError) -> str:
    """What a policy that is refused has wrong, as `problems` is imported by none that loads. Raises any other error."""
    problems = getattr(error, "problems", None)
    if problems is None:
        raise error
    return one_line(problems[0], 200)


def of_work_tree(event: "Event") -> "Program":
    """The work tree's policy where no other judges. Raises PolicyError."""
    if wrong := _unfit(event):
        from ahp.policy.problems import Place, PolicyError, Problem

        raise PolicyError([Problem(Place(trees.HOOKS), wrong)])
    return working(event)


def _given_up(event: "Event") -> list[Judge]:
    """Nobody judges; what the work tree has may add to that."""
    program, wrong = _working(event)
    if program is not None:
        return [Judge(program, WORKING, adds=True)]
    from ahp.policy import compile as compiling
    from ahp.policy import layers
    from ahp.policy.sources import TextSource

    nobody = Judge(compiling.programs(layers.load(TextSource("")))[event.trigger], WORKING, adds=True)
    _tell(event, nobody, f"{trees.HOOKS} here {wrong} and has no effect")
    return [nobody]


def _beside(event: "Event", committed: Judge, head: PolicyTree) -> Judge | None:
    """The work tree's policy where it is another one and loads; else `committed` tells what is wrong with it."""
    assert committed.tree is not None
    if committed.tree is head and is_here(event, committed.program):
        return None
    program, wrong = _working(event)
    if program is not None:
        wrong = _lacking(event, program, head)
    if wrong and not any(wrong in note for note in committed.notes):  # as HEAD's, of which that was told
        name = committed.tree.name
        _tell(event, committed, f"{trees.HOOKS} here {wrong} and has no effect; the policy of {name} judges")
    if program is None or not program.triggers or program.policy == committed.program.policy:
        return None
    return Judge(program, WORKING, excusing=committed.tree, adds=True)


def _unfit(event: "Event") -> str:
    """Why what is in the policy's place of the work tree is none, "" where it may be one."""
    for path in (trees.FOLDER, trees.HOOKS) if event.root else ():
        if is_link(f"{event.root}/{path}"):
            return "is a symbolic link" if path == trees.HOOKS else "is in a folder that is a symbolic link"
    return ""


def _lacking(event: "Event", program: "Program", head: PolicyTree) -> str:
    """What a work tree lacks whose HEAD has a policy: "" where nothing is lacking, or git left the file out itself."""
    repo = event.repo
    if not event.root or repo is None or not head.has_policy:
        return ""
    if program.sources[0][1] is not None:
        return "" if program.triggers else "has no rule"
    from ahp.system.worktree import is_left_out

    return "" if is_left_out(repo, trees.HOOKS) else "is missing"


def _tell(event: "Event", judge: Judge, note: str) -> None:
    """A note is told once a command: not by each hook of a commit, nor at an agent's every tool call."""
    trigger = TRIGGERS[event.trigger]
    if not trigger.post and event.trigger != "commit-msg" and trigger.family.startswith(("commit", "push", "issue")):
        judge.notes.append(note)


def _has_tracking_refs(repo: "Repository") -> bool:
    """Whether anything was ever fetched, as far as files tell without asking git."""
    if posix.access(repo.common_dir + "/refs/remotes", posix.F_OK):
        return True
    if posix.access(repo.common_dir + "/reftable", posix.F_OK):
        return True
    return b" refs/remotes/" in (files.read(repo.common_dir + "/packed-refs") or b"")
