"""One hook that git has started: what it is about, what it reads, what it says (design §9).  [light]"""

import posix

from ahp.hosts.git import token
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
from ahp.protocol.subject import subject_of
from ahp.system import clock, git
from ahp.system.errors import AhpError
from ahp.system.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.verdict import Verdict

BUDGET = 600.0  # s for everything a hook does; command facts have budgets of their own within it
_INPUT_LIMIT = 64 << 20


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


def say(hook: Hook, verdict: "Verdict") -> int:
    """Prints what there is to say; the hook's exit code."""
    if not verdict.signals and not verdict.notes:
        return 0
    from ahp.hosts.git import output

    return output.say(verdict, hook.actor, hook.repo.env)


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
