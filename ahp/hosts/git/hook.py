"""What the git shims start: one hook of one git command, judged and answered (design §9).

This module and all it imports at its head is the no-signal path: a quiet commit loads nothing else (design §12).
"""

import gc
import posix
import sys

from ahp.gate.decide import decide, program_of
from ahp.hosts.git import token
from ahp.protocol.actor import Actor, identify
from ahp.protocol.event import Event
from ahp.protocol.subject import subject_of
from ahp.system import clock, environ, git
from ahp.system.errors import AhpError
from ahp.system.view import IndexView, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.verdict import Verdict

BUDGET = 600.0  # s for everything a hook does; command facts have budgets of their own within it
_INPUT_LIMIT = 64 << 20


def main(stale_bundle: str = "") -> None:
    """Judges and ends the process: 0 allowed, 1 the policy refuses, 2 ahp could not judge (design §10).

    `sys.argv` holds the hook's name and the process id of git; then what is baked into the shim: the id of the log, the
    path of the user's policy, and git's; then git's own arguments. A `stale_bundle` is written anew at the end.
    """
    gc.disable()  # the process ends before a collection would find anything
    name, parent, genesis, user_policy, program, *arguments = sys.argv[1:]
    actor = Actor("human")
    try:
        env = environ.current()
        actor = identify(env)
        hook = Hook(name, parent, arguments, git.locate(posix.getcwd(), env, program), actor, genesis, user_policy)
        code = _RUN[name](hook)
        if stale_bundle:
            from ahp.hosts.git import bundle

            bundle.write(stale_bundle, sys.executable, bundle.import_paths())
    except AhpError as error:
        from ahp.hosts.git.failure import refuse

        code = refuse(name, error, actor)
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:  # noqa: BLE001  # whatever goes wrong, a person must learn of it and git must stop
        from ahp.hosts.git.failure import report

        code = report(name, error, actor)
    # Leaving without the interpreter's own clean-up saves a millisecond; nothing is buffered here.
    posix._exit(code)


class Hook:
    """One hook git has started: its name, git's process id and arguments, the repository, and what the shim knows."""

    __slots__ = ("_attempt", "actor", "arguments", "genesis", "name", "parent", "repo", "user_policy")

    def __init__(
        self,
        name: str,
        parent: str,
        arguments: list[str],
        repo: git.Repository,
        actor: Actor,
        genesis: str,
        user_policy: str,
    ) -> None:
        self.name, self.parent, self.arguments, self.repo = name, parent, arguments, repo
        self.actor, self.genesis, self.user_policy = actor, genesis, user_policy
        self._attempt = ""

    def event(self, view: View | None = None, draft: bytes | None = None, trigger: str = "") -> Event:
        """The event of this hook's trigger, or of another."""
        repo = self.repo
        return Event(
            trigger or self.name,
            "git",
            self.actor,
            root=repo.root,
            journal=repo.common_dir + "/ahp",
            env=repo.env,
            deadline=clock.monotonic() + BUDGET,
            subject=subject_of(repo.branch()),
            repo=repo,
            view=view,
            draft=draft,
            genesis=self.genesis or None,
            user_policy=self.user_policy,
            attempt=self.attempt(),
        )

    def attempt(self) -> str:
        """The name of this git command in the log: what its first hook left, else a new one; one for all its refs."""
        if not self._attempt:
            left = token.find(self.repo, self.parent)
            new = f"git:{self.parent}:{int(clock.now() * 1000):x}"
            self._attempt = new if left is None or left.deferred else left.attempt
        return self._attempt


def _commit(hook: Hook) -> int:
    """pre-commit and pre-merge-commit: judge what is staged, and leave word for the hooks that follow."""
    if token.find(hook.repo, hook.parent):  # another commit of the same git process, as in a rebase
        token.withdraw(hook.repo)
    return judge_staged(hook, hook.event(IndexView(hook.repo, read_input())))


def judge_staged(hook: Hook, event: Event, message_follows: bool = True) -> int:
    """Judges a commit's content; when it may go on, leaves word. `message_follows`: commit-msg has not run yet."""
    program = program_of(event)
    verdict = decide(event, program)
    code = say(hook, verdict)
    if code == 0:
        about_messages = "commit-msg" in program.triggers
        token.leave(
            hook.repo,
            hook.parent,
            event.attempt,
            message=message_follows and (about_messages or bool(verdict.trailers)),
            after="post-commit" in program.triggers,
        )
        token.allow_deferring(hook.repo, about_messages)
    return code


def _message(hook: Hook) -> int:
    from ahp.hosts.git.message import judge

    return judge(hook, read_input())


def _after(hook: Hook) -> int:
    from ahp.hosts.git.after import judge

    return judge(hook)


def _push(hook: Hook) -> int:
    from ahp.hosts.git.push import judge

    return judge(hook, read_input())


def say(hook: Hook, verdict: "Verdict") -> int:
    """Prints what there is to say; the hook's exit code."""
    if not verdict.signals and not verdict.notes:
        return 0
    from ahp.hosts.git import words

    return words.say(hook, verdict)


def read_input() -> bytes:
    """All of standard input: what the shim piped. Raises AhpError past the limit (design §11)."""
    parts: list[bytes] = []
    total = 0
    while part := posix.read(0, 1 << 16):
        parts.append(part)
        total += len(part)
        if total > _INPUT_LIMIT:
            raise AhpError(f"the list of changed files has more than {_INPUT_LIMIT} bytes")
    return b"".join(parts)


_RUN = {
    "pre-commit": _commit,
    "pre-merge-commit": _commit,
    "commit-msg": _message,
    "post-commit": _after,
    "pre-push": _push,
}
NAMES = tuple(_RUN)
