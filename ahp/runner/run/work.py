"""Work by a plan (seed 004 §2.2) or without one (seed 001), and the answer at its end."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ahp.facts.policy import AGENT_FILE
from ahp.runner.run import prompts
from ahp.runner.run.evidence import Given, changed_in, uncovered
from ahp.runner.run.run_state import State, Stop
from ahp.runner.run.session import Session, work_on
from ahp.runner.words.actions import Malformed
from ahp.runner.words.plan import (
    BROKEN_OFF,
    Plan,
    PlanError,
    PlanStep,
    StepStatus,
    cut,
    free_names,
    names,
    parse_plan_from_text,
    ready_steps,
    unreachable,
)
from ahp.runner.words.replies import Act, Final, Reply, Words

if TYPE_CHECKING:
    from ahp.runner.parallel.scheduler import ParallelSteps

_ATTEMPTS = 2  # a plan and one retry (seed 004 §5.1)


class Work:
    """The task of a run, worked on: what its two kinds share.

    `policies` are the known values of a plan's verification_policy. `parallel` carries out steps side by side, where
    they may run so.
    """

    def __init__(self, session: Session, policies: Sequence[str] = (), parallel: "ParallelSteps | None" = None) -> None:
        self._session, self._state, self._policies, self._parallel = session, session.state, policies, parallel

    @property
    def policy(self) -> str | None:
        """How the plan wants its result verified."""
        return self._state.plan.verification_policy if self._state.plan else None

    @property
    def expects_writes(self) -> bool:
        """Whether a finished step was to write a file, by its plan."""
        steps = self._state.plan.steps if self._state.plan else []
        done = [step for step in steps if step.status is StepStatus.DONE]
        return any(any(self._session.tools.to_write(step.tools_expected).values()) for step in done)

    def mend(self, problem: str) -> None:
        """Takes up the work again for a problem."""
        raise NotImplementedError

    def recover(self, problem: str, stop_reason: str) -> None:
        """Goes back to work on what went wrong, at the price of one replan. Raises Stop with `stop_reason`."""
        session = self._session
        session.move(State.RECOVERING, problem.partition("\n")[0])
        if not session.may_replan:
            told = f"{problem}\nNo further try is left (max_replans: {session.config.max_replans})."
            raise Stop(stop_reason, told, session.desk.overridable if stop_reason == "GATE_BLOCKED" else ())
        session.events("replan", problem=problem, used=self._state.replans + 1)
        self.mend(problem)

    def doubt(self, given: Given) -> str | None:
        """Why an answer is not covered by what the run has changed; None where it is."""
        root, tools = self._session.agent.root, self._session.tools
        changed = changed_in(self._state.first, root)
        wrote = tools.wrote() if changed is None else bool(changed)
        return uncovered(given, self._state.task, changed, root, wrote=wrote, expects=self.expects_writes)

    def final_answer(self, scene: str, where: str, act: Callable[[Act], None]) -> Given:
        """Asks the model until its reply is an answer; `act` does what another one asks for, and says the next turn.

        Words are asked for once more where protocol stood beside them, and where the model could have called
        `final_answer`. So is an answer that `doubt` says is not covered. What comes then is the answer, and where
        nothing can come any more, the first one is. Raises Stop, such as with MAX_ITER; `where` is for its advice.
        """
        session = self._session
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
                act(reply)
                continue
            given = session.given(reply) if isinstance(reply, Final | Words) else reply
            if isinstance(given, Given):
                again = session.ask_again(reply) if held is None else None
                if again is None and not doubted and (problem := self.doubt(given)) is not None:
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


class PlannedWork(Work):
    """The task, worked on by a plan."""

    def begin(self) -> None:
        """Plans the task. Raises Stop with PLAN_INVALID."""
        task, limit = self._state.task, self._session.config.max_plan_steps
        self._session.move(State.PLANNING, "a new task")
        head = prompts.planning(task, steps=limit, policies=self._policies)
        self._session.begin("planning", head, about=[task])
        self._make_plan([])

    def resume(self) -> None:
        """Takes the task up where it was broken off: finished steps stay, a planning that was begun is ended.

        Raises Stop with PLAN_INVALID, MAX_REPLANS.
        """
        state = self._state
        if state.conversation is not None:  # the model was told the task
            self._session.remind(state.broken_off(self._session.frames, state.changed or ()))
        if state.plan is None and state.answered is None:
            self.begin()
        elif state.recovering is not None:
            self.mend(state.recovering)
        else:
            self._session.move(State.EXECUTING, "resumed")
            failed = state.plan is not None and any(step.status is StepStatus.FAILED for step in state.plan.steps)
            if failed and not state.beside and self._session.may_replan:
                self.recover(state.problem, "MAX_REPLANS")

    def mend(self, problem: str) -> None:
        """Plans anew; finished steps stay. Raises Stop with PLAN_INVALID."""
        self._session.move(State.PLANNING, "replan")
        limit, frames, task = self._session.config.max_plan_steps, self._session.frames, self._state.task
        plan = self._state.plan or Plan.model_construct(steps=[])
        policies = self._policies
        head = prompts.replanning(task, plan, problem, frames, steps=limit, policies=policies)
        self._session.begin("planning", head, about=[problem, task])
        self._make_plan([step for step in plan.steps if step.status is StepStatus.DONE])

    def do(self) -> None:
        """Carries out every step. Raises Stop with MAX_REPLANS or DEADLOCK when that cannot be."""
        parallel = self._parallel
        while self._state.plan is not None:
            for step in unreachable(self._state.plan):
                self._session.events("plan_step_blocked", step_id=step.id, dependencies=step.dependencies)
            ready = ready_steps(self._state.plan)
            if not ready:
                break
            open_step = next((step for step in ready if step.id == self._state.open_step), None)
            if open_step is None and parallel is not None and parallel.wanted(ready):
                problem, asked = parallel.carry_out(self._opening)
            else:
                problem, asked = self._carry_out(open_step or ready[0])
            # When no replan is left, what does not depend on the failed step is still worth doing.
            if problem and (asked or self._session.may_replan):
                self.recover(problem, "MAX_REPLANS")
        self._all_done()

    def answer(self) -> Given:
        """The final answer, in words for a person; one that was given stands. Raises Stop with MAX_ITER."""
        state = self._state
        if state.answered is not None:
            return state.answered
        assert state.plan is not None
        head = prompts.answer(state.task, state.plan, state.left_out, state.findings)
        self._session.begin("answer", head, prompts.known(state.plan, None, state.findings, self._session.frames))
        return self.final_answer("answer", "the final answer", self._respond)

    def _respond(self, reply: Act) -> None:
        said = self._session.respond(list(reply.responses)) if reply.responses else ""
        self._session.say(f"{said}\n{prompts.NO_TOOLS_NOW if reply.calls else prompts.FINISH}".strip())

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
                policies = self._policies
                plan = parse_plan_from_text(text, policies=policies, finished=finished, told=read_as)
                break
            except PlanError as error:
                if error.no_plan and self._answered(reply, finished, again=attempt == _ATTEMPTS):
                    return
                if attempt == _ATTEMPTS and isinstance(reply, Act) and reply.calls:  # it would rather begin
                    only = PlanStep(id=next(free_names([one.id for one in finished])), description=self._state.task)
                    plan, read_as = (
                        Plan(title="the task", steps=[only]),
                        ["calls in place of a plan were read as one step"],
                    )
                    break
                if attempt == _ATTEMPTS:
                    said = "; ".join(error.problems)
                    if self._session.cut:
                        said = f"it was cut at {self._session.config.max_tokens} tokens (max_tokens in {AGENT_FILE})"
                    raise Stop("PLAN_INVALID", f"the model wrote no plan that can be carried out: {said}") from error
                self._session.events("planning_retry", problems=error.problems)
                self._session.say(prompts.planning_again(error.problems, answer=error.no_plan))
                attempt += 1
        plan, left_out = cut(plan, limit)
        whole = plan.model_copy(update={"steps": [*finished, *plan.steps]})
        self._session.events("plan_generated", plan=whole.model_dump(mode="json"), left_out=left_out, told=read_as)
        self._session.move(State.EXECUTING, f"{len(plan.steps)} steps")

    def _answered(self, reply: Reply, finished: list[PlanStep], *, again: bool) -> bool:
        """Whether a reply that is no plan answers a task that needs none: typed, or in words that come `again`."""
        if finished or self._session.cut or not isinstance(reply, Final | Words):
            return False
        given = self._session.given(reply)
        if not isinstance(given, Given) or (isinstance(reply, Words) and (reply.cut_out or not again)):
            return False
        told(self._session, given)
        self._session.move(State.EXECUTING, "answered without a plan")
        return True

    def _carry_out(self, step: PlanStep) -> tuple[str | None, bool]:
        """(why the step is not done or None, whether the model asked for another plan). Raises Stop."""
        log, tools = self._session.agent.events, self._session.tools
        log.step, tools.expected = step.id, list(step.tools_expected)
        self._session.events("plan_step_start", step_id=step.id, description=step.description)
        problem: str | None = BROKEN_OFF
        try:
            problem, asked = work_on(self._session, step, lambda: self._open(step))
            return problem, asked
        finally:
            status = StepStatus.FAILED if problem else StepStatus.DONE
            self._session.events("plan_step_end", step_id=step.id, status=status.value, problem=problem)
            log.step = tools.expected = None

    def _open(self, step: PlanStep) -> None:
        if step.id == self._state.open_step:  # its conversation is there
            self._session.say(prompts.GO_ON)
        else:
            self._session.begin("step", *self._opening(step, beside=False))

    def _opening(self, step: PlanStep, *, beside: bool = True) -> tuple[str, list[str], list[str]]:
        """(the head of a step's conversation, what is known for it, what it is about)."""
        state, frames = self._state, self._session.frames
        assert state.plan is not None
        head = prompts.step(state.task, state.plan, step, state.left_out, state.findings, beside=beside)
        redone = state.redone.get(step.id)
        again = [prompts.done_again(redone["step_id"], redone["paths"], redone["changes"], frames)] if redone else []
        return head, [*again, *prompts.known(state.plan, step, state.findings, frames)], [step.description, state.task]

    def _all_done(self) -> None:
        plan = self._state.plan
        if plan is None or plan.done:
            return
        failed = [step for step in plan.steps if step.status is StepStatus.FAILED]
        blocked = [step for step in plan.steps if step.status is StepStatus.BLOCKED]
        if blocked:
            raise Stop("DEADLOCK", f"no step can run: {names(blocked)} wait for {names(failed)}, which failed")
        limit = self._session.config.max_replans
        raise Stop("MAX_REPLANS", f"{names(failed)} failed and no replan is left (max_replans: {limit})")


class DirectWork(Work):
    """The task, worked on without a plan."""

    def begin(self) -> None:
        """Tells the task."""
        self._session.begin("react", prompts.direct(self._state.task), about=[self._state.task])
        self._session.move(State.EXECUTING, "no plan")

    def resume(self) -> None:
        """Takes the task up where it was broken off; an answer that was given stands."""
        state, frames = self._state, self._session.frames
        if state.conversation is None:
            self.begin()
            return
        if state.answered is None:
            self._session.remind(state.broken_off(frames, state.changed or ()))
            goal = prompts.GO_ON if state.recovering is None else prompts.mend(state.recovering, frames)
            self._session.say(goal)
        self._session.move(State.EXECUTING, "resumed")

    def do(self) -> None:
        """Works until there is an answer that a person can be shown. Raises Stop."""
        self.answer()

    def mend(self, problem: str) -> None:
        """Takes note of what has to be put right."""
        self._session.say(prompts.mend(problem, self._session.frames))
        self._session.move(State.EXECUTING, "mending")

    def answer(self) -> Given:
        """The final answer; one that was given stands. Raises Stop."""
        return self._state.answered or self.final_answer("react", "the task", self._session.act)


def told(session: Session, given: Given) -> Given:
    """The answer, as the events keep it."""
    changed = None if given.changed is None else list(given.changed)
    session.events("answered", text=given.text, typed=given.typed, changed=changed, unsure=given.unsure)
    return given
