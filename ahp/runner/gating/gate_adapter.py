"""The project's own gate for the runner (design §2)."""

import os
from collections.abc import Mapping
from typing import Any

from ahp.gate.decide import decide
from ahp.hosts import asking, brief
from ahp.hosts.api import Gate
from ahp.journal import session_calls
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.standing_policy import StandingPolicy

_BUDGET = 60.0  # seconds for one verdict


class RepositoryGate:
    """The gate of the project at `root`, asked by the agent `agent` in its session `session`.

    Its own `root` is the top of the work tree, where `root` lies in one: paths are judged, and tools work, from there.
    The policy that stood when it was made is asked beside the one of now.
    """

    def __init__(self, root: str, *, session: str, agent: str = "ahp") -> None:
        self.root = asking.around(os.path.abspath(root)).root or os.path.abspath(root)
        self.agent = agent
        self._gate = Gate(self.root, agent=agent, session=session, host="runner", budget=_BUDGET)
        self._policy = StandingPolicy(self._gate)

    @property
    def since(self) -> str:
        """The commit whose policy is asked, too, whatever the run commits later; "" for none."""
        return self._policy.commit

    @since.setter
    def since(self, commit: str) -> None:
        self._policy.commit = commit

    @property
    def policy(self) -> dict[str, Any] | None:
        """What the work tree's policy was when the run began, where that is another than the commit's; plain JSON."""
        return self._policy.text

    @policy.setter
    def policy(self, text: dict[str, Any] | None) -> None:
        self._policy.text = text

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """The verdict of `ahp.Gate`. Raises PolicyError, AhpError."""
        facts: dict[str, Any] = {} if tool is None else {"tool": canonical(tool)}
        checkout = str((tool or {}).get("checkout", ""))
        event = self._gate.event(trigger, issue_id=issue or "", dry=dry, facts=facts, checkout=checkout)
        verdict = decide(event, self._policy.judges(event))
        # A call that was changed and tells itself what it touches is judged once more, and counted then.
        if verdict.modified is None or "touched" not in (facts.get("tool") or {}):
            session_calls.note_judged(event, verdict)
        return verdict

    def brief(self) -> str:
        """What the policy asks of an agent, at most 200 tokens; "" where it asks nothing. Raises AhpError."""
        return brief.text(self._gate.event("session-start", dry=True))

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records the agent's answer. Raises AnswerRefused, JournalUnwritable."""
        self._gate.respond(signal_id, action, str(details.get("reason", "")))


def canonical(tool: Mapping[str, Any]) -> dict[str, object]:
    """A call of a runner's tool as `ahp.Gate` takes it."""
    called: dict[str, object] = {"name": tool["kind"], "native_name": tool["name"], "input": tool["input"]}
    if tool.get("writes"):
        called["writes"] = True
    if tool.get("touched") is not None:
        called["touched"] = tool["touched"]
    if tool.get("expected") is not None:
        called["expected"] = list(tool["expected"])
    if "output" in tool:
        called.update(output=tool["output"], is_error=tool["code"] != "ok")
    return called
