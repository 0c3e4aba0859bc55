"""Days gathered to the bars of a time axis: days, weeks or months, as many as fit."""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Mapping
from typing import NamedTuple

from ahp.system import clock

_DAY = 86400.0
_DAYS, _WEEKS = 42, 60 * 7
_BARS = 600


class Bucket(NamedTuple):
    """A bar: its unit (day, week, month), its first second and the first after it, the attempts of each level."""

    unit: str
    begin: float
    end: float
    levels: dict[str, int]

    @property
    def times(self) -> tuple[str, str]:
        """Begin and end as time stamps."""
        return clock.iso(self.begin), clock.iso(self.end)


def buckets(days: Mapping[tuple[int, str], int]) -> list[Bucket]:
    """The bars from the first day (since the epoch) to the last one, without a gap; at most the last 600.

    Weeks begin on Monday (ISO 8601); all times are UTC.
    """
    if not days:
        return []
    first, last = min(day for day, _ in days), max(day for day, _ in days)
    unit = "day" if last - first < _DAYS else "week" if last - first < _WEEKS else "month"
    found: dict[int, dict[str, int]] = {}
    for (day, level), count in days.items():
        levels = found.setdefault(_begin(day, unit), {})
        levels[level] = levels.get(level, 0) + count
    bars: list[Bucket] = []
    at = _begin(last, unit)
    while at >= _begin(first, unit) and len(bars) < _BARS:
        bars.append(Bucket(unit, at * _DAY, _next(at, unit) * _DAY, found.get(at, {})))
        at = _begin(at - 1, unit)
    return bars[::-1]


def _begin(day: int, unit: str) -> int:
    if unit == "day":
        return day
    if unit == "week":
        return day - (day + 3) % 7  # 1970-01-01 was a Thursday
    return day - _date(day).day + 1


def _next(day: int, unit: str) -> int:
    if unit != "month":
        return day + (7 if unit == "week" else 1)
    date = _date(day)
    return day + calendar.monthrange(date.year, date.month)[1]


def _date(day: int) -> datetime.date:
    return datetime.date(1970, 1, 1) + datetime.timedelta(day)
