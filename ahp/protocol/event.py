"""One asking of the gate: where, who, and about which state (design §1, §13).  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.actor import Actor
    from ahp.system.git import Repository
    from ahp.system.view import View


class PushRef:
    """One line of what git tells pre-push: the refs and ids of both sides, zeros where a side is absent.

    `forced` says whether the command forces this ref; None where that was not looked at, or is not known.
    """

    __slots__ = ("forced", "local_oid", "local_ref", "remote_oid", "remote_ref")

    def __init__(
        self, local_ref: str, local_oid: str, remote_ref: str, remote_oid: str, forced: bool | None = None
    ) -> None:
        self.local_ref, self.local_oid = local_ref, local_oid
        self.remote_ref, self.remote_oid = remote_ref, remote_oid
        self.forced = forced


class Workspace:
    """Where the gate is asked.

    `root` is the top of the work tree, or the folder where there is no repository; `journal` the folder of the log;
    `env` the environment of whoever asks; `repo` None outside a repository; `genesis` the id of the log that was
    installed, None when none was; `user_policy` the path of the user's layer, "" for none (CI).
    """

    __slots__ = ("env", "genesis", "journal", "repo", "root", "user_policy")

    def __init__(
        self,
        root: str,
        journal: str,
        env: dict[str, str],
        repo: "Repository | None" = None,
        genesis: str | None = None,
        user_policy: str = "",
    ) -> None:
        self.root, self.journal, self.env = root, journal, env
        self.repo, self.genesis, self.user_policy = repo, genesis, user_policy


class Event:
    """What happens, where, by whom, and until when there is time to judge it. `ahp.hosts.asking` makes all of them.

    `deadline` is a point of the monotonic clock, `mode` real, dry (never logged, never counted) or replay, `subject`
    whose progress an escalation follows. What is judged is set by the host that knows it: `view`, the state of the
    tree; `draft`, the commit message as it stands, with its comments; `tool`, the canonical call of an agent; `push`
    and `remote`; `given`, facts that replace what would be gathered: namespace → its fields, or why it is `Absent`.
    `project` is the folder, relative to `root`, whose tickets count, where that is not the root itself; `solution` what
    an issue is closed as, where the command says, `cleanup` how git cleans the message, where its command says: a mode
    of git's, or `edited`.
    `attempt` names the command that several events belong to, such as one `git commit`. `listed` is what `git ls-tree
    -r -z HEAD .ahp` has printed already, None where git is still to be asked. `from_objects` says that what is judged
    is not what lies in the work tree, so that reports and commands tell nothing of it; `at` is the time that counts
    (seconds), None for now. `checkout` is the linked work tree that a tool call works in, whose files stand for those
    of `root`; "" where that is `root` itself. `fixes` is what the host lets fixers change: `index` (and the work tree),
    `worktree`, or "" for nothing. The slots of Workspace are the event's.
    """

    __slots__ = (
        *Workspace.__slots__,
        "actor",
        "at",
        "attempt",
        "checkout",
        "cleanup",
        "deadline",
        "draft",
        "fixes",
        "from_objects",
        "given",
        "host",
        "issue",
        "listed",
        "mode",
        "project",
        "push",
        "remote",
        "session",
        "solution",
        "subject",
        "tool",
        "trigger",
        "view",
    )

    def __init__(
        self,
        trigger: str,
        host: str,
        actor: "Actor",
        where: Workspace,
        deadline: float,
        mode: str = "real",
        subject: str = "",
    ) -> None:
        self.trigger, self.host, self.actor = trigger, host, actor
        self.deadline, self.mode, self.subject = deadline, mode, subject
        self.root, self.journal, self.env = where.root, where.journal, where.env
        self.repo, self.genesis, self.user_policy = where.repo, where.genesis, where.user_policy
        self.view: View | None = None
        self.draft: bytes | None = None
        self.tool: dict[str, object] | None = None
        self.push: PushRef | None = None
        self.remote: str | None = None
        self.given: dict[str, Any] | None = None
        self.listed: bytes | None = None
        self.issue: str | None = None
        self.session: str | None = None
        self.attempt = self.project = self.solution = self.cleanup = self.checkout = self.fixes = ""
        self.from_objects = False
        self.at: float | None = None

    def but(self, **changed: object) -> "Event":
        """A copy with other values of some slots; the event itself stays as it was."""
        copy = Event.__new__(Event)
        for name in self.__slots__:
            setattr(copy, name, changed[name] if name in changed else getattr(self, name))
        return copy
