"""Charts drawn by Vega-Lite, without a browser and without a network, as SVG that can stand in any page.

vl-convert carries Vega-Lite and Vega; what they write is read again here, and only what a chart needs is kept.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from functools import cache
from typing import Any

from ahp.system import installed
from ahp.system.errors import AhpError

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_KEPT = {
    "svg": {"viewBox"},
    "g": {"transform"},
    "path": {"d", "transform"},
    "line": {"x2", "y2", "transform"},
    "rect": {"x", "y", "width", "height", "transform"},
    "text": {"text-anchor", "transform"},
}
_DRAWN = {"fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray"}
_TYPE = {"font-size", "font-weight"}
_COLOUR = re.compile(r"var\(--[a-z-]+\)|url\(#[a-z-]+\)|none|transparent")
_NUMBER = re.compile(r"\d+\.\d{2,}")
_CONFIG = {
    "background": None,
    "font": "sans-serif",
    "padding": 2,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)",
        "titleColor": "var(--soft)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelPadding": 6,
        "domain": False,
        "ticks": False,
    },
    "text": {"color": "var(--ink)", "fontSize": 12},
}


def draw(spec: dict[str, Any]) -> str:
    """The SVG of a Vega-Lite specification; colours are CSS variables and patterns of the page.

    A mark's `description` becomes its `data-say`. Raises AhpError where what draws is not installed, or fails.
    """
    try:
        import vl_convert
    except ImportError:
        raise needs("vl-convert-python") from None
    try:
        drawn = vl_convert.vegalite_to_svg({**spec, "config": _CONFIG}, **_closed())
    except (ValueError, OSError) as error:  # an address that may not be read is an OSError from vl-convert 2 on
        raise AhpError(f"a chart could not be drawn: {error}") from error
    root = tree.fromstring(drawn)  # noqa: S314  # Vega's own output, without entities
    kept = _plain(root)
    assert kept is not None
    return tree.tostring(kept, encoding="unicode", short_empty_elements=True)


@cache
def _closed() -> dict[str, Any]:
    """The argument that keeps a drawing from the network; from vl-convert 2 on it is a setting of the process."""
    import vl_convert

    nothing: dict[str, Any] = {"allowed_base_urls": []}
    if configure := getattr(vl_convert, "configure", None):
        configure(**nothing)
        return {}
    return nothing


def needs(package: str) -> AhpError:
    """What is told of a package that is not installed."""
    how = installed.command("insight")
    return AhpError(f"the report is drawn with {package}, which is not installed; mend: {how}")


def _plain(element: tree.Element) -> tree.Element | None:
    """The element with what draws; None for what draws nothing, and for what no chart has."""
    name = element.tag.removeprefix(_NAMESPACE)
    if name not in _KEPT or element.get("display") == "none" or element.get("class") in ("background", "foreground"):
        return None
    kept = tree.Element(name)
    for key, value in element.attrib.items():
        told = _attribute(name, key, value)
        if told:
            kept.set(key, told)
    if element.get("aria-label") and element.get("aria-roledescription") not in ("axis", "legend"):
        kept.set("data-say", element.get("aria-label", ""))
    kept.text = element.text if name == "text" else None
    for child in element:
        inner = _plain(child)
        if inner is not None:
            kept.append(inner)
    if name == "g" and not len(kept):
        return None
    return kept


def _attribute(name: str, key: str, value: str) -> str:
    """The value of an attribute that is kept, "" of any other."""
    if key in ("fill", "stroke"):
        return value if _COLOUR.fullmatch(value) else ""
    if key in _KEPT[name] or key in _DRAWN or (name == "text" and key in _TYPE):
        return "" if (key, value) in _DEFAULTS else _NUMBER.sub(lambda found: f"{float(found.group()):.1f}", value)
    return ""


_DEFAULTS = {("opacity", "1"), ("transform", "translate(0,0)"), ("stroke-width", "1")}
