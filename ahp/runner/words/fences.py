"""Markdown fences round a model's words."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

_FENCES = ("```", "~~~")
_MOST_LINES = 50_000
_MARK = re.compile(r" {0,3}(`{3,}+(?=[^`]*$)|~{3,}+)")
_FENCE_LINE = re.compile(r"^ {0,3}(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*$", re.MULTILINE)


class Line(NamedTuple):
    """A line of a text without its end, and whether it is code (fence lines included)."""

    text: str
    code: bool


def lines(text: str) -> list[Line]:
    """Every line, told apart by CommonMark's fence rules: an unclosed fence runs to the end of the text.

    Of absurdly many lines the first ones are left together as one.
    """
    if not has_fences(text):
        return [Line(raw, False) for raw in text.replace("\r", "").rsplit("\n", _MOST_LINES)]
    found = []
    fence = ""
    for raw in text.rsplit("\n", _MOST_LINES):
        mark = _fence(raw) if "```" in raw or "~~~" in raw else ""
        if fence:
            code = True
            if mark and mark[0] == fence[0] and len(mark) >= len(fence) and raw.strip() == mark:
                fence = ""
        else:
            code = bool(mark)
            fence = mark
        found.append(Line(raw.rstrip("\r"), code))
    return found


def inside(text: str) -> str | None:
    """What stands in the fence that is the whole text, or None when the text is anything else than one fence."""
    stripped = text.strip()
    if not stripped.startswith(_FENCES):
        return None
    split = lines(stripped)
    if len(split) < 2 or not all(line.code for line in split):
        return None
    last = len(split) - 1
    if any(_fence(line.text) for line in split[1:last]):
        return None
    body = split[1:last] if _fence(split[last].text) else split[1:]
    return "\n".join(line.text for line in body).strip()


def last_fence(text: str) -> tuple[str, str] | None:
    """(prose before, body) of the closed fence a text ends with, or None."""
    stripped = text.rstrip()
    if not stripped.endswith(_FENCES):
        return None
    split = lines(stripped)
    last = len(split) - 1
    if last < 1 or not split[last].code or not _fence(split[last].text):
        return None
    first = last - 1
    while first >= 0 and split[first].code and not _fence(split[first].text):
        first -= 1
    if first < 0 or not _fence(split[first].text):
        return None
    body = "\n".join(line.text for line in split[first + 1 : last]).strip()
    return "\n".join(line.text for line in split[:first]).rstrip(), body


class Block(NamedTuple):
    """A fence, `text[start:end]` with its fence lines, and the body between those."""

    start: int
    end: int
    body: str


def blocks(text: str) -> Iterator[Block]:
    """Every fence of a text in order; an unclosed one runs to the end. Of absurdly many the first ones are told."""
    if not has_fences(text):
        return
    start = body = 0
    fence = ""
    for line in islice(_FENCE_LINE.finditer(text), _MOST_LINES):
        mark, behind = line[1], min(len(text), line.end() + 1)
        if not fence:
            fence, start, body = mark, line.start(), behind
        elif mark[0] == fence[0] and len(mark) >= len(fence) and line[0].strip() == mark:
            yield Block(start, behind, text[body : line.start()])
            fence = ""
    if fence:
        yield Block(start, len(text), text[body:])


def has_fences(text: str) -> bool:
    """Whether a text may hold fences at all: most do not, and need no second look."""
    return any(fence in text for fence in _FENCES)


def open_at_end(text: str) -> bool:
    """Whether what is written behind `text` would stand in a fence."""
    return has_fences(text) and lines(text)[-1].code


def without_marks(text: str) -> str:
    """The text without the lines that open and close its fences."""
    if not has_fences(text):
        return text
    return "\n".join(raw for raw in text.split("\n") if not raw.lstrip().startswith(_FENCES))


def _fence(raw: str) -> str:
    """The run of ` or ~ that makes this line a fence, or nothing."""
    found = _MARK.match(raw)
    return found[1] if found else ""
