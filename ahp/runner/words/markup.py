"""What stands round the words of a reply: Markdown fences, thinking blocks, and the marks of chat templates."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

_FENCES = ("```", "~~~")
_MOST_LINES = 50_000
_FENCE_LINE = re.compile(r"^ {0,3}(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*$", re.MULTILINE)

# White space, byte order mark, zero-width and direction marks: before an object they hide how a text begins.
_INVISIBLE = (
    " \t\r\n\v\f\x00\u00a0\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3000\ufeff"
)
# DeepSeek, Qwen and others; Mistral; Kimi.
_THINK = re.compile(r"<((?:\w{1,20}:)?(?:think|thinking|thoughts?))>|\[(THINK)\]|◁(think)▷", re.IGNORECASE)
_THOUGHT = "</think>"
_MOST_BLOCKS = 100
# ChatML, Llama 3, Gemma, Mistral, DeepSeek, Harmony, Command R.
_END = (
    r"(?:<\|(?:im_end|eot_id|eom_id|end|endoftext|end_of_text|return|END_OF_TURN_TOKEN)\|>|</s>|<eos>|<end_of_turn>"
    r"|<｜end▁of▁sentence｜>)"
)
_TURN = r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|start\|>|<s>|\[INST\]|<｜User｜>|<\|user\|>)"
# With a space before it, a mark is what a sentence speaks of.
_ENDED = re.compile(rf"(?<![ \t`]){_END}(?:\s*{_END})*\s*$")
_NEXT_TURN = re.compile(rf"{_END}\s*{_TURN}|\n{_TURN}(?=\s?(?:user|system|tool|assistant|model)\b|<\|end_header_id)")
_OWN_TURN = re.compile(rf"{_TURN}\s?(?:assistant|model)(?:<\|end_header_id\|>)?(?=\s|<)")
_TRIES = 20  # one look costs as much as reading the text
_NEAR = 400  # characters from the end
_HARMONY = ("<|channel|>", "<|start|>")


class Block(NamedTuple):
    """A fence, `text[start:end]` with its fence lines, the body between those, and whether it has an end."""

    start: int
    end: int
    body: str
    closed: bool


class Blocks:
    """The fences of a text by CommonMark's rules; an unclosed one runs to the end. Of absurdly many the first ones."""

    def __init__(self, text: str) -> None:
        self.all = list(_blocks(text))
        self._starts = [block.start for block in self.all]

    def at(self, place: int) -> Block | None:
        """The fence in which a place of the text is."""
        block = self.all[found] if (found := bisect_right(self._starts, place) - 1) >= 0 else None
        return block if block is not None and place < block.end else None


def _blocks(text: str) -> Iterator[Block]:
    if not any(fence in text for fence in _FENCES):
        return
    start = body = 0
    fence = ""
    for line in islice(_FENCE_LINE.finditer(text), _MOST_LINES):
        mark, behind = line[1], min(len(text), line.end() + 1)
        if not fence:
            fence, start, body = mark, line.start(), behind
        elif mark[0] == fence[0] and len(mark) >= len(fence) and line[0].strip() == mark:
            yield Block(start, behind, text[body : line.start()], True)
            fence = ""
    if fence:
        yield Block(start, len(text), text[body:], False)


def inside(text: str) -> str | None:
    """What stands in the fence that is the whole text, or None when the text is anything else than one fence."""
    stripped = text.strip()
    blocks = Blocks(stripped).all
    whole = len(blocks) == 1 and (blocks[0].start, blocks[0].end) == (0, len(stripped))
    return blocks[0].body.strip() if whole and "\n" in stripped else None


def open_at_end(text: str) -> bool:
    """Whether what is written behind `text` would stand in a fence."""
    blocks = Blocks(text).all
    return bool(blocks) and not blocks[-1].closed


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
    if "<" not in text:
        return text
    if text.startswith(_HARMONY):
        return _last_message(text)
    turns = (found.start() for found in islice(_NEXT_TURN.finditer(text), _TRIES))
    text = text[: next((at for at in turns if not open_at_end(text[:at])), len(text))]
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
