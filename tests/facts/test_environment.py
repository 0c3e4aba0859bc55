"""`environment`: the first of the policy's environments that holds; undecidable is absent, never a guess."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check
from ahp.facts import schemas

FACTS = {**schemas.schema_all(), **schemas.env_schema(["CI", "STAGE"]), "limits.names": {"type": "list[str]"}}


def plans(**conditions: str) -> list[list[Any]]:
    return [[name, check(text, Schema(FACTS)).plan] for name, text in conditions.items()]


def test_without_environments_it_is_development(make_event: Any, gather: Any) -> None:
    assert gather(make_event(), "environment") == {"environment": "development"}
    assert gather(make_event(), "environment", settings={"environment": []}) == {"environment": "development"}


@pytest.mark.parametrize(
    ("branch", "ci", "expected"),
    [("main", "true", "production"), ("main", "", "production"), ("topic", "true", "ci"), ("topic", "", "development")],
)
def test_the_first_that_holds(repo: Any, make_event: Any, gather: Any, branch: str, ci: str, expected: str) -> None:
    repo.git("checkout", "-q", "--orphan", branch)
    choices = plans(production="branch.name == 'main'", ci="env.CI == 'true'")
    # a variable that only environments read need not be in env_allow
    facts = gather(make_event(env={"CI": ci}), "environment", settings={"environment": choices})
    assert facts == {"environment": expected}


def test_a_limit_may_depend_on_it(make_event: Any, gather: Any) -> None:
    limits = {"x": {"production": 1, "default": 2}}
    settings = {"environment": plans(production="branch.name == 'main'"), "limits": limits}
    assert gather(make_event(), "limits.x", settings=settings) == {"limits.x": 1}


def test_an_undecidable_condition_leaves_it_absent_with_the_reason(make_event: Any, gather: Any) -> None:
    settings = {"environment": plans(production="coverage.current > 5"), "limits": {"x": {"default": 2}}}
    missing = gather(make_event(), "environment", "limits.x", settings=settings)["missing"]
    for path in ("environment", "limits.x"):
        assert missing[path][0].startswith("whether this is production cannot be told: there is no coverage report")


def test_it_cannot_depend_on_itself(make_event: Any, gather: Any) -> None:
    settings = {"environment": plans(a="'x' in limits.names"), "limits": {"names": {"default": ["x"]}}}
    missing = gather(make_event(), "environment", settings=settings)["missing"]
    assert "just being chosen" in missing["environment"][0]


def test_given_facts_replace_it(make_event: Any, gather: Any) -> None:
    event = make_event(given={"environment": {"": "staging"}})
    assert gather(event, "environment") == {"environment": "staging"}
