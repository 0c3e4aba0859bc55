"""post-commit: log a commit that nobody judged, then advise."""

from ahp.gate.decide import decide
from ahp.hosts.git import bypass, token
from ahp.hosts.git.githooks import Hook, say
from ahp.system.errors import AhpError
from ahp.system.history import CommitView


def judge(hook: Hook) -> int:
    """Always 0: the commit is made."""
    commit = hook.repo.commit_id("HEAD")
    if commit is None:
        raise AhpError("HEAD names no commit after a commit; is this hook called by git?")
    left = token.find(hook.repo, hook.parent)
    event = hook.event(CommitView(hook.repo, commit))
    token.withdraw(hook.repo)
    bypass.check_commit(hook, commit, had_token=left is not None and not left.deferred)
    say(hook, decide(event))
    return 0
