"""The gates round a whole task: the session begins, the task is given, the work is done."""

from ahp.protocol.verdict import Verdict
from ahp.runner.gating.gates import reasons
from ahp.runner.run.session import Session
from ahp.runner.run.state_machine import Stop


class TaskGates:
    """Asks `session-start`, `prompt-submit` and `task-complete` for one run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self) -> None:
        """Before any work, also of a resumed run. Raises Stop when the gate refuses the task: no work can mend that."""
        desk = self._session.desk
        desk.ask("session-start")
        verdict = desk.judge("prompt-submit", "the task", final=True)
        if verdict.denied:
            raise Stop("GATE_BLOCKED", f"the gate refuses the task: {_why(verdict)}", desk.overridable)

    def complete(self, *, final: bool, answered: bool) -> str | None:
        """When the work is verified: why the gate does not take it for done, or None. `final`: no work can mend it.

        `answered` says that the model will not be asked again, so that it answers the gate's notes now.
        """
        desk = self._session.desk
        if answered:
            desk.next_call()  # what the model has answered past
        verdict = desk.judge("task-complete", "the end of the task", final=final)
        if verdict.denied:
            return f"the gate does not take the task for done: {_why(verdict)}"
        if answered and desk.waits:
            self._session.answer_notes("The end of the task")
        return None


def _why(verdict: Verdict) -> str:
    return "; ".join(f"{rule}: {reason}" for rule, reason in reasons(verdict))
