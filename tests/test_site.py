"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and shows in a browser."""

from __future__ import annotations

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
IN_BOTH = sorted(page.name.removesuffix(".zh.md") for page in (PROJECT / "docs").glob("*.zh.md"))
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.mark.slow
def test_every_page_is_there_in_english_and_in_chinese(site: Path) -> None:
    pages = {page.name.split(".")[0] for page in (PROJECT / "docs").glob("*.md")}
    for name in pages:
        assert (site / f"{name}.html").exists()
        assert (site / "zh" / f"{name}.html").exists()
    for name in IN_BOTH:
        text = (site / "zh" / f"{name}.html").read_text("utf-8")
        assert '<html lang="zh"' in text
        assert len(CHINESE.findall(text.partition("<article")[2].partition("</article>")[0])) > 100


@pytest.mark.parametrize("name", IN_BOTH)
def test_a_chinese_page_says_what_the_english_one_says(name: str) -> None:
    """The same headings, table rows, names in code, links and examples: what one gained, the other lacks no longer."""
    (english, its_blocks), (chinese, blocks) = (
        _shape((PROJECT / "docs" / f"{name}{suffix}").read_text("utf-8")) for suffix in (".md", ".zh.md")
    )
    assert chinese == english
    for its, ours in zip(its_blocks, blocks, strict=True):
        pairs = list(zip(its.splitlines(), ours.splitlines(), strict=True))
        assert [a for a, b in pairs if not CHINESE.search(b)] == [b for _, b in pairs if not CHINESE.search(b)]


def _shape(page: str) -> tuple[dict[str, list[str]], list[str]]:
    """What does not depend on the language, by kind; and the blocks of code."""
    code = re.compile(r"```.*?```", re.DOTALL)
    text = code.sub("", page)
    found = {
        "headings": re.findall(r"^#+(?= )", text, re.MULTILINE),
        "rows": re.findall(r"^\|", text, re.MULTILINE),
        "names": sorted(set(re.findall(r"`[^`\n]+`", text))),
        "links": sorted(re.findall(r"\]\(([^)]+)\)", text)),
    }
    return found, code.findall(page)


@pytest.mark.slow
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|link|iframe|source)[^>]*(?:src|href)=\"?(https?:)?//[^\"> ]+", re.IGNORECASE)
    for page in site.rglob("*.html"):
        found = [one.group() for one in loads.finditer(page.read_text("utf-8")) if "canonical" not in one.group()]
        assert found == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(https?:)?//", sheet.read_text("utf-8")), sheet


@pytest.mark.slow
def test_search_knows_the_keys_of_a_policy(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    for key in ("on_missing", "escalation", "overridable", "when_changed"):
        assert key in index


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The address of the site on loopback."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: pytest's output is for tests."""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")
@pytest.mark.parametrize(("page", "title"), [("start.html", "Start in five minutes"), ("zh/start.html", "五分钟上手")])
def test_a_browser_shows_the_start_page(served: str, tmp_path: Path, page: str, title: str) -> None:
    picture = tmp_path / "start.png"
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={tmp_path / 'browser'}",
            "--virtual-time-budget=5000",
            "--window-size=1300,1600",
            f"--screenshot={picture}",
            "--dump-dom",
            f"{served}/{page}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    article = done.stdout.partition("<article")[2].partition("</article>")[0]
    assert title in article and "ahp init" in article
    assert re.search(r'<html[^>]* class="[^"]*\bjs"', done.stdout)  # the theme's script has run
    assert picture.stat().st_size > 20_000
