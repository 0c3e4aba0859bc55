from __future__ import annotations

import os

import pytest

from ahp.system.git import discover
from ahp.system.history import CommitView
from ahp.system.view import IndexView
from ahp.system.worktree import WorkTreeView
from ahp.tickets.find import Tickets
from ahp.tickets.frontmatter import NoTicket, TicketError
from tests.conftest import Repo
from tests.tickets.memory import MemoryView, draft, place


def test_a_ticket_is_found_by_its_file_name_and_only_it_is_opened() -> None:
    files = {place(f"FEAT-{number:04d}"): draft(f"FEAT-{number:04d}") for number in range(1, 5001)}
    view = MemoryView({**files, "Issues/README.md": "# Tickets", "src/FEAT-0009-x.md": "no ticket"})
    tickets = Tickets(view)
    assert tickets.get("FEAT-4711").title == "A thing"
    assert tickets.get("FEAT-4711") is tickets.get("FEAT-4711")
    assert tickets.has("FEAT-0009")
    assert view.opened == [place("FEAT-4711")]
    assert tickets.next_id("FEAT") == "FEAT-5001"
    assert tickets.next_id("FIX") == "FIX-0001"


def test_ids_are_in_natural_order() -> None:
    tickets = Tickets(MemoryView({place(name): "" for name in ("FEAT-10", "FEAT-2", "CHORE-3")}))
    assert tickets.ids() == ["CHORE-3", "FEAT-2", "FEAT-10"]
    assert tickets.paths() == [place("CHORE-3"), place("FEAT-2"), place("FEAT-10")]


def test_a_file_without_an_id_in_its_name_is_known_by_what_it_says() -> None:
    view = MemoryView(
        {
            "Issues/login.md": draft("FEAT-0007"),
            "Issues/bom.md": b"\xef\xbb\xbf" + draft("FEAT-0008").encode(),
            "Issues/README.md": "# Tickets",
            "Issues/rule.md": "---\nA rule, then text.\n",
            "Issues/other.md": "---\ntitle: x\n---\n",
        }
    )
    tickets = Tickets(view)
    assert tickets.path_of("FEAT-0007") == "Issues/login.md"
    assert tickets.get("FEAT-0008").id == "FEAT-0008"
    assert tickets.ids() == []
    assert tickets.paths() == ["Issues/bom.md", "Issues/login.md"]


def test_files_are_told_apart_from_tickets() -> None:
    view = MemoryView(
        {place("FEAT-0002"): "", "Issues/x.md": draft("FEAT-0001"), "Issues/README.md": "", "FEAT-3.md": ""}
    )
    paths = [*view.paths(), place("FEAT-0004"), "Issues/Features/FEAT-0005.txt"]
    assert Tickets(view).named_by(paths) == ["FEAT-0001", "FEAT-0002"]


def test_two_tickets_for_one_id_are_named_both() -> None:
    tickets = Tickets(MemoryView({place("FEAT-0001"): "", place("FEAT-0001", "closed"): ""}))
    with pytest.raises(TicketError, match=r"FEAT-0001 has 2 tickets, Issues/.*closed/.* and Issues/.*open/"):
        tickets.path_of("FEAT-0001")


def test_an_unknown_id_names_the_nearest() -> None:
    tickets = Tickets(MemoryView({place("FEAT-0001"): ""}))
    with pytest.raises(NoTicket, match=r"no ticket FEAT-001 in Issues/; did you mean FEAT-0001\?"):
        tickets.get("FEAT-001")
    with pytest.raises(NoTicket, match=r"no ticket X-1 in Issues/$"):
        tickets.get("X-1")


def test_a_file_that_went_away_is_no_ticket() -> None:
    view = MemoryView({place("FEAT-0001"): ""})
    tickets = Tickets(view)
    view.files.clear()
    with pytest.raises(NoTicket, match="is gone"):
        tickets.get("FEAT-0001")


def test_names_may_be_in_any_script() -> None:
    path = "Issues/Features/open/后端/FEAT-0001-登录页面.md"
    assert Tickets(MemoryView({path: draft("FEAT-0001")})).get("FEAT-0001").path == path


def test_monocos_workspace_file_says_where_tickets_lie() -> None:
    view = MemoryView(
        {
            "app/.monoco/workspace.yaml": "paths:\n  root: .\n  issues: ./Work/Items/\n",
            "app/Work/Items/FEAT-0001.md": draft("FEAT-0001"),
            "Issues/FEAT-0002.md": draft("FEAT-0002"),
        }
    )
    assert Tickets(view, "/app/").ids() == ["FEAT-0001"]
    assert Tickets(view).ids() == ["FEAT-0002"]


@pytest.mark.parametrize("text", ["", "paths: here\n", "paths: {issues: [a]}\n", "paths: {issues: ''}\n"])
def test_a_workspace_file_that_says_nothing_leaves_the_usual_place(text: str) -> None:
    assert Tickets(MemoryView({".monoco/workspace.yaml": text})).folder == "Issues/"


def test_a_broken_workspace_file_is_an_error() -> None:
    with pytest.raises(TicketError, match=r"workspace.yaml:1: "):
        Tickets(MemoryView({".monoco/workspace.yaml": "a: [b\n"}))


def test_a_reference_reaches_a_member_project_inside_the_repository_only() -> None:
    view = MemoryView(
        {
            ".monoco/project.yaml": "project: {members: {lab: ./lab, out: ../out, abs: /etc}}\n",
            "lab/Issues/FEAT-0001.md": draft("FEAT-0001"),
        }
    )
    tickets = Tickets(view)
    found = tickets.referred("lab::FEAT-0001")
    assert found is not None
    assert found.path == "lab/Issues/FEAT-0001.md"
    for reference in ("lab::FEAT-0002", "out::FEAT-0001", "abs::FEAT-0001", "who::FEAT-0001", "FEAT-0001", "config:db"):
        assert tickets.referred(reference) is None


def test_a_commit_has_the_tickets_of_that_commit(repo: Repo) -> None:
    path = place("FEAT-0001")
    (repo.root / path).parent.mkdir(parents=True)
    for state in ("draft", "doing", "review"):
        (repo.root / path).write_text(draft("FEAT-0001").replace("stage: draft", f"stage: {state}"))
        if state != "review":
            repo.git("add", "-A")
        if state == "draft":
            repo.git("commit", "-qm", "first")
    repository = discover(str(repo.root), dict(os.environ))
    views = (CommitView(repository, "HEAD"), IndexView(repository), WorkTreeView(repository))
    assert [Tickets(view).get("FEAT-0001").stage for view in views] == ["draft", "doing", "review"]
