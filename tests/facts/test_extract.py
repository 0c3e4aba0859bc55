"""Facts taken out of a command's output by expressions of the condition language."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from ahp.facts import command_facts
from ahp.facts.registry import Absent
from tests.facts.conftest import settings, spec


def test_json_with_extracts(make_event: Any, gather: Any) -> None:
    output = json.dumps([{"code": "E1", "n": 2}, {"code": "F1", "n": 1.0}])
    extracts = {
        "errors": {"value": "count(f for f in output if f.code.startswith('E'))", "type": "int"},
        "whole": {"value": "output[1].n", "type": "int"},
        "share": {"value": "output[0].n / 4", "type": "float"},
        "any_f": {"value": "any(f.code == 'F1' for f in output)", "type": "bool"},
        "first": {"value": "output[0].code", "type": "str"},
        "wrong": {"value": "output[0].code", "type": "int"},
        "gone": {"value": "output[5].code", "type": "str"},
        "not_there": {"value": "output[0].nothing", "type": "str"},
        "texts": {"value": "output", "type": "list[str]"},
    }
    command = spec(f"echo '{output}'", parse="json", extract=extracts)
    facts = gather(make_event(), "lint.count", *[f"lint.{name}" for name in extracts], settings=settings(command))
    missing = facts.pop("missing")
    assert facts == {
        "lint.count": 2,
        "lint.errors": 1,
        "lint.whole": 1,
        "lint.share": 0.5,
        "lint.any_f": True,
        "lint.first": "E1",
    }
    assert {path: reason for path, (reason, _) in missing.items()} == {
        "lint.wrong": "the output has a str there, not int",
        "lint.gone": "the output does not hold it",
        "lint.not_there": "the output does not hold it",
        "lint.texts": "the output has no list of texts there",
    }


def test_an_extract_of_lines_keeps_texts(make_event: Any, gather: Any) -> None:
    command = spec("echo one", extract={"all": {"value": "output", "type": "list[str]"}})
    assert gather(make_event(), "lint.all", settings=settings(command)) == {"lint.all": ["one"]}


@pytest.mark.parametrize(
    "expression",
    ["output +", "__import__('os')", "files.changed", "output.__class__", "any(nosuch and x.ok for x in output)"],
)
def test_an_extract_outside_the_language_is_refused(expression: str) -> None:
    with pytest.raises(command_facts.ExtractError, match="`"):
        command_facts.plan(expression, "json")


def test_a_number_that_is_none_is_absent() -> None:
    """Python's JSON has NaN and infinities; neither the log nor a comparison has a place for them."""
    built = command_facts.plan("output", "json")
    for number in (math.nan, math.inf, -math.inf, 10**400):
        found = command_facts.value(built, "float", number)
        assert isinstance(found, Absent)
        assert found.reason == "the output has no finite number there"
    assert command_facts.value(built, "float", 3) == 3.0
