"""`ahp.Gate`: the gate of a project, for programs that act on it (docs/embedding.md; design §2)."""

import os
from collections.abc import Mapping
from typing import Any, Protocol

from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.journal import session_calls
from ahp.policy.problems import nearest, quoted
from ahp.protocol.event import Actor, Event, identify
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import environ
from ahp.system.errors import AhpError

STATED = ("tool", "session", "prompt")  # what only the program that asks can know


class Opened(Protocol):
    """A repository that a library has opened, as GitPython's `git.Repo`."""

    @property
    def working_dir(self) -> "str | os.PathLike[str]": ...


class Gate:
    """The gate of the project that holds the folder `root`, or what `git.Repo` has opened.

    `agent` names the agent that acts, "" for whoever the environment's markers tell; `session` is its session's id;
    `host` is what the log names as asking; `budget` are the seconds that one verdict may take;
    `traceparent` the W3C trace context that records and commands get, instead of the environment's.
    """

    def __init__(
        self,
        root: "str | os.PathLike[str] | Opened" = ".",
        *,
        agent: str = "",
        session: str = "",
        host: str = "api",
        budget: float = asking.BUDGET,
        traceparent: str = "",
    ) -> None:
        self._folder = os.path.abspath(root if isinstance(root, str | os.PathLike) else root.working_dir)
        self._agent, self._session, self._host, self._budget = agent, session, host, budget
        self._traceparent = traceparent

    def judge(self, trigger: str, /, *, issue_id: str = "", dry: bool = False, **facts: Any) -> Verdict:
        """What the policy says to `trigger` now: the event is logged and counts, unless `dry`.

        `issue_id` is the issue that it is about. For real the facts are those of the repository, but for `tool` (the
        call: `{"name", "native_name", "input"}`, afterwards `output` and `is_error`), `session` and `prompt`; a dry
        question takes any namespace. A verdict that is `denied` means: do not act; its `modified.tool["input"]` are
        the arguments after the policy's changes.

        Raises AhpError where nothing can be judged (an unknown trigger, an invalid policy, facts of a wrong type): do
        not act then, either.
        """
        event = self.event(trigger, issue_id=issue_id, dry=dry, facts=facts)
        verdict = judge(event)
        session_calls.note_judged(event, verdict)
        return verdict

    def event(
        self,
        trigger: str,
        *,
        issue_id: str = "",
        dry: bool = False,
        facts: Mapping[str, Any] | None = None,
        checkout: str = "",
    ) -> Event:
        """The event that `judge` judges; `checkout` is the linked work tree that its call works in. Raises AhpError."""
        if trigger not in TRIGGERS:
            raise AhpError(f"there is no trigger {quoted(trigger)}{nearest(trigger, TRIGGERS)}")
        facts = dict(facts or {})
        gathered = [name for name in facts if name not in STATED]
        if gathered and not dry:
            names = ", ".join(map(quoted, gathered))
            raise AhpError(
                f"a real event has the repository's own facts, so {names} cannot be given; ask with dry=True"
            )
        where = asking.around(self._folder)
        if self._traceparent:
            where.env = environ.traced(where.env, self._traceparent)
        actor = self._actor(where.env)
        session = self._session
        if isinstance(facts.get("session"), Mapping):
            facts["session"] = {"id": session, "agent": actor.name, **facts["session"]}
            session = str(facts["session"]["id"])
        event = asking.event(
            trigger,
            self._host,
            actor,
            where,
            mode="dry" if dry else "real",
            issue=issue_id or None,
            session=session or None,
            budget=self._budget,
        )
        asking.complete(event, self._folder)
        event.checkout = checkout
        if facts:
            from ahp.hosts import given_facts

            if dry:
                given_facts.check(facts, "the facts that are given")
            given_facts.state(event, facts)
        return event

    def text(self, verdict: Verdict) -> str:
        """What whoever acts should read of a verdict, for an agent at most 600 characters; "" when there is nothing."""
        from ahp.hosts import verdict_text

        env = environ.current()
        actor = self._actor(env)
        if actor.kind == "agent":
            return verdict_text.for_agent(verdict)
        return verdict_text.translated(verdict_text.for_person(verdict, colour=False), actor, env)

    def respond(self, signal_id: str, action: str, reason: str = "") -> None:
        """Records the agent's answer to a signal, by its id. Raises AnswerRefused, JournalUnwritable."""
        from ahp.journal.place import journal_of
        from ahp.journal.respond import respond

        respond(journal_of(self._folder), signal_id, action, self._actor(environ.current()), reason)

    def _actor(self, env: dict[str, str]) -> Actor:
        return Actor("agent", self._agent) if self._agent else identify(env)


def judge(event: Event) -> Verdict:
    """The verdict on an event that `Gate.event` has made, as on the real one. Raises AhpError.

    Of a push with facts that are stated the range alone is judged: nothing states what is in its commits.
    """
    if event.mode == "dry" and event.given:
        return decide(event)
    from ahp.hosts.git import pre_push

    if event.push is not None:
        return pre_push.judge_asked(event)
    return pre_push.as_one(event, [decide(part) for part in asking.of_content(event)])
