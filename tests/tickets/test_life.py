from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.system import files
from ahp.system.errors import AhpError
from ahp.tickets import life
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.ticket import Ticket, read
from tests.tickets.memory import draft, place

FOLDER = "Issues/"
RECORD = "---\nid: FEAT-0001\nstatus: {} # kept\n---\n- [ ] x\n"


def ticket(stage: str = "draft", status: str = "open", path: str = place("FEAT-0001")) -> Ticket:
    return read(path, draft("FEAT-0001").replace("draft", stage).replace("status: open", f"status: {status}").encode())


def record(status: str, folder: str = "open") -> Ticket:
    return read(f"Issues/Features/{folder}/FEAT-0001.md", RECORD.format(status).encode())


def changed(plan: life.Plan) -> list[str]:
    return [line for line in plan.after.decode().splitlines() if line not in plan.before.decode().splitlines()]


def test_each_step_changes_its_own_keys_only() -> None:
    assert changed(life.start(ticket(), FOLDER)) == ["stage: doing"]
    assert changed(life.submit(ticket("doing"), FOLDER, ["b", "a", place("FEAT-0001"), "a"])) == [
        "stage: review",
        "files:",
        "- a",
        "- b",
    ]
    assert changed(life.close(ticket("review"), FOLDER)) == ["status: closed", "stage: done"]
    assert changed(life.close(ticket("review"), FOLDER, "implemented"))[-1] == "solution: implemented"


def test_only_closing_moves_a_ticket_of_monocos_layout() -> None:
    path = "Issues/Features/open/web/FEAT-0001-open.md"
    assert life.start(ticket(path=path), FOLDER).new_path == path
    assert life.close(ticket("review", path=path), FOLDER).new_path == "Issues/Features/closed/web/FEAT-0001-open.md"
    assert life.close(ticket("review", path="Issues/FEAT-0001.md"), FOLDER).new_path == "Issues/FEAT-0001.md"
    nested = "open/Issues/Features/open/FEAT-0001.md"
    assert life.close(ticket("review", path=nested), "open/Issues/").new_path == nested.replace("s/open", "s/closed")


def test_a_record_document_carries_its_stage_as_status_and_folder() -> None:
    started = life.start(record("draft"), FOLDER)
    assert (changed(started), started.new_path) == (["status: doing # kept"], "Issues/Features/doing/FEAT-0001.md")
    assert changed(life.submit(record("doing", "doing"), FOLDER, [])) == ["status: review # kept", "files: []"]
    closed = life.close(record("review", "review"), FOLDER)
    assert (changed(closed), closed.new_path) == (["status: done # kept"], "Issues/Features/done/FEAT-0001.md")
    assert life.place("Issues/Features/open/FEAT-0001.md", FOLDER, "draft") == "Issues/Features/open/FEAT-0001.md"


def test_a_step_already_made_changes_nothing() -> None:
    for plan in (life.start(ticket("doing"), FOLDER), life.submit(ticket("review"), FOLDER, [])):
        assert (plan.new_path, plan.after) == (plan.path, plan.before)
    assert life.start(ticket("review"), FOLDER).after != ticket("review").front.data


@pytest.mark.parametrize(
    ("step", "stage", "why"),
    [
        ("start", "done", "cannot start FEAT-0001, which is in `done`: it is done"),
        ("start", "freezed", "open it first"),
        ("start", "odd", "which is in `odd`: nobody knows that stage"),
        ("submit", "draft", "start it first"),
        ("close", "doing", "submit it first"),
        ("close", "draft", "start it first"),
    ],
)
def test_a_step_from_the_wrong_phase_is_refused(step: str, stage: str, why: str) -> None:
    arguments = [[]] if step == "submit" else []
    with pytest.raises(TicketError, match=why):
        getattr(life, step)(ticket(stage), FOLDER, *arguments)


