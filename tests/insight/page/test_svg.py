"""Charts as SVG: only what draws is kept, and nothing that a log says is markup."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as tree

import pytest

from ahp.insight.page import charts, writing
from ahp.insight.page.charts import Bar, Panel, Part
from ahp.system import installed
from ahp.system.errors import AhpError

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}"


def parts(drawn: str) -> list[tree.Element]:
    return list(tree.fromstring(drawn).iter())


def test_names_and_marks_are_text_whatever_they_hold() -> None:
    bars = [Bar(HOSTILE, [Part("block", 0, 3, HOSTILE), Part("fixed", 3, 4, "x")])]
    drawn = writing.draw(charts.beside([HOSTILE], [Panel(bars, "title", 300)], 4000))
    found = parts(drawn)
    assert {one.tag for one in found} <= {"svg", "g", "path", "line", "rect", "text"}
    assert {key for one in found for key in one.attrib} & {"style", "href", "onclick", "class", "id"} == set()
    assert HOSTILE in [one.text for one in found]
    assert [one.get("fill") for one in found if one.get("data-say") == HOSTILE] == ["url(#p-block)"]


def test_nothing_is_read_from_an_address() -> None:
    with pytest.raises(AhpError, match=r"could not be drawn: .*\n.*not allowed: http://127\.0\.0\.1:9/"):
        writing.draw({"data": {"url": "http://127.0.0.1:9/x.json"}, "mark": "bar", "encoding": {}})


def test_bars_over_time() -> None:
    bars = [Bar("a", [Part("aid", 0, 1, "one"), Part("block", 1, 3, "two")]), Bar("b", [])]
    times = [("2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z"), ("2026-01-12T00:00:00Z", "2026-01-19T00:00:00Z")]
    found = parts(writing.draw(charts.columns(bars, times, 400, "%-d %b")))
    assert [one.get("data-say") for one in found if one.get("data-say")] == ["one", "two"]
    assert {"5 Jan", "12 Jan", "3"} <= {one.text for one in found}
    many = [Bar("a", [Part("aid", 0, 900, "one")]), Bar("b", [Part("aid", 0, 1000, "one")])]
    assert {"0", "200", "1k"} <= {one.text for one in parts(writing.draw(charts.columns(many, times, 400, "%-d %b")))}


def test_one_day_is_no_wall_and_one_signal_has_no_fractions() -> None:
    bar, day = Bar("a", [Part("prompt", 0, 1, "one")]), ("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z")
    (drawn,) = [one for one in parts(writing.draw(charts.columns([bar], [day], 400, "%-d %b"))) if one.get("data-say")]
    assert 20 < float(re.findall(r"[hH]([\d.]+)", str(drawn.get("d")))[0]) < 40
    beside = parts(writing.draw(charts.beside(["a"], [charts.Panel([bar], "times", 300)], 100)))
    assert [one.text for one in beside if re.fullmatch(r"[\d.]+", one.text or "")] == ["0", "1"]


def test_what_is_missing_or_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AhpError, match="could not be drawn"):
        writing.draw({"mark": "no such mark"})
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(AhpError, match=re.escape(installed.command("insight"))):
        writing.draw({})
