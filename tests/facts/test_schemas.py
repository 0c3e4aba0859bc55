"""The schemas: every trigger is known, every collector fits its schema, the seed's conditions type-check."""

from __future__ import annotations

import pytest

from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check
from ahp.facts import registry, schemas
from ahp.protocol.triggers import TRIGGERS
from tests.facts.conftest import command_of


def test_the_groups_cover_exactly_the_triggers() -> None:
    assert sorted(registry.ALL) == sorted(TRIGGERS)


@pytest.mark.parametrize("trigger", sorted(TRIGGERS))
def test_every_schema_is_one_that_conditions_read(trigger: str) -> None:
    entries = schemas.schema_for(trigger)
    assert Schema(entries).facts.keys() == entries.keys()
    assert all(entry.get("doc") for entry in entries.values())
    for path in schemas.schema_all():
        assert (path in entries) == (trigger in schemas.where(path))


def test_a_namespace_only_names_its_own_triggers() -> None:
    for name, declared in registry.declared().items():
        for triggers in (
            declared.triggers,
            declared.certain,
            *[e.get("triggers", ()) for e in declared.schema.values()],
        ):
            assert set(triggers) <= set(registry.ALL), name


@pytest.mark.parametrize(
    "condition",
    [
        "checklist.incomplete_count > 0",
        "checklist.incomplete_count > 0 and checklist.completion_rate > 0.8",
        "files.changed_count > 20",
        "tests.failed_count > 0",
        "coverage.current < coverage.threshold",
        "issue.type in ['feature', 'fix']",
        "environment == 'production'",
        "checklist.acceptance.incomplete_count == 0",
    ],
)
def test_the_conditions_of_the_seed_are_sound_at_submit(condition: str) -> None:
    checked = check(condition, Schema(schemas.schema_for("pre-issue-submit")))
    assert checked.constant is None


@pytest.mark.parametrize(
    ("trigger", "condition"),
    [
        ("pre-commit", "commit.subject == 'x'"),
        ("pre-commit", "push.is_force"),
        ("pre-push", "tool.name == 'shell'"),
        ("pre-tool-use", "tool.output == 'x'"),
        ("pre-tool-use", "tool.name == 'bash'"),
        ("session-start", "files.changed_count > 1"),
        ("pre-issue-submit", "checklist.completion_rate > 80"),
    ],
)
def test_what_a_trigger_cannot_know_or_be_is_found_at_load(trigger: str, condition: str) -> None:
    try:
        checked = check(condition, Schema(schemas.schema_for(trigger)))
    except ConditionError:
        return
    assert checked.constant is False


def test_the_ticket_is_certain_only_where_there_is_one() -> None:
    assert "optional" not in schemas.schema_for("pre-issue-submit")["issue.type"]
    assert schemas.schema_for("pre-commit")["issue.type"]["optional"] is True


def test_where_knows_open_namespaces_and_nothing_else() -> None:
    assert schemas.where("limits.anything") == schemas.where("env.CI") == list(registry.ALL)
    assert schemas.where("push.ref") == ["pre-push"]
    assert schemas.where("environment") == list(registry.ALL)
    assert schemas.where("nothing.here") == []


def test_a_variable_is_a_text_that_is_never_missing() -> None:
    assert schemas.env_schema(["CI"])["env.CI"]["type"] == "str"


def test_what_a_policy_adds_has_entries_too() -> None:
    extract = {"errors": {"value": "len(output)", "type": "int"}}
    limits = {"size": {"production": 1, "default": 2.5}, "names": ["main"], "mixed": {"default": 1, "x": "y"}}
    commands = {"lint": command_of({"run": ["x"], "extract": extract}), "scan": command_of({"run": ["x"]})}
    own = schemas.own_entries(["CI"], limits, commands)
    assert (own["limits.size"]["type"], own["limits.size"]["min"], own["limits.size"]["max"]) == ("float", 1, 2.5)
    assert own["limits.names"]["type"] == "list[str]" and "limits.mixed" not in own
    assert own["lint.errors"] == {"type": "int", "doc": "len(output) of its output", "optional": True}
    fields = {f"{name}.{field}" for name in ("lint", "scan") for field in ("exit_code", "count", "findings")}
    assert set(own) == {"env.CI", "limits.size", "limits.names", "lint.errors", *fields}
    assert Schema(own).facts.keys() == own.keys()
