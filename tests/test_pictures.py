"""The pictures of the terminal show what ahp says today."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from demo import drawings

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
    drawn = {f"{name}{ending}" for name in drawings.DRAWINGS for ending in (".svg", ".zh.svg")}
    assert made == sorted({path.name for path in kept.iterdir()} - drawn)
    for name in made:
        assert words(kept / name) == words(tmp_path / name), f"{name} is old: python demo/pictures.py"
        assert "url(http" not in (kept / name).read_text("utf-8")


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_the_drawings_are_as_their_script_makes_them(name: str) -> None:
    for ending, say in ((".svg", {}), (".zh.svg", drawings.CHINESE)):
        made = drawings.svg(drawings.DRAWINGS[name](), say)
        assert (PROJECT / "docs/pictures" / f"{name}{ending}").read_text("utf-8") == made, "python demo/drawings.py"


def test_each_word_of_the_drawings_is_in_chinese_and_fits() -> None:
    words = set()
    for make in drawings.DRAWINGS.values():
        about, parts = make()
        words.add(about)
        for part in parts:
            words |= {part.title, *part.lines} if isinstance(part, drawings.Box) else {part.word} - {""}
            if isinstance(part, drawings.Box):  # 7 px a letter is wide for 13 px, 13 px a Chinese character is exact
                for line in (part.title, *part.lines):
                    assert len(line) * 7.2 < part.wide + 12, line
                    chinese = drawings.CHINESE.get(line, line)
                    assert sum(14 if ord(letter) > 0x2E80 else 7 for letter in chinese) < part.wide, chinese
    assert words - set(drawings.CHINESE) <= {"git commit", "block", "control", "prompt", "aid"}
    assert set(drawings.CHINESE) <= words
