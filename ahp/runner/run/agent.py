"""The embedded agent: a task in, an AgentTurn out (seed 004)."""

import logging
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import BaseModel

from ahp.protocol.text import one_line
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gated_tools import GatedTools
from ahp.runner.gating.signal_desk import Gate, Setup, SignalDesk
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.model import Model
from ahp.runner.run import prompts
from ahp.runner.run.events import VERSION, EventLog
from ahp.runner.run.evidence import Given, asks, changed_in
from ahp.runner.run.run_state import NO_EVIDENCE, RunState, State, Stop
from ahp.runner.run.session import Session
from ahp.runner.run.work import DirectWork, PlannedWork
from ahp.runner.tools.tool import AGENT, Tool, Toolbox, marked, tool_environment
from ahp.runner.verification.project import changed_since
from ahp.runner.verification.result import VerificationResult
from ahp.runner.verification.verifier import NOT_ASKED, Verification, Verifier
from ahp.runner.words.control_protocol import FinalAnswer
from ahp.runner.words.plan import Plan
from ahp.runner.words.replies import OWN_TOOLS
from ahp.system import environ, interrupt
from ahp.system.descendants import MARK, Descendants
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    from ahp.runner.parallel.scheduler import ParallelSteps

_log = logging.getLogger(__name__)
_REMOVED = "The events of this run were removed while it went on: it can be neither shown nor resumed."


@dataclass(frozen=True)
class AgentTurn:
    """How a run ended.

    `answer` is for the person: the model's words, or what stopped the run and what to do. `stop_reason` is DONE or one
    of the reasons in docs/runner.md, `state` DONE or BLOCKED. `notes` are signals of the gate that came after the
    model's last turn. `tokens` are read and written together, `usd` US dollars. `overridable` are the ids of the
    signals that ended the run and that a person could let pass. `changed` are the files that hold something else than
    when the run began (None: git cannot tell), `verified` what checks found green, `unverified` what nobody checked and
    what the model is unsure of, a sentence each. `value` is the answer in the form that the caller gave.
    """

    answer: str
    stop_reason: str
    state: State
    plan: Plan | None = None
    verification: VerificationResult | None = None
    notes: list[str] = field(default_factory=list)
    requests: int = 0
    tokens: int = 0
    usd: float = 0.0
    overridable: list[str] = field(default_factory=list)
    changed: list[str] | None = None
    verified: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    value: BaseModel | None = None

    @property
    def ok(self) -> bool:
        """Whether the task is done: then `answer` is the model's, else it says what stopped the run."""
        return self.stop_reason == "DONE"


class Agent:
    """Carries out tasks with one model, its tools, and a gate that is asked at every step (seed 002 §4).

    The gate's `root` is the project's folder, so that tools work where they are judged; `root` is for a gate that has
    none. A gate with `since` and `policy`, the commit and the policy files beyond it that stand for the run, is told
    them again when that is resumed; what one with `brief()` asks of agents is told the model. `verifiers` are by
    verification policy, beside those of docs/verification.md. `answer` is the form that the final answer has to have.
    Raises ValueError for two tools of one name, or one that has a name of the runner's own.
    """

    def __init__(
        self,
        model: Model,
        tools: Iterable[Tool] = (),
        *,
        gate: Gate,
        config: AgentConfig | None = None,
        root: str | None = None,
        events: EventLog | None = None,
        verifiers: Mapping[str, Verifier] | None = None,
        answer: type[BaseModel] = FinalAnswer,
    ) -> None:
        self.model = model
        self.answer = answer
        self.gate = gate
        self.config = config or AgentConfig()
        self.root = _root(gate, root)
        self.toolbox = Toolbox(tools, self.root)
        if taken := OWN_TOOLS & self.toolbox.tools.keys():
            raise ValueError(f"{', '.join(sorted(taken))}: the runner's own tools have these names; rename yours")
        self._keeps_events = events is not None
        self.events = EventLog() if events is None else events
        self.verifiers: dict[str, Verifier] = dict(verifiers or {})

    def run(self, task: str) -> AgentTurn:
        """Carries out one task. The last event of every run is `run_end`, whatever ended it.

        Raises AhpError for a log that holds a run already: two would read as one when they are resumed.
        """
        if self.events.seen and self._keeps_events:
            raise AhpError("these events hold a run already: resume that, or give the agent another EventLog")
        if self.events.seen:
            self.events = EventLog()
        self.events.listeners.insert(0, (state := RunState()).hear)
        self.events(
            "run_start",
            version=VERSION,
            model=self.model.name,
            endpoint=vars(to) if isinstance(to := getattr(self.model, "endpoint", None), Endpoint) else None,
            task=task,
            nonce=secrets.token_hex(4),
            since=str(getattr(self.gate, "since", "")),
            policy=getattr(self.gate, "policy", None),
            config=self.config.model_dump(mode="json"),
        )
        return Run(self, state).carry_out()

    async def arun(self, task: str) -> AgentTurn:
        """`run` beside an event loop, which goes on. Cancelled, the run ends as at Ctrl-C: nothing is left running."""
        return await interrupt.in_thread(lambda: self.run(task))

    def resume(self) -> AgentTurn:
        """Goes on with the run that `events` were read back from (`EventLog(path, resumes=True)`).

        Finished steps and calls stay finished, counters and budgets go on, every new call is judged anew. Raises
        AhpError when that run is done or its events tell of none, ValueError when it works by a plan where this one
        does not.
        """
        state = RunState.of(self.events.seen)
        if state.stop_reason == "DONE":
            raise AhpError("this run is done; there is nothing to resume")
        if state.planning != self.config.enable_planning:
            raise ValueError("the run to resume has other planning")
        if state.since and hasattr(self.gate, "since"):
            self.gate.since = state.since
        if hasattr(self.gate, "policy"):
            self.gate.policy = state.policy
        changed = [] if state.snapshot is None else changed_since(self.root, state.snapshot)
        if changed and state.merging is not None:  # the run itself was writing them
            changed = [path for path in changed if path not in state.merging["paths"]]
        self.events.listeners.insert(0, state.hear)
        self.events("run_resume", version=VERSION, changed=changed, config=self.config.model_dump(mode="json"))
        return Run(self, state).carry_out(resumes=True)


