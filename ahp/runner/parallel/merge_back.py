"""The way of a step's changes back into the project, which a kill may cut short and a conflict may bar."""

from ahp.runner.parallel.checkouts import Checkouts
from ahp.runner.parallel.merging import Conflict, Merge, carried_out
from ahp.runner.parallel.step_run import StepRun
from ahp.runner.run import prompts
from ahp.runner.run.events import Event, EventLog
from ahp.runner.run.frames import Frames
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.run.state_machine import State, StateMachine
from ahp.runner.words.excerpt import excerpt
from ahp.runner.words.plan import Plan, PlanStep, replaced

_CHANGES_SHOWN = 6_000  # characters of what a step had changed that has to be done again


class MergeBack:
    """Merges what steps have changed, and puts others in the place of those whose changes do not fit."""

    def __init__(self, events: EventLog, states: StateMachine, frames: Frames, past: RestoredRun | None) -> None:
        self._events, self._states, self._frames = events, states, frames
        self._cut_short: Event | None = past.merging if past else None
        self._redone: dict[str, Event] = dict(past.redone) if past else {}

    def merge(self, run: StepRun, result: str, work_trees: Checkouts) -> None:
        """Brings the changes of a step, whose files are those of the tree `result`, into the project.

        Raises Conflict, AhpError.
        """
        known, self._cut_short = self._cut_short, None
        if known is not None and known["step_id"] == run.step.id and work_trees.store.has(str(known["tree"])):
            # Some of its files were written before the kill: first that merge comes to its end.
            self._carry_out(run, str(known["ours"]), str(known["tree"]), str(known["result"]), work_trees)
            run.base = str(known["result"])
        if result != run.base:
            self._carry_out(run, run.base, result, result, work_trees)

    def _carry_out(self, run: StepRun, base: str, theirs: str, result: str, work_trees: Checkouts) -> None:
        def begin(merge: Merge) -> None:
            self._events(
                "step_merging",
                step_id=run.step.id,
                ours=merge.ours,
                tree=merge.merged,
                result=result,
                paths=merge.paths,
            )

        paths = carried_out(Merge(work_trees, base, theirs), begin)
        self._events("step_merged", step_id=run.step.id, paths=paths)

    def do_again(self, step: PlanStep, plan: Plan, conflict: Conflict, changes: bytes, used: int) -> None:
        """Puts a new step in the place of one whose `changes` do not fit: it begins with what the others have made.

        `used` are the replans that are spent by now.
        """
        new = replaced(plan, step)
        said = f"step {step.id} does not fit what others have changed: {prompts.files_named(conflict.paths)}"
        self._states.move(State.RECOVERING, said)
        self._events(
            "step_conflict",
            step_id=step.id,
            new_id=new.id,
            paths=conflict.paths,
            problem=str(conflict),
            changes=excerpt(changes.decode("utf-8", "replace"), _CHANGES_SHOWN),
            used=used,
            plan=plan.model_dump(mode="json"),
        )
        self._redone[new.id] = self._events.of("step_conflict")[-1]
        self._states.move(State.EXECUTING, f"step {new.id} takes its place")

    def why_again(self, step_id: str) -> list[str]:
        """For a step that takes the place of another one: what did not fit, and what that had changed."""
        event = self._redone.get(step_id)
        if event is None:
            return []
        return [prompts.done_again(event["step_id"], event["paths"], event["changes"], self._frames)]
