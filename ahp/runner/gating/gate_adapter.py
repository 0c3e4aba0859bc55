"""The project's own gate for the runner: every question becomes an event that `gate.decide` judges (design §2)."""

from collections.abc import Mapping
from typing import Any

from ahp.facts import tool_call
from ahp.gate.decide import decide
from ahp.hosts.events import merge_base, user_policy
from ahp.journal.place import journal_of
from ahp.journal.respond import respond
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
from ahp.protocol.subject import subject_of
from ahp.protocol.verdict import Verdict
from ahp.system import clock, environ, git
from ahp.system.git import NotARepository, Repository
from ahp.system.view import View
from ahp.system.worktree import WorkTreeView

_BUDGET = 60.0  # seconds for one verdict


class RepositoryGate:
    """The gate of the project at `root`, asked by the agent `agent` in its session `session`."""

    def __init__(self, root: str, *, session: str, agent: str = "ahp") -> None:
        self._root = root
        self._session = session
        self._actor = Actor("agent", agent)
        self._journal = journal_of(root)

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None) -> Verdict:
        """The verdict of `ahp.gate.decide`. Raises PolicyError, AhpError."""
        env = environ.current()
        repo = _repository(self._root, env)
        root = repo.root if repo else self._root
        event = Event(
            trigger,
            "runner",
            self._actor,
            root=root,
            journal=self._journal.folder,
            genesis=self._journal.genesis,
            env=env,
            deadline=clock.monotonic() + _BUDGET,
            subject=subject_of(repo.branch() if repo else "", issue, self._session),
            repo=repo,
            view=_view(trigger, repo),
            issue=issue,
            session=self._session,
            tool=None if tool is None else canonical(tool, root),
            user_policy=user_policy(),
        )
        return decide(event)

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records the agent's answer. Raises AnswerRefused, JournalUnwritable."""
        respond(self._journal, signal_id, action, self._actor, str(details.get("reason", "")))


def canonical(tool: Mapping[str, Any], root: str) -> dict[str, object]:
    """A call of a runner's tool in the words of the `tool` facts (design §6)."""
    writes = bool(tool.get("writes"))
    known = tool_call.read(str(tool["kind"]), str(tool["name"]), tool["input"], root=root, writes=writes)
    if "output" in tool:
        known["output"] = tool["output"]
        known["is_error"] = tool["code"] != "ok"
    return known


def _repository(root: str, env: dict[str, str]) -> Repository | None:
    try:
        return git.discover(root, env)
    except NotARepository:
        return None


def _view(trigger: str, repo: Repository | None) -> View | None:
    """The issue triggers judge the branch's work so far; a tool call brings what it touches itself."""
    if repo is None or not repo.root or "-issue-" not in trigger:
        return None
    return WorkTreeView(repo, merge_base(repo))
