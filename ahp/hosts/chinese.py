"""What a person reads of a verdict, in Chinese: each line by a catalog of templates, `zh.toml` (design §9).

Lines hold what strangers wrote. RE2 matches them in linear time, and a line becomes words of the catalog and parts of
itself, so that nothing comes in that was not there.
"""

import os
import re
import tomllib
from functools import cache

import re2

_MARK = re.compile(r"(\{[=#]?\})")
_GROUPS = {"{}": "(.*?)", "{#}": "([0-9]+)", "{=}": "(.*)"}
_DEEP = 8  # a text in a text, and so on


def translated(said: str) -> str:
    """Lines of `verdict_text.for_person` in Chinese; one that the catalog does not have stays as it is."""
    return "\n".join([_line(line) for line in said.split("\n")])


def _line(line: str) -> str:
    """A line without what stands before its words: colours and a symbol, blanks, the dash of a step."""
    words = line.rpartition("\x1b[0m ")[2].lstrip(" ").removeprefix("- ")
    return line[: len(line) - len(words)] + _text(words)


def _text(text: str, depth: int = 0) -> str:
    """`text` by the first template that it matches."""
    if depth > _DEEP or not text.isprintable():
        return text
    for template, chinese in _catalog():
        if not (text.startswith(template[0]) and text.endswith(template[-1])):
            continue
        found = re2.fullmatch("".join([_GROUPS.get(part) or re2.escape(part) for part in template]), text)
        if found is not None:
            told, marked = list(chinese), zip(template[1::2], found.groups(), strict=True)
            told[1::2] = [_text(part, depth + 1) if mark == "{=}" else part for mark, part in marked]
            return "".join(told)
    return text


@cache
def _catalog() -> list[tuple[list[str], list[str]]]:
    """The templates and their Chinese, in words and marks by turns: table by table, the most words first."""
    with open(os.path.join(os.path.dirname(__file__), "zh.toml"), "rb") as file:
        tables = tomllib.load(file)
    return [
        (_MARK.split(template), _MARK.split(chinese))
        for table in tables.values()
        for template, chinese in sorted(table.items(), key=lambda entry: len(_MARK.sub("", entry[0])), reverse=True)
    ]
