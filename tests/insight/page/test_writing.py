"""The page as a browser shows it, and as a program reads it: its figures are the log's, and nothing of the log acts."""

from __future__ import annotations

import datetime
import html.parser
import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.insight import advice, overview, stats
from ahp.insight.advice import Advice, many, percent
from ahp.insight.page import sections, writing
from ahp.insight.page.sections import content
from ahp.insight.page.texts import Texts
from ahp.insight.page.writing import write
from ahp.insight.stats import Stats
from ahp.policy.waivers import Waiver
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError
from tests.insight import lively

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> {{ 7 * 7 }}\u2028"
)
DAY = datetime.date.fromtimestamp(lively.END)
WAIVERS = [
    Waiver(rule="lockfile", subject="*", reason=HOSTILE, approver="mei", expires=DAY + datetime.timedelta(20)),
    Waiver(rule="tests-pass", subject="A-1", reason="flaky", approver="ann", expires=DAY - datetime.timedelta(1)),
]


class Made:
    """A log with a hostile rule in it, its figures, and its page in English."""

    def __init__(self, folder: Path) -> None:
        log = lively.write(folder) / "signals.jsonl"
        log.write_text(log.read_text().replace(json.dumps("debug-prints"), json.dumps(HOSTILE)))
        self.stats: Stats = stats.collect(str(folder), now=lively.END)
        self.whole = overview.collect(str(folder), now=lively.END)
        self.text = self.written("en")

    def page(self, language: str, waivers: Any = WAIVERS) -> dict[str, Any]:
        return content("a <project>", self.whole, waivers, Texts(language), now=lively.END)

    def written(self, language: str) -> str:
        return write(self.page(language), Texts(language))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("page"))


