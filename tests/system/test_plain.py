"""Plain records."""

from __future__ import annotations

import pytest

from ahp.system.plain import Plain


class Point(Plain):
    __slots__ = ("x", "y")

    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y


class Place(Point):
    __slots__ = ()


def test_two_of_equal_fields_are_equal_and_others_are_not() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Place(1, 2)
    assert Point(1, 2) != (1, 2)


def test_its_fields_are_shown_and_it_is_no_key() -> None:
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"
    with pytest.raises(TypeError):
        hash(Point(1, 2))
