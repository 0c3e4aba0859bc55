"""Steps whose dependencies are done, side by side: each in a checkout, merged in the order of the plan."""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from ahp.facts.tool import Touched
from ahp.protocol.text import excerpt, one_line
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.signal_desk import Gate
from ahp.runner.parallel.checkouts import PREFIX, Checkout, Checkouts, Conflict, merge, remove_all
from ahp.runner.run import prompts
from ahp.runner.run.events import StepEvents
from ahp.runner.run.run_state import BesideStep, State, Stop
from ahp.runner.run.session import Session, work_on
from ahp.runner.words.plan import BROKEN_OFF, Plan, PlanStep, StepStatus, ready_steps, replaced
from ahp.system import files, interrupt
from ahp.system.descendants import Descendants, ending
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

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, dry: bool = False) -> Verdict:
        """The verdict of the gate. Raises what that raises."""
        told = None if tool is None else {**self._told(tool), "checkout": self._checkout}
        with self._asking:
            verdict = self._gate.ask(trigger, tool=told, dry=dry)
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


_LEAVE_TIME = 20.0  # s that steps have to break off
_CHANGES_SHOWN = 6_000  # characters of what a step had changed that has to be done again
FOLDER = "trees"  # in the folder of the run

# (the head of a step's conversation, what is known for it, what it is about)
Opening = Callable[[PlanStep], tuple[str, list[str], list[str]]]


@dataclass
class StepRun:
    """A step at work, and how that ended: `problem` and `asked` as `work_on` has them, or what broke it off."""

    step: PlanStep
    beside: BesideStep
    session: Session
    events: StepEvents
    checkout: Checkout
    descendants: Descendants
    opening: tuple[str, list[str], list[str]]
    over: bool = field(default=False, init=False)
    problem: str | None = field(default=None, init=False)
    asked: bool = field(default=False, init=False)
    error: BaseException | None = field(default=None, init=False)
    thread: threading.Thread | None = field(default=None, init=False)

    def start(self, ended: threading.Event, told: "SimpleQueue[StepRun]") -> None:
        """Begins to work; once `ended` is set it breaks off. `told` hears when it is over."""
        self.thread = threading.Thread(target=self._run, args=(ended, told), name=f"step {self.step.id}", daemon=True)
        self.thread.start()

    def _run(self, ended: threading.Event, told: "SimpleQueue[StepRun]") -> None:
        try:
            with interrupt.ended_by(ended), self.descendants:
                try:
                    if not self.beside.finished:
                        self.problem, self.asked = work_on(self.session, self.step, self._begin)
                    self.session.desk.next_call()  # what nobody will answer any more
                finally:
                    self.session.close()
        except BaseException as error:  # noqa: BLE001  # it is raised again in the thread of the run
            self.error = error
        finally:
            told.put(self)

    def _begin(self) -> None:
        talk = self.beside.talk
        if talk.conversation is not None:
            self.session.remind(talk.broken_off(self.session.frames))
            self.session.say(prompts.GO_ON)
        else:
            self.session.begin("step", *self.opening)


