"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and shows in a browser."""

from __future__ import annotations

import contextlib
import functools
import html.parser
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

PROJECT = Path(__file__).parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
IN_BOTH = sorted(page.name.removesuffix(".zh.md") for page in (PROJECT / "docs").glob("*.zh.md"))
# Where `make test-tools` has npm put it: beside the programs of node that are on PATH.
AXE = next(
    filter(Path.exists, (Path(place).parent / "axe-core/axe.min.js" for place in os.environ["PATH"].split(":"))), None
)
QUIETLY = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
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


class _Page(html.parser.HTMLParser):
    """The ids of a page, and where its links and pictures lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str | None] = set()
        self.links: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.ids |= {told.get("id"), told.get("name")}
        self.links |= {link for link in (told.get("href"), told.get("src")) if link}


@pytest.mark.slow
def test_each_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: _Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    broken, tried = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in pages[target].ids):
                broken.append(f"{path.relative_to(site)}: {link}")
            tried += 1
    assert broken == [] and tried > 1000


class _Server(http.server.ThreadingHTTPServer):
    """Serves a folder and the check of its pages on loopback; keeps what the check found."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.findings: list[str] = []
        self.told = threading.Event()


class _Handler(http.server.SimpleHTTPRequestHandler):
    server: _Server

    def translate_path(self, path: str) -> str:
        own = {"/axe.min.js": AXE, "/site_check.html": PROJECT / "tests/site_check.html"}.get(urlsplit(path).path)
        return str(own or super().translate_path(path))

    def do_POST(self) -> None:
        self.server.findings = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.told.set()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: pytest's output is for tests."""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[_Server]:
    with _Server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def checked(server: _Server, pages: list[str], browser: Path) -> list[str]:
    """What a browser finds wrong with `pages`, at the width of a desktop and of a phone; each fault is named once."""
    address = f"{server.address}/site_check.html?widths=1280,390&pages={','.join(pages)}"
    keeps_running = "--remote-debugging-port=0"
    process = subprocess.Popen(
        [str(CHROMIUM), *QUIETLY, keeps_running, f"--user-data-dir={browser}", address], stderr=subprocess.DEVNULL
    )
    try:
        assert server.told.wait(1800), "the browser sent nothing"
    finally:
        process.terminate()
        process.wait()
    return sorted({one.partition(": ")[2]: one for one in server.findings}.values())


needs_axe = pytest.mark.skipif(CHROMIUM is None or AXE is None, reason="no Chromium or no axe-core: make test-tools")


@pytest.mark.tools
@needs_axe
def test_no_page_scrolls_sideways_or_has_too_little_contrast(site: Path, tmp_path: Path) -> None:
    english = [str(path.relative_to(site)) for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    english = [page for page in english if not page.startswith("zh/")]
    with serving(site) as server:
        assert checked(server, english + [f"zh/{name}.html" for name in [*IN_BOTH, "facts"]], tmp_path) == []


@pytest.mark.tools
@needs_axe
def test_the_check_finds_what_it_looks_for(tmp_path: Path) -> None:
    page = '<html lang="en"><body><article><p style="width: 500px; color: #999">grey</p><img src="no.svg"></article>'
    (tmp_path / "page.html").write_text(page)
    with serving(tmp_path) as server:
        contrast, wide, missing = checked(server, ["page.html"], tmp_path / "browser")
    assert "contrast of 2.84" in contrast and missing == "page.html: no picture no.svg"
    assert wide.startswith("page.html at 390: scrolls sideways: <p style")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")
@pytest.mark.parametrize(("page", "title"), [("start.html", "Start in five minutes"), ("zh/start.html", "五分钟上手")])
def test_a_browser_shows_the_start_page(site: Path, tmp_path: Path, page: str, title: str) -> None:
    picture = tmp_path / "start.png"
    with serving(site) as server:
        done = subprocess.run(
            [
                str(CHROMIUM),
                *QUIETLY,
                f"--user-data-dir={tmp_path / 'browser'}",
                "--virtual-time-budget=5000",
                "--window-size=1300,1600",
                f"--screenshot={picture}",
                "--dump-dom",
                f"{server.address}/{page}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    article = done.stdout.partition("<article")[2].partition("</article>")[0]
    assert title in article and "ahp uninstall" in article
    assert re.search(r'<html[^>]* class="[^"]*\bjs"', done.stdout)  # the theme's script has run
    assert picture.stat().st_size > 20_000
