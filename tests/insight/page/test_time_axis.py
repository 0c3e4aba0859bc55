"""Days as bars of a time axis."""

from __future__ import annotations

import datetime
import itertools

import pytest

from ahp.insight.page.charts import buckets


def day(text: str) -> int:
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("first", "last", "unit", "begins"),
    [
        ("2026-02-27", "2026-03-01", "day", ["2026-02-27", "2026-02-28", "2026-03-01"]),
        ("2026-01-01", "2026-02-12", "week", [f"{w}T" for w in ("2025-12-29", "2026-01-05")]),
        ("2024-12-31", "2026-03-01", "week", ["2024-12-30", "2025-01-06", "2025-01-13"]),
    ],
)
def test_as_many_as_fit_without_a_gap(first: str, last: str, unit: str, begins: list[str]) -> None:
    found = buckets({(day(first), "block"): 2, (day(first), "aid"): 1, (day(last), "block"): 3})
    assert {one.unit for one in found} == {unit}
    assert [one.times[0][: len(begin)] for one, begin in zip(found, begins, strict=False)] == begins
    assert all(one.end == after.begin for one, after in itertools.pairwise(found))
    assert found[0].levels == {"block": 2, "aid": 1} and found[-1].levels == {"block": 3}
    assert found[0].begin <= day(first) * 86400 and found[-1].end > day(last) * 86400


def test_nothing_and_far_too_much() -> None:
    assert buckets({}) == []
    assert len(buckets({(0, "block"): 1, (day("2400-01-01"), "block"): 1})) == 600
    last = buckets({(0, "block"): 1, (day("9999-12-31"), "block"): 1})[-1]  # no calendar goes on from there
    assert (last.begin, last.end) == (day("9999-12-27") * 86400, (day("9999-12-27") + 7) * 86400)