class ParallelSteps:
    """The steps of a run that work beside each other, at most `jobs` at a time; `notes` are for the person."""

    def __init__(self, session: Session, env: Mapping[str, str]) -> None:
        self._session, self._state, self._env, self._events = session, session.state, env, session.agent.events
        self._root, self._jobs = session.agent.root, session.config.jobs
        self._asking = threading.Lock()
        self._checkouts: Checkouts | None = None
        self._impossible = False
        self._left = set(self._state.beside)  # what a former process began and nobody has taken up
        self._former_folders = set(self._state.folders)
        self._running: dict[str, StepRun] = {}
        self._told: SimpleQueue[StepRun] = SimpleQueue()
        self._ended = threading.Event()
        self._kept: dict[str, list[str]] = {}  # steps that were broken off, with the files that they had changed
        self.notes: list[str] = []

    def wanted(self, ready: list[PlanStep]) -> bool:
        """Whether these steps are to run here: several at once, or what was begun so; and whether they can."""
        if not self._left and (self._jobs < 2 or len(ready) < 2 or self._impossible):
            return False
        try:
            self._open()
        except AhpError as error:
            if self._left:
                said = f"steps that were begun beside each other cannot go on: {error}"
                raise Stop("CHECKOUT_ERROR", said) from error
            self._impossible = True
            self._events("not_parallel", problem=str(error))
            self.notes.append(f"Steps ran one after the other: {one_line(error, 300)}.")
        return not self._impossible

    def carry_out(self, opening: Opening) -> tuple[str | None, bool]:
        """Works until no step runs any more: (why the plan has to change or None, whether a model asked for that).

        Where a step has failed before, nothing new is begun, unless no replan is left. Raises Stop.
        """
        failed = any(step.status is StepStatus.FAILED for step in self._plan.steps)
        problems = [self._state.problem] if failed else []
        asked = False
        stopped: list[StepRun] = []
        try:
            while True:
                hold = bool(problems) and (asked or self._session.may_replan)
                self._start_more(opening, stopped, hold=hold)
                if not self._running:
                    break
                for run in self._over():
                    if isinstance(run.error, Stop):
                        stopped.append(run)
                        self._break_off(run)
                    elif run.error is not None:
                        raise run.error
                    else:
                        found = self._merged(run)
                        problems += [found] if found else []
                        asked = asked or run.asked
        except BaseException as error:
            with interrupt.held():
                self._leave()
            if isinstance(error, AhpError) and not isinstance(error, Stop):
                raise Stop("CHECKOUT_ERROR", f"a step's own work tree failed: {error}") from error
            raise
        if stopped:
            first = min(stopped, key=self._position).error
            assert first is not None
            raise first
        return "\n".join(problems) or None, asked

    def close(self) -> None:
        """Removes every checkout. What broken-off steps have changed is kept for who resumes the run."""
        for step, paths in self._kept.items():
            what = f"what it changed ({prompts.files_named(paths)})" if paths else "its conversation"
            self.notes.append(f"Step {one_line(step, 80)} was broken off: {what} is kept for ahp agent resume.")
        keep = bool(self._kept or self._left) and self._events.folder is not None
        try:
            remove_all(self._root, self._former_folders)
            if self._checkouts is not None:
                self._checkouts.close(keep=keep)
        except AhpError as error:
            self.notes.append(f"Work trees of steps could not be removed: {one_line(error, 300)}.")
        if self._events.folder is not None and not keep:
            shutil.rmtree(os.path.join(self._events.folder, FOLDER), ignore_errors=True)

    @property
    def _plan(self) -> Plan:
        assert self._state.plan is not None
        return self._state.plan

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

    def _start_more(self, opening: Opening, stopped: list[StepRun], *, hold: bool) -> None:
        """Begins what may begin: at first what a former process has begun, which is always brought to its end."""
        for step in [one for one in self._plan.steps if one.id in self._left]:
            if len(self._running) < self._jobs:
                self._take_up(step, opening)
                self._left.discard(step.id)
        # A block is about its step; whatever else ends a run would end the next step, too.
        blocks = (isinstance(run.error, Stop) and run.error.reason == "GATE_BLOCKED" for run in stopped)
        if hold or self._left or not all(blocks):
            return
        ready = ready_steps(self._plan)
        if len(ready) == 1 and not self._running and not stopped:
            return  # it needs no checkout: all others wait for it
        for step in ready:
            if len(self._running) >= self._jobs:
                return
            if step.id not in self._running and step.id not in self._kept:
                base = self._work_trees.now()
                self._begin(step, base, base, opening)

    def _take_up(self, step: PlanStep, opening: Opening) -> None:
        """Goes on with a step that a former process has begun, with its files as they were then.

        Where only its end had to be told, it is over; where its files are gone, it is to be begun anew.
        """
        left, work_trees = self._state.beside[step.id], self._work_trees
        events = StepEvents(self._events, step.id, self._ended)
        if left.merged and left.finished:
            work_trees.remove(left.folder)
            events("plan_step_end", step_id=step.id, status=StepStatus.DONE.value, problem=None)
            return
        tree = left.tree
        try:
            tree = work_trees.left_at(left.folder, tree) if left.begun else tree
        except AhpError as error:
            why = one_line(error, 300)
            self.notes.append(f"What step {one_line(step.id, 80)} changed last cannot be read and is lost: {why}.")
        if tree != left.tree:
            events("step_tree", tree=tree)
        work_trees.remove(left.folder)
        if work_trees.store.has(left.base) and work_trees.store.has(tree):
            self._begin(step, tree if left.merged else left.base, tree, opening)
        else:
            self._events("step_dropped", step_id=step.id, problem="what it had changed is gone")

    def _begin(self, step: PlanStep, base: str, tree: str, opening: Opening) -> None:
        """Begins a step with the files of `tree`; what it changes counts from the tree `base`."""
        place = self._work_trees.place()
        self._events("step_checkout", step_id=step.id, folder=place, base=base)
        checkout, beside = self._work_trees.fill(tree, place), self._state.beside[step.id]
        events = StepEvents(self._events, step.id, self._ended)
        gate = CheckoutGate(self._session.desk.gate, self._asking, self._root, place)
        desk = self._session.desk.beside(gate, events, beside.talk)
        descendants, env = ending(self._env)

        def looked() -> None:
            self._look(beside, events, checkout)

        tools = self._session.tools.beside(desk, events, place, descendants, env, looked)
        tools.expected = list(step.tools_expected)
        session = self._session.beside(events, desk, tools, place, beside.talk)
        events("plan_step_start", step_id=step.id, description=step.description)
        run = StepRun(step, beside, session, events, checkout, descendants, opening(step))
        self._running[step.id] = run
        run.start(self._ended, self._told)

    def _look(self, beside: BesideStep, events: StepEvents, checkout: Checkout) -> None:
        """Notes what a checkout holds."""
        now = self._work_trees.tree(checkout)
        if now != beside.tree:
            events("step_tree", tree=now)

    def _over(self) -> list[StepRun]:
        """The next steps that are over: those that broke off, else those before which in the plan none still runs."""
        with suppress(Empty):
            self._told.get(timeout=interrupt.SLICE).over = True
        interrupt.check()
        found = [run for run in self._running.values() if run.over and run.error]
        if found:
            return found
        for run in sorted(self._running.values(), key=self._position):
            if not run.over:
                break
            found.append(run)
        return found

    def _position(self, run: StepRun) -> int:
        return [step.id for step in self._plan.steps].index(run.step.id)

    def _merged(self, run: StepRun) -> str | None:
        """Brings what a step has changed into the project and ends it; why the plan has to change, or None."""
        problem = run.problem
        self._look(run.beside, run.events, run.checkout)
        base, result = run.beside.base, run.beside.tree
        try:
            known = self._state.merging
            if known is not None and known["step_id"] == run.step.id and self._work_trees.store.has(known["tree"]):
                # Some of its files were written before the kill: first that merge comes to its end.
                self._merge(run, known["ours"], known["tree"], known["result"])
                base = known["result"]
            if result != base:
                self._merge(run, base, result, result)
        except Conflict as conflict:
            changes = self._work_trees.store.patch(base, result)
            if problem is None and self._session.may_replan:
                self._put_off(run)
                self._do_again(run.step, conflict, changes)
                return None
            where = f"{prompts.files_named(conflict.paths)} ({conflict})"
            problem = "\n".join(filter(None, [problem, f"what step {run.step.id} changed cannot be merged: {where}"]))
            self._keep_aside(run, changes)
        self._put_off(run)
        status = StepStatus.FAILED if problem else StepStatus.DONE
        run.events("plan_step_end", step_id=run.step.id, status=status.value, problem=problem)
        self._session.tools.look()
        return problem

    def _merge(self, run: StepRun, base: str, theirs: str, result: str) -> None:
        """Brings the files of the tree `theirs` into the project, and with them those of `result`, the step's."""

        def begin(ours: str, merged: str, paths: list[str]) -> None:
            step = run.step.id
            self._events("step_merging", step_id=step, ours=ours, tree=merged, result=result, paths=paths)

        paths = merge(self._work_trees, base, theirs, begin)
        self._events("step_merged", step_id=run.step.id, paths=paths)

    def _do_again(self, step: PlanStep, conflict: Conflict, changes: bytes) -> None:
        """Puts a new step in the place of one whose `changes` do not fit: it begins with what the others have made."""
        plan, new_id = replaced(self._plan, step.id)
        said = f"step {step.id} does not fit what others have changed: {prompts.files_named(conflict.paths)}"
        self._session.move(State.RECOVERING, said)
        self._events(
            "step_conflict",
            step_id=step.id,
            new_id=new_id,
            paths=conflict.paths,
            problem=str(conflict),
            changes=excerpt(changes.decode("utf-8", "replace"), _CHANGES_SHOWN),
            used=self._state.replans + 1,
            plan=plan.model_dump(mode="json"),
        )
        self._session.move(State.EXECUTING, f"step {new_id} takes its place")

    def _keep_aside(self, run: StepRun, changes: bytes) -> None:
        """Keeps what a step has changed and nobody does again: a person may still want it."""
        if self._events.folder is not None:
            path = os.path.join(self._events.folder, f"not-merged-{len(self._events.seen)}.patch")
            files.replace(path, changes)
            self.notes.append(f"What step {one_line(run.step.id, 80)} changed was not merged; it is in {path}.")

    def _break_off(self, run: StepRun) -> None:
        """Keeps where a step stood, for who resumes the run."""
        tree = self._work_trees.tree(run.checkout)
        events = StepEvents(self._events, run.step.id, threading.Event())  # its own may be over
        events("step_tree", tree=tree)
        events("plan_step_end", step_id=run.step.id, status=StepStatus.FAILED.value, problem=BROKEN_OFF)
        self._kept[run.step.id] = [one.path for one in self._work_trees.store.changed(run.beside.base, tree)]
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
