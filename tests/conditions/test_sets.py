"""Sets of values: what they hold, and that equal sets have equal texts."""

from __future__ import annotations

import itertools
import operator

import pytest

from ahp.conditions.sets import Numbers, Set, Values, complement, key, meet, union, within

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
POINTS = [-1, 0, 0.5, 1, 1.5, 2, 3]
ALL = Numbers.between(None, None, False)


def holds(found: Set, value: object) -> bool:
    one = Numbers.compared("==", value, False) if isinstance(found, Numbers) else Values(frozenset({key(value)}))  # type: ignore[arg-type]
    return bool(meet(found, one))


@pytest.mark.parametrize("integer", [True, False])
def test_numbers_hold_what_python_says(integer: bool) -> None:
    points = [one for one in POINTS if not integer or one == int(one)]
    table = {
        (op, limit): Numbers.compared(op, limit, integer) for op, limit in itertools.product(OPERATORS, [0, 0.5, 1, 2])
    }
    for (op, limit), found in table.items():
        for point in points:
            assert holds(found, point) is OPERATORS[op](point, limit), (op, limit, point)
            assert holds(complement(found), point) is not OPERATORS[op](point, limit)
    for (one, left), (other, right) in itertools.product(table.items(), repeat=2):
        both, either = meet(left, right), union(left, right)
        for point in points:
            first, second = OPERATORS[one[0]](point, one[1]), OPERATORS[other[0]](point, other[1])
            assert holds(both, point) is (first and second) and holds(either, point) is (first or second)
        assert within(both, left) and within(left, either)
        assert (left == right) is (left.text("x") == right.text("x"))


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Numbers.compared("==", 3, True), "x == 3"),
        (Numbers.compared("==", 0.5, False), "x == 0.5"),
        (Numbers.compared("==", 0.5, True), "x in []"),
        (Numbers.compared("!=", 3, True), "x != 3"),
        (Numbers.compared(">=", 3, True), "x > 2"),
        (Numbers.compared(">=", 3, False), "x >= 3"),
        (Numbers.compared(">", 0.5, True), "x > 0"),
        (Numbers.compared("<=", 3, True), "x < 4"),
        (Numbers.compared("<=", 3, False), "x <= 3"),
        (Numbers.between(3, 4, True), "x in [3, 5)"),
        (Numbers.between(3, 4, False), "x in [3, 4]"),
        (Numbers.between(2, 3, False) & Numbers.compared(">", 2, False), "x in (2, 3]"),
        (Numbers.between(2, 3, False) & Numbers.compared("<", 3, False), "x in [2, 3)"),
        (ALL, "x is a number"),
        (~ALL, "x in []"),
        (Values(frozenset({key("b"), key("a")})), "x in ['a', 'b']"),
        (Values(frozenset({key("b"), key("a")}), True), "x not in ['a', 'b']"),
        (Values(frozenset({key("a")}), True, frozenset({key("a"), key("b")})), "x == 'b'"),
        (Values(frozenset()), "x in []"),
    ],
)
def test_text(found: Set, text: str) -> None:
    assert found.text("x") == text


def test_bounds_of_numbers() -> None:
    assert (Numbers.between(1, 5, True).low(), Numbers.between(1, 5, True).high()) == (1, 5)
    assert Numbers.compared("<", 5, True).high() == 4 and Numbers.compared("<", 5, False).high() == 5
    assert ALL.low() == -float("inf") and ALL.high() == float("inf")
    assert (~ALL).low() == -float("inf") and (~ALL).high() == float("inf")


def test_values() -> None:
    letters = [
        Values(frozenset(map(key, members)), negated) for members in ("", "a", "ab") for negated in (True, False)
    ]
    for one, other in itertools.product(letters, repeat=2):
        for letter in "abc":
            assert holds(meet(one, other), letter) is (holds(one, letter) and holds(other, letter))
            assert holds(union(one, other), letter) is (holds(one, letter) or holds(other, letter))
    assert not holds(Values(frozenset({key(True)})), 1) and holds(Values(frozenset({key([1])})), [1])
