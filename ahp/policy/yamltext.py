"""YAML text of a policy: `ahp.system.yamltree`, its faults told as a policy's, with the line as it was meant.

libyaml says where it gave up, in words of its grammar. This says what is wrong with the lines there: indentation that
fits nowhere, a colon without its space, what is never closed.
"""

import re
from typing import NamedTuple

from ahp.policy import quoting
from ahp.policy.problems import PolicyError, Problem
from ahp.system import yamltree
from ahp.system.yamltree import Fault, Node, Place, YamlError

MAX_BYTES = 1 << 20
_ESCAPES = ("found unknown escape character", "did not find expected hexdecimal number")
_HINTS = {"merge": ", or use `extends`", "boolean": "; for triggers write `at:`"}


def decode(data: bytes, name: str) -> str:
    """UTF-8 text of a policy file. Raises PolicyError for binary, oversized or otherwise encoded data."""
    try:
        return yamltree.decode(data, name, MAX_BYTES)
    except YamlError as error:
        raise PolicyError(Problem(fault.place, fault.what) for fault in error.faults) from None


def parse(data: bytes, name: str) -> Node | None:
    """The tree of a policy file; None when it holds no document (empty, or comments only).

    Raises PolicyError with every problem found, each at its place.
    """
    text = decode(data, name)
    # YAML also breaks lines at these three; counting lines differently from libyaml would show the wrong line
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)
    problems: list[Problem] = []
    try:
        root = yamltree.read(text, name)
    except YamlError as error:
        root, problems = error.root, [_problem(fault, lines) for fault in error.faults]
    problems += _cut_values(root, text) if root else []
    if problems:
        raise PolicyError(problems)
    return root


def _problem(fault: Fault, lines: list[str]) -> Problem:
    place = fault.place
    if fault.kind == "tag" and (mended := quoting.mend_tag(lines[place.line - 1], place.column)):
        tag = fault.what.partition(": ")[0]
        return Problem(place, f"{tag}: an unquoted `!` begins a YAML tag; write `not`", mended)
    if fault.kind == "syntax":
        found = slip(lines, place.line, place.column, fault.what) if place.line <= len(lines) else None
        if found is not None:
            return Problem(place._replace(line=found.line, column=found.column), found.what, found.mended)
        if fault.what in _ESCAPES:
            mended = quoting.mend_escape(lines[place.line - 1], place.column)
            return Problem(place, "in double quotes a backslash begins an escape; write single ones", mended)
        # libyaml often notices one line too late, at the next key
        for number in (place.line, place.line - 1):
            if 0 < number <= len(lines) and (mended := quoting.mend_line(lines[number - 1])):
                what = f"no value begins with `{sign}`" if (sign := _sign(fault.what, lines, place)) else _cut(fault)
                return Problem(place._replace(line=number), f"{what}; the value needs quotes", mended)
        return Problem(place, f"not YAML: {fault.what}")
    return Problem(place, fault.what + _HINTS.get(fault.kind, ""))


def _cut(fault: Fault) -> str:
    """Why libyaml does not take a value without quotes to be the one text that it is."""
    if fault.what.startswith("mapping values are not allowed"):
        return "a colon with a space behind it begins another value"
    return "YAML takes the value to end here, and text follows"


def _sign(what: str, lines: list[str], place: Place) -> str:
    """The character that libyaml says cannot begin anything; "" where it says something else."""
    line = lines[place.line - 1]
    if what.startswith("did not find expected alphabetic or numeric character"):  # behind the `*` or `&`
        return next((sign for sign in reversed(line[: place.column]) if sign in "*&"), "")
    return line[place.column - 1 : place.column] if what.startswith("found character that cannot start any") else ""


def _cut_values(root: Node, text: str) -> list[Problem]:
    """Values without quotes that a ` #` inside quotes of their own cuts in two."""
    found: list[Problem] = []
    queue, seen = [root], set[int]()
    for node in queue:
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node.value, dict):
            queue += node.value.values()
        elif isinstance(node.value, list):
            queue += node.value
        elif node.bare and isinstance(node.value, str) and "#" in text[node.end : node.end + 400]:
            begin, end = text.rfind("\n", 0, node.end) + 1, text.find("\n", node.end)
            line = text[begin : end if end >= 0 else None].rstrip("\r")
            if mended := quoting.mend_cut(node.value, line, node.end - begin):
                what = "` #` begins a comment, which cuts a quoted text in two; the value needs quotes"
                found.append(Problem(node.place, what, mended))
    return found


_COLON = re.compile(r"(\s*(?:- )?[\w.\-]+):([^\s:/].*)$")
_BLOCK = re.compile(r":\s+[|>][-+0-9]*\s*$")  # a key whose text stands in the lines below
_WORD = re.compile(r" *[\w.\-]+\s*")
_KEY = re.compile(r"\s*(?:- +)?[\w.\-]+:(?:\s|$)")


class Slip(NamedTuple):
    """What is wrong: line and column from 1, the words, and the line as it should read (or "")."""

    line: int
    column: int
    what: str
    mended: str = ""


def slip(lines: list[str], line: int, column: int, said: str) -> Slip | None:
    """Why the text cannot be read that libyaml stopped at, where the lines tell; None where they do not.

    `said` is libyaml's reason, as "did not find expected key".
    """
    if "unexpected end of stream" in said:
        return Slip(line, column, "the quote that opens here is never closed")
    if found := _outside_of_block(lines, line) or _without_comma(lines[line - 1], line, column):
        return found
    if said.startswith(("did not find expected ',' or ", "did not find expected node content")):
        return _unclosed(lines, line, column) or _open(lines)
    if not said.startswith(("mapping values are not allowed", "did not find expected key")):
        return None
    for number in (line, _before(lines, line)):
        if number and (mended := _with_space(lines[number - 1])):
            return Slip(number, lines[number - 1].index(":") + 1, "a space is missing behind the colon", mended)
    return _closing_nothing(lines, line) or _without_colon(lines, line) or _indented(lines, line)


