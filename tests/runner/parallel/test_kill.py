"""Runs whose steps work side by side go on after a kill: ahp.runner.run.run_state, ahp.runner.parallel"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.runner.run.events import Event, EventLog, read_events
from ahp.runner.run.run_state import RunState
from ahp.system.trees import TreeStore
from tests.conftest import Repo
from tests.runner.parallel.scenes import Scene, edit, run, write
from tests.runner.runs import plan

CALLS = {
    "one": [run("echo 1 > one"), edit("a.txt", "line 3\n", "line three\n")],
    "two": [write("sub/two", "2\n"), edit("a.txt", "line 3\n", "line THREE\n")],
    "two-2": [write("sub/two", "2\n"), edit("a.txt", "line three\n", "line three THREE\n")],
    "three": [run("rm gone; cat untracked > three"), edit("a.txt", "line 9\n", "line nine\n")],
    "last": [run("cat one sub/two three > last")],
}
PLAN = plan("one", "two", "three", "last", last=["one", "two", "three"])
LINES = [f"line {number}\n" for number in range(1, 13)]
ENDS = {
    "a.txt": "".join({"line 3\n": "line three THREE\n", "line 9\n": "line nine\n"}.get(line, line) for line in LINES)
    + "not committed\n",
    "one": "1\n",
    "sub/two": "2\n",
    "three": "mine\n",
    "last": "1\n2\nmine\n",
    "untracked": "mine\n",
}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the checkouts are, so that it shows what is left of them."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def project(folder: Path) -> Repo:
    folder.mkdir()
    repo = Repo(folder)
    repo.git("init", "--quiet")
    repo.write("a.txt", "".join(LINES))
    repo.write("gone")
    repo.add()
    repo.git("commit", "--quiet", "-m", "begin")
    repo.write("a.txt", "".join(LINES) + "not committed\n")
    repo.write("untracked", "mine\n")
    return repo


def begun(root: Path, path: Path, listener: Callable[[Event], object], prepare: Callable[[], object] = int) -> bool:
    """A run in a process of its own, with a listener that may kill it; whether it came to its end all the same."""
    pid = os.fork()
    if not pid:
        try:
            prepare()
            Scene(root, CALLS, PLAN, log=EventLog(str(path), (listener,)))
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def resumed(root: Path, path: Path, **more: object) -> Scene:
    log = EventLog(str(path), resumes=True)
    return Scene(root, CALLS, PLAN, log=log, resumes=True, **more)  # type: ignore[arg-type]


def die(*given: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def check(repo: Repo, scene: Scene, temporary: Path, folder: Path) -> None:
    assert scene.turn.ok, scene.turn
    found = {
        str(path.relative_to(repo.root)): path.read_text()
        for path in repo.root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert found == ENDS
    assert repo.git("rev-list", "--count", "HEAD") == "1" and repo.git("diff", "--cached", "--name-only") == ""
    assert len(repo.git("worktree", "list").splitlines()) == 1
    assert os.listdir(temporary) == []
    assert sorted(os.listdir(folder)) == [".gitignore", "events.jsonl", "lock"]
    ended = [event["step_id"] for event in scene.of("plan_step_end") if event["status"] == "done"]
    assert len(set(ended)) == len(ended) and ended[0] == "one"
    assert scene.turn.plan is not None and scene.turn.plan.done
    assert [step.id for step in scene.turn.plan.steps] == ["one", "two-2", "three", "last"]
    assert [event["new_id"] for event in scene.of("step_conflict")] == ["two-2"]
    assert scene.turn.requests == len(scene.of("model_request"))
    assert scene.turn.tokens == 11 * len(scene.of("model_answer"))
    again = RunState.of(scene.events)
    assert (again.stop_reason, again.beside, again.merging) == ("DONE", {}, None)


SLOW = [
    "verdict",
    "step_merging",
    "step_checkout",
    "plan_step_start",
    "tool_call",
    "step_tree",
    "control_signal",
    "step_merged",
    "plan_step_end",
]
KINDS = ["step_conflict", *[pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_killed_at_an_event_goes_on(kind: str, tmp_path: Path, temporary: Path) -> None:
    repo, path = project(tmp_path / "project"), tmp_path / "run" / "events.jsonl"
    seen: list[Event] = []

    def listener(event: Event) -> None:
        seen.append(event)
        if sum(one["event"] == kind for one in seen) == (1 if kind == "step_conflict" else 2):
            die()

    assert not begun(repo.root, path, listener)
    check(repo, resumed(repo.root, path), temporary, path.parent)


@pytest.mark.slow
def test_a_run_that_is_killed_at_any_event_goes_on_also_twice(tmp_path: Path, temporary: Path) -> None:
    number, ended = 1, False
    while not ended:
        repo, path = project(tmp_path / str(number)), tmp_path / f"run-{number}" / "events.jsonl"
        ended = begun(repo.root, path, lambda event, at=number: die() if event["n"] == at else None)  # type: ignore[misc]
        if not ended and number > 1 and number % 3 == 0:
            pid = os.fork()
            if not pid:
                try:
                    log = EventLog(
                        str(path), (lambda event, at=number: die() if event["n"] == at + 9 else None,), resumes=True
                    )  # type: ignore[misc]
                    Scene(repo.root, CALLS, PLAN, log=log, resumes=True)
                finally:
                    os._exit(0)
            os.waitpid(pid, 0)
        if not ended and RunState.of(read_events(str(path))).stop_reason != "DONE":
            check(repo, resumed(repo.root, path), temporary, path.parent)
        number += 1


@pytest.mark.slow
@pytest.mark.parametrize("files", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_run_that_is_killed_while_it_merges_goes_on(files: int, tmp_path: Path, temporary: Path) -> None:
    repo, path = project(tmp_path / "project"), tmp_path / "run" / "events.jsonl"

    def half(store: TreeStore, old: str, new: str) -> bool:
        for one in store.changed(old, new)[: files + 1]:
            (repo.root / one.path).write_bytes(store._run(store._repo, "", "cat-file", "blob", f"{new}:{one.path}"))
        die()
        return True

    def prepare() -> None:
        TreeStore.update = half  # type: ignore[method-assign]

    assert not begun(repo.root, path, lambda event: None, prepare)
    assert RunState.of(read_events(str(path))).merging is not None
    check(repo, resumed(repo.root, path), temporary, path.parent)


@pytest.mark.slow
def test_what_somebody_changed_meanwhile_is_not_lost(tmp_path: Path, temporary: Path) -> None:
    repo, path = project(tmp_path / "project"), tmp_path / "run" / "events.jsonl"
    assert not begun(repo.root, path, lambda event: die() if event["event"] == "step_merging" else None)
    text = (repo.root / "a.txt").read_text()
    repo.write("a.txt", text + "by hand\n")
    scene = resumed(repo.root, path)
    assert scene.turn.ok and (repo.root / "a.txt").read_text() == ENDS["a.txt"] + "by hand\n"


@pytest.mark.slow
def test_work_that_was_begun_side_by_side_is_ended_one_at_a_time(tmp_path: Path, temporary: Path) -> None:
    repo, path = project(tmp_path / "project"), tmp_path / "run" / "events.jsonl"
    assert not begun(repo.root, path, lambda event: die() if event["event"] == "control_signal" else None)
    check(repo, resumed(repo.root, path, jobs=1), temporary, path.parent)


@pytest.mark.slow
def test_a_checkout_that_cannot_be_read_is_told(tmp_path: Path, temporary: Path) -> None:
    repo, path = project(tmp_path / "project"), tmp_path / "run" / "events.jsonl"
    assert not begun(repo.root, path, lambda event: die() if event["event"] == "step_tree" else None)
    for link in temporary.glob("*/*/.git"):
        link.unlink()
    scene = resumed(repo.root, path)
    assert any("changed last cannot be read and is lost: no git repository at" in note for note in scene.turn.notes)
    check(repo, scene, temporary, path.parent)


@pytest.mark.slow
def test_trees_that_are_gone_are_made_anew(tmp_path: Path, temporary: Path) -> None:
    repo, path = project(tmp_path / "project"), tmp_path / "run" / "events.jsonl"
    assert not begun(repo.root, path, lambda event: die() if event["event"] == "step_tree" else None)
    for place in (path.parent / "trees", temporary):
        shutil.rmtree(place)
    temporary.mkdir()
    scene = resumed(repo.root, path)
    assert {event["problem"] for event in scene.of("step_dropped")} == {"what it had changed is gone"}
    check(repo, scene, temporary, path.parent)
