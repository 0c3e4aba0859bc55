"""What stands round the words of a reply: Markdown fences, thinking blocks, and the marks of chat templates."""

import re
from itertools import islice

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
