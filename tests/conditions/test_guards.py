"""Advice about facts that are read without asking whether they are there."""

from __future__ import annotations

import pytest

from ahp.conditions.typecheck import check
from tests.conditions.test_typecheck import SCHEMA

ADVICE = [
    ("tests.failed > 0", [("tests.failed", "absent")]),
    ("has(tests.failed) and tests.failed > 0", []),
    ("tests.failed > 0 and has(tests.failed)", []),
    ("not has(tests.failed) or tests.failed > 0", []),
    ("not (has(tests.failed) and b.flag) or tests.failed > 0", []),
    ("(tests.failed if has(tests.failed) else 0) > 0", []),
    ("(0 if not has(tests.failed) else tests.failed) > 0", []),
    ("has(tests.failed) or tests.failed > 0", [("tests.failed", "absent")]),
    ("default(tests.failed, 0) > 0", []),
    ("branch.name == 'a'", []),
    ("branch.name.startswith('a')", [("branch.name", "null")]),
    ("branch.name is not None and branch.name.startswith('a')", []),
    ("tests.failed is None", [("tests.failed", "absent")]),
]


@pytest.mark.parametrize(("text", "wanted"), ADVICE)
def test_unguarded_facts_are_advice(text: str, wanted: list[tuple[str, str]]) -> None:
    advice = check(text, SCHEMA).advice
    assert [(one.message.split("'")[1], "absent" if "absent" in one.message else "null") for one in advice] == wanted
