"""The head of the log, kept on the remote of a push where git's configuration asks for it."""

from ahp.hosts.git.githooks import Hook
from ahp.hosts.git.output import write
from ahp.system.errors import AhpError


def keep(hook: Hook, remote: str) -> None:
    """Sends the anchor on its way; no push waits for it, and none fails for want of it."""
    from ahp.journal import anchors
    from ahp.journal.append import Journal

    try:
        if anchors.is_asked(hook.repo, remote):
            anchors.push_aside(hook.repo, Journal(hook.repo.ahp_dir), remote)
    except AhpError as error:
        write(f"ahp: the anchor of the log was not kept: {error}")
