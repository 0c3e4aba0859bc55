"""The files of a step that ran beside others, joined with what the project holds by now, and what does not fit."""

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

from ahp.protocol.text import excerpt
from ahp.runner.parallel.checkouts import Checkout, Checkouts
from ahp.runner.run import prompts
from ahp.runner.run.events import Event, EventLog, StepEvents
from ahp.runner.run.prompts import Frames
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.run.session import Session
from ahp.runner.run.state_machine import State, StateMachine, Stop
from ahp.runner.words.plan import Plan, PlanStep, replaced
from ahp.system import interrupt
from ahp.system.change import EXECUTABLE, LINK, SUBMODULE
from ahp.system.descendants import Descendants
from ahp.system.errors import AhpError
from ahp.system.trees import Changed

_ROUNDS = 5  # of merging anew, because somebody changed a file at that moment


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
    over: bool = field(default=False, init=False)
    problem: str | None = field(default=None, init=False)
    asked: bool = field(default=False, init=False)
    stop: Stop | None = field(default=None, init=False)
    error: BaseException | None = field(default=None, init=False)
    notes: list[str] = field(default_factory=list, init=False)
    thread: threading.Thread | None = field(default=None, init=False)

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


class Conflict(AhpError):
    """Changes that cannot be joined; `paths` are the files."""

    def __init__(self, paths: list[str], why: str) -> None:
        super().__init__(why)
        self.paths = paths


class _ChangedMeanwhile(AhpError):
    """A file is not what it was when the merge was worked out."""


class Merge:
    """Joins `theirs`, which began as `base`, with the project's files; HEAD and index stay as they are."""

    def __init__(self, checkouts: Checkouts, base: str, theirs: str) -> None:
        self._checkouts, self._store = checkouts, checkouts.store
        self._base, self._theirs = base, theirs
        self.ours = self.merged = ""
        self.paths: list[str] = []

    def work_out(self) -> None:
        """Finds what is to be written: `merged`, and the `paths` that change. Raises Conflict."""
        nested = [one.path for one in self._store.changed(self._base, self._theirs) if one.mode == SUBMODULE]
        if nested:
            raise Conflict(nested, "it made git repositories inside the project, which cannot be merged")
        self.ours = self._checkouts.now()
        self.merged, conflicts = self._store.merge(self._base, self.ours, self._theirs)
        if conflicts:
            raise Conflict(conflicts, "other steps, or somebody else, changed the same lines")
        self.paths = [one.path for one in self._store.changed(self.ours, self.merged)]

    def write(self) -> None:
        """Writes what was worked out. Raises Conflict; AhpError where a file cannot be written."""
        changes = self._store.changed(self.ours, self.merged)
        if not changes:
            return
        root = self._checkouts.root
        stale = self._store.stale("project") & {one.path for one in changes}
        # What is in the way of a new file came up since, or git ignores it and nobody has a copy.
        gone = {one.path for one in changes if not one.mode}
        stale |= {one.path for one in changes if not one.old_mode and _in_the_way(root, one.path, gone)}
        if stale:
            raise _ChangedMeanwhile(", ".join(sorted(stale)))
        staged = tempfile.mkdtemp(prefix="written-", dir=self._store.folder)
        try:
            self._store.write_out(self.merged, [one.path for one in changes if one.mode], staged)
            for one in changes:
                if one.old_mode and _kind(one.mode) != _kind(one.old_mode):
                    _remove(root, one.path)
            for one in changes:
                if one.mode:
                    _put(staged, root, one)
        except OSError as error:
            raise AhpError(f"the files of a step cannot be written: {error.filename}: {error.strerror}") from error
        finally:
            shutil.rmtree(staged, ignore_errors=True)


def carried_out(merge: Merge, begin: Callable[[Merge], object]) -> list[str]:
    """The paths that a merge has changed. Raises Conflict, AhpError.

    `begin` hears of it before the first file is written: with that, one that was killed can be carried to its end.
    """
    for _ in range(_ROUNDS):
        merge.work_out()
        begin(merge)
        try:
            merge.write()
            return merge.paths
        except _ChangedMeanwhile as error:
            why = str(error)
    raise Conflict(why.split(", "), "a file that git ignores is in the way, or they are being changed all the time")


def _in_the_way(root: str, path: str, gone: set[str]) -> bool:
    """Whether something is at `path`, or in the folder there, that is not among the files that go."""
    place = os.path.join(root, path)
    if os.path.islink(place) or not os.path.isdir(place):
        return os.path.lexists(place)
    found = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(place) for name in names]
    return not gone.issuperset(found)


def _kind(mode: int) -> int:
    return mode & 0o170000


def _remove(root: str, path: str) -> None:
    """Removes a file and the folders that it leaves empty."""
    place = os.path.join(root, path)
    if os.path.lexists(place):
        os.unlink(place)
    folder = os.path.dirname(path)
    while folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:  # there is something else in it
            return
        folder = os.path.dirname(folder)


def _put(staged: str, root: str, one: Changed) -> None:
    """Puts one file in its place: who reads it meanwhile sees the old bytes or the new ones."""
    place = os.path.join(root, one.path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.realpath(os.path.dirname(place)) != os.path.join(
        os.path.realpath(root), os.path.dirname(one.path)
    ).rstrip("/"):
        raise AhpError(f"{one.path}: a link has taken the place of its folder")
    source = os.path.join(staged, one.path)
    if one.mode != LINK:
        os.chmod(source, _mode(place, source, one.mode))
    try:
        os.replace(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:  # the git directory lies on another disk
            raise
        temporary = f"{place}.{os.path.basename(staged)}.tmp"
        shutil.copy2(source, temporary, follow_symlinks=False)
        os.replace(temporary, place)


def _mode(place: str, source: str, mode: int) -> int:
    """The permissions that a file has already, as far as git does not say otherwise."""
    new = os.stat(source).st_mode & 0o777
    if not os.path.isfile(place) or os.path.islink(place):
        return new
    kept = os.stat(place).st_mode & 0o777
    return kept | (new & 0o111) if mode == EXECUTABLE else kept & ~0o111


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
