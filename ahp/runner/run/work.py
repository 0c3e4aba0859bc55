"""Work by a plan (seed 004 §2.2) or without one (seed 001), and the answer at its end."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ahp.facts.policy import AGENT_FILE
from ahp.runner.run import prompts
from ahp.runner.run.events import EventLog
from ahp.runner.run.evidence import Given
from ahp.runner.run.limits import Breaker
from ahp.runner.run.prompts import findings
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.run.session import Session, work_on
from ahp.runner.run.state_machine import State, StateMachine, Stop
from ahp.runner.words.actions import Malformed
from ahp.runner.words.plan import BROKEN_OFF, Plan, PlanStep, StepStatus, block_unreachable, cut, names, ready_steps
from ahp.runner.words.plan_text import PlanError, parse_plan_from_text
from ahp.runner.words.replies import Act, Final, Reply, Words

if TYPE_CHECKING:
    from ahp.runner.parallel.scheduler import ParallelSteps

_ATTEMPTS = 2  # a plan and one retry (seed 004 §5.1)


class PlannedWork:
    """A task worked on by a plan. `recover(problem, stop_reason)` leads to `mend` or raises Stop.

    Steps that may run side by side are carried out by `parallel`, where that is given.
    """

    def __init__(
        self,
        session: Session,
        log: EventLog,
        states: StateMachine,
        policies: Iterable[str],
        replans: Breaker,
        recover: Callable[[str, str], None],
        doubt: Callable[[Given], str | None],
        parallel: "ParallelSteps | None" = None,
    ) -> None:
        self.plan: Plan | None = None
        self._session = session
        self._log = log
        self._states = states
        self._policies = tuple(policies)
        self._replans = replans
        self._recover = recover
        self._doubt = doubt
        self._parallel = parallel
        self._problem: str | None = None  # of steps that failed while others still have to be brought to their end
        self._left_out: list[str] = []
        self._calls_made: dict[str, int] = {}
        self._task = ""
        self._open_step: str | None = None
        self._answer: Given | None = None

    @property
    def policy(self) -> str | None:
        """How the plan wants its result verified."""
        return self.plan.verification_policy if self.plan else None

    @property
    def expects_writes(self) -> bool:
        """Whether a finished step was to write a file, by its plan."""
        done = [step for step in self.plan.steps if step.status is StepStatus.DONE] if self.plan else []
        return any(any(self._session.tools.to_write(step.tools_expected).values()) for step in done)

    def begin(self, task: str) -> None:
        """Takes the task and plans it. Raises Stop with PLAN_INVALID."""
        self._task = task
        self._states.move(State.PLANNING, "a new task")
        limit = self._session.config.max_plan_steps
        head = prompts.planning(task, steps=limit, policies=self._policies)
        self._session.begin("planning", head, about=[task])
        self._make_plan([])

    def resume(self, task: str, past: RestoredRun) -> None:
        """Takes the task up where it was broken off: finished steps stay, a planning that was begun is ended.

        Raises Stop with PLAN_INVALID, MAX_REPLANS.
        """
        if not past.has_task:
            self.begin(task)
            return
        self._task, self._open_step, self._answer = task, past.open_step, past.answered
        self.plan, self._left_out, self._calls_made = past.plan, past.left_out, dict(past.step_calls)
        self._session.remind(past.broken_off(self._session.frames, past.changed or ()))
        if self.plan is None and self._answer is not None:
            self._states.move(State.EXECUTING, "resumed")
        elif self.plan is None:
            self.begin(task)
        elif past.recovering is not None:
            self.mend(past.recovering)
        else:
            self._states.move(State.EXECUTING, "resumed")
            failed = [step for step in self.plan.steps if step.status is StepStatus.FAILED]
            if failed and past.beside:
                self._problem = past.problem
            elif failed and self._replans.spent < self._replans.limit:
                self._recover(past.problem, "MAX_REPLANS")

    def mend(self, problem: str) -> None:
        """Plans anew; finished steps stay. Raises Stop with PLAN_INVALID."""
        self._answer = None
        self._states.move(State.PLANNING, "replan")
        limit, frames = self._session.config.max_plan_steps, self._session.frames
        plan = self.plan or Plan.model_construct(steps=[])
        head = prompts.replanning(self._task, plan, problem, frames, steps=limit, policies=self._policies)
        self._session.begin("planning", head, about=[problem, self._task])
        self._make_plan([step for step in plan.steps if step.status is StepStatus.DONE])

    def do(self) -> None:
        """Carries out every step. Raises Stop with MAX_REPLANS or DEADLOCK when that cannot be."""
        while self.plan is not None:
            for step in block_unreachable(self.plan):
                self._session.events("plan_step_blocked", step_id=step.id, dependencies=step.dependencies)
            ready = ready_steps(self.plan)
            if not ready:
                break
            open_step = next((step for step in ready if step.id == self._open_step), None)
            if open_step is None and self._parallel is not None and self._parallel.wanted(ready):
                problem, self._problem = self._problem, None
                problem, asked = self._parallel.carry_out(self.plan, self._opening, self._calls_made, problem)
            else:
                problem, asked = self._carry_out(open_step or ready[0])
            # When no replan is left, what does not depend on the failed step is still worth doing.
            if problem and (asked or self._replans.spent < self._replans.limit):
                self._recover(problem, "MAX_REPLANS")
        self._all_done()

    def answer(self) -> Given:
        """The final answer, in words for a person; one that was given stands. Raises Stop with MAX_ITER."""
        if self._answer is not None:
            return self._answer
        assert self.plan is not None
        found = findings(self._session.events.seen)
        head = prompts.answer(self._task, self.plan, self._left_out, found)
        self._session.begin("answer", head, prompts.known(self.plan, None, found, self._session.frames))
        self._answer = final_answer(self._session, "answer", "the final answer", self._respond, self._doubt)
        return self._answer

    def _respond(self, reply: Act) -> str:
        said = self._session.respond(list(reply.responses)) if reply.responses else ""
        return f"{said}\n{prompts.NO_TOOLS_NOW if reply.calls else prompts.FINISH}".strip()

    def _make_plan(self, finished: list[PlanStep]) -> None:
        limit = self._session.config.max_plan_steps
        if limit < 1:
            raise Stop("PLAN_INVALID", "no plan is allowed (max_plan_steps: 0); raise it or set enable_planning: false")
        ask = self._session.loop("planning", "the plan")
        attempt = 1
        while True:
            text = ask()
            reply = self._session.read(text, "planning")
            if isinstance(reply, Act) and reply.responses:
                self._session.say(self._session.respond(list(reply.responses)))
                continue
            if self._session.silent:
                self._session.say(prompts.cut(self._session.config.max_tokens, silent=True))
                continue
            read_as: list[str] = []
            try:
                if self._session.cut:
                    raise PlanError([prompts.cut(self._session.config.max_tokens)])
                plan = parse_plan_from_text(text, policies=self._policies, finished=finished, told=read_as)
                break
            except PlanError as error:
                if error.no_plan and self._answered(reply, finished, again=attempt == _ATTEMPTS):
                    return
                if attempt == _ATTEMPTS:
                    said = "; ".join(error.problems)
                    if self._session.cut:
                        said = f"it was cut at {self._session.config.max_tokens} tokens (max_tokens in {AGENT_FILE})"
                    raise Stop("PLAN_INVALID", f"the model wrote no plan that can be carried out: {said}") from error
                self._session.events("planning_retry", problems=error.problems)
                self._session.say(prompts.planning_again(error.problems, answer=error.no_plan))
                attempt += 1
        plan, self._left_out = cut(plan, limit)
        self.plan = plan.model_copy(update={"steps": [*finished, *plan.steps]})
        self._session.events(
            "plan_generated", plan=self.plan.model_dump(mode="json"), left_out=self._left_out, told=read_as
        )
        self._states.move(State.EXECUTING, f"{len(plan.steps)} steps")

    def _answered(self, reply: Reply, finished: list[PlanStep], *, again: bool) -> bool:
        """Whether a reply that is no plan answers a task that needs none: typed, or in words that come `again`."""
        if finished or self._session.cut or not isinstance(reply, Final | Words):
            return False
        given = self._session.given(reply)
        if not isinstance(given, Given) or (isinstance(reply, Words) and (reply.cut_out or not again)):
            return False
        self.plan, self._answer = None, told(self._session, given)
        self._states.move(State.EXECUTING, "answered without a plan")
        return True

    def _carry_out(self, step: PlanStep) -> tuple[str | None, bool]:
        """(why the step is not done or None, whether the model asked for another plan). Raises Stop."""
        step.status = StepStatus.IN_PROGRESS
        self._log.step, self._session.tools.expected = step.id, list(step.tools_expected)
        self._session.events("plan_step_start", step_id=step.id, description=step.description)
        problem: str | None = BROKEN_OFF
        try:
            problem, asked = self._worker(step)
            step.status = StepStatus.FAILED if problem else StepStatus.DONE
            return problem, asked
        finally:
            # Whatever ended the loop: a step still in progress has failed.
            if step.status is StepStatus.IN_PROGRESS:
                step.status = StepStatus.FAILED
            self._session.events("plan_step_end", step_id=step.id, status=step.status.value, problem=problem)
            self._log.step = self._session.tools.expected = None

    def _worker(self, step: PlanStep) -> tuple[str | None, bool]:
        def begin() -> None:
            if step.id == self._open_step:  # its conversation is there
                self._session.say(prompts.GO_ON)
            else:
                self._session.begin("step", *self._opening(step, beside=False))
            self._open_step = None

        return work_on(self._session, step, self._calls_made.pop(step.id, 0), begin)

    def _opening(self, step: PlanStep, *, beside: bool = True) -> tuple[str, list[str], list[str]]:
        """(the head of a step's conversation, what is known for it, what it is about)."""
        assert self.plan is not None
        found = findings(self._session.events.seen)
        head = prompts.step(self._task, self.plan, step, self._left_out, found, beside=beside)
        again = self._parallel.why_again(step.id) if self._parallel is not None else []
        known = [*again, *prompts.known(self.plan, step, found, self._session.frames)]
        return head, known, [step.description, self._task]

    def _all_done(self) -> None:
        if self.plan is None or self.plan.done:
            return
        failed = [step for step in self.plan.steps if step.status is StepStatus.FAILED]
        blocked = [step for step in self.plan.steps if step.status is StepStatus.BLOCKED]
        if blocked:
            raise Stop("DEADLOCK", f"no step can run: {names(blocked)} wait for {names(failed)}, which failed")
        raise Stop("MAX_REPLANS", f"{names(failed)} failed and no replan is left (max_replans: {self._replans.limit})")


class DirectWork:
    """A task worked on without a plan."""

    plan = None
    policy = None
    expects_writes = False

    def __init__(self, session: Session, states: StateMachine, doubt: Callable[[Given], str | None]) -> None:
        self._session = session
        self._states = states
        self._doubt = doubt
        self._answer = Given("")
        self._answered = False

    def begin(self, task: str) -> None:
        """Takes the task."""
        self._session.begin("react", prompts.direct(task), about=[task])
        self._states.move(State.EXECUTING, "no plan")

    def resume(self, task: str, past: RestoredRun) -> None:
        """Takes the task up where it was broken off; an answer that was given stands."""
        if not past.has_task:
            self.begin(task)
            return
        if past.answered is not None:
            self._answer, self._answered = past.answered, True
        else:
            self._session.remind(past.broken_off(self._session.frames, past.changed or ()))
            goal = prompts.GO_ON if past.recovering is None else prompts.mend(past.recovering, self._session.frames)
            self._session.say(goal)
        self._states.move(State.EXECUTING, "resumed")

    def do(self) -> None:
        """Works until there is an answer that a person can be shown. Raises Stop."""
        if self._answered:
            self._answered = False
            return
        self._answer = final_answer(self._session, "react", "the task", self._session.act, self._doubt)

    def mend(self, problem: str) -> None:
        """Takes note of what has to be put right."""
        self._session.say(prompts.mend(problem, self._session.frames))
        self._states.move(State.EXECUTING, "mending")

    def answer(self) -> Given:
        """The final answer."""
        return self._answer


def final_answer(
    session: Session, scene: str, where: str, act: Callable[[Act], str], doubt: Callable[[Given], str | None]
) -> Given:
    """Asks the model until its reply is an answer; `act` does what another one asks for, and gives the next turn.

    Words are asked for once more where protocol stood beside them, and where the model could have called
    `final_answer`. So is an answer that `doubt` says is not covered. What comes then is the answer, and where nothing
    can come any more, the first one is. Raises Stop, such as with MAX_ITER; `where` is for its advice.
    """
    ask = session.loop(scene, where)
    held: Given | None = None
    doubted = False
    while True:
        try:
            text = ask()
        except Stop:
            if held is None:
                raise
            return told(session, held)
        reply = session.read(text, scene)
        if isinstance(reply, Act):
            held = None
            session.say(act(reply))
            continue
        given = session.given(reply) if isinstance(reply, Final | Words) else reply
        if isinstance(given, Given):
            again = session.ask_again(reply) if held is None else None
            if again is None and not doubted and (problem := doubt(given)) is not None:
                doubted, again = True, f"{problem}. {prompts.CLAIM}"
            if again is None:
                return told(session, given)
            held = given
            session.events("intercepted", text=text)
            session.say(again)
        elif isinstance(given, Malformed):
            session.say(given.problem)
        else:
            session.events("intercepted", text=text)
            session.say(session.no_answer)


def told(session: Session, given: Given) -> Given:
    """The answer, as the events keep it."""
    changed = None if given.changed is None else list(given.changed)
    session.events("answered", text=given.text, typed=given.typed, changed=changed, unsure=given.unsure)
    return given
