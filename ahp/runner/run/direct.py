"""Work without a plan: tool calls until the model answers in words (the ReAct loop of seed 001)."""

from collections.abc import Callable

from ahp.runner.run import prompts
from ahp.runner.run.evidence import Given
from ahp.runner.run.final_answer import final_answer
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.run.session import Session
from ahp.runner.run.state_machine import State, StateMachine


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
