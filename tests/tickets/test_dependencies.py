from __future__ import annotations

import pytest

from ahp.tickets.find import Tickets
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.lint import unmet
from tests.tickets.memory import MemoryView, draft, place


def tickets(**graph: tuple[str, ...]) -> Tickets:
    files = {place(name.replace("_", "-")): draft(name.replace("_", "-"), *needs) for name, needs in graph.items()}
    closed = draft("FEAT-0099", "FEAT-0001").replace("status: open", "status: closed")
    return Tickets(MemoryView({**files, place("FEAT-0099", "closed"): closed}))


def test_what_is_closed_is_met_and_the_rest_is_not() -> None:
    found = tickets(FEAT_0001=("FEAT-0002", "#FEAT-0099", "FEAT-0404", "config:db"), FEAT_0002=())
    assert unmet(found, found.get("FEAT-0001")) == ["FEAT-0002", "FEAT-0404", "config:db"]


def test_only_the_direct_dependencies_are_opened() -> None:
    found = tickets(FEAT_0001=("FEAT-0002",), FEAT_0002=("FEAT-0003",), FEAT_0003=())
    unmet(found, found.get("FEAT-0001"))
    assert found.view.opened == [place("FEAT-0001"), place("FEAT-0002")]  # type: ignore[attr-defined]


def test_a_dependency_that_cannot_be_read_is_an_error_with_its_line() -> None:
    view = MemoryView({place("FEAT-0001"): draft("FEAT-0001", "FEAT-0002"), place("FEAT-0002"): "---\nid: [\n---\n"})
    found = Tickets(view)
    with pytest.raises(TicketError, match=r"FEAT-0002-a-thing.md:2: "):
        unmet(found, found.get("FEAT-0001"))
