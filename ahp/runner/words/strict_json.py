"""JSON out of a model's mouth: read strictly, found in linear time, never raising anything but ValueError."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# A string always matches once begun, closed or not (possessive, so no way back): one pass whatever the text.
_TOKEN = re.compile(r'[{}]|"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"?', re.DOTALL)
_MAX_TOKENS = 200_000
_MAX_DEPTH = 100
_MAX_SPANS = 1_000
_MAX_UNCLOSED = 4  # each is looked for to the end of the text


class Span(NamedTuple):
    """Where an object stands in a text: `text[start:end]`; `closed` is false when the text ends inside it."""

    start: int
    end: int
    closed: bool


def load(text: str, *, raw_lines: bool = False) -> Any:
    """The one JSON value that `text` is; with `raw_lines` its strings may hold line ends and tabs as they are.

    Raises ValueError for anything else: text around it, duplicate keys, NaN and Infinity, nesting beyond 100,
    numbers longer than Python reads.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, strict=not raw_lines)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _depth(value) > _MAX_DEPTH:
        # Whoever copies or prints it later does so by recursion.
        raise ValueError("nested too deeply")
    return value


def load_object(text: str, *, raw_lines: bool = False) -> dict[str, Any]:
    """As `load`, and the value is an object. Raises ValueError."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        raise ValueError("not one JSON object")
    value = load(stripped, raw_lines=raw_lines)
    assert isinstance(value, dict)
    return value


def spans(text: str) -> Iterator[Span]:
    """The outermost `{…}` of a text in order, braces inside JSON strings aside. Linear: gives up on absurd texts."""
    tokens = _MAX_TOKENS
    at = found = unclosed = 0
    while (start := text.find("{", at)) >= 0 and found < _MAX_SPANS and unclosed < _MAX_UNCLOSED:
        depth = 0
        end = len(text)
        for token in _TOKEN.finditer(text, start):
            tokens -= 1
            mark = text[token.start()]
            depth += (mark == "{") - (mark == "}")
            if depth == 0 or depth > _MAX_DEPTH or tokens <= 0:
                end = token.end()
                break
        if tokens <= 0:
            return
        found += 1
        closed = depth == 0
        unclosed += not closed
        yield Span(start, end, closed)
        # Past an unclosed brace the search goes on: a lone "{" in prose must not hide the plan behind it.
        at = end if closed or depth > _MAX_DEPTH else start + 1


def _depth(value: Any) -> int:
    """How deep arrays and objects stand in each other: level by level, without recursion."""
    depth = 0
    level = [value]
    while level and depth <= _MAX_DEPTH:
        holders = [item for item in level if isinstance(item, dict | list)]
        level = [part for item in holders for part in (item.values() if isinstance(item, dict) else item)]
        depth += bool(holders)
    return depth


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("duplicate key")
    return mapping


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
