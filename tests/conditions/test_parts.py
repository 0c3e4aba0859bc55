"""Named parts of conditions, and loops that are gone through once."""

from __future__ import annotations

import pytest

from ahp.conditions import reference
from ahp.conditions.closures import days
from ahp.conditions.evaluate import build, build_each
from ahp.conditions.guards import cost
from ahp.conditions.parts import filled
from ahp.conditions.runtime import MISSING, Undecided
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check, check_each

SCHEMA = Schema({"a.l": {"type": "list[str]"}, "a.m": {"type": "list[str]"}, "a.n": {"type": "int", "optional": True}})


class Counted(list[str]):
    """A list that knows how often it was gone through."""

    gone = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        self.gone += 1
        return super().__iter__()


def test_a_part_stands_where_its_name_does_and_takes_no_variable_from_what_is_around_it() -> None:
    parts = {"long": "any(x in ['a', 'b'] for x in a.m)", "conditions.both": "long or a.n > 1"}
    assert filled("all(x != '' and conditions.both for x in a.l)", parts)[1] == (
        "all(x != '' and (any(x_ in ['a', 'b'] for x_ in a.m) or a.n > 1) for x in a.l)"
    )
    assert filled("a.n  > 1", parts)[1] == "a.n  > 1"


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"p": "q", "q": "p"}, "needs itself"),
        ({"p": "(", "q": "1"}, "never closed"),
        ({"p": " or ".join(["q"] * 20), "q": " or ".join(["a.n > 1"] * 20)}, "at most 256 parts"),
        ({"p": "a.k > 1"}, "has no fact 'k'"),
        ({"x": "a.n > 1", "p": "a.n > 1"}, "'x' is a part, and no variable"),
    ],
)
def test_what_makes_no_condition_with_its_parts_is_refused_at_the_name(parts: dict[str, str], says: str) -> None:
    with pytest.raises(ConditionError) as caught:
        check("any(x == 'k' for x in a.l) and p", SCHEMA, parts=parts)
    assert says in str(caught.value)


def test_with_its_parts_a_condition_is_what_its_text_says() -> None:
    parts = {"some": "any(x in a.l for x in a.m)", "n": "a.n + 1"}
    checked = check("some and all(some and n > 2 for y in a.l) or n == 1", SCHEMA, parts=parts)
    assert reference.disagreement(checked, SCHEMA) is None
    assert check(checked.text, SCHEMA) == checked


def test_a_loop_in_another_is_gone_through_once_and_anew_for_other_facts() -> None:
    checked = check("count(any(x == 'b' for x in a.m) for y in a.l) > 2", SCHEMA)
    ask = build(checked.plan, {"a.l": 0, "a.m": 1})
    many, inner = ["y"] * 100, Counted(["a", "b"])
    assert ask([many, inner]) is True
    assert inner.gone == 1
    assert ask([many, ["a"]]) is False
    assert cost(checked.plan) < 2 * cost(check("count(y == '' for y in a.l) > 2", SCHEMA).plan)


def test_a_loop_that_stands_twice_is_gone_through_once() -> None:
    inner = Counted(["a"])
    checked = check("p > 5 or p == 3 or p == 1", SCHEMA, parts={"p": "count(x == 'a' for x in a.m)"})
    assert build(checked.plan, {"a.m": 0})([inner]) is True
    assert inner.gone == 1


def test_in_an_each_what_reads_the_item_is_asked_of_each_and_what_does_not_once() -> None:
    each = check_each("f in a.l", SCHEMA)
    parts = {"twin": "any(x == f for x in a.m)", "some": "any(x == 'b' for x in a.m)"}
    checked = check("some and twin", SCHEMA, item=(each.var, each.item), parts=parts)
    inner = Counted(["a", "b"])
    ask = build_each(each.plan, checked.plan, each.var, {"a.l": 0, "a.m": 1})
    assert ask([["a", "x", "b"], inner]) == (["a", "b"], None)
    assert inner.gone == 1 + 3


def test_a_loop_that_cannot_be_decided_leaves_every_place_of_it_open() -> None:
    checked = check("all(any(a.n > 1 and x == 'a' for x in a.m) for y in a.l)", SCHEMA)
    with pytest.raises(Undecided, match="missing_fact"):
        build(checked.plan, {"a.l": 0, "a.m": 1, "a.n": 2})([["y", "z"], ["a"], MISSING])


def test_a_loop_that_reads_the_variable_of_another_is_refused() -> None:
    with pytest.raises(ConditionError, match="this one reads 'y'"):
        check("any(any(x == y for x in a.m) for y in a.l)", SCHEMA)


def test_distinct_gives_each_text_once_and_is_a_list_for_other_loops() -> None:
    text = "len(distinct(x.split('/')[0] for x in a.l if x != 'c')) == 2"
    checked = check(f"{text} and any(p in a.m for p in distinct(x for x in a.l))", SCHEMA)
    ask = build(checked.plan, {"a.l": 0, "a.m": 1})
    assert ask([["a/x", "a/y", "b/z", "c"], ["c"]]) is True
    assert ask([["a/x", "a/y", "c"], ["c"]]) is False
    with pytest.raises(Undecided, match="missing_fact"):
        ask([MISSING, ["c"]])
    with pytest.raises(ConditionError, match="needs a text"):
        check("len(distinct(len(x) for x in a.l)) > 1", SCHEMA)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1970-01-02", 1.0),
        ("1970-01-01T12:00:00Z", 0.5),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01T00:00:00.5", 0.5 / 86400),
    ],
)
def test_days_are_those_since_1970_in_the_zone_that_stands_there_else_utc(text: str, number: float) -> None:
    checked = check("any(days(x) == days(x) and days(x) > -1 for x in a.l)", SCHEMA)
    assert build(checked.plan, {"a.l": 0})([[text]]) is True
    assert days(text) == number


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "9" * 10_000])
def test_what_is_no_date_has_no_days(text: str) -> None:
    checked = check("any(days(x) > 0 for x in a.l)", SCHEMA)
    with pytest.raises(Undecided, match="null_operand"):
        build(checked.plan, {"a.l": 0})([[text]])
    with pytest.raises(Undecided):
        reference.value(checked.text, {"a.l": [text]})