def _without_colon(lines: list[str], line: int) -> Slip | None:
    """A word alone, with lines below it that stand further in."""
    above = _before(lines, line)
    if not above or not _WORD.fullmatch(lines[above - 1]) or _indent(lines[above - 1]) >= _indent(lines[line - 1]):
        return None
    word = lines[above - 1].strip()
    return Slip(above, _indent(lines[above - 1]) + len(word) + 1, "a colon is missing here", f"{word}:")


def _outside_of_block(lines: list[str], line: int) -> Slip | None:
    """A line of text that does not stand further in than the key whose text it was meant to be."""
    for number in (line, _before(lines, line)):
        above = _before(lines, number) if number else 0
        if above and _BLOCK.search(lines[above - 1]) and _indent(lines[number - 1]) <= _indent(lines[above - 1]):
            what = f"the text that line {above} begins has to stand further in than its key"
            return Slip(number, _indent(lines[number - 1]) + 1, what) if not _KEY.match(lines[number - 1]) else None
    return None


def _without_comma(text: str, line: int, column: int) -> Slip | None:
    """A key inside of `{…}` that follows a value without a comma; `column` is that of its colon."""
    found = re.search(r"[^\s,{:]( +)([\w.\-]+)$", text[: column - 1]) if text[column - 1 : column] == ":" else None
    if found is None or text.count("{", 0, column) <= text.count("}", 0, column):
        return None
    mended = f"{text[: found.start(1)]}, {text[found.start(2) :]}"
    what = f"a comma is missing before `{found[2]}`"
    return Slip(line, found.start(1) + 1, what, mended.strip()) if quoting.loads(mended) else None


def _open(lines: list[str]) -> Slip | None:
    """The last bracket of the file that nothing closes."""
    found = _brackets(lines)
    if found is None or found.closes:
        return None
    return Slip(found.line, found.column, f"the `{found.text}` that opens here is never closed")


def _closing_nothing(lines: list[str], line: int) -> Slip | None:
    """A bracket, in this line or the one before, that closes nothing."""
    found = _brackets(lines[:line])
    if found is None or not found.closes or found.line not in (line, _before(lines, line)):
        return None
    return Slip(found.line, found.column, f"this `{found.text}` closes nothing")


class _Bracket(NamedTuple):
    line: int
    column: int
    text: str
    closes: bool = False


def _brackets(lines: list[str]) -> _Bracket | None:
    """The first bracket that closes nothing, else the last one that is not closed; None where all are in order.

    Outside of other brackets one counts only where a value begins: `block: files.changed[0]` is a text.
    """
    open_ones: list[_Bracket] = []
    quote = ""
    for number, line in enumerate(lines, 1):
        before, had = ":", False  # the last character that is no blank; whether the line had a bracket
        for column, sign in enumerate(line, 1):
            begins = before in ":,[{-"
            if quote:
                quote = "" if sign == quote and line[column - 2 : column - 1] != "\\" else quote
            elif sign == "#" and (column == 1 or line[column - 2].isspace()):
                break
            elif sign in "'\"" and begins:
                quote = sign
            elif sign in "[{" and (open_ones or begins):
                open_ones.append(_Bracket(number, column, sign))
                had = True
            elif sign in "]}" and open_ones:
                open_ones.pop()
            elif sign in "]}" and had:
                return _Bracket(number, column, sign, closes=True)
            before = before if sign.isspace() else sign
    return open_ones[-1] if open_ones and not quote else None


def _unclosed(lines: list[str], line: int, column: int) -> Slip | None:
    above = _before(lines, line)
    if not above or not _KEY.match(lines[line - 1]):
        return None
    bracket = "{" if lines[above - 1].count("{") > lines[above - 1].count("}") else "["
    closed = lines[above - 1].count(bracket) <= lines[above - 1].count("}" if bracket == "{" else "]")
    if closed:
        return None
    return Slip(line, column, f"the `{bracket}` of line {above} is not closed, or a comma is missing behind that line")


def _with_space(line: str) -> str:
    found = _COLON.match(line)
    if found is None:
        return ""
    mended = f"{found[1]}: {found[2]}".strip()
    return mended if quoting.loads(mended) else ""


def _indented(lines: list[str], line: int) -> Slip | None:
    """Says which indents would fit where this line's is none of those open above it."""
    text, mine = lines[line - 1], _indent(lines[line - 1])
    fitting: list[tuple[int, int]] = []
    number = _before(lines, line)
    while number and (not fitting or fitting[-1][0]):
        if not fitting or _indent(lines[number - 1]) < fitting[-1][0]:
            fitting.append((_indent(lines[number - 1]), number))
        number = _before(lines, number)
    if not fitting or mine in [indent for indent, _ in fitting] or not text.strip():
        return None
    places = " or ".join(f"{indent} (as line {number})" for indent, number in fitting if indent or mine < 3)
    return Slip(line, mine + 1, f"this line begins behind {mine} space{'s' * (mine != 1)}; what fits there is {places}")


def _before(lines: list[str], line: int) -> int:
    """The number of the last line above this one that says something, or 0."""
    return next((n for n in range(line - 1, 0, -1) if lines[n - 1].strip() and lines[n - 1].lstrip()[0] != "#"), 0)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
