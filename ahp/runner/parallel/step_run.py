"""One step at work beside others: its thread, its checkout, its conversation, its desk."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

from ahp.runner.parallel.checkouts import Checkout
from ahp.runner.run.events import StepEvents
from ahp.runner.run.session import Session
from ahp.runner.run.state_machine import Stop
from ahp.runner.words.plan import PlanStep
from ahp.system import interrupt
from ahp.system.descendants import Descendants


@dataclass
class StepRun:
    """A step at work, and how that ended: `problem` and `asked` as `work_on` has them, `stop`, or `error`, a bug.

    `base` is the tree that its changes are those against, `looked` notes what its checkout holds.
    """

    step: PlanStep
    session: Session
    events: StepEvents
    checkout: Checkout
    base: str
    descendants: Descendants
    work: Callable[[], tuple[str | None, bool]]
    looked: Callable[[], object]
    over: bool = False
    problem: str | None = None
    asked: bool = False
    stop: Stop | None = None
    error: BaseException | None = None
    notes: list[str] = field(default_factory=list)
    thread: threading.Thread | None = None

    def start(self, ended: threading.Event, told: "SimpleQueue[StepRun]") -> None:
        """Begins to work; once `ended` is set it breaks off. `told` hears when it is over."""
        self.thread = threading.Thread(target=self._run, args=(ended, told), name=f"step {self.step.id}", daemon=True)
        self.thread.start()

    def _run(self, ended: threading.Event, told: "SimpleQueue[StepRun]") -> None:
        try:
            with interrupt.ended_by(ended), self.descendants:
                self._work()
        except BaseException as error:  # noqa: BLE001  # it is raised again in the thread of the run
            self.error = error
        finally:
            told.put(self)

    def _work(self) -> None:
        try:
            self.problem, self.asked = self.work()
            self.session.desk.next_call()  # what nobody will answer any more
            self.notes = self.session.desk.take_notes()
        except Stop as stop:
            self.stop = stop
        finally:
            self.session.close()
