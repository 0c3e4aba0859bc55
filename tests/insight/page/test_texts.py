"""Both languages say the same with the same values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ahp.insight import page
from ahp.insight.commands import report
from ahp.insight.page.texts import Texts
from ahp.system.errors import AhpError

FOLDER = Path(next(iter(page.__path__)))
WORDS = yaml.safe_load((FOLDER / "texts.yaml").read_text("utf-8"))


def test_each_text_is_there_twice_with_the_same_values() -> None:
    for key, told in WORDS["texts"].items():
        english, chinese = told
        assert set(re.findall(r"{(\w+)}", english)) == set(re.findall(r"{(\w+)}", chinese)), key
        assert english and chinese


def test_each_text_is_used() -> None:
    listed = [path for path in FOLDER.iterdir() if path.suffix in (".py", ".html")] + [Path(report.__file__)]
    source = "".join(path.read_text("utf-8") for path in listed).replace("'", '"')
    made = {"do_", "change_", "most_", "theme_", "grade_"}  # and the words of the gate itself
    names = {key for key in WORDS["texts"] if not key.startswith(tuple(made))}
    words = {
        "noisy",
        "undecided",
        "blind spot",
        "dormant",
        "effective",
        "flapping",
        "block",
        "control",
        "prompt",
        "aid",
    }
    words |= {"fixed", "passed", "reset", "forgotten", "open", "overridden", "bypassed", "withdrawn"}
    assert {name for name in names - words if f'"{name}"' not in source} == set()


def test_numbers_and_times_in_both() -> None:
    english, chinese = Texts("en"), Texts("zh")
    assert (english.count(1, "episode"), english.count(2000, "episode")) == ("1 episode", "2,000 episodes")
    assert chinese.count(2000, "episode") == "2,000 个事件"
    assert (english.duration(240), english.duration(7200), chinese.duration(240)) == ("4 min", "2 h", "4 分钟")
    at = 1_767_603_600.0
    assert (english.day(at), chinese.day(at)) == ("5 January 2026", "2026年1月5日")
    assert english.moment(at) == "2026-01-05 09:00"
    assert english.axis_format("day") != chinese.axis_format("day")
    assert english.axis_format("week") == chinese.axis_format("week")


def test_another_language_is_refused() -> None:
    with pytest.raises(AhpError, match="en or zh"):
        Texts("fr")
