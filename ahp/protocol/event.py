"""One asking of the gate (design §1, §13)."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.actor import Actor
    from ahp.system.git import Repository
    from ahp.system.view import View


class PushRef:
    """One line of what git tells pre-push: the refs and ids of both sides, zeros where a side is absent."""

    __slots__ = ("local_oid", "local_ref", "remote_oid", "remote_ref")

    def __init__(self, local_ref: str, local_oid: str, remote_ref: str, remote_oid: str) -> None:
        self.local_ref, self.local_oid = local_ref, local_oid
        self.remote_ref, self.remote_oid = remote_ref, remote_oid


class Event:
    """What happens, where, by whom, and how long there is to judge it.

    `mode` is real, dry (never logged, never counted) or replay. `root` is the top of the work tree, `journal` the
    folder of the log, `deadline` a point of the monotonic clock. `subject` is whose progress an escalation follows.
    `given` are facts that replace what would be gathered (dry only): namespace → its fields, or why it is `Absent`.
    `view` and `repo` are of `ahp.system`; None outside a repository. `genesis` is the id of the log that the asking
    hook was installed with, `user_policy` the path of the user's layer, "" for none (CI). `draft` is the commit message
    as it stands, with its comments; `tool` the canonical call of an agent. `project` is the folder, relative to `root`,
    whose tickets count, where that is not the root itself. `attempt` names the command that several events belong to,
    such as one `git commit`.
    """

    __slots__ = (
        "actor",
        "attempt",
        "deadline",
        "draft",
        "env",
        "genesis",
        "given",
        "host",
        "issue",
        "journal",
        "mode",
        "project",
        "push",
        "remote",
        "repo",
        "root",
        "session",
        "subject",
        "tool",
        "trigger",
        "user_policy",
        "view",
    )

    def __init__(
        self,
        trigger: str,
        host: str,
        actor: "Actor",
        *,
        root: str,
        journal: str,
        env: dict[str, str],
        deadline: float,
        mode: str = "real",
        subject: str = "",
        repo: "Repository | None" = None,
        view: "View | None" = None,
        issue: str | None = None,
        session: str | None = None,
        draft: bytes | None = None,
        push: "PushRef | None" = None,
        remote: str | None = None,
        tool: dict[str, object] | None = None,
        given: "dict[str, Any] | None" = None,
        genesis: str | None = None,
        user_policy: str = "",
        attempt: str = "",
        project: str = "",
    ) -> None:
        self.trigger, self.host, self.actor, self.mode = trigger, host, actor, mode
        self.root, self.journal, self.env, self.deadline = root, journal, env, deadline
        self.subject, self.repo, self.view = subject, repo, view
        self.issue, self.session, self.draft = issue, session, draft
        self.push, self.remote, self.tool, self.given = push, remote, tool, given
        self.genesis, self.user_policy, self.attempt = genesis, user_policy, attempt
        self.project = project
