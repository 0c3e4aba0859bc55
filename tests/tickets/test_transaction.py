from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from ahp.system.errors import AhpError
from ahp.tickets import life
from ahp.tickets.ticket import Ticket, read
from ahp.tickets.transaction import apply, recover
from tests.tickets.memory import draft, place

FOLDER = "Issues/"


class Lab:
    """A work tree and its git directory, of which only the folders matter here."""

    def __init__(self, top: Path) -> None:
        self.root, self.git_dir = top / "work", top / "git"
        self.git_dir.mkdir()

    def put(self, path: str, data: bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return place

    def apply(self, plan: life.Plan) -> None:
        apply(plan, str(self.root), str(self.git_dir))

    def recover(self) -> None:
        recover(str(self.root), str(self.git_dir))

    def files(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*") if p.is_file()}

    def is_clean(self) -> bool:
        return not os.listdir(self.git_dir)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def ticket(stage: str = "draft") -> Ticket:
    return read(place("FEAT-0001"), draft("FEAT-0001").replace("stage: draft", f"stage: {stage}").encode())


def plan_of(step: str) -> life.Plan:
    """`start` stays where it is, `close` moves."""
    return life.start(ticket(), FOLDER) if step == "start" else life.close(ticket("review"), FOLDER)


@pytest.fixture
def closing(lab: Lab) -> life.Plan:
    """A plan that moves, and its ticket on the disk."""
    plan = plan_of("close")
    lab.put(plan.path, plan.before)
    return plan


def test_a_plan_is_carried_out_whole_and_keeps_the_mode(closing: life.Plan, lab: Lab) -> None:
    (lab.root / closing.path).chmod(0o755)
    lab.apply(closing)
    assert lab.files() == {closing.new_path: closing.after}
    assert (lab.root / closing.new_path).stat().st_mode & 0o777 == 0o755
    assert lab.is_clean()


def test_a_ticket_that_stays_is_replaced_in_place(lab: Lab) -> None:
    plan = plan_of("start")
    lab.put(plan.path, plan.before)
    lab.apply(plan)
    assert lab.files() == {plan.path: plan.after}
    lab.apply(life.Plan(plan.issue, plan.path, plan.path, plan.after, plan.after))
    assert lab.files() == {plan.path: plan.after}
    assert lab.is_clean()


@pytest.mark.parametrize("step", ["start", "close"])
@pytest.mark.parametrize(
    "failing", ["ahp.system.files.replace", "ahp.system.files.overwrite", "os.rename", "os.unlink"]
)
@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
def test_a_failure_anywhere_leaves_the_ticket_as_it_was(
    failing: str, step: str, error: BaseException, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(step)
    lab.put(plan.path, plan.before)

    def fail_once(*arguments: object) -> None:
        monkeypatch.undo()
        raise error

    monkeypatch.setattr(failing, fail_once)
    try:
        lab.apply(plan)
    except (AhpError, OSError, KeyboardInterrupt):
        # A ticket that stays has its new text once it is renamed; what is left is tidying up.
        done = step == "start" and failing == "os.unlink"
        assert lab.files() == {plan.path: plan.after if done else plan.before}
        assert lab.is_clean()
    else:
        pytest.fail("nothing failed")


def killed(lab: Lab, plan: life.Plan, count: int) -> int:
    """Applies a plan in a process that is killed after so many calls that touch the lab; its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event in ("open", "os.rename", "os.remove", "os.mkdir") and str(arguments[0]).startswith(places):
            count -= 1
            if count < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    places = str(lab.root), str(lab.git_dir)
    try:
        sys.addaudithook(hook)
        lab.apply(plan)
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["start", "close"])
def test_kill_minus_nine_anywhere_leaves_the_step_undone_or_done(step: str, tmp_path: Path) -> None:
    plan = plan_of(step)
    undone, done = {plan.path: plan.before}, {plan.new_path: plan.after}
    seen = []
    for count in range(50):
        (tmp_path / str(count)).mkdir()
        lab = Lab(tmp_path / str(count))
        lab.put(plan.path, plan.before)
        code = killed(lab, plan, count)
        found = lab.files()
        if step == "close":
            assert found.get(plan.new_path, plan.after) == plan.after  # old text never lies in the new place
        lab.recover()
        assert lab.files() in (undone, done)
        seen.append(lab.files())
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert (seen[0], seen[-1]) == (undone, done)
    assert len(seen) > 4


def test_healing_leaves_alone_what_somebody_changed_since(closing: life.Plan, lab: Lab) -> None:
    lab.put(closing.new_path, closing.after)
    lab.put(closing.path, closing.before + b"more\n")
    record = {"old": closing.path, "new": closing.new_path, "before": "sha256:1", "after": "sha256:2"}
    (lab.git_dir / "ahp-step").write_text(json.dumps(record))
    before = lab.files()
    lab.recover()
    assert (lab.files(), lab.is_clean()) == (before, True)


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"old": 1}', b'"\xff"'])
def test_a_damaged_record_is_dropped(record: bytes, lab: Lab) -> None:
    lab.put("a.md", b"text")
    (lab.git_dir / "ahp-step").write_bytes(record)
    lab.recover()
    assert (lab.files(), lab.is_clean()) == ({"a.md": b"text"}, True)
    lab.recover()


def test_a_ticket_changed_meanwhile_is_left_alone(closing: life.Plan, lab: Lab) -> None:
    (lab.root / closing.path).write_bytes(closing.before + b"more\n")
    with pytest.raises(AhpError, match="was changed meanwhile"):
        lab.apply(closing)
    (lab.root / closing.path).unlink()
    with pytest.raises(AhpError, match="was changed meanwhile"):
        lab.apply(closing)


def test_another_file_in_the_new_place_is_never_replaced(closing: life.Plan, lab: Lab) -> None:
    lab.put(closing.new_path, b"other")
    before = lab.files()
    with pytest.raises(AhpError, match="exists already"):
        lab.apply(closing)
    assert (lab.files(), lab.is_clean()) == (before, True)


def test_a_folder_that_cannot_be_made_is_a_clear_error(closing: life.Plan, lab: Lab) -> None:
    (lab.root / "Issues/Features/closed").write_text("a file")
    with pytest.raises(AhpError, match="cannot move the ticket to"):
        lab.apply(closing)


def test_a_symbolic_link_is_not_replaced_by_a_file(closing: life.Plan, lab: Lab) -> None:
    path = lab.root / closing.path
    path.rename(lab.root / "elsewhere.md")
    path.symlink_to(lab.root / "elsewhere.md")
    with pytest.raises(AhpError, match="is a symbolic link"):
        lab.apply(closing)
