"""post-commit: tell what a commit breaks that no hook was asked about, then advise."""

from ahp.gate.decide import decide
from ahp.hosts.git import token
from ahp.hosts.git.githooks import Hook, say
from ahp.system.errors import AhpError
from ahp.system.history import CommitView


def judge(hook: Hook) -> int:
    """Always 0: the commit is made."""
    commit = hook.repo.commit_id("HEAD")
    if commit is None:
        raise AhpError("HEAD names no commit after a commit; is this hook called by git?")
    left = token.find(hook.repo, hook.parent)
    made = hook.repo.line("rev-parse", "-q", "--verify", f"{commit}^{{tree}}")
    is_other = left is not None and left.tree not in ("-", made)
    was_asked = left is not None and not left.deferred and left.tree == made
    event = hook.event(CommitView(hook.repo, commit))
    token.withdraw(hook.repo)
    if not was_asked:
        from ahp.hosts.git import bypass

        bypass.check_commit(hook, commit, is_other)
    say(hook, decide(event))
    return 0
