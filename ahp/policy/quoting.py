"""Frequent mistakes in quoting conditions in YAML, and the line as it was meant (design §4)."""

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import yaml

# where a value begins: behind a key, behind the dash of an item, inside of brackets
_BEGINS = re.compile(r"(?:[\w.\-'\"]:[ \t]+|^\s*(?:- )+|[\[,{]\s*)(?=[^\s#])")
_ENDS = re.compile(r"(?=\s*[,\]}])|(?=[ \t]+#)|\s*$")
_ANOTHER = re.compile(r"[,{]\s*[\w.\-]+:\s")  # a value does not go on behind the next key
_NAME = re.compile(r"[\w.\-]+")
_CLOSED = re.compile(r"[{\[][^{}\[\]]*[}\]].")
_TRIES, _LONGEST = 100, 1000
_ENTRY = re.compile(r"(\s*(?:- )*(?:[\w.\-]+|'[^']*'|\"[^\"]*\"):[ \t]+|\s*(?:- )+)(.+?)([ \t]+#.*)?$")
# an item of a list in brackets that begins as no value does
_IN_LIST = re.compile(r"(?<=[\[,])(\s*)([*&%@`][^,\[\]{}'\"]*?)(?=\s*[,\]])")
_BLOCK = re.compile(r"[|>][-+0-9]*")  # begins a text of several lines


def quote(value: str) -> str:
    """`value` as a YAML scalar that is read back as the same text."""
    if '"' not in value and "\\" not in value:
        return f'"{value}"'
    return "'" + value.replace("'", "''") + "'"


def quote_if_needed(value: str) -> str:
    """`value` as an item of a list in brackets: bare where it is read back as the same text."""
    return value if not value.startswith("-") and _read(f"[{value}]") == [[value]] else quote(value)


def mend_tag(line: str, column: int) -> str:
    """The line with the `!` at `column` (from 1) written as `not`; "" when that is not what was meant."""
    at = column - 1
    if not re.match(r"!\s*[(\w]", line[at:]) or line[at : at + 2] == "!!":
        return ""
    return (line[:at] + "not " + line[at + 1 :].lstrip()).strip()


def mend_line(line: str) -> str:
    """The line with the value quoted that cannot stand unquoted; "" when there is none or it is not clear which."""
    for found in re.finditer(r"[:\-,\[{]\s+(!)", line):
        mended = mend_tag(line, found.start(1) + 1)
        if mended and loads(mended):
            return mended
    if len(line) > _LONGEST or _fits(line):
        return ""
    listed = _IN_LIST.sub(lambda found: found[1] + quote(found[2]), line)
    each = (_quoted(line, begin, end) for begin, end in islice(_values(line), _TRIES))
    return next((one.strip() for one in (listed, *each) if _fits(one)), "")


def _values(line: str) -> Iterator[tuple[int, int]]:
    """From where to where a value may go, the one that begins first and ends first before all others."""
    for begin in (found.end() for found in _BEGINS.finditer(line)):
        for end in (found.start() for found in _ENDS.finditer(line, begin + 1)):
            yield begin, end
            if _ANOTHER.search(line, begin, end):
                break


def _quoted(line: str, begin: int, end: int) -> str:
    """The line with quotes around that value, where it may lack them."""
    value = line[begin:end]
    is_whole = value[0] in "{[" and not _CLOSED.match(value)  # then a mistake is inside of it
    if is_whole or _BLOCK.fullmatch(value) or _ANOTHER.search(value):
        return line
    return line[:begin] + quote(_unwrapped(value)) + line[end:]


def mend_escape(line: str, column: int) -> str:
    """The line with the text in double quotes around `column` (from 1) in single ones, where a backslash is itself."""
    begin, end = line.rfind('"', 0, column - 1), line.find('"', column - 1)
    if begin < 0 or end < 0:
        return ""
    text = line[begin + 1 : end].replace("'", "''")
    mended = f"{line[:begin]}'{text}'{line[end + 1 :]}"
    return mended.strip() if loads(mended) else mend_line(mended)


def mend_item(line: str, column: int) -> str:
    """The line with the item of a list quoted that begins at `column` (from 1) and that a colon made a mapping."""
    ends = (found.start() for found in islice(_ENDS.finditer(line, column), _TRIES))
    each = (line[: column - 1] + quote(line[column - 1 : end]) + line[end:] for end in ends)
    return next((one.strip() for one in each if loads(one)), "")


def mend_cut(value: str, line: str, end: int) -> str:
    """The line with its whole value quoted, where a ` #` inside quotes cut a plain value at column `end` (from 0)."""
    opened = re.search(r"(?:^|[\s(=,\[])(['\"])[^'\"]*$", value)
    rest = line[end:]
    if opened is None or not re.match(r"\s+#", rest) or opened.group(1) not in rest:
        return ""
    whole = re.match(r"(\s*(?:- )*[\w.\-]+:[ \t]+)(.+?)\s*$", line)
    return (whole.group(1) + quote(whole.group(2))).strip() if whole and loads(line) else ""


def _unwrapped(value: str) -> str:
    """A value in quotes, one of which inside ends it too early, without the outer ones: 'it's' is meant as it's."""
    is_wrapped = value[0] in "'\"" and value[-1] == value[0] and len(value) > 1
    return value[1:-1] if is_wrapped and not _is_expression(value) else value


def _is_expression(text: str) -> bool:
    """Whether the quotes of a value belong to texts in it, as in 'a' in x or y == 'b'."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def loads(line: str) -> bool:
    """Whether YAML can read a line."""
    return bool(_read(line))


def _read(line: str) -> list[Any]:
    """What YAML reads in a line, as the only item; none where it cannot: a key may be no text, a date no day."""
    try:
        return [yaml.load(line.strip(), Loader=yaml.CSafeLoader)]
    except (yaml.YAMLError, TypeError, ValueError):
        return []


def _fits(line: str) -> bool:
    """Whether a line can be read, and each of its keys is a name: no part of a value that a comma has cut."""
    queue = _read(line)
    for one in queue:
        queue += [*one, *one.values()] if isinstance(one, dict) else one if isinstance(one, list) else ()
        if isinstance(one, dict) and not all(_NAME.fullmatch(str(key)) for key in one):
            return False
    return bool(queue)


def mend_text(line: str, key: str) -> str:
    """The line with its whole value quoted, where `key` wants a text and YAML read something else; "" when unclear."""
    whole = _ENTRY.match(line)
    if whole is None or whole[1].strip().lstrip("- ").rstrip(":").strip() not in (key, ""):
        return ""  # the value is inside of another one
    mended = whole[1] + quote(whole[2]) + (whole[3] or "")
    return mended.strip() if loads(mended) else ""
