"""Text to syntax tree: whatever the text, the parser refuses it in time and in words."""

from __future__ import annotations

import pytest

from ahp.conditions.typecheck import ConditionError, check
from tests.conditions.cases import SCHEMA as CASES
from tests.conditions.test_typecheck import SCHEMA


def test_nested_errors_end() -> None:
    for text in (
        "(" * 24 + "a b" + ")" * 24,
        "[" * 24 + "1 for" + "]" * 24,
        "len(" * 24 + "*" + ")" * 24,
        "x[" * 24 + "1 1" + "]" * 24,
    ):
        with pytest.raises(ConditionError):
            check(text, CASES)


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
        check("b.flag and not not b.flag", SCHEMA)  # a text of its own: one that was read before is not read again
