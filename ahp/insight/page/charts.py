"""The charts of the page as Vega-Lite specifications, made of plain rows.

Nothing of a log gets into a specification but as data: rows are told apart by number, and names are drawn as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ahp.system import clock

LEVELS = ("block", "control", "prompt", "aid")
OUTCOMES = ("fixed", "passed", "reset", "forgotten", "open")
_ROW = 26
_FEWEST = 14  # bars that the axis of time has room for: one alone would be a wall
_DAY = 86400.0

_SHORT = {"labelExpr": "format(datum.value, '~s')"}  # each by itself: an axis to 1k has 200, not 0.2k
_TITLE = {"titleAnchor": "start", "titleColor": "var(--ink)", "titlePadding": 8}

_SAY = {"field": "say"}

Spec = dict[str, Any]


class Part(NamedTuple):
    """A part of a bar: its kind (a level or an outcome), where it begins and ends, what is said of it."""

    kind: str
    begin: float
    end: float
    say: str


class Bar(NamedTuple):
    """A bar of parts, under a name."""

    name: str
    parts: list[Part]


class Panel(NamedTuple):
    """Lying bars with a title, `width` pixels wide; of shares of 1 or of numbers."""

    bars: Sequence[Bar]
    title: str
    width: int
    is_share: bool = False


def columns(bars: Sequence[Bar], times: Sequence[tuple[str, str]], width: int, form: str) -> Spec:
    """Upright bars over time; `times` are where each begins and ends, as time stamps, `form` is how d3 writes them."""
    every = -(-len(times) * 70 // width)
    ticks = [begin for begin, _ in times[::every]]
    rows = [
        {"from": begin, "to": end, "y": part.begin, "y2": part.end, "fill": _pattern(part.kind), "say": part.say}
        for bar, (begin, end) in zip(bars, times, strict=True)
        for part in bar.parts
    ]
    drawn = _layer(
        rows,
        {"type": "rect", "stroke": "var(--paper)", "strokeWidth": 1},
        {
            "x": {
                "field": "from",
                "type": "temporal",
                "scale": {"type": "utc", "domain": [times[0][0], _until(times)]},
                "axis": {"title": None, "grid": False, "format": form, "values": ticks, "labelAlign": "left"},
            },
            "x2": {"field": "to"},
            "y": _number(
                "y", {"title": None, **_SHORT, **_counts(max(part.end for bar in bars for part in bar.parts))}
            ),
            "y2": {"field": "y2"},
            "fill": _as_told("fill"),
            "description": _SAY,
        },
    )
    return {**drawn, "width": width, "height": 200}


def _until(times: Sequence[tuple[str, str]]) -> str:
    begin, end = (clock.parse_iso(at) for at in times[0])
    return max(times[-1][1], clock.iso(begin + _FEWEST * (end - begin)))


def beside(names: Sequence[str], panels: Sequence[Panel], label_width: int) -> Spec:
    """Lying bars in several panels that share their rows."""
    drawn = [_labels(names, label_width), *[_lying(panel) for panel in panels]]
    return {"hconcat": drawn, "spacing": 16}


def _lying(panel: Panel) -> Spec:
    bars, title, width, is_share = panel
    rows = [
        {"row": _row(n), "x": part.begin, "x2": part.end, "fill": _pattern(part.kind), "say": part.say}
        for n, bar in enumerate(bars)
        for part in bar.parts
    ]
    longest = max([part.end for bar in bars for part in bar.parts], default=1)
    axis = {"title": title, "orient": "top", **_TITLE, **({"tickCount": 4} if is_share else _counts(longest))}
    drawn = _layer(
        rows,
        {"type": "bar", "size": 14, "stroke": "var(--paper)", "strokeWidth": 0.75},
        {
            "y": _rows(len(bars)),
            "x": _number("x", {**axis, **({"format": ".0%"} if is_share else _SHORT)}),
            "x2": {"field": "x2"},
            "fill": _as_told("fill"),
            "description": _SAY,
        },
    )
    return {"width": width, "height": {"step": _ROW}, **drawn}


def _labels(names: Sequence[str], width: int) -> Spec:
    """The name of each row as it fits `width` (pixels)."""
    rows = [{"row": _row(n), "name": name} for n, name in enumerate(names)]
    mark = {"type": "text", "align": "left", "limit": width}
    where = {"y": _rows(len(names)), "x": {"value": 0}, "text": {"field": "name"}, "description": {"value": ""}}
    return {"width": width, "height": {"step": _ROW}, **_layer(rows, mark, where)}


def _layer(rows: Sequence[Spec], mark: Spec, encoding: Spec) -> Spec:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def _row(number: int) -> str:
    return f"{number:04}"


def _rows(count: int) -> Spec:
    scale = {"domain": [_row(n) for n in range(count)]}
    return {"field": "row", "type": "ordinal", "axis": None, "sort": None, "scale": scale}


def _number(field: str, axis: Spec) -> Spec:
    return {"field": field, "type": "quantitative", "axis": axis, "scale": {"zero": True}}


def _counts(longest: float) -> Spec:
    """Ticks at whole numbers, at each of them where they are few."""
    return {"values": list(range(int(longest) + 1))} if longest < 5 else {"tickCount": 4}


def _pattern(kind: str) -> str:
    """The pattern that the page has of a kind, so that kinds are told apart without colour."""
    return f"url(#p-{kind})"


def _as_told(field: str) -> Spec:
    """Rows have the very word: a scale would be shared by all parts of a chart."""
    return {"field": field, "type": "nominal", "scale": None, "legend": None}


_DAYS = 42
_MONDAY = 3  # days before the epoch
_MOST = 600


class Bucket(NamedTuple):
    """A bar: its unit (day, week), its first second and the first after it, the attempts of each level."""

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
    unit, size = ("day", 1) if last - first < _DAYS else ("week", 7)
    found: dict[int, dict[str, int]] = {}
    for (day, level), count in days.items():
        levels = found.setdefault(_begin(day, size), {})
        levels[level] = levels.get(level, 0) + count
    begins = range(_begin(first, size), last + 1, size)[-_MOST:]
    return [Bucket(unit, at * _DAY, (at + size) * _DAY, found.get(at, {})) for at in begins]


def _begin(day: int, size: int) -> int:
    return day - (day + _MONDAY) % size
