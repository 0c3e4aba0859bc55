from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.tickets.find import Tickets
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.lint import lint
from ahp.tickets.template import language, new_ticket, slug
from ahp.tickets.ticket import read
from tests.tickets.memory import MemoryView, draft, place

STAMP = "2026-02-09T10:00:00.123Z"


def tickets() -> Tickets:
    return Tickets(MemoryView({place("FEAT-0041"): draft("FEAT-0041")}))


def test_a_new_ticket_is_read_back_as_a_draft_without_faults() -> None:
    issue_id, path, text = new_ticket(tickets(), "feature", "Add: a 'login' page", STAMP, ("FEAT-0041",), "high")
    assert (issue_id, path) == ("FEAT-0042", "Issues/Features/open/FEAT-0042-add-a-login-page.md")
    ticket = read(path, text.encode())
    assert (ticket.title, ticket.phase, ticket.type) == ("Add: a 'login' page", "draft", "feature")
    assert (ticket.dependencies, ticket.criticality) == (("FEAT-0041",), "high")
    assert [box.section for box in ticket.boxes] == ["acceptance", "tasks"]
    assert lint(Tickets(MemoryView({path: text, place("FEAT-0041"): draft("FEAT-0041")}))) == []


def test_a_chinese_title_gets_chinese_headings() -> None:
    _, path, text = new_ticket(tickets(), "fix", "修复登录", STAMP)
    assert path == "Issues/Fixes/open/FIX-0001-修复登录.md"
    assert "## 验收标准" in text
    assert [box.section for box in read(path, text.encode()).boxes] == ["acceptance", "tasks"]
    assert language("login") == "en"


@pytest.mark.parametrize(
    ("kind", "title", "needs", "said"),
    [
        ("story", "x", (), "a ticket is one of epic, feature"),
        ("fix", " ", (), "a title is one line"),
        ("fix", "a\nb", (), "a title is one line"),
        ("fix", "a", ("FEAT-9",), "no ticket 'FEAT-9' to depend on"),
    ],
)
def test_what_no_ticket_can_be_is_refused(kind: str, title: str, needs: tuple[str, ...], said: str) -> None:
    with pytest.raises(TicketError, match=said):
        new_ticket(tickets(), kind, title, STAMP, needs)


@given(st.text(min_size=1).filter(lambda text: text.strip() and text.isprintable()))
def test_any_title_gives_a_ticket_that_says_it(title: str) -> None:
    _, path, text = new_ticket(tickets(), "chore", title, STAMP)
    assert read(path, text.encode()).title == title.strip()
    assert "/" not in slug(title)
    assert len(slug(title)) <= 50
