"""`checklist`: the boxes of the current ticket, whole and by section."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from ahp.facts import checklist
from ahp.facts.registry import Absent
from ahp.protocol.event import Event
from ahp.system.git import discover
from ahp.system.worktree import WorkTreeView
from ahp.tickets.frontmatter import TicketError
from tests.conftest import Repo
from tests.tickets.memory import draft, place

Make = Callable[..., Event]


def test_a_ticket_that_cannot_be_read_is_an_error_and_never_an_empty_checklist(event: Make) -> None:
    broken = {place("FEAT-0001"): "---\nid: FEAT-0001\nid: FEAT-0001\n---\n"}
    for trigger in ("pre-commit", "pre-push", "pre-issue-submit", "pre-merge"):
        with pytest.raises(TicketError, match=r"a-thing\.md:3: "):
            checklist.gather(event(trigger, broken), frozenset(("incomplete_count",)), {})
    with pytest.raises(Absent, match=r"a-thing\.md:3: "):
        checklist.gather(event("pre-tool-use", broken), frozenset(("incomplete_count",)), {})


def test_the_checklist_counts_as_a_whole_and_by_section(event: Make) -> None:
    text = draft("FEAT-0001") + "- [x] b\n## Tasks\n- [/] c\n- [~] d\n"
    facts = checklist.gather(event(files={place("FEAT-0001"): text}), frozenset(checklist.NAMESPACE.schema), {})
    assert (facts["total"], facts["done"], facts["incomplete_count"]) == (3, 1, 2)
    assert (facts["completion_rate"], facts["acceptance.completion_rate"]) == (1 / 3, 0.5)
    assert facts["tasks.completion_rate"] == 0.0
    assert (facts["incomplete"], facts["incomplete_ids"]) == (["It works", "c"], ["acceptance-1", "tasks-1"])
    none = facts["review.completion_rate"]
    assert isinstance(none, Absent)
    assert none.reason == "FEAT-0001 has no boxes in review"
    assert set(facts) == set(checklist.NAMESPACE.schema)
    assert checklist.gather(event(), frozenset(("tasks.total",)), {}) == {"tasks.total": 0}


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("- [ ] a\n- [ ] b\n", (0, 0, [])),
        ("- [x] a\n- [~] b\n", (1, 0, [])),
        ("- [x] a\n- [v] b\n", (0, 1, [])),
        ("- [x] a\n", (0, 0, ["b"])),
        ("- [x] a\n<!--\n- [ ] b\n-->\n", (0, 0, ["b"])),
        ("- [x] A\n## Review\n- [ ]  b\n", (0, 0, [])),
    ],
)
def test_boxes_that_are_argued_away_are_seen(event: Make, repo: Repo, now: str, told: tuple[object, ...]) -> None:
    text = draft("FEAT-0001") + "## Tasks\n"
    repo.commit("first", **{place("FEAT-0001"): text + "- [ ] a\n- [ ] b\n"})
    repo.write(place("FEAT-0001"), text + now)
    view = WorkTreeView(discover(str(repo.root), dict(os.environ)))
    fields = ("cancelled_count", "invalid_count", "removed")
    facts = checklist.gather(event(view=view), frozenset((*fields, "tasks.removed", "acceptance.removed")), {})
    assert tuple(facts[field] for field in fields) == told
    assert (facts["tasks.removed"], facts["acceptance.removed"]) == (told[2], [])


@pytest.mark.parametrize("committed", [True, False])
def test_a_ticket_that_is_newer_than_the_base_is_compared_with_how_it_was_first_committed(
    event: Make, repo: Repo, committed: bool
) -> None:
    text = draft("FEAT-0001") + "## Tasks\n"
    base = repo.commit("first", **{"a.txt": "a"})
    repo.commit("the ticket", **{place("FEAT-0001"): text + "- [ ] a\n- [ ] b\n"})
    repo.write(place("FEAT-0001"), text + "- [x] a\n")
    if committed:
        repo.git("commit", "-aqm", "a is done")
    view = WorkTreeView(discover(str(repo.root), dict(os.environ)), base)
    assert checklist.gather(event(view=view), frozenset(("removed",)), {}) == {"removed": ["b"]}


def test_boxes_that_a_branch_wrote_into_a_template_and_took_away_are_seen(event: Make, repo: Repo) -> None:
    text = draft("FEAT-0001").replace("- [ ] It works\n", "") + "## Tasks\n"
    base = repo.commit("a template", **{place("FEAT-0001"): text + "- [ ] \n"})
    repo.commit("filled in", **{place("FEAT-0001"): text + "- [ ] a\n"})
    repo.commit("argued away", **{place("FEAT-0001"): text})
    view = WorkTreeView(discover(str(repo.root), dict(os.environ)), base)
    assert checklist.gather(event(view=view), frozenset(("removed",)), {}) == {"removed": ["a"]}


def test_a_base_that_cannot_be_read_tells_nothing_of_removed_boxes(event: Make, repo: Repo) -> None:
    repo.commit("first", **{place("FEAT-0001"): "broken"})
    repo.write(place("FEAT-0001"), draft("FEAT-0001"))
    view = WorkTreeView(discover(str(repo.root), dict(os.environ)))
    found = checklist.gather(event(view=view), frozenset(("removed",)), {})["removed"]
    assert isinstance(found, Absent) and "cannot be read" in found.reason