class Reader(html.parser.HTMLParser):
    """The elements of a page, its tables by their caption, and the text of elements that have an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: dict[str, str] = {}
        self._rows: list[list[str]] = []
        self._caption = ""
        self._open: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append((tag, told))
        if tag not in ("meta", "input", "link", "br", "img"):
            self._open.append((tag, told.get("id") or ""))
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        names = [tag for tag, _ in self._open]
        for _, id in self._open:
            if id:
                self.ids[id] = self.ids.get(id, "") + data + " "
        if names[-1:] == ["caption"]:
            self._caption += data
        elif {"td", "th"} & set(names):
            self._rows[-1][-1] += data


def check_figures(read: Reader, of: Made) -> None:
    """What the page shows is what `ahp stats` tells."""
    figures = of.stats
    tile = {name[5:]: text.split() for name, text in read.ids.items() if name.startswith("tile-")}
    assert tile["evaluations"][-1] == many(figures.evaluations) and tile["denied"][-1] == many(figures.denied)
    states: dict[str, int] = {}
    for one in figures.groups:
        for state, count in one.states.items():
            states[state] = states.get(state, 0) + count
    closed = sum(states.values()) - states.get("open", 0)
    assert tile["fixed"][-1] == percent(states["fixed"] / closed) and tile["open"][-1] == str(states["open"])
    head, *rows = read.tables["Rules by cost and benefit"]
    assert head[:5] == ["rule", "asked", "episodes", "interruptions", "fixed"]
    by_name = {one_line(one.name, 80): one for one in figures.groups}
    assert {row[0] for row in rows} == {name for name, one in by_name.items() if one.attempts or one.episodes}
    for name, asked, episodes, attempts, fixed, *_ in rows:
        one = by_name[name]
        assert [asked, episodes, attempts] == [f"{n:,}" for n in (one.asked, one.episodes, one.attempts)]
        assert fixed == (percent(one.share("fixed")) if one.episodes > one.states.get("open", 0) else "")
    weeks = read.tables["Signals over time"][1:]
    for at, level in enumerate(("block", "control", "prompt", "aid"), 1):
        assert sum(int(row[at].replace(",", "")) for row in weeks) == sum(
            one.levels.get(level, 0) for one in figures.groups
        )
    assert {row[0] for row in read.tables["Agents and people"][1:]} == {"people", "claude", "codex", "gemini"}
    assert len(read.tables["Episodes and their ladder"]) == 1 + len(of.whole.open) + len(of.whole.closed)
    assert [row[3] for row in read.tables["Waivers"][1:]] == ["expired", "20 days"]


def test_its_figures_are_those_of_stats(made: Made) -> None:
    check_figures(Reader(made.text), made)


def test_nothing_of_the_log_acts_and_nothing_is_loaded(made: Made) -> None:
    read = Reader(made.text)
    assert [tag for tag, _ in read.tags].count("script") == 1
    names = {tag for tag, _ in read.tags}
    assert not names & {"img", "iframe", "link", "object", "embed", "base", "form", "image", "use", "foreignobject"}
    keys = {key for _, told in read.tags for key in told}
    assert not {key for key in keys if key.startswith("on")} and not keys & {"src", "style", "xlink:href"}
    assert {told["href"][0] for _, told in read.tags if told.get("href")} == {"#"}
    assert "url(#" in made.text and not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", made.text)
    policy = next(str(told["content"]) for _, told in read.tags if told.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy


def test_it_can_be_walked_through_by_keyboard_and_screen_reader(made: Made) -> None:
    read = Reader(made.text)
    names = [tag for tag, _ in read.tags]
    assert {"header", "nav", "main", "footer", "h1", "h2", "details", "summary", "fieldset", "legend"} <= set(names)
    ids = [str(told["id"]) for _, told in read.tags if told.get("id")]
    assert len(ids) == len(set(ids))
    for _, told in read.tags:
        for key in ("aria-labelledby", "aria-describedby", "for"):
            assert told.get(key) is None or told[key] in ids
        if told.get("href"):
            assert str(told["href"])[1:] in ids
    charts = [told for _, told in read.tags if told.get("role") == "img"]
    assert len(charts) == 3 and all(told.get("aria-labelledby") for told in charts)
    assert {*read.tables} >= {"Signals over time", "Agents and people", "Waivers", "What people wrote"}
    assert all(told.get("scope") for tag, told in read.tags if tag == "th")


def test_in_chinese(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "draw", lambda spec: "")
    text = made.written("zh")
    assert '<html lang="zh-Hans">' in text and "规则的代价与收益" in text
    assert len(Reader(text).tables) == len(Reader(made.text).tables)
    rest = re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    assert not re.findall(r"\b(?:the|episodes|evaluations|fixed)\b", rest.replace(HOSTILE, ""))
    assert not re.findall("。 .", text)


def test_much_advice_is_folded_and_what_hurts_stands_first(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [advice.DORMANT, advice.EFFECTIVE] * 5 + [advice.NOISY]
    told = [Advice(f"rule-{n}", kind, "figures", "do", "shadow") for n, kind in enumerate(kinds)]
    monkeypatch.setattr(advice, "advise", lambda stats, policy: told)
    monkeypatch.setattr(writing, "draw", lambda spec: "")
    page = made.page("en")
    assert [one["kind"] for one in page["hints"]] == ["noisy"] + ["effective"] * 5
    assert [one["rule"] for one in page["more_hints"]] == ["rule-0", "rule-2", "rule-4", "rule-6", "rule-8"]
    folded = made.written("en").partition("<details><summary>5 more</summary>")[2].partition("</details>")[0]
    assert folded.count("data-rule=") == 5
    del told[:2]
    assert (len(made.page("en")["hints"]), made.page("en")["more_hints"]) == (9, [])


def test_chinese_advice_has_the_figures_it_rests_on(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(one for one in made.whole.rules.groups if one.states.get("fixed", 0) > 1)
    monkeypatch.setattr(one, "reopened", one.states["fixed"])
    kinds = [Advice(one.name, kind, "figures", "do", "shadow") for kind in (advice.FLAPPING, advice.NOISY)]
    monkeypatch.setattr(advice, "advise", lambda stats, policy: kinds)
    noisy, flapping = made.page("zh")["hints"]
    assert "已修正" in noisy["figures"] and "复发" not in noisy["figures"] and "一天内复发 100%" in flapping["figures"]
    assert [section.notes for section in made.page("en")["sections"] if section.id == "actors"] == [[]]
    for module in (advice, sections):
        monkeypatch.setattr(module, "never_fixed", lambda stats: {one.name})
    page = made.page("zh")
    assert "已修正" not in page["hints"][0]["figures"]
    (noted,) = [section.notes for section in page["sections"] if section.id == "actors"]
    assert noted[0].startswith(f"{one.episodes} 个事件只关乎工具调用")


def test_where_no_episode_was_there_is_no_chart_of_how_they_ended(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    for one in made.whole.rules.groups:
        monkeypatch.setattr(one, "states", {})
    drawn = sections.rules(made.whole, Texts("en")).chart
    assert drawn is not None and len(drawn["hconcat"]) == 2  # names, and how often each interrupted


def test_an_empty_log_and_waivers_that_cannot_be_read(tmp_path: Path) -> None:
    say = Texts("en")
    nothing = content("new", overview.collect(str(tmp_path)), "nothing is committed yet", say, now=lively.END)
    read = Reader(write(nothing, say))
    assert "has nothing for this time yet" in read.ids["report"] and "nothing is committed yet" in read.ids["waivers"]
    assert read.tables == {}


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")
def test_a_browser_shows_it(made: Made, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(made.text, "utf-8")
    picture = tmp_path / "page.png"
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars"
    done = subprocess.run(
        [
            str(CHROMIUM),
            *options.split(),
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'browser'}",
            "--window-size=1200,4800",
            f"--screenshot={picture}",
            "--dump-dom",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read = Reader(done.stdout)
    check_figures(read, made)
    assert "<title>Report of the gate: a &lt;project&gt;</title>" in done.stdout
    (filtered,) = [told for _, told in read.tags if told.get("class") == "filter"]
    assert "hidden" not in filtered  # our script has run: its digest is the one that the page allows
    assert "Content Security Policy" not in done.stderr and "Uncaught" not in done.stderr
    data = picture.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (1200, 4800) and len(data) > 200_000  # a page without charts is smaller


def written_of(lines: list[str], folder: Path, now: float = lively.END) -> Reader:
    folder.mkdir()
    (folder / "signals.jsonl").write_text("\n".join(lines) + "\n")
    say = Texts("en")
    return Reader(write(content("x", overview.collect(str(folder), now=now), [], say, now=now), say))


def test_what_a_log_may_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "draw", lambda spec: "")
    told = lively.Lively()
    told.attempt({"subject": "main", "host": "git", "actor": "human:ann"}, {}, {})
    quiet = written_of(told.lines, tmp_path / "quiet")
    assert "No rule had anything to say" in quiet.ids["report"] and "waives nothing" in quiet.ids["waivers"]
    assert quiet.tables == {} and "Nothing to show for this time" in quiet.ids["rules"]
    odd = {"timestamp": "2026-01-05T00:00:00.000Z", "kind": "signal", "id": "1", "rule": "r", "hook": "pre-commit"}
    assert "Nothing to show for this time" in written_of([json.dumps(odd)], tmp_path / "odd").ids["time"]  # no level
    assert "Show rules that contain" not in quiet.ids["advice"]
    of_one_day = overview.collect(str(tmp_path / "quiet"), now=lively.END)
    assert content("x", of_one_day, [], Texts("en"), now=lively.END)["period"] == "5 January 2026"
    for n in range(20):
        told.attempt({"subject": f"b{n}", "host": "git", "actor": ""}, {"no-secrets": ("block", told.id())}, {})
    without = [line for line in told.lines if '"kind": "policy"' not in line]
    open_ = written_of(without, tmp_path / "open", told.now + 60)
    assert "Still open: 20 episodes." in open_.ids["report"] and "22 evaluations" in open_.ids["report"]
    assert "20 episodes open; 12 are shown" in open_.ids["episodes"]
    assert [row[2] for row in open_.tables["Episodes and their ladder"][1:]] == ["unknown"] * 12
    forgotten = written_of(told.lines, tmp_path / "forgotten", told.now + 90 * 86400)
    assert "Fixed: none of 20 episodes that are over." in forgotten.ids["report"]


def test_a_template_engine_that_is_missing_is_named(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(AhpError, match=r"Jinja2, which is not installed; fix: .* install .*insight"):
        made.written("en")


def lightness(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [0, 1])
def test_levels_are_told_apart_by_lightness_and_words_can_be_read(made: Made, dark: int) -> None:
    pairs = re.findall(r"--([a-z]+): light-dark\((#\w{6}), (#\w{6})\)", made.text)
    light = {name: lightness(both[dark]) + 0.05 for name, *both in pairs}
    contrast = {name: max(one, light["paper"]) / min(one, light["paper"]) for name, one in light.items()}
    assert contrast["aid"] < contrast["prompt"] < contrast["control"] < contrast["block"]
    assert min(contrast[name] for name in ("ink", "soft", "accent")) >= 4.5
    drawn = ("aid", "prompt", "control", "block", "fixed", "passed", "reset", "forgotten", "open")
    assert min(contrast[name] for name in drawn) >= 2.9
