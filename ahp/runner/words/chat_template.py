"""What chat templates leave round a reply that no server has read: thinking blocks and the marks of turns."""

import re
from itertools import islice

from ahp.runner.words import fences

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
_NEXT_TURN = re.compile(rf"{_END}\s*{_TURN}")
_OWN_TURN = re.compile(rf"{_TURN}\s?(?:assistant|model)(?:<\|end_header_id\|>)?(?=\s|<)")
_TRIES = 20  # one look costs as much as reading the text
_NEAR = 400  # characters from the end
_HARMONY = ("<|channel|>", "<|start|>")


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
    text = text[: next((at for at in turns if not fences.open_at_end(text[:at])), len(text))]
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
