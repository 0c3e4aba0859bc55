"""pre-commit and pre-merge-commit: judge what is staged, and leave a token for the later hooks.  [light]"""

import posix

from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.hosts.git import token
from ahp.hosts.git.githooks import Hook, say
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.system.errors import AhpError
from ahp.system.view import IndexView


def judge(hook: Hook) -> int:
    """The hook's exit code."""
    if token.find(hook.repo, hook.parent):  # another commit of the same git process, as in a rebase
        token.withdraw(hook.repo)
    listed, change, tree = hook.staged()
    event = hook.event(IndexView(hook.repo, change, whole=hook.name == "pre-merge-commit", tree=tree))
    event.listed = listed
    return judge_staged(hook, event)


def judge_staged(hook: Hook, event: Event, message_follows: bool = True, left: token.Token | None = None) -> int:
    """Judges a commit's content; when it may go on, leaves a token. `message_follows`: commit-msg has not run yet, else
    what pre-commit has `left` tells which attempt of the log is this one.
    """
    judges = judges_of(event)
    # What git has written the tree of the commit from already is not changed any more.
    event.fixes = "index" if message_follows and hook.name == "pre-commit" else "worktree"
    trailers: list[str] = []
    told: set[object] = set()
    is_fixed = False
    for part in asking.of_content(event):
        if is_fixed and part.view is not None and part.view.kind == "index":
            part = part.but(view=IndexView(hook.repo, whole=True))
        if not message_follows and token.is_allowed(part, left):
            continue
        verdict = decide(part, judges if part is event else None)
        if verdict.settle is not None:
            _see_git(hook)
            verdict.notes += verdict.settle(not verdict.denied)
            is_fixed = not verdict.denied
        if not verdict.denied:  # what is asked at both triggers is told once
            verdict.signals = [signal for signal in verdict.signals if signal.context["rule"] not in told]
        if verdict.signals and part.view is not None and (said := part.view.said()):
            verdict.notes.append(said)
        if code := say(hook, verdict):
            return code
        told.update([signal.context["rule"] for signal in verdict.signals])
        trailers += verdict.trailers
    about_messages = any("commit-msg" in judge.program.triggers for judge in judges)
    has_work = about_messages or bool(trailers)
    if has_work:
        _wake(hook)
    token.leave(
        hook.repo,
        hook.parent,
        event.attempt,
        message=message_follows and has_work,
        after=any("post-commit" in judge.program.triggers for judge in judges),
        tree=_staged_tree(hook) if is_fixed else event.view.tree if isinstance(event.view, IndexView) else "",
    )
    token.allow_deferring(hook.repo, about_messages and not any(judge.program.stages for judge in judges))
    return 0


def _staged_tree(hook: Hook) -> str:
    """What is staged, as a tree; "" where git cannot write one."""
    try:
        return hook.repo.line("write-tree", "--missing-ok")
    except AhpError:
        return ""


def _see_git(hook: Hook) -> None:
    """Raises AhpError where git was killed: nobody waits for a change then."""
    try:
        posix.kill(int(hook.parent), 0)
    except ProcessLookupError:
        raise AhpError("git has ended, so nothing is changed") from None
    except PermissionError:
        return  # it is there, and another user's


def _wake(hook: Hook) -> None:
    """Lets git find commit-msg, which has work. Raises AhpError, OSError."""
    from ahp.hosts.git import githooks

    theirs = githooks.wake(hook.repo)
    if theirs:
        from ahp.hosts.git import hook_managers

        hook_managers.share(theirs)
