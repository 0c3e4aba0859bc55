from __future__ import annotations

import pytest

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
    assert not life.start(ticket("doing"), FOLDER).changes_anything
    assert not life.submit(ticket("review"), FOLDER, []).changes_anything
    assert life.start(ticket("review"), FOLDER).changes_anything


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
