"""The task list of a ticket, as GitHub and Monoco 0.4.2 write it, item by item.

`[ ]` is to do, `[x]` done, `[/]` and `[-]` doing, `[~]` and `[+]` cancelled. A mark that nobody knows (`[v]`, `[]`),
and what only looks like a box (`☐`, `［ ］`), makes an invalid box, which is open: writing one is no way to be done.

HTML comments and code fences hold no boxes: Monoco's template carries four in its comments. What is opened and never
closed hides nothing, so that no stray mark can empty a checklist.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

STATES = {" ": "todo", "x": "done", "X": "done", "/": "doing", "-": "doing", "~": "cancelled", "+": "cancelled"}

# Monoco reads `-` bullets only; the others, quoted and nested ones are boxes to every other Markdown reader, so an open
# one must not vanish.
_WITHIN = r"[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)*?"
_BOX = re.compile(_WITHIN + r"(?:-[ \t]*|[*+][ \t]+|\d{1,9}[.)][ \t]+)\[([ xX/~+-])\](?!\()[ \t]*(.*)")
_INVALID = re.compile(
    _WITHIN + r"(?:[-*+]|\d{1,9}[.)])[ \t]+"
    r"(?:\[([^\]\d]|[ \txX/~+-]{0,3})\](?=[ \t]|$)|[☐☑☒]|[［【][ \u3000xX/~+√✓-]{0,3}[］】])[ \t]*(.*)"
)
# Chinese is often written without the space.
_HEADING = re.compile(r" {0,3}(#{1,6}(?=[ \t]|$)|#{2,6}(?=[^\x00-\x7f]))")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9]*-\d+)[ \t]*[:：][ \t]*(.*)")
_WORDS = re.compile(r"[a-z]+")

_KEYWORDS = {  # Monoco's headings; English by whole words, Chinese anywhere in the heading
    "acceptance": ((("acceptance",),), ("验收", "交付目标")),
    "tasks": (
        (
            ("tasks",),
            ("task",),
            ("deliverables",),
            ("child", "features"),
            ("stories",),
            ("requirements",),
            ("implementation",),
            ("delivery",),
            ("plan",),
        ),
        ("任务", "工作包", "关键交付", "重点工作", "子功能", "子故事", "需求", "实现", "交付", "规划"),
    ),
    "review": ((("review",),), ("评审", "确认", "复盘记录")),
}


class Box(NamedTuple):
    """One item of a checklist. `section` is acceptance, tasks, review or ""; `id` is written by its author, or
    its place in its section: `acceptance-2`."""

    id: str
    text: str
    state: str
    section: str
    line: int
    named: bool

    @property
    def is_open(self) -> bool:
        """To do, or begun, or marked in a way that nobody knows."""
        return self.state in ("todo", "doing", "invalid")

    @property
    def label(self) -> str:
        """What a message calls it: `chk-003: 完成 API 文档` (seed 002 §6.1), the text alone, else its place."""
        if not self.text:
            return self.id
        return f"{self.id}: {self.text}" if self.named else self.text


def scan(body: str, first_line: int, issue_id: str = "") -> list[Box]:
    """The boxes of a Markdown body whose first line has the number `first_line`, in order.

    A heading that names the issue is its title and opens no section, whatever words it holds.
    """
    boxes: list[Box] = []
    counts: dict[str, int] = {}
    section, level_seen = "", False
    for number, line in visible_lines(body, first_line):
        if heading := _HEADING.match(line):
            level, title = len(heading[1]), line[heading.end() :].strip().rstrip("#").rstrip()
            is_title = (level == 1 and not level_seen) or (bool(issue_id) and leading(title) == issue_id)
            level_seen = True
            found = "" if is_title else _section(title)
            if found or is_title or level < 3:
                section = found
            continue
        if ("[" in line or not line.isascii()) and (box := _BOX.match(line) or _INVALID.match(line)):
            counts[section] = counts.get(section, 0) + 1
            named = _NAMED.match(box[2])
            boxes.append(
                Box(
                    named[1] if named else f"{section or 'box'}-{counts[section]}",
                    (named[2] if named else box[2]).strip(),
                    STATES.get(box[1], "invalid"),
                    section,
                    number,
                    bool(named),
                )
            )
    return boxes


@lru_cache(256)  # thousands of tickets share a handful of headings
def _section(title: str) -> str:
    lower = title.lower()
    words = set(_WORDS.findall(lower))
    for section, (english, chinese) in _KEYWORDS.items():
        if any(words.issuperset(keyword) for keyword in english) or any(keyword in lower for keyword in chinese):
            return section
    return ""


def conflict(text: str, first_line: int = 1) -> int:
    """The line of the first mark of a merge conflict that nobody has resolved, 0 for none."""
    for number, line in visible_lines(text, first_line):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            return number
    return 0


def visible_lines(body: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Number and text of the lines that a reader sees: no comments, no code fences. Linear in the body."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    closers = _Closers(lines) if "```" in body or "~~~" in body else None
    last_close = _last(lines, "-->")
    fence, in_comment = "", False
    for index, line in enumerate(lines):
        if fence:
            if _closes(line, fence):
                fence = ""
            continue
        if not in_comment and closers and (mark := _FENCE.match(line)) and closers.after(index, mark[1]):
            fence = mark[1]
            continue
        if in_comment or "<!--" in line:
            line, in_comment = _uncomment(line, in_comment, index, last_close)
        yield first_line + index, line


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return len(text) >= len(fence) and not text.strip(fence[0])


class _Closers:
    """For each line, the longest fence of either kind that a later line could close; so no look-ahead is repeated."""

    def __init__(self, lines: list[str]) -> None:
        self.longest: dict[str, list[int]] = {}
        for char in "`~":
            best = 0
            suffix = [0] * (len(lines) + 1)
            for index in range(len(lines) - 1, -1, -1):
                text = lines[index].strip()
                if text.startswith(char) and not text.strip(char):
                    best = max(best, len(text))
                suffix[index] = best
            self.longest[char] = suffix

    def after(self, index: int, fence: str) -> bool:
        return self.longest[fence[0]][index + 1] >= len(fence)


def _last(lines: list[str], mark: str) -> tuple[int, int]:
    """Line index and column of the last `mark`, (-1, -1) when there is none."""
    for index in range(len(lines) - 1, -1, -1):
        column = lines[index].rfind(mark)
        if column >= 0:
            return index, column
    return -1, -1


def _uncomment(line: str, in_comment: bool, index: int, last_close: tuple[int, int]) -> tuple[str, bool]:
    """The line without its comments, and whether a comment is open at its end."""
    kept: list[str] = []
    position = 0
    while True:
        if in_comment:
            end = line.find("-->", position)
            if end < 0:
                return "".join(kept), True
            position, in_comment = end + 3, False
        start = _opening(line, position)
        if start < 0 or (index, start + 2) > last_close:
            kept.append(line[position:])
            return "".join(kept), False
        kept.append(line[position:start])
        position, in_comment = start + 2, True  # <!--> is one, too


def _opening(line: str, position: int) -> int:
    """Where a comment opens that is not inside `inline code`, -1 for nowhere."""
    ticks = line.count("`", 0, position)
    while True:
        start = line.find("<!--", position)
        if start < 0:
            return -1
        ticks += line.count("`", position, start)
        if ticks % 2 == 0 or "`" not in line[start:]:
            return start
        position = start + 4


_ID = re.compile(r"([A-Za-z][A-Za-z0-9]*)-([0-9]+)(?![^\W_])")


def leading(text: str) -> str:
    """The id that `text` begins with, upper case, or "": `feat-0001-login` gives `FEAT-0001` (Monoco's branch rule).

    An id is ASCII letters and digits, a hyphen, digits, and then anything that is neither letter nor digit.
    """
    found = _ID.match(text[:200])
    return f"{found[1].upper()}-{found[2]}" if found else ""


def exact(text: str) -> str:
    """The id that `text` is, upper case, or "" when it is none."""
    found = leading(text)
    return found if len(found) == len(text) else ""


def of_file(path: str) -> str:
    """The id in the file name of a ticket, or "": `Issues/Features/open/FEAT-0001-登录.md` gives `FEAT-0001`."""
    name = path.rpartition("/")[2]
    return leading(name[:-3]) if name.endswith(".md") else ""


def of_branch(name: str) -> str:
    """The id a branch is about, or "": `FEAT-0001-login` (Monoco) and `feat/FEAT-0001-login`."""
    return leading(name.rpartition("/")[2])


def reference(text: str) -> tuple[str, str]:
    """Project and id of a reference: `#FEAT-1` is ("", "FEAT-1"), `lab::FEAT-1` is ("lab", "FEAT-1").

    ("", "") when the text refers to no ticket (`config:db`).
    """
    project, colons, rest = text.strip().removeprefix("#").rpartition("::")
    found = exact(rest)
    return ("", "") if not found or (colons and not project) else (project, found)
