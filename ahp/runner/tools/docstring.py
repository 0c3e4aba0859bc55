"""What a function's documentation says of it and its arguments, for tools made of functions."""

import re
from typing import NamedTuple

# Sphinx and Epydoc: `:param int count: how many`.
_FIELD = re.compile(r"[:@](?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_ANY_FIELD = re.compile(r"[:@]\w+[^:]*:")
_HEADING = re.compile(r"(?:Args|Arguments|Parameters|Params)\s*:?\s*")
# Google: `count (int): how many`; NumPy: `count : int`, and what it is stands below, further in.
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s+(.*)")
_NUMPY = re.compile(r"(\w+)\s*(?::.*)?")


class Documented(NamedTuple):
    """The first paragraph on one line, and what is said of each argument."""

    summary: str
    arguments: dict[str, str]


def documented(text: str) -> Documented:
    """What a docstring (as `inspect.getdoc` gives it) says; of any other form only the first paragraph is read."""
    lines = text.splitlines()
    end = next((at for at, line in enumerate(lines) if not line.strip() or _begins_part(lines, at)), len(lines))
    return Documented(" ".join(" ".join(lines[:end]).split()), {**_fields(lines), **_section(lines)})


def _begins_part(lines: list[str], at: int) -> bool:
    return bool(_ANY_FIELD.match(lines[at]) or (_HEADING.fullmatch(lines[at]) and at))


def _fields(lines: list[str]) -> dict[str, str]:
    """`:param name: what it is`, going on in the lines below that are further in."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        field = _FIELD.match(line)
        if field:
            name, found[field[1]] = field[1], field[2].strip()
        elif name and line[:1].isspace() and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
    return {name: said for name, said in found.items() if said}


def _section(lines: list[str]) -> dict[str, str]:
    """The section of arguments in Google's form (`Args:`) or NumPy's (`Parameters`, underlined)."""
    at = next((at for at, line in enumerate(lines) if _HEADING.fullmatch(line)), None)
    if at is None:
        return {}
    underlined = at + 1 < len(lines) and bool(re.fullmatch(r"-{3,}\s*", lines[at + 1]))
    if not (underlined or lines[at].rstrip().endswith(":")):
        return {}
    body = lines[at + 1 + underlined :]
    found: dict[str, str] = {}
    name, margin = "", 0 if underlined else None
    for number, line in enumerate(body):
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        following = body[number + 1] if number + 1 < len(body) else ""
        if depth == 0 and (not underlined or re.fullmatch(r"-{3,}\s*", following)):
            break  # the next section
        margin = depth if margin is None else margin
        if depth > margin:
            found[name] = f"{found.get(name, '')} {line.strip()}".strip()
            continue
        entry = (_NUMPY if underlined else _GOOGLE).fullmatch(line.strip())
        name = entry[1] if entry else ""
        if entry and not underlined:
            found[name] = entry[2].strip()
    found.pop("", None)
    return {name: said for name, said in found.items() if said}
