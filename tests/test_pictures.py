"""The pictures of the terminal show what ahp says today."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


def words(picture: Path) -> list[str]:
    """What a picture shows, a text an item, without what differs from machine to machine: paths and times."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text("utf-8"), re.DOTALL)
    return [html.unescape(text).replace("\xa0", " ").strip() for text in texts]


@pytest.mark.slow
def test_the_pictures_are_those_of_today(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(PROJECT / "demo" / "pictures.py"), str(tmp_path)], check=True)
    made = sorted(path.name for path in tmp_path.iterdir())
    kept = PROJECT / "docs" / "pictures"
    assert made == sorted(path.name for path in kept.iterdir())
    for name in made:
        assert words(kept / name) == words(tmp_path / name), f"{name} is old: python demo/pictures.py"
        assert "url(http" not in (kept / name).read_text("utf-8")
