"""YAML text of a policy: `ahp.system.yamltree`, its faults told as a policy's, with the line as it was meant."""

import re

from ahp.policy import layout, quoting
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
        found = layout.slip(lines, place.line, place.column, fault.what) if place.line <= len(lines) else None
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
