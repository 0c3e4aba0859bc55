"""`issue`: the ticket that the event is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ahp.facts import issue
from ahp.facts.registry import Absent
from ahp.protocol.event import Event, PushRef
from ahp.tickets.frontmatter import NoTicket, TicketError
from tests.conftest import Repo
from tests.tickets.memory import draft, place

Make = Callable[..., Event]

ALL = frozenset(issue.NAMESPACE.schema)


def issue_id(event: Event) -> object:
    return issue.gather(event, frozenset(("id",)), {})["id"]


def test_every_field_of_the_schema_comes_from_the_ticket(event: Make) -> None:
    other = draft("FEAT-0002", "FEAT-0001")
    files = {place("FEAT-0001"): draft("FEAT-0001", "FEAT-0002", "X-1"), place("FEAT-0002"): other}
    facts = issue.gather(event(files=files), ALL, {})
    assert facts == {
        "criticality": "medium",
        "solution": "",
        "id": "FEAT-0001",
        "type": "feature",
        "status": "open",
        "stage": "draft",
        "title": "A thing",
        "dependencies": ["FEAT-0002", "X-1"],
        "unmet_dependencies": ["FEAT-0002", "X-1"],
        "unmet_dependency_count": 2,
        "files": [],
    }


def test_a_stated_criticality_is_a_word(event: Make) -> None:
    text = draft("FEAT-0001").replace("type:", "criticality: High\ntype:")
    facts = issue.gather(event(files={place("FEAT-0001"): text}), frozenset(("criticality",)), {})
    assert facts == {"criticality": "high"}


@pytest.mark.parametrize(("kind", "expected"), [("fix", "high"), ("epic", "high"), ("chore", "low"), ("spike", None)])
def test_without_one_the_type_decides_the_criticality(event: Make, kind: str, expected: str | None) -> None:
    text = draft("FEAT-0001").replace("type: feature", f"type: {kind}")
    found = issue.gather(event(files={place("FEAT-0001"): text}), frozenset(("criticality",)), {})["criticality"]
    assert found == expected or (expected is None and isinstance(found, Absent))


def test_the_solution_is_the_one_asked_for_else_the_tickets_else_a_close_means_implemented(event: Make) -> None:
    def solution(trigger: str, asked: str, written: str) -> object:
        files = {place("FEAT-0001"): draft("FEAT-0001").replace("files:", f"solution: {written}\nfiles:")}
        return issue.gather(event(trigger, files, solution=asked), frozenset(("solution",)), {})["solution"]

    assert solution("pre-issue-close", "wontfix", "Implemented") == "wontfix"
    assert solution("pre-issue-close", "", "Cancelled") == "cancelled"
    assert solution("pre-issue-close", "", "null  # one of implemented") == "implemented"
    assert solution("pre-issue-submit", "", "") == ""


def test_dependencies_are_opened_only_when_a_rule_reads_them(event: Make) -> None:
    asked = event(files={place("FEAT-0001"): draft("FEAT-0001", "FEAT-0002"), place("FEAT-0002"): "broken"})
    issue.gather(asked, frozenset(("stage", "dependencies")), {})
    with pytest.raises(TicketError, match=r"FEAT-0002-a-thing\.md:1: has no front matter"):
        issue.gather(asked, frozenset(("unmet_dependency_count",)), {})


def test_the_named_issue_comes_before_the_branch_and_the_branch_before_the_variable(event: Make) -> None:
    files = {place(name): draft(name) for name in ("FEAT-0001", "FEAT-0002", "FEAT-0003")}
    env = {"MONOCO_ISSUE_ID": "FEAT-0003"}
    assert issue_id(event(files=files, issue="feat-0002", env=env)) == "FEAT-0002"
    assert issue_id(event(files=files, env=env)) == "FEAT-0001"
    files.pop(place("FEAT-0001"))
    assert issue_id(event(files=files, env=env)) == "FEAT-0003"


def test_a_push_is_about_the_branch_that_is_pushed(event: Make) -> None:
    files = {place(name): draft(name) for name in ("FEAT-0001", "FEAT-0002")}
    for refs in (("refs/heads/main", "refs/heads/FEAT-0002-x"), ("refs/heads/x", "refs/heads/FEAT-0002-x")):
        push = PushRef(refs[1], "1" * 40, refs[0], "0" * 40)
        assert issue_id(event("pre-push", files, push=push)) == "FEAT-0002"


def test_without_a_ticket_the_namespace_is_absent_with_a_reason(event: Make, repo: Repo) -> None:
    for trigger in ("pre-commit", "pre-issue-submit"):
        with pytest.raises(Absent, match="no ticket for FEAT-0001"):
            issue_id(event(trigger, {}))
    repo.git("checkout", "-qb", "topic")
    with pytest.raises(Absent, match="no issue is current") as caught:
        issue_id(event())
    assert "--issue" in caught.value.command
    with pytest.raises(Absent):
        issue_id(event(repo=None, view=None))


def test_a_named_issue_without_a_ticket_is_an_error(event: Make) -> None:
    with pytest.raises(NoTicket, match=r"no ticket FEAT-0404 .* did you mean FEAT-0001"):
        issue_id(event(issue="FEAT-0404"))


def test_a_call_that_touches_no_file_still_belongs_to_an_issue(event: Make, repo: Repo) -> None:
    repo.write(place("FEAT-0001"), draft("FEAT-0001"))
    assert issue_id(event("pre-tool-use", view=None)) == "FEAT-0001"


def test_a_branch_that_two_projects_know_names_no_ticket_and_a_named_one_is_an_error(event: Make, repo: Repo) -> None:
    files = {f"{folder}/{place('FEAT-0077')}": draft("FEAT-0077") for folder in ("shop", "site")}
    files |= {f"{folder}/.monoco/project.yaml": "" for folder in ("shop", "site")}
    repo.git("checkout", "-q", "-b", "FEAT-0077-both")
    both = "FEAT-0077 is a ticket in shop/Issues/ and site/Issues/"
    with pytest.raises(Absent, match=both):
        issue_id(event(files=files))
    with pytest.raises(TicketError, match=both):
        issue_id(event(files=files, issue="FEAT-0077"))
    inside = event(files=files, issue="FEAT-0077")
    inside.project = "site"
    assert issue_id(inside) == "FEAT-0077"
