"""The hooks of git (githooks(5)): those that ahp takes, and one that git has started (design §9).  [light]"""

import posix

from ahp.hosts import asking
from ahp.hosts.git import staged, token
from ahp.protocol.event import Event, Workspace
from ahp.system import clock
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Actor
    from ahp.protocol.verdict import Verdict
    from ahp.system.git import Repository
    from ahp.system.view import View

# commit-msg lies idle beside git's hooks until a commit has work for it: each hook costs a commit a process. git looks
# it up when pre-commit has ended, so pre-commit puts it in its place in time. It is taken out again by `ahp install
# git` only: work trees share their hooks, and another one's commit may be waiting for it.
IDLES, IDLE = "commit-msg", ".idle-ahp"
_INPUT_LIMIT = 64 << 20


class GitHook:
    """A hook that ahp takes; the trigger of its name says which git command it belongs to and whether it can refuse.

    `module` is the module of this package that judges it, and, with hyphens, the template of its shim in `hooks/git/`.
    `gives` is what git hands over: `staged` (an index), `message` (the path of its file), `refs` (what is pushed, on
    standard input) or nothing.
    """

    __slots__ = ("gives", "module", "name")

    def __init__(self, name: str, module: str, gives: str = "") -> None:
        self.name, self.module, self.gives = name, module, gives

    def judge(self, hook: "Hook") -> int:
        """The hook's exit code."""
        code: int = __import__(f"ahp.hosts.git.{self.module}", None, None, ("judge",)).judge(hook)
        return code


HOOKS = {
    hook.name: hook
    for hook in (
        GitHook("pre-commit", "pre_commit", "staged"),
        GitHook("commit-msg", "commit_msg", "message"),
        GitHook("pre-merge-commit", "pre_commit", "staged"),
        GitHook("pre-push", "pre_push", "refs"),
        GitHook("post-commit", "post_commit"),
    )
}
# Those before which another hook of their git command may have asked.
_LATER = ("commit-msg", "post-commit")
# Those that judge the content of a commit.
CONTENT = tuple([name for name, hook in HOOKS.items() if hook.gives == "staged"])
# The others that git may run in a clone; those of a user's or machine's shared folder go on running.
OTHERS = tuple(
    [
        name
        for name in (
            *("applypatch-msg", "pre-applypatch", "post-applypatch", "prepare-commit-msg", "pre-rebase"),
            *("post-checkout", "post-merge", "post-rewrite", "pre-auto-gc", "reference-transaction"),
            *("post-index-change", "sendemail-validate", "push-to-checkout", "fsmonitor-watchman"),
        )
        if name not in HOOKS
    ]
)


class Hook:
    """One hook that git has started: its name, git's process id and arguments, who acts, and where."""

    __slots__ = ("_attempt", "actor", "arguments", "name", "parent", "repo", "told", "where")

    def __init__(
        self, name: str, parent: str, arguments: list[str], actor: "Actor", repo: "Repository", where: Workspace
    ) -> None:
        self.name, self.parent, self.arguments = name, parent, arguments
        self.actor, self.repo, self.where = actor, repo, where
        self._attempt = ""
        self.told: list[str] = []  # the notes that were printed

    def event(self, view: "View | None" = None, trigger: str = "") -> Event:
        """The event of this hook's trigger, or of another."""
        event = asking.event(trigger or self.name, "git", self.actor, self.where)
        event.view, event.attempt = view, self.attempt()
        return event

    def staged(self) -> tuple[bytes | None, bytes | None, str]:
        """What git told of the commit, or tells now (`ahp.hosts.git.staged`). Raises AhpError."""
        asked = staged.ahead or staged.ask(self.name, self.parent, self.repo.git)
        return asked.told() if asked else (None, None, "")

    def attempt(self) -> str:
        """The name of this git command in the log: what its first hook left, else a new one; one for all its refs.

        A push is asked about once: a token for its process id is one that somebody put there, or as old as that number.
        """
        if not self._attempt:
            left = token.find(self.repo, self.parent) if self.name in _LATER else None
            new = f"git:{self.parent}:{int(clock.now() * 1000):x}"
            self._attempt = new if left is None or left.deferred else left.attempt
        return self._attempt


def say(hook: Hook, verdict: "Verdict") -> int:
    """Prints what there is to say, a note once however many verdicts have it; the hook's exit code."""
    if not verdict.denied:  # a note may be all that a refusal says
        verdict.notes = [note for note in verdict.notes if note not in hook.told]
    hook.told += verdict.notes
    if not verdict.signals and not verdict.notes:
        return 1 if verdict.denied else 0
    from ahp.hosts import verdict_text

    return verdict_text.say(verdict, hook.actor, hook.repo.env)


def read_input() -> bytes:
    """All of standard input: what git pipes. Raises AhpError past the limit (design §11)."""
    parts: list[bytes] = []
    total = 0
    while part := posix.read(0, 1 << 16):
        parts.append(part)
        total += len(part)
        if total > _INPUT_LIMIT:
            raise AhpError(f"the list of what is pushed has more than {_INPUT_LIMIT} bytes")
    return b"".join(parts)


def wake(repo: "Repository") -> str:
    """Puts our commit-msg where git finds it; the path of another tool's that came there, else "". Raises OSError."""
    place = f"{repo.common_dir}/hooks/{IDLES}"
    try:
        ours = posix.stat(place + IDLE)
    except OSError:
        return ""  # installed for every commit, as where another hook runs through it
    try:
        there = posix.stat(place)
    except FileNotFoundError:
        _put(place)
        return ""
    return "" if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino) else place


def _put(place: str) -> None:
    try:
        posix.link(place + IDLE, place)
    except FileExistsError:
        return  # the commit of another work tree has just put it there
    except OSError:  # a file system without hard links: from now on it is there for every commit
        posix.rename(place + IDLE, place)