def _root(gate: Gate, root: str | None) -> str:
    own = getattr(gate, "root", None)
    if own is None:
        return root or "."
    if root is not None and os.path.realpath(root) != os.path.realpath(own):
        _log.warning("the gate judges %s, so the tools work there and not in %s", own, root)
    return str(own)


class Run:
    """One task on its way through the states."""

    def __init__(self, agent: Agent, state: RunState) -> None:
        config = agent.config
        self.agent: Setup = agent
        self.state, self._events = state, agent.events
        self._over = False
        self._desk = SignalDesk(agent, state)
        self._name = str(getattr(agent.gate, "agent", AGENT))
        self._mark = secrets.token_hex(8)
        # With this run's own mark, as other runs of this process may set theirs.
        self.env = {**tool_environment(self._name), MARK: self._mark}
        if trace := getattr(agent.gate, "traceparent", ""):
            self.env = environ.traced(self.env, trace)
        self._descendants = Descendants(self._mark)
        tools = GatedTools(agent, self._desk, state, self.env, self._descendants)
        self.session = Session(agent, self._desk, tools, state)
        self._given: Given | None = None
        self._insisted = False  # whether work was taken up again for an answer that nothing covers
        self.verification = Verification(agent.verifiers, agent.root, self.env, config)
        self.parallel: ParallelSteps | None = None
        if config.jobs > 1 or state.folders:
            from ahp.runner.parallel import scheduler

            self.parallel = scheduler.ParallelSteps(self.session, self.env)
        kind = PlannedWork if config.enable_planning else DirectWork
        self._work = kind(self.session, self.verification.policies, self.parallel)

    def carry_out(self, *, resumes: bool = False) -> AgentTurn:
        """From INTAKE to DONE or BLOCKED, in a process marked as an agent's."""
        with interrupt.raised(), marked(self._name, self._mark), self._descendants:
            try:
                return self._carry_out(resumes)
            finally:
                if not self._over:  # a signal came when the run was over, right before signals are held
                    with interrupt.held():
                        self._end("INTERRUPTED")

    def _carry_out(self, resumes: bool) -> AgentTurn:
        ended: tuple[str, str, list[str]] = ("INTERRUPTED", "", [])
        try:
            self._given = self._through(resumes)
            self.session.move(State.DONE, "answered")
            ended = ("DONE", self._given.text, [])
        except Stop as stop:
            self.session.move(State.BLOCKED, stop.reason)
            ended = (stop.reason, stop.advice, stop.overridable)
        except Exception as error:
            ended = (f"ERROR {type(error).__name__}", "", [])
            raise
        finally:
            with interrupt.held():
                turn = self._end(*ended)
        return turn

    def _end(self, reason: str, answer: str = "", overridable: Sequence[str] = ()) -> AgentTurn:
        """Leaves nothing running and nothing unanswered, whatever ended the run; the last event says how it ended."""
        self.session.close()
        if self.parallel is not None:
            self.parallel.close()
        self.session.tools.look()
        self._desk.next_call()  # what nobody will answer any more
        state, noted = self.state, self.verification
        changed = changed_in(state.first, self.agent.root)
        unverified = list(noted.notes)
        if changed and not noted.verified and not unverified:
            unverified.append("What changed was not verified: no check was asked for.")
        if self._given is not None and self._given.unsure:
            unverified.append(f"The model is unsure: {one_line(self._given.unsure, 500)}")
        notes = [*self._desk.notes, *(self.parallel.notes if self.parallel is not None else ()), *noted.notes]
        self._events(
            "run_end",
            answer=answer,
            stop_reason=reason,
            state=state.at.value,
            requests=state.requests,
            tokens=state.tokens,
            usd=state.usd,
        )
        self._over = True
        return AgentTurn(
            answer,
            reason,
            state.at,
            plan=state.plan,
            verification=noted.result,
            notes=[*notes, *self._changed_meanwhile(), *([_REMOVED] if self._events.removed else [])],
            overridable=list(overridable),
            changed=changed,
            verified=noted.verified,
            unverified=unverified,
            value=self.session.value if self._given is not None else None,
            requests=state.requests,
            tokens=state.tokens,
            usd=state.usd,
        )

    def _through(self, resumes: bool) -> Given:
        self.session.tools.look()
        self._desk.ask("session-start")
        refused = self.session.refused("prompt-submit", "the task", "the gate refuses the task")
        if refused:  # no work can mend that
            raise Stop("GATE_BLOCKED", refused, self._desk.overridable)
        if resumes:
            self._work.resume()
        else:
            self._work.begin()
        while True:
            self._work.do()
            self.session.move(State.VERIFYING, "all done")
            problem, reason = self._what_is_missing()
            if problem is None:
                return self._work.answer()
            self._work.recover(problem, reason)

    def _what_is_missing(self) -> tuple[str | None, str]:
        """(why work that seems done is not, or None, the stop reason where no try is left). Raises Stop."""
        answered = not self.agent.config.enable_planning  # then the model is not asked again
        if problem := self._verify():
            return problem, "VERIFICATION_FAILED"
        if answered:
            if problem := self._uncovered(self._work.answer()):
                return problem, NO_EVIDENCE
            self._desk.next_call()  # what the model has answered past
        told = "the gate does not take the task for done"
        notes = "The end of the task" if answered else ""
        if problem := self.session.refused("task-complete", "the end of the task", told, notes):
            return problem, "GATE_BLOCKED"
        answer = self._work.answer()
        self._desk.next_call()  # a note that the model has answered past
        if problem := self._uncovered(answer):
            return problem, NO_EVIDENCE
        return None, ""

    def _uncovered(self, given: Given) -> str | None:
        """As `doubt`, where work may be taken up again for it: once, and never without a plan. Raises Stop."""
        problem = self._work.doubt(given)
        if problem is not None and (self._insisted or not self.session.config.enable_planning):
            said = f"\nThe model's answer was: {given.text}"
            raise Stop(NO_EVIDENCE, f"{problem}, and the model says that the task is done.{said}")
        self._insisted = problem is not None
        return problem

    def _verify(self) -> str | None:
        """What verification found wrong, or None. A plan adds to what the settings ask for and removes nothing."""
        tools, check = self.session.tools, self.verification
        policies = check.asked(self._work.policy)
        # A plan that was carried out without a single call is verified, too: it may be that nothing was done.
        planned = self.state.plan is not None and self.state.snapshot is not None
        idle = planned and not self.state.ran and not asks(self.state.task)
        for policy in policies:
            limit, left = self.agent.config.verification_timeout_s, self.session.seconds_left()
            tools.look()
            before, since = self.state.snapshot, self.state.first.base if self.state.first else ""
            found = check.run(
                policy,
                limit if left is None else min(limit, left),
                wrote=lambda: idle or tools.wrote() or self._work.expects_writes,
                since=since,
            )
            if found == NOT_ASKED and policy != policies[-1]:
                continue
            tools.look()
            self._events("final_verify", policy=policy, result=found.as_json())
            check.note(before, self.state.snapshot)
            if found.red:
                return f"verification failed ({found.type}): {found.told()}"
            if check.covers(policy, policies[-1]):
                break
        return None

    def _changed_meanwhile(self) -> list[str]:
        """What a person has to know of a run that went on."""
        changed = self.state.changed
        if changed is None:
            return ["Whether files changed while the run was broken off cannot be told."]
        return [f"Changed while the run was broken off: {prompts.files_named(changed)}."] if changed else []
