"""The page as one file of HTML: nothing is loaded, and nothing of a log is markup (CSP 3)."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from ahp.insight.page import svg
from ahp.insight.page.content import Content
from ahp.insight.page.texts import Texts

_KINDS = ("block", "control", "prompt", "aid", "mended", "passed", "reset", "forgotten", "open", "given", "derived")


def write(page: Content, say: Texts) -> str:
    """The text of the page. Raises AhpError where what it is made with is not installed."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise svg.needs("Jinja2") from None
    style, script = _file("page.css"), _file("page.js")
    templates = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return templates.from_string(_file("page.html")).render(
        page=page,
        say=say,
        draw=lambda spec: Markup(svg.draw(spec)),  # noqa: S704  # its elements are read again there
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
