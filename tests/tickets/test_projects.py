from __future__ import annotations

from pathlib import Path

import pytest

from ahp.tickets import tracker
from ahp.tickets.frontmatter import NoTicket, TicketError
from tests.tickets.memory import MemoryView, draft, place

FILES: dict[str, str | bytes] = {
    place("FEAT-0001"): draft("FEAT-0001"),
    "apps/shop/.monoco/project.yaml": "",
    "apps/shop/" + place("FEAT-0002"): draft("FEAT-0002"),
    "apps/shop/" + place("FEAT-0001"): draft("FEAT-0001"),
    "lib/.monoco/workspace.yaml": "paths: {issues: Work}\n",
    "lib/Work/Features/open/FEAT-0003-x.md": draft("FEAT-0003"),
    "lib/Work/Features/open/FEAT-0002-x.md": draft("FEAT-0002"),
    ".monoco/project.yaml": "",
    "no.monoco/x": "",
}


def test_a_project_is_the_top_or_a_folder_that_monoco_marked() -> None:
    assert tracker.folders(list(FILES)) == ["", "apps/shop", "lib"]
    assert tracker.folders([]) == [""]


@pytest.mark.parametrize(
    ("issue", "project", "folder"),
    [
        ("FEAT-0001", "", "Issues/"),
        ("FEAT-0001", "apps/shop", "apps/shop/Issues/"),
        ("FEAT-0003", "", "lib/Work/"),
        ("FEAT-0003", "apps/shop", "lib/Work/"),
        ("FEAT-0002", "lib", "lib/Work/"),
    ],
)
def test_an_issue_is_looked_for_at_home_first(issue: str, project: str, folder: str) -> None:
    tickets = tracker.of_issue(MemoryView(FILES), issue, project)
    assert (tickets.folder, tickets.get(issue).id) == (folder, issue)


def test_two_other_projects_with_the_issue_are_an_error() -> None:
    with pytest.raises(TicketError, match="FEAT-0002 is a ticket in apps/shop/Issues/ and lib/Work/; go to the folder"):
        tracker.of_issue(MemoryView(FILES), "FEAT-0002")


def test_an_issue_of_no_project_is_missed_at_home() -> None:
    with pytest.raises(NoTicket, match="no ticket FEAT-0009 in lib/Work/"):
        tracker.of_issue(MemoryView(FILES), "FEAT-0009", "lib").get("FEAT-0009")


def test_the_project_around_a_folder_is_the_nearest_marked_one(tmp_path: Path) -> None:
    for folder in ("apps/shop/.monoco", "apps/shop/src/deep", "apps/other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "apps/shop/src")
    where = {name: tracker.around(f"{tmp_path}/{name}", str(tmp_path)) for name in ("apps/shop/src/deep", "link")}
    assert where == {"apps/shop/src/deep": "apps/shop", "link": "apps/shop"}
    assert tracker.around(f"{tmp_path}/apps/other", str(tmp_path)) == ""
    assert tracker.around(str(tmp_path), str(tmp_path)) == ""
    assert tracker.around("/", str(tmp_path)) == ""
