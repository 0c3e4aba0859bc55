"""pre-commit and pre-merge-commit: judge what is staged, and leave a token for the later hooks.  [light]"""

from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.hosts.git import token
from ahp.hosts.git.githooks import Hook, read_staged, say
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.system.view import IndexView


def judge(hook: Hook) -> int:
    """The hook's exit code."""
    if token.find(hook.repo, hook.parent):  # another commit of the same git process, as in a rebase
        token.withdraw(hook.repo)
    listed, staged = read_staged()
    event = hook.event(IndexView(hook.repo, staged, whole=hook.name == "pre-merge-commit"))
    event.listed = listed
    return judge_staged(hook, event)


def judge_staged(hook: Hook, event: Event, message_follows: bool = True) -> int:
    """Judges a commit's content; when it may go on, leaves a token. `message_follows`: commit-msg has not run yet."""
    judges = judges_of(event)
    trailers: list[str] = []
    told: set[object] = set()
    for part in asking.of_content(event):
        verdict = decide(part, judges if part is event else None)
        if not verdict.denied:  # what is asked at both triggers is told once
            verdict.signals = [signal for signal in verdict.signals if signal.context["rule"] not in told]
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
        after=any("post-commit" in judge.program.triggers for judge in judges) or token.follows_broken(hook.repo),
    )
    token.allow_deferring(hook.repo, about_messages)
    return 0


def _wake(hook: Hook) -> None:
    """Lets git find commit-msg, which has work. Raises AhpError, OSError."""
    from ahp.hosts.git import idle_hook

    theirs = idle_hook.wake(hook.repo)
    if theirs:
        from ahp.hosts.git import hook_managers

        hook_managers.share(theirs)
