"""Commits that pre-commit did not judge, or judged otherwise, are noticed and logged (design §9).

A commit made with --no-verify, by a cherry-pick or by plumbing has no judgement in the log; neither has one whose
content changed after it was judged. That is evidence for whoever reads the log, not proof.
"""

from ahp.hosts.git.githooks import CONTENT, Hook
from ahp.hosts.git.install import made_before
from ahp.hosts.git.output import write
from ahp.hosts.git.ranges import made_here
from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.policy.judges import judges_of
from ahp.protocol import records
from ahp.protocol.event import PushRef
from ahp.protocol.text import one_line
from ahp.system import clock, patience
from ahp.system.commits import listed, views
from ahp.system.git import Repository
from ahp.system.history import RangeView

_COMMITS = 200  # of one push
_LINES = 200_000
_REPLAYED = ("rebase", "cherry-pick", "revert", "am")


def check_commit(hook: Hook, commit: str, had_token: bool) -> None:
    """Logs HEAD when nobody judged what it holds. `had_token`: pre-commit of this git process did run."""
    wanted = {commit: _digests(hook.repo, commit)}
    if not _judges(hook) or not _unjudged(hook, wanted):
        return
    reason = "what was judged is not what was committed" if had_token else "no pre-commit hook judged this commit"
    _log(hook, {commit: next(iter(wanted[commit]))}, reason)
    # Only the reflog says whether this is a rebase or the like; without one the notice is printed once too often.
    doing = hook.repo.line("log", "--walk-reflogs", "--max-count=1", "--format=%gs", "HEAD", ok=(0, 128))
    if not doing.startswith(_REPLAYED):
        write(f"ahp: {reason}; it is logged")
        if not had_token:
            _explain(hook)


def _explain(hook: Hook) -> None:
    """Says so where another tool has taken the place of our hook."""
    from ahp.hosts.git.doctor import obstacle

    if found := obstacle(hook.repo, "pre-commit"):
        write(f"     {one_line(found, 500)}; mend: ahp doctor --fix")


def check_push(hook: Hook, pushed: list[PushRef]) -> None:
    """Logs the commits of a push that nobody judged, where that was not noticed before."""
    if not _judges(hook):
        return
    patience.doing = "commits that nobody judged"
    commits: list[str] = []
    before = made_before(hook.repo)
    for ref in pushed:
        if ref.local_oid.strip("0"):
            commits += made_here(hook.repo, ref.local_oid, before, _COMMITS)
    wanted = {commit: _against_parents(hook.repo, commit) for commit in commits[:_COMMITS]}
    missing = _unjudged(hook, wanted)
    if not _judges(hook, "pre-merge-commit"):
        missing = [commit for commit in missing if not _only_joins(hook.repo, commit)]
    if missing:
        _log(hook, {commit: next(iter(wanted[commit])) for commit in missing}, "no pre-commit hook judged this commit")
        write(f"ahp: {len(missing)} of the pushed commits passed no pre-commit hook; that is logged")


def _only_joins(repo: Repository, commit: str) -> bool:
    """Whether it is a merge that holds nothing but what one parent or another has: there was nothing to judge."""
    if not repo.run("rev-list", "--no-walk", "--min-parents=2", commit, "--"):
        return False
    return not repo.run("diff-tree", "--cc", "--no-commit-id", "--no-ext-diff", commit, "--")


def _judges(hook: Hook, trigger: str = "pre-commit") -> bool:
    """Whether a policy that judges here has any rule for `trigger`."""
    return any(trigger in judge.program.triggers for judge in judges_of(hook.event()))


def _digests(repo: Repository, commit: str) -> set[str]:
    """What pre-commit may have seen: the change against the parent, and after an amend that against the old HEAD."""
    found = _against_parents(repo, commit)
    before = repo.commit_id("HEAD@{1}")
    if before is not None:
        found.add(RangeView(repo, before, commit).change().digest)
    return found


def _against_parents(repo: Repository, commit: str) -> set[str]:
    """The change against the first parent, and of a merge that which no parent has."""
    (past,) = listed(repo, [commit])
    (view,) = views(repo, [past], with_text=False)
    return {view.change().digest, view.own.change().digest}


def _unjudged(hook: Hook, wanted: dict[str, set[str]]) -> list[str]:
    """The commits of which the log has neither a judgement nor a notice."""
    marks = {digest: digest.encode() for digests in wanted.values() for digest in digests}
    judged: set[str] = set()
    noticed: set[str] = set()
    for number, line in enumerate(segments.backward(hook.repo.ahp_dir)):
        if number >= _LINES or all(commit in noticed or wanted[commit] & judged for commit in wanted):
            break
        present = [digest for digest, mark in marks.items() if mark in line.raw]
        record = line.record() if present else None
        if record is None:
            continue
        if record.get("kind") == "bypass":
            noticed.add(str(record.get("commit")))
        elif record.get("hook") in CONTENT and record.get("decision") != "deny":
            judged.update(present)
    return [commit for commit in wanted if commit not in noticed and not wanted[commit] & judged]


def _log(hook: Hook, commits: dict[str, str], reason: str) -> None:
    event = hook.event()
    stamp = clock.iso(clock.now())
    noticed = [
        records.other(
            "bypass",
            stamp,
            hook=hook.name,
            commit=commit,
            change=change,
            subject=event.subject,
            actor=str(event.actor),
            host="git",
            reason=reason,
        )
        for commit, change in commits.items()
    ]
    try:
        Journal(event.journal, event.genesis).append(noticed, durable=True)
    except JournalUnwritable as error:
        write(f"ahp: {error}")
