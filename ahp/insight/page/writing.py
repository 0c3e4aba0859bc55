"""The page as one file of HTML: nothing is loaded, and nothing of a log is markup (CSP 3)."""

from __future__ import annotations

import base64
import hashlib
import re
import xml.etree.ElementTree as tree
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from ahp.insight.page.texts import Texts
from ahp.system import installed
from ahp.system.errors import AhpError

_KINDS = ("block", "control", "prompt", "aid", "fixed", "passed", "reset", "forgotten", "open", "given")


def write(page: Mapping[str, Any], say: Texts) -> str:
    """The text of the page. Raises AhpError where what it is made with is not installed."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise needs("Jinja2") from None
    style, script = _file("page.css"), _file("page.js")
    templates = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return templates.from_string(_file("page.html")).render(
        page=page,
        say=say,
        draw=lambda spec: Markup(draw(spec)),  # noqa: S704  # its elements are read again there
        kinds=_KINDS,
        style=Markup(style),  # noqa: S704  # ours
        script=Markup(script),  # noqa: S704  # ours
        policy=_policy(style, script),
    )


def _policy(style: str, script: str) -> str:
    """What the page may do: its own style and script, and nothing else."""
    allowed = [f"style-src '{_hash(style)}'", f"script-src '{_hash(script)}'"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


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
    return AhpError(f"the report is drawn with {package}, which is not installed; fix: {how}")


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
