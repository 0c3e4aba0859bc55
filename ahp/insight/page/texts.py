"""The words of the page, in English and in Chinese."""

from __future__ import annotations

import time
from functools import cache
from importlib import resources

import yaml

from ahp.insight import advice
from ahp.system import clock
from ahp.system.errors import AhpError

LANGUAGES = {"en": 0, "zh": 1}

_ZH_UNITS = {"d": " 天", "h": " 小时", "m": " 分钟", "s": " 秒"}
_MONTHS = ["January", "February", "March", "April", "May", "June"]
_MONTHS += ["July", "August", "September", "October", "November", "December"]


class Texts:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        """Raises AhpError for a language that there is not."""
        if language not in LANGUAGES:
            raise AhpError(f"the report is written in {' or '.join(LANGUAGES)}, not in {language!r}")
        self.language, self._at = language, LANGUAGES[language]

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key with its values. Raises KeyError for a key that there is not."""
        return _words()["texts"][key][self._at].format(**values)

    def count(self, number: int, what: str) -> str:
        """`1 episode`, `2 episodes`."""
        one, several, zh = _words()["counted"][what]
        if self.language == "zh":
            return f"{number:,} {zh}"
        return advice.counted(number, one, several)

    def duration(self, seconds: float) -> str:
        """`3 d`, `2 h`, `4 min`."""
        told = advice.duration(seconds)
        number, unit = told[:-1], told[-1]
        if self.language == "zh":
            return number + _ZH_UNITS[unit]
        return f"{number} {'min' if unit == 'm' else unit}"

    def day(self, seconds: float) -> str:
        """A date in UTC: `5 January 2026`."""
        at = time.gmtime(seconds)
        if self.language == "zh":
            return f"{at.tm_year}年{at.tm_mon}月{at.tm_mday}日"
        return f"{at.tm_mday} {_MONTHS[at.tm_mon - 1]} {at.tm_year}"

    def moment(self, seconds: float) -> str:
        """`2026-01-05 09:00`, in UTC."""
        return clock.iso(seconds)[:16].replace("T", " ")

    def axis_format(self, unit: str) -> str:
        """How d3 writes the times of an axis of days or weeks (d3-time-format); weeks may be of several years."""
        if unit == "week":
            return "%Y-%m-%d"
        return "%-m月%-d日" if self.language == "zh" else "%-d %b"


@cache
def _words() -> dict[str, dict[str, list[str]]]:
    told = resources.files(__package__).joinpath("texts.yaml").read_text("utf-8")
    words: dict[str, dict[str, list[str]]] = yaml.safe_load(told)
    return words
