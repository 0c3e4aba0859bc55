"""One asking of the gate: where, who, and about which state (design §1, §13).  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


_AGENTS = (
    ("CLAUDECODE", "claude"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_CI", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("COPILOT_CLI", "copilot"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "cursor"),
    ("CURSOR_TRACE_ID", "cursor"),
    ("AIDER_MODEL", "aider"),
)
_NAMED = ("AHP_AGENT", "AI_AGENT", "AGENT")
_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL", "TF_BUILD")


class Actor:
    """`kind` is human, agent or ci; `name` which one, "" when unknown. As text: `agent:claude`.

    `is_verified` says that somebody vouches for the name who is neither the actor nor this machine: a CI platform.
    """

    __slots__ = ("is_verified", "kind", "name")

    def __init__(self, kind: str, name: str = "", is_verified: bool = False) -> None:
        self.kind, self.name, self.is_verified = kind, name, is_verified

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind


def identify(env: dict[str, str]) -> Actor:
    """The actor whose markers `env` holds; an agent inside CI is an agent. No proof: an agent can unset them."""
    for variable, name in _AGENTS:
        if env.get(variable):
            return Actor("agent", name)
    for variable in _NAMED:
        if env.get(variable):
            return Actor("agent", _word(env[variable]))
    for variable in _CI:
        if is_set(env.get(variable, "")):
            return Actor("ci", variable.lower() if variable != "CI" else "")
    return Actor("human", _word(env.get("USER", "")))


def is_set(value: str) -> bool:
    """Whether the value of a CI variable says yes."""
    return value.lower() not in ("", "0", "false")


def markers() -> list[str]:
    """The variables that tell an agent or CI, for those who look without Python."""
    return [*[variable for variable, _ in _AGENTS], *_NAMED, *_CI]


def _word(text: str) -> str:
    """A name fit for a log line: letters, digits, `-_.@`, at most 40."""
    return "".join([c for c in text[:40] if c.isalnum() or c in "-_.@"])
