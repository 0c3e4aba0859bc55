"""Facts that a person wrote down: whole namespaces, with the types that gathered ones have."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import schemas
from ahp.system.errors import AhpError


def test_given_facts_replace_whole_namespaces(make_event: Any, gather: Any) -> None:
    event = make_event(given={"files": {"changed_count": 25}, "checklist": {"tasks": {"total": 3}, "review.done": 1}})
    facts = gather(
        event, "files.changed_count", "files.changed", "checklist.tasks.total", "checklist.review.done", "branch.name"
    )
    assert facts == {
        "files.changed_count": 25,
        "checklist.tasks.total": 3,
        "checklist.review.done": 1,
        "branch.name": "main",
        "missing": {"files.changed": ("not among the given facts", "")},
    }
    missing = gather(make_event(given={"checklist": {"tasks": 1}}), "checklist.tasks.total")["missing"]
    assert "checklist.tasks.total" in missing


@pytest.mark.parametrize(
    ("facts", "path", "says"),
    [
        ({"files": {"changed_count": "abc"}}, "files.changed_count", "is of type int, not 'abc'"),
        ({"files": {"changed_count": True}}, "files.changed_count", "is of type int, not True"),
        ({"files": {"changed_count": -1}}, "files.changed_count", "is from 0 to any number, not -1"),
        ({"files": {"changed": ["a", 1]}}, "files.changed", "one of its items is not"),
        ({"diff": {"added": ["a"]}}, "diff.added", "one of its items is not"),
        ({"tool": {"name": "bash"}}, "tool.name", "is one of shell, write"),
        ({"checklist": {"completion_rate": 80}}, "checklist.completion_rate", "is from 0.0 to 1.0, not 80"),
        ({"coverage": {"current": None}}, "coverage.current", "never null; leave it out"),
        ({"environment": {"": 3}}, "environment", "is of type str, not 3"),
    ],
)
def test_given_facts_have_the_types_of_facts(
    make_event: Any, gather: Any, facts: dict[str, Any], path: str, says: str
) -> None:
    with pytest.raises(AhpError, match=says):
        gather(make_event(given=facts), path)


def test_given_whole_numbers_may_stand_for_others_and_null_where_it_may(make_event: Any, gather: Any) -> None:
    event = make_event(given={"coverage": {"current": 80}, "lint": {"count": "anything"}})
    assert gather(event, "coverage.current", "lint.count") == {"coverage.current": 80.0, "lint.count": "anything"}
    assert schemas._fitting("x", None, {"type": "str", "nullable": True}) is None
