"""Steps that a former process of a run began beside each other, and that this one brings to their end."""

import threading
from typing import NamedTuple

from ahp.protocol.text import one_line
from ahp.runner.parallel.checkouts import Checkouts
from ahp.runner.run.events import EventLog, StepEvents
from ahp.runner.run.restored_run import BesideStep, RestoredRun
from ahp.runner.words.plan import PlanStep, StepStatus
from ahp.system.errors import AhpError


class Standing(NamedTuple):
    """What a step begins from: what it changes counts from the tree `base`, its files are those of `tree`.

    `left` is where a former process left it, None for one that begins anew.
    """

    base: str
    tree: str
    left: BesideStep | None = None


class InterruptedSteps:
    """Those of one run, whose events are `events`; false when there are none, or none any more.

    `folders` are where the run's checkouts were, `notes` what a person has to know.
    """

    def __init__(self, events: EventLog, past: RestoredRun | None) -> None:
        self._events = events
        self._left: dict[str, BesideStep] = dict(past.beside) if past else {}
        self.folders = set(past.folders) if past else set()
        self.notes: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._left)

    def __contains__(self, step_id: str) -> bool:
        return step_id in self._left

    def take_up(self, step: PlanStep, work_trees: Checkouts) -> Standing | None:
        """What a step goes on from, with its files as they were then: it is `begun` next.

        None for one whose end only had to be told, and for one whose files are gone.
        """
        left = self._left[step.id]
        events = StepEvents(self._events, step.id, threading.Event())
        if left.merged and left.finished:
            work_trees.remove(left.folder)
            step.status = StepStatus.DONE
            events("plan_step_end", step_id=step.id, status=step.status.value, problem=None)
            self.begun(step)
            return None
        tree = self._tree_of(left, step, work_trees) if left.begun else left.tree
        if tree != left.tree:
            events("step_tree", tree=tree)
        work_trees.remove(left.folder)
        if not (work_trees.store.has(left.base) and work_trees.store.has(tree)):
            self._events("step_dropped", step_id=step.id, problem="what it had changed is gone")
            self.begun(step)
            return None
        return Standing(tree if left.merged else left.base, tree, left)

    def begun(self, step: PlanStep) -> None:
        """Takes note that a step is not left to anybody any more."""
        del self._left[step.id]

    def _tree_of(self, left: BesideStep, step: PlanStep, work_trees: Checkouts) -> str:
        """The tree that a former process left of a step: what its checkout holds, else the last one that was noted."""
        try:
            return work_trees.left_at(left.folder, left.tree)
        except AhpError as error:
            why = one_line(error, 300)
            self.notes.append(f"What step {one_line(step.id, 80)} changed last cannot be read and is lost: {why}.")
            return left.tree
