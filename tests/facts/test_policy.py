"""`policy`: false without a look at any file where the change has none of the policy's; else what a comparison says."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import policy
from ahp.protocol.event import Event
from tests.facts.conftest import Gather, Make

ALL = [f"policy.{field}" for field in policy.NAMESPACE.schema]
QUIET = {"policy.changed": False, "policy.weakened": False, "policy.weakenings": [], "policy.rules_weakened": []}
TOLD = {"changed": True, "weakened": True, "weakenings": [{"what": "x"}], "rules_weakened": ["a"]}


class Door:
    """The comparison that the gate hands in."""

    def __init__(self, told: dict[str, object]) -> None:
        self.told, self.asked = told, 0

    def __call__(self, event: Event) -> dict[str, object]:
        self.asked += 1
        return self.told


@pytest.mark.parametrize(
    "name", ["src/a.py", ".ahp.yaml", ".ahp/notes.md", ".ahp/hooks.local.yaml", "x/.ahp/hooks.yaml"]
)
def test_a_change_of_other_files_asks_nobody(repo: Any, make_event: Make, gather: Gather, name: str) -> None:
    repo.commit("first")
    repo.write(name)
    repo.git("add", "--force", "--all")
    door = Door(TOLD)
    found = gather(make_event(), *ALL, settings={"compare_policies": door})
    assert found == {**QUIET, "policy.branch": "main"} and not door.asked


def test_without_a_repository_nothing_changed(make_event: Make, gather: Gather) -> None:
    event = make_event(view=None, repo=None)
    assert gather(event, *ALL) == {**QUIET, "policy.branch": "the default branch"}


@pytest.mark.parametrize(
    "name", [".ahp/hooks.yaml", ".ahp/waivers.yaml", ".ahp/approvers", ".ahp/agent.yaml", ".ahp/tests/a/b.yml"]
)
def test_a_file_of_the_policy_is_a_change_also_when_it_is_renamed_away(
    repo: Any, make_event: Make, gather: Gather, name: str
) -> None:
    repo.commit("first", **{name: "a text that is long enough to be known again\n" * 5})
    repo.git("mv", name, "elsewhere")
    door = Door(TOLD)
    assert gather(make_event(), "policy.changed", settings={"compare_policies": door}) == {"policy.changed": True}
    assert not door.asked  # its name tells
    found = gather(make_event(), *ALL, settings={"compare_policies": door})
    assert found == {**{f"policy.{field}": value for field, value in TOLD.items()}, "policy.branch": "main"}
    assert door.asked == 1


def test_whether_another_file_there_is_extended_is_asked(repo: Any, make_event: Make, gather: Gather) -> None:
    repo.commit("first")
    repo.write(".ahp/team/rules.yaml")
    repo.add()
    door = Door({**TOLD, "changed": False})
    assert gather(make_event(), "policy.changed", settings={"compare_policies": door}) == {"policy.changed": False}
    assert door.asked == 1


def test_without_a_comparison_it_is_absent_and_never_false(repo: Any, make_event: Make, gather: Gather) -> None:
    repo.commit("first")
    repo.write(".ahp/hooks.yaml")
    repo.add()
    found = gather(make_event(), "policy.weakened")
    assert list(found["missing"]) == ["policy.weakened"]
