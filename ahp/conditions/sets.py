"""Sets of values: intervals for numbers, finite or cofinite sets for everything else. Exact, so that what they
prove holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Cut = tuple[float, int]  # a point of the number line: before (0) or after (1) a value
_MIN: Cut = (-math.inf, 0)
_MAX: Cut = (math.inf, 1)


@dataclass(frozen=True)
class Numbers:
    """Numbers as disjoint ascending intervals between cuts; with `integer` every cut stands just before an integer."""

    spans: tuple[tuple[Cut, Cut], ...]
    integer: bool

    @classmethod
    def compared(cls, op: str, value: float, integer: bool) -> Numbers:
        """The numbers x with `x op value`."""
        spans = {
            "<": [(_MIN, (value, 0))],
            "<=": [(_MIN, (value, 1))],
            ">": [((value, 1), _MAX)],
            ">=": [((value, 0), _MAX)],
            "==": [((value, 0), (value, 1))],
            "!=": [(_MIN, (value, 0)), ((value, 1), _MAX)],
        }[op]
        return cls._of(spans, integer)

    @classmethod
    def between(cls, low: float | None, high: float | None, integer: bool) -> Numbers:
        """The numbers from low to high, both included; None is no bound."""
        first = _MIN if low is None else (low, 0)
        last = _MAX if high is None else (high, 1)
        return cls._of([(first, last)], integer)

    @classmethod
    def _of(cls, spans: list[tuple[Cut, Cut]], integer: bool) -> Numbers:
        if integer:
            spans = [(_whole(low), _whole(high)) for low, high in spans]
        merged: list[tuple[Cut, Cut]] = []
        for low, high in sorted(span for span in spans if span[0] < span[1]):
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(merged), integer)

    def __and__(self, other: Numbers) -> Numbers:
        return self._of(
            [(max(a, c), min(b, d)) for a, b in self.spans for c, d in other.spans], self.integer or other.integer
        )

    def __or__(self, other: Numbers) -> Numbers:
        return self._of([*self.spans, *other.spans], self.integer and other.integer)

    def __invert__(self) -> Numbers:
        points = [_MIN, *(cut for span in self.spans for cut in span), _MAX]
        return self._of(list(zip(points[::2], points[1::2], strict=True)), self.integer)

    def __bool__(self) -> bool:
        return bool(self.spans)

    def low(self) -> float:
        """The greatest lower bound; minus infinity where there is none."""
        return self.spans[0][0][0] if self.spans else -math.inf

    def high(self) -> float:
        """The least upper bound of a set of at least one number."""
        if not self.spans:
            return math.inf
        value, side = self.spans[-1][1]
        return value - 1 if self.integer and side == 0 and abs(value) != math.inf else value

    def text(self, term: str) -> str:
        """The set as a condition on `term`, the same text for the same set."""
        if len(self.spans) == 1:
            (low, low_side), (high, high_side) = self.spans[0]
            if self.spans[0] == (_MIN, _MAX):
                return f"{term} is a number"
            if self.spans[0][1] == _MAX:
                return f"{term} {'>' if low_side or self.integer else '>='} {_number(low - self.integer)}"
            if self.spans[0][0] == _MIN:
                return f"{term} {'<=' if high_side else '<'} {_number(high)}"
            if low == high or (self.integer and high - low == 1):
                return f"{term} == {_number(low)}"
        hole = (~self).text(term) if len(self.spans) == 2 else ""
        if hole.startswith(f"{term} == "):
            return f"{term} != {hole[len(term) + 4 :]}"
        return f"{term} in {' + '.join(_interval(low, high) for low, high in self.spans) or '[]'}"


@dataclass(frozen=True)
class Values:
    """Values other than numbers: those listed, or all but those listed. `universe` holds all there are where that
    is known.
    """

    members: frozenset[tuple[str, Any]]
    negated: bool = False
    universe: frozenset[tuple[str, Any]] | None = None

    def _plain(self) -> Values:
        if self.negated and self.universe is not None:
            return Values(self.universe - self.members, False, self.universe)
        return self

    def __and__(self, other: Values) -> Values:
        one, two = self._plain(), other._plain()
        universe = one.universe if two.universe is None else two.universe
        if one.negated and two.negated:
            return Values(one.members | two.members, True, universe)
        if one.negated:
            return Values(two.members - one.members, False, universe)
        return Values(one.members - two.members if two.negated else one.members & two.members, False, universe)

    def __invert__(self) -> Values:
        return Values(self.members, not self.negated, self.universe)._plain()

    def __or__(self, other: Values) -> Values:
        return ~(~self & ~other)

    def __bool__(self) -> bool:
        plain = self._plain()
        return plain.negated or bool(plain.members)

    def text(self, term: str) -> str:
        """The set as a condition on `term`, the same text for the same set."""
        plain = self._plain()
        values = sorted(repr(value) for _, value in plain.members)
        if len(values) == 1:
            return f"{term} {'!=' if plain.negated else '=='} {values[0]}"
        return f"{term} {'not in' if plain.negated else 'in'} [{', '.join(values)}]"


Set = Numbers | Values


def key(value: Any) -> tuple[str, Any]:
    """A value as a member of a set: true is not 1."""
    if isinstance(value, list):  # by its text, in which [1.0] is [1]
        whole = [int(one) if isinstance(one, float) and one.is_integer() else one for one in value]
        return ("list", repr(whole))
    return ("bool" if isinstance(value, bool) else "value", value)


def within(one: Set, other: Set) -> bool:
    """Whether every value of `one` is in `other`."""
    return not meet(one, complement(other))


def meet(one: Set, other: Set) -> Set:
    """The values in both."""
    return one & other  # type: ignore[operator]


def union(one: Set, other: Set) -> Set:
    """The values in either."""
    return one | other  # type: ignore[operator]


def complement(one: Set) -> Set:
    """The values not in `one`."""
    return ~one


def _whole(cut: Cut) -> Cut:
    value, side = cut
    if abs(value) == math.inf:
        return cut
    return (math.floor(value) + 1 if side else math.ceil(value), 0)


def _number(value: float) -> str:
    return repr(int(value)) if abs(value) != math.inf and value == int(value) else repr(value)


def _interval(low: Cut, high: Cut) -> str:
    return f"{'(' if low[1] else '['}{_number(low[0])}, {_number(high[0])}{']' if high[1] else ')'}"
