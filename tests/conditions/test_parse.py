"""Text to syntax tree: whatever the text, the parser refuses it in time and in words."""

from __future__ import annotations

import time

import pytest

from ahp.conditions.typecheck import ConditionError, check
from tests.conditions.cases import SCHEMA as CASES
from tests.conditions.test_typecheck import SCHEMA


def test_parser_time_stays_small_on_nested_errors() -> None:
    started = time.process_time()
    for text in (
        "(" * 24 + "a b" + ")" * 24,
        "[" * 24 + "1 for" + "]" * 24,
        "len(" * 24 + "*" + ")" * 24,
        "x[" * 24 + "1 1" + "]" * 24,
    ):
        with pytest.raises(ConditionError):
            check(text, CASES)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "failure", [RecursionError("deep"), MemoryError(), ValueError("strange"), OverflowError("large")]
)
def test_every_way_pythons_parser_fails_is_a_condition_error(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr("ahp.conditions.parse.ast.parse", fail)
    with pytest.raises(ConditionError):
        check("b.flag", SCHEMA)
