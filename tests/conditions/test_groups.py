"""The groups of a match, and an item that is the only one: both evaluators, bounds, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.conditions import reference
from ahp.conditions.evaluate import Bound, Undecided, build
from ahp.conditions.regexes import groups
from ahp.conditions.runtime import MAX_CHARS
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check

SCHEMA = Schema({"a.s": {"type": "str", "nullable": True}, "a.l": {"type": "list[str]"}})


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("groups(a.s, '([A-Z]+)-([0-9]+)') == ['FEAT', '2']", {"a.s": "see FEAT-2, FEAT-3"}, True),
        ("groups(a.s, '(a)|(b)') == ['', 'b']", {"a.s": "b"}, True),
        ("groups(a.s, ['(x)', '(.)$'])[0] == 'é'", {"a.s": "é"}, True),
        ("len(groups(a.s, '(x)')) == 0", {"a.s": "a"}, True),
        ("groups(a.s, '(x)')[0] == 'x'", {"a.s": "a"}, "index"),
        ("len(groups(a.s, '(x)')) == 0", {"a.s": None}, "null_operand"),
        ("exists_one(x == 'a' for x in a.l)", {"a.l": ["a", "b"]}, True),
        ("exists_one(x == 'a' for x in a.l if x != 'b')", {"a.l": ["a", "b", "a"]}, False),
        ("exists_one(x == 'a' for x in a.l)", {"a.l": []}, False),
    ],
)
def test_both_evaluators_say_the_same(text: str, given: dict[str, Any], said: bool | str) -> None:
    plan = check(text, SCHEMA).plan
    slots = {path: at for at, path in enumerate(given)}
    for answer in (lambda: build(plan, slots)(list(given.values())), lambda: reference.value(text, given)):
        if isinstance(said, bool):
            assert answer() is said
            continue
        with pytest.raises(Undecided) as undecided:
            answer()
        assert undecided.value.kind == said


def test_what_is_no_text_is_passed_over() -> None:
    assert groups("b(.*)")("\udcffab/") == ["/"]
    assert groups("(é)")("\ud800é") == ["é"]


def test_a_long_text_is_a_bound() -> None:
    with pytest.raises(Bound):
        groups("(a)")("a" * (MAX_CHARS + 1))


def test_a_pattern_without_a_group_is_refused() -> None:
    with pytest.raises(ConditionError, match="no part of it stands in parentheses"):
        check("groups(a.s, 'a') == []", SCHEMA)
    with pytest.raises(ConditionError, match="RE2 looks neither"):
        check("groups(a.s, '(?=a)') == []", SCHEMA)
