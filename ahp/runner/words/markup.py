"""What stands round the words of a reply (fences, thoughts, marks of chat templates), and JSON among them."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

_FENCES = ("```", "~~~")
_FENCED = re.compile(r"(`{3,}+|~{3,}+)[^\n`]*\n(.*?)(?:\n[ ]{0,3}\1[ \t]*)?", re.DOTALL)
# White space, byte order mark, zero-width and direction marks: before an object they hide how a text begins.
_INVISIBLE = (
    " \t\r\n\v\f\x00\u00a0\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3000\ufeff"
)
_THINK = re.compile(r"<((?:\w{1,20}:)?(?:think|thinking|thoughts?))>|\[(THINK)\]|◁(think)▷", re.IGNORECASE)
_THOUGHT = "</think>"
_MOST_BLOCKS = 100
# A mark of a chat template. With a space before it, it is what a sentence speaks of.
_MARK = r"(?:<\|\w{1,30}\|>|<｜[^｜\n]{1,30}｜>|</?s>|<eos>|<(?:start|end)_of_turn>)"
_ENDED = re.compile(rf"(?<![ \t`]){_MARK}(?:\s*{_MARK})*\s*$")
_USER = r"(?:\[INST\]|<\|user\|>|<｜User｜>)"
_NEXT_TURN = re.compile(rf"(?:\n|{_MARK}\s*)(?:{_MARK}\s?(?:user|system|tool|assistant|model)\b|{_MARK}?{_USER})")
_OWN_TURN = re.compile(rf"{_MARK}\s?(?:assistant|model)(?:<\|end_header_id\|>)?(?=\s|<)")
_TRIES = 20  # one look costs as much as reading the text
_NEAR = 400  # characters from the end
_HARMONY = ("<|channel|>", "<|start|>")


def inside(text: str) -> str | None:
    """What stands in the fence that is the whole text, or None when the text is anything else than one fence."""
    whole = _FENCED.fullmatch(text.strip())
    return None if whole is None or f"\n{whole[1]}" in f"\n{whole[2]}" else whole[2].strip()


def without_fences(text: str) -> str:
    """The text without the lines that open and close its fences."""
    if not any(fence in text for fence in _FENCES):
        return text
    return "\n".join(raw for raw in text.split("\n") if not raw.lstrip().startswith(_FENCES))


def spoken(text: str) -> str:
    """What a reply says: without its thoughts, the marks of turns, what a model wrote for others, and invisible marks.

    A thinking block that never ends stays, as does one behind words, and a mark that a sentence speaks of.
    """
    return visible(_without_thoughts(_own_turn(visible(text))))


def only_thoughts(text: str) -> bool:
    """Whether a text is a thinking block that never ends: nothing in it is said or done."""
    block = _THINK.match(text.lstrip(_INVISIBLE))
    return block is not None and _closing(block) not in text


def visible(text: str) -> str:
    """The text without the white space, marks and controls around it that nobody sees."""
    return text.strip(_INVISIBLE)


def _without_thoughts(text: str) -> str:
    """The text behind the closed thinking blocks it begins with.

    Some chat templates write the opening themselves: then the reply has only the end of its thoughts.
    """
    for _ in range(_MOST_BLOCKS):
        block = _THINK.match(text)
        if block is None:
            break
        _, closed, rest = text[block.end() :].partition(_closing(block))
        if not closed:
            return text
        text = rest.lstrip(_INVISIBLE)
    thoughts, closed, rest = text.partition(f"\n{_THOUGHT}")
    return rest if closed and "<think>" not in thoughts else text


def _closing(block: re.Match[str]) -> str:
    name = next(group for group in block.groups() if group)
    return block[0].replace(name, f"/{name}")


def _own_turn(text: str) -> str:
    """The text without the marks of its own turn, and without turns of others behind it."""
    if text.startswith(_HARMONY):
        return _last_message(text)
    turns = (found.start() for found in islice(_NEXT_TURN.finditer(text, 1), _TRIES))
    text = text[: next((at for at in turns if text.count("\n```", 0, at + 1) % 2 == text.startswith("```")), len(text))]
    own = _OWN_TURN.match(text)
    return _without_end(text if own is None else text[own.end() :])


def _without_end(text: str) -> str:
    ended = _ENDED.search(text, max(0, len(text) - _NEAR))
    return text if ended is None else text[: ended.start()]


def _last_message(text: str) -> str:
    """The last of Harmony's messages: a final one without its header, a call with it, nothing for thoughts alone."""
    message = _without_end(text).rpartition("<|start|>")[2].removeprefix("assistant")
    header, found, body = message.partition("<|message|>")
    if not found or "to=" in header:
        return message
    return "" if header.endswith("analysis") else body


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
