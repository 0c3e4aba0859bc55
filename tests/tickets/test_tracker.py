from __future__ import annotations

from pathlib import Path

import pytest

from ahp.system.errors import AhpError
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.tracker import Tracker
from tests.conftest import Repo
from tests.tickets.memory import draft, place


@pytest.fixture
def lab(repo: Repo) -> Repo:
    """A repository with an open, a closed and a broken ticket."""
    repo.write(place("FEAT-0001"), draft("FEAT-0001", "FEAT-0002", "FEAT-0003") + "- [x] tried\n")
    closed = draft("FEAT-0002").replace("status: open", "status: closed").replace("stage: draft", "stage: done")
    repo.write(place("FEAT-0002", "closed"), closed)
    repo.write(place("FEAT-0003"), "no front matter\n")
    return repo


def test_a_summary_is_a_row_a_ticket_and_names_what_cannot_be_read(lab: Repo) -> None:
    rows, faults = Tracker(str(lab.root)).summaries()
    assert rows == [
        {
            "id": "FEAT-0001",
            "type": "feature",
            "status": "open",
            "stage": "draft",
            "done": 1,
            "total": 2,
            "title": "A thing",
            "path": place("FEAT-0001"),
        }
    ]
    assert [fault.partition(": has")[0] for fault in faults] == [f"{place('FEAT-0003')}:1"]
    assert [row["id"] for row in Tracker(str(lab.root)).summaries(closed=True)[0]] == ["FEAT-0001", "FEAT-0002"]


def test_a_detail_tells_everything_of_one_ticket(lab: Repo) -> None:
    lab.write(place("FEAT-0003"), draft("FEAT-0003", "FEAT-0001"))
    told = Tracker(str(lab.root)).detail("#feat-0001")
    assert told["unmet_dependencies"] == ["FEAT-0003"]
    assert told["boxes"] == [
        {"id": "acceptance-1", "section": "acceptance", "state": "todo", "line": 14, "text": "It works"},
        {"id": "acceptance-2", "section": "acceptance", "state": "done", "line": 15, "text": "tried"},
    ]
    with pytest.raises(TicketError, match="no ticket FEAT-0404"):
        Tracker(str(lab.root)).detail("FEAT-0404")


def test_a_new_ticket_gets_the_next_id_and_never_replaces_a_file(lab: Repo) -> None:
    tracker = Tracker(str(lab.root / "Issues"))
    path = tracker.create("feature", "Second thing", ("FEAT-0001",), "low")
    assert path == "Issues/Features/open/FEAT-0004-second-thing.md"
    assert Tracker(str(lab.root)).tickets.get("FEAT-0004").dependencies == ("FEAT-0001",)
    before = (lab.root / path).read_bytes()
    with pytest.raises(AhpError, match=r"cannot write .*FEAT-0004-second-thing.md: File exists"):
        tracker.create("feature", "Second thing")
    assert (lab.root / path).read_bytes() == before


def test_without_a_work_tree_there_are_no_tickets(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(AhpError, match="no git repository"):
        Tracker(str(tmp_path))
    repo.git("init", "-q", "--bare", str(tmp_path / "bare"))
    with pytest.raises(AhpError, match="a bare repository has no work tree"):
        Tracker(str(tmp_path / "bare"))