def test_an_issue_may_be_given_up_before_review() -> None:
    assert changed(life.close(ticket("draft"), FOLDER, "wontfix")) == [
        "status: closed",
        "stage: done",
        "solution: wontfix",
    ]
    with pytest.raises(TicketError, match="cannot close"):
        life.close(ticket("done"), FOLDER, "wontfix")
    with pytest.raises(TicketError, match="a solution is one of"):
        life.close(ticket("review"), FOLDER, "later")


@pytest.mark.parametrize(
    ("old", "new", "steps"),
    [
        ("draft", "doing", ["start"]),
        ("draft", "review", ["start", "submit"]),
        ("", "done", ["start", "submit", "close"]),
        ("freezed", "doing", ["start"]),
        ("doing", "done", ["submit", "close"]),
        ("review", "doing", []),
        ("done", "draft", []),
        ("review", "review", []),
        ("doing", "odd", []),
    ],
)
def test_the_gates_between_two_phases_are_told_in_order(old: str, new: str, steps: list[str]) -> None:
    assert life.gates(old, new) == steps


@pytest.fixture
def closing(tmp_path: Path) -> life.Plan:
    """A plan that moves, and its ticket below `tmp_path`."""
    plan = life.close(ticket("review"), FOLDER)
    put(tmp_path / plan.path, plan.before)
    return plan


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def found(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_plan_is_carried_out_whole_and_keeps_the_mode(closing: life.Plan, tmp_path: Path) -> None:
    (tmp_path / closing.path).chmod(0o755)
    closing.carry_out(str(tmp_path))
    assert found(tmp_path) == {closing.new_path: closing.after}
    assert (tmp_path / closing.new_path).stat().st_mode & 0o777 == 0o755


def test_a_ticket_that_stays_is_replaced_in_place(tmp_path: Path) -> None:
    plan = life.start(ticket(), FOLDER)
    put(tmp_path / plan.path, plan.before)
    plan.carry_out(str(tmp_path))
    assert found(tmp_path) == {plan.path: plan.after}
    before = os.stat(tmp_path / plan.path)
    life.Plan(plan.issue, plan.path, plan.path, plan.after, plan.after).carry_out(str(tmp_path))
    assert os.stat(tmp_path / plan.path).st_ino == before.st_ino


@pytest.mark.parametrize("failing", ["replace", "makedirs", "rename"])
def test_a_failure_leaves_the_ticket_as_it_was(
    failing: str, closing: life.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise AhpError("disk full") if failing == "replace" else OSError(28, "No space left")

    monkeypatch.setattr(files if failing == "replace" else os, failing, fail)
    with pytest.raises(AhpError, match=r"disk full|cannot move the ticket to Issues/Features/closed/"):
        closing.carry_out(str(tmp_path))
    assert found(tmp_path) == {closing.path: closing.before}


def test_a_ticket_changed_meanwhile_is_left_alone(closing: life.Plan, tmp_path: Path) -> None:
    (tmp_path / closing.path).write_bytes(closing.before + b"more\n")
    with pytest.raises(AhpError, match="was changed meanwhile"):
        closing.carry_out(str(tmp_path))
    (tmp_path / closing.path).unlink()
    with pytest.raises(AhpError, match="was changed meanwhile"):
        closing.carry_out(str(tmp_path))


def test_another_file_in_the_new_place_is_never_replaced(closing: life.Plan, tmp_path: Path) -> None:
    put(tmp_path / closing.new_path, b"other")
    before = found(tmp_path)
    with pytest.raises(AhpError, match="exists already"):
        closing.carry_out(str(tmp_path))
    assert found(tmp_path) == before


def test_a_symbolic_link_is_not_replaced_by_a_file(closing: life.Plan, tmp_path: Path) -> None:
    path = tmp_path / closing.path
    path.rename(tmp_path / "elsewhere.md")
    path.symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(AhpError, match="is a symbolic link"):
        closing.carry_out(str(tmp_path))
