"""Steps whose dependencies are done, side by side: each in a checkout, merged in the order of the plan."""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from ahp.facts.tool import Touched
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.gates import Gate
from ahp.runner.parallel.checkouts import PREFIX, Checkouts, remove_all
from ahp.runner.parallel.merging import Conflict, MergeBack, StepRun
from ahp.runner.run import prompts
from ahp.runner.run.events import EventLog, StepEvents
from ahp.runner.run.limits import Breaker
from ahp.runner.run.restored_run import BesideStep, RestoredRun
from ahp.runner.run.session import Session, work_on
from ahp.runner.run.state_machine import StateMachine, Stop
from ahp.runner.words.plan import BROKEN_OFF, Plan, PlanStep, StepStatus, ready_steps
from ahp.system import files, interrupt
from ahp.system.descendants import ending
from ahp.system.errors import AhpError


class CheckoutGate:
    """Asks `gate`, one question at a time whoever asks, about calls that run in the folder `checkout`.

    A policy never sees that folder, nor those beside it: in what it is told they are the project's `root`, and what it
    changes in a call names the checkout again before that runs. `asking` is the lock that all steps of a run share.
    """

    def __init__(self, gate: Gate, asking: threading.Lock, root: str, checkout: str) -> None:
        self._gate, self._asking = gate, asking
        self._root, self._checkout = root, checkout
        # Also those of the same run before it was killed: a model has read their names.
        above = re.escape(checkout.rpartition("/")[0].rpartition("/")[0])
        self._folders = re.compile(rf"{above}/{PREFIX}\w+/\d+(?![\w.-])")

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """The verdict of the gate. Raises what that raises."""
        told = None if tool is None else {**self._told(tool), "checkout": self._checkout}
        with self._asking:
            verdict = self._gate.ask(trigger, tool=told, issue=issue, dry=dry)
        if tool is not None and told is not None:
            self._take_back(verdict, tool["input"], told["input"])
        return verdict

    def brief(self) -> str:
        """What the gate asks of agents in general; "" where it does not tell. Raises AhpError."""
        brief = getattr(self._gate, "brief", str)
        with self._asking:
            return str(brief())

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records an answer. Raises AhpError."""
        with self._asking:
            self._gate.respond(signal_id, action, details)

    def _told(self, value: Any) -> Any:
        """`value` with the project's folder in the place of every checkout's."""
        if isinstance(value, str):
            return self._folders.sub(lambda found: self._root, value)
        if isinstance(value, Mapping):
            return {key: self._told(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._told(item) for item in value]
        if isinstance(value, Touched):
            return Touched(self._told(value.paths), self._told(value.writes), self._told(value.command))
        return value

    def _take_back(self, verdict: Verdict, given: Any, told: Any) -> None:
        """Has what the gate changed in a call name the checkout; what it left alone is as it was given."""
        event = verdict.modified
        if event is not None and event.tool is not None and "input" in event.tool:
            event.tool = {**event.tool, "input": self._named(event.tool["input"], told, given)}

    def _named(self, wanted: Any, told: Any, given: Any) -> Any:
        if wanted == told and told is not None:
            return given
        if isinstance(wanted, str):
            return re.sub(rf"{re.escape(self._root)}(?=/|$)", lambda found: self._checkout, wanted)
        if isinstance(wanted, dict):
            pairs = (one if isinstance(one, dict) else {} for one in (told, given))
            then, first = pairs
            return {key: self._named(item, then.get(key), first.get(key)) for key, item in wanted.items()}
        if isinstance(wanted, list):
            return [self._named(item, None, None) for item in wanted]
        return wanted


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


_LEAVE_TIME = 20.0  # s that steps have to break off
FOLDER = "trees"  # in the folder of the run

# (the head of a step's conversation, what is known for it, what it is about)
Opening = Callable[[PlanStep], tuple[str, list[str], list[str]]]


class ParallelSteps:
    """The steps of one run that work beside each other, at most `jobs` at a time.

    `opening` is how the conversation of a step begins, `calls_made` counts the tool calls of steps that were broken
    off. `env` is the environment for what a step's tools start. `replans` is the run's: a conflict costs one.
    """

    def __init__(
        self,
        session: Session,
        states: StateMachine,
        events: EventLog,
        root: str,
        env: Mapping[str, str],
        replans: Breaker,
        jobs: int,
        past: RestoredRun | None = None,
    ) -> None:
        self._session, self._events = session, events
        self._root, self._env, self._replans, self._jobs = root, env, replans, jobs
        self._asking = threading.Lock()
        self._checkouts: Checkouts | None = None
        self._impossible = False
        self._left = InterruptedSteps(events, past)
        self._back = MergeBack(events, states, session.frames, past)
        self._running: dict[str, StepRun] = {}
        self._told: SimpleQueue[StepRun] = SimpleQueue()
        self._ended = threading.Event()
        self._kept: dict[str, list[str]] = {}  # steps that were broken off, with the files that they had changed
        self.notes = self._left.notes

    def wanted(self, ready: list[PlanStep]) -> bool:
        """Whether these steps are to run here: several at once, or what was begun so; and whether they can."""
        if self._left:
            try:
                self._open()
            except AhpError as error:
                raise Stop(
                    "CHECKOUT_ERROR", f"steps that were begun beside each other cannot go on: {error}"
                ) from error
        elif self._jobs > 1 and len(ready) > 1 and not self._impossible:
            try:
                self._open()
            except AhpError as error:
                self._impossible = True
                self._events("not_parallel", problem=str(error))
                self.notes.append(f"Steps ran one after the other: {one_line(error, 300)}.")
        else:
            return False
        return not self._impossible

    def carry_out(
        self, plan: Plan, opening: Opening, calls_made: dict[str, int], problem: str | None
    ) -> tuple[str | None, bool]:
        """Works until no step runs any more: (why the plan has to change or None, whether a model asked for that).

        `problem` is what was wrong before; nothing new is begun then, unless no replan is left. Raises Stop.
        """
        problems = [problem] if problem else []
        asked = False
        stops: list[tuple[int, Stop]] = []
        try:
            while True:
                self._start_more(plan, opening, calls_made, stops, hold=bool(problems) and (asked or self._may_replan))
                if not self._running:
                    break
                for run in self._over(plan):
                    if run.error is not None:
                        raise run.error
                    if run.stop is not None:
                        stops.append((_position(plan, run.step), run.stop))
                        self._break_off(run)
                        continue
                    found = self._merged(run, plan)
                    problems += [found] if found else []
                    asked = asked or run.asked
        except BaseException as error:
            with interrupt.held():
                self._leave()
            if isinstance(error, AhpError) and not isinstance(error, Stop):
                raise Stop("CHECKOUT_ERROR", f"a step's own work tree failed: {error}") from error
            raise
        if stops:
            raise min(stops, key=lambda one: one[0])[1]
        return "\n".join(problems) or None, asked

    def why_again(self, step_id: str) -> list[str]:
        """For a step that takes the place of another one: what did not fit, and what that had changed."""
        return self._back.why_again(step_id)

    def close(self) -> None:
        """Removes every checkout. What broken-off steps have changed is kept for who resumes the run."""
        for step, paths in self._kept.items():
            what = f"what it changed ({prompts.files_named(paths)})" if paths else "its conversation"
            self.notes.append(f"Step {one_line(step, 80)} was broken off: {what} is kept for ahp agent resume.")
        keep = bool(self._kept or self._left) and self._events.folder is not None
        try:
            remove_all(self._root, self._left.folders)
            if self._checkouts is not None:
                self._checkouts.close(keep=keep)
        except AhpError as error:
            self.notes.append(f"Work trees of steps could not be removed: {one_line(error, 300)}.")
        if self._events.folder is not None and not keep:
            shutil.rmtree(os.path.join(self._events.folder, FOLDER), ignore_errors=True)

    @property
    def _may_replan(self) -> bool:
        return self._replans.spent < self._replans.limit

    @property
    def _work_trees(self) -> Checkouts:
        assert self._checkouts is not None, "no work trees were made"
        return self._checkouts

    def _open(self) -> None:
        if self._checkouts is None:
            place = self._events.folder
            kept = tempfile.mkdtemp(prefix="ahp-trees-") if place is None else os.path.join(place, FOLDER)
            try:
                self._checkouts = Checkouts(self._root, kept)
            except AhpError:
                if place is None:
                    shutil.rmtree(kept, ignore_errors=True)
                raise

    def _start_more(
        self,
        plan: Plan,
        opening: Opening,
        calls_made: dict[str, int],
        stops: list[tuple[int, Stop]],
        *,
        hold: bool,
    ) -> None:
        """Begins what may begin: at first what a former process has begun, which is always brought to its end."""
        for step in [one for one in plan.steps if one.id in self._left]:
            if len(self._running) < self._jobs and (standing := self._left.take_up(step, self._work_trees)):
                self._begin(step, standing, opening, calls_made)
                self._left.begun(step)
        # A block is about its step; whatever else ends a run would end the next step, too.
        if hold or self._left or any(stop.reason != "GATE_BLOCKED" for _, stop in stops):
            return
        ready = ready_steps(plan)
        if len(ready) == 1 and not self._running and not stops:
            return  # it needs no checkout: all others wait for it
        for step in ready:
            if len(self._running) >= self._jobs:
                return
            if step.id not in self._running and step.id not in self._kept:
                base = self._work_trees.now()
                self._begin(step, Standing(base, base), opening, calls_made)

    def _begin(self, step: PlanStep, standing: Standing, opening: Opening, calls_made: dict[str, int]) -> None:
        base, tree, left = standing
        place = self._work_trees.place()
        self._events("step_checkout", step_id=step.id, folder=place, base=base)
        checkout = self._work_trees.fill(tree, place)
        events = StepEvents(self._events, step.id, self._ended)
        cursor = left.cursor if left is not None else None
        gate = CheckoutGate(self._session.desk.gate, self._asking, self._root, place)
        desk = self._session.desk.beside(gate, events, cursor)
        descendants, env = ending(self._env)
        seen = [tree]

        def looked() -> None:
            now = self._work_trees.tree(checkout)
            if now != seen[-1]:
                seen.append(now)
                events("step_tree", tree=now)

        tools = self._session.tools.beside(desk, events, place, descendants, env, looked)
        tools.expected = list(step.tools_expected)
        session = self._session.beside(events, desk, tools, place, cursor)
        step.status = StepStatus.IN_PROGRESS
        events("plan_step_start", step_id=step.id, description=step.description)
        calls = calls_made.pop(step.id, 0)
        head, known, about = opening(step)

        def talk() -> None:
            if cursor is not None and cursor.conversation is not None:
                session.remind(cursor.broken_off(session.frames))
                session.say(prompts.GO_ON)
            else:
                session.begin("step", head, known, about)

        def work() -> tuple[str | None, bool]:
            if left is not None and left.finished:
                return None, False
            return work_on(session, step, calls, talk)

        run = StepRun(step, session, events, checkout, base, descendants, work, looked)
        self._running[step.id] = run
        run.start(self._ended, self._told)

    def _over(self, plan: Plan) -> list[StepRun]:
        """The next steps that are over: those that broke off, else those before which in the plan none still runs."""
        with suppress(Empty):
            self._told.get(timeout=interrupt.SLICE).over = True
        interrupt.check()
        found = [run for run in self._running.values() if run.over and (run.error or run.stop)]
        if found:
            return found
        for run in sorted(self._running.values(), key=lambda one: _position(plan, one.step)):
            if not run.over:
                break
            found.append(run)
        return found

    def _merged(self, run: StepRun, plan: Plan) -> str | None:
        """Brings what a step has changed into the project and ends it; why the plan has to change, or None."""
        problem = run.problem
        run.looked()
        result = self._work_trees.tree(run.checkout)
        self._tell_commits(run)
        self._tell_left_out(run)
        try:
            self._back.merge(run, result, self._work_trees)
        except Conflict as conflict:
            changes = self._work_trees.store.patch(run.base, result)
            if problem is None and self._replans.spend():
                self._put_off(run)
                self._back.do_again(run.step, plan, conflict, changes, self._replans.spent)
                return None
            where = f"{prompts.files_named(conflict.paths)} ({conflict})"
            problem = "\n".join(filter(None, [problem, f"what step {run.step.id} changed cannot be merged: {where}"]))
            self._keep_aside(run, changes)
        self._put_off(run)
        run.step.status = StepStatus.FAILED if problem else StepStatus.DONE
        self._session.desk.keep(run.notes)
        run.events("plan_step_end", step_id=run.step.id, status=run.step.status.value, problem=problem)
        self._session.tools.look()
        return problem

    def _keep_aside(self, run: StepRun, changes: bytes) -> None:
        """Keeps what a step has changed and nobody does again: a person may still want it."""
        if self._events.folder is not None:
            path = os.path.join(self._events.folder, f"not-merged-{len(self._events.seen)}.patch")
            files.replace(path, changes)
            self.notes.append(f"What step {one_line(run.step.id, 80)} changed was not merged; it is in {path}.")

    def _tell_commits(self, run: StepRun) -> None:
        """What a step has committed stays out of the branch: its files are merged like all others."""
        now = run.checkout.repo.head_id()
        if now and now != run.checkout.head:
            self.notes.append(
                f"Step {one_line(run.step.id, 80)} has committed {now[:12]} in its own checkout: the files are merged, "
                "the commit is on no branch of yours."
            )

    def _tell_left_out(self, run: StepRun) -> None:
        """What git ignores is not merged; nobody else would say that it was made."""
        left_out = self._work_trees.left_out(run.checkout)
        if left_out:
            self.notes.append(
                f"Step {one_line(run.step.id, 80)} has made what git ignores and what is not merged: "
                f"{prompts.files_named(left_out)}."
            )

    def _break_off(self, run: StepRun) -> None:
        """Keeps where a step stood, for who resumes the run."""
        tree = self._work_trees.tree(run.checkout)
        events = StepEvents(self._events, run.step.id, threading.Event())  # its own may be over
        events("step_tree", tree=tree)
        events("plan_step_end", step_id=run.step.id, status=StepStatus.FAILED.value, problem=BROKEN_OFF)
        self._kept[run.step.id] = [one.path for one in self._work_trees.store.changed(run.base, tree)]
        self._put_off(run)

    def _put_off(self, run: StepRun) -> None:
        del self._running[run.step.id]
        self._work_trees.remove(run.checkout.folder)

    def _leave(self) -> None:
        """Has every step break off, keeps where each stood, and removes the checkouts."""
        self._ended.set()
        for run in list(self._running.values()):
            if run.thread is not None:
                run.thread.join(_LEAVE_TIME)
            run.session.close()
            try:
                self._break_off(run)
            except AhpError as error:  # its last tree that is noted stands
                self._events("step_not_kept", step_id=run.step.id, problem=str(error))
                self._kept[run.step.id] = []
                self._put_off(run)


def _position(plan: Plan, step: PlanStep) -> int:
    return next(number for number, one in enumerate(plan.steps) if one is step)
