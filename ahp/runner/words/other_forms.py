"""Calls that are no JSON object by themselves: in the forms of other protocols, which servers leave in the text.

They are told the right form rather than made: where one ends and what its arguments are is anybody's guess.
"""

import re
from collections.abc import Collection, Iterator

from ahp.runner.words import fences

_NAME = r"((?:[A-Za-z_]\w{0,30}\.)?[\w-]{1,100})"
# ReAct's two lines, with markup; the same under other words, when the line of the arguments follows.
_REACT = re.compile(
    rf"^[ \t>*_#]{{0,20}}Action[ \t*_]{{0,20}}[:：][ \t*_`]{{0,20}}{_NAME}[ \t*_`]{{0,20}}(?:$|[\[(])",
    re.MULTILINE | re.IGNORECASE,
)
_LABELLED = re.compile(
    rf"^[ \t>*_#]{{0,20}}(?:tool|tool[ _]name|function)[ \t*_]{{0,20}}[:：][ \t*_`\"']{{0,20}}{_NAME}"
    r"[ \t*_`\"']{0,20}\n[ \t>*_#]{0,20}(?:tool[ _]|action[ _])?(?:args|arguments|input|parameters|params)"
    r"[ \t*_]{0,20}[:：]",
    re.MULTILINE | re.IGNORECASE,
)
# Nothing but a tag: XML that begins the reply; behind words, XML that the reply ends with.
_XML = re.compile(rf"""(?:<[\w:]{{0,30}}calls?>\s{{0,20}})?<(?:invoke\s{{1,10}}name=["'])?{_NAME}["']?\s{{0,10}}/?>""")
_LAST_XML = re.compile(rf"</{_NAME}>\s{{0,20}}(?=(?:</[\w:]{{1,40}}>\s{{0,20}}){{0,3}}$)")
# What stands nowhere but before a call: Qwen's, Hermes' and GLM's tags, Anthropic's and DeepSeek's invoke, tokens of
# Llama, Mistral, Kimi, Functionary, LFM, FunctionGemma.
_MARKED = re.compile(
    r"(?:<(?:｜DSML｜)?invoke\s{1,10}name=[\"']|<function[=:]\s{0,5}|<tool(?:_name|_call)?>\s{0,5}|\[TOOL_CALLS\]\s{0,5}|✿FUNCTION✿[:：]\s{0,5}"
    r"|<\|(?:recipient|python_tag|tool_call_start|tool_call_begin)\|>[\[\s]{0,5}|<｜tool▁(?:call▁begin|sep)｜>"
    rf"|<start_function_call>(?:call:)?|^>>>){_NAME}(?![\w-])",
    re.MULTILINE,
)
_CODE_FENCE = re.compile(
    rf"^(?:`{{3,}}|~{{3,}})tool_(?:code|call)s?[ \t]*\n(?:print\()?{_NAME}(?:\.call)?\(", re.MULTILINE
)
# A line of code, or several in a list.
_CODE = re.compile(rf"[\[@]?(?:call: {{0,3}})?(?:print\()?{_NAME}(?:\.call)?\([^\n]{{0,2000}}\)[)\];]{{0,3}}$")
_AROUND_CODE = re.compile(r"^(?>(?:<[^<>\n]{1,60}+>|\s++){1,40})|(?:\s++|</?[^<>\n]{1,60}+>){1,5}$")
# DeepSeek's `function<sep>name`, Harmony's `to=functions.name … {…}`, a name before an object: nothing but marks before
# the name, nothing but marks between it and the object.
# Possessive, as one long run of marks would else be divided in every possible way.
_TAGS = r"(?>(?:<[^<>\n]{1,60}+>|\[/?[A-Z_]{4,20}+\]|\s++){0,40})"
_BEFORE_OBJECT = re.compile(
    rf"{_TAGS}(?:(?:commentary|analysis|function|tool_call|json)\b{_TAGS})?(?:to=)?{_NAME}(?::\d{{1,4}})?{_TAGS}"
    rf"(?:json\b|args\b|arguments\b)?:?{_TAGS}\(?\s{{0,5}}+\{{"
)
# `I will call write_file:` and then its arguments.
_ANNOUNCED = re.compile(
    rf"\b(?:call|calling|use|using|run|running|invoke|invoking):?\s{{1,5}}(?:the\s{{1,5}})?(?:tool\s{{1,5}})?`?{_NAME}`?"
    r"(?:\s{1,5}with(?:\s{1,5}[\w ]{1,40})?)?(?:\s{0,5}:\s{0,5}|\s{0,5}\(\s{0,5}|\s{1,5})\{",
    re.IGNORECASE,
)
_NEAR = 4_000  # characters from the beginning that are searched
_LONGEST_CODE = 10_000  # characters that a line of code and the tags around it may have


def named(text: str, tools: Collection[str]) -> str | None:
    """The tool of the run that a reply calls in one of these forms; None for any other reply. Linear; never raises."""
    return next((name for form in _forms(text) if (name := own_name(form[1], tools)) is not None), None)


def _forms(text: str) -> Iterator[re.Match[str]]:
    plain = fences.without_marks(text).strip()
    words = _without_code(text)
    found = [_REACT.search(text, 0, _NEAR), _XML.match(plain), _LABELLED.match(plain)]
    found += [_CODE_FENCE.search(text)] if "`tool_" in text or "~tool_" in text else []
    found += [_CODE.match(plain), _CODE.match(_AROUND_CODE.sub("", plain))] if len(plain) < _LONGEST_CODE else []
    found += [_LABELLED.search(words, 0, _NEAR)]
    if plain.rstrip(" \t\r\n`)>]").endswith("}") or plain.endswith(">"):
        found += [_BEFORE_OBJECT.match(plain), _ANNOUNCED.search(plain, 0, _NEAR)]
    yield from (form for form in found if form is not None)
    yield from _MARKED.finditer(words, 0, _NEAR)
    closing = _LAST_XML.finditer(words, max(0, len(words) - _NEAR))
    yield from (tag for tag in closing if f"\n<{tag[1]}>" in words)


def _without_code(text: str) -> str:
    """The text without its fences, unless it is one, and what behind a backtick would be no mark."""
    if fences.inside(text) is not None or not fences.has_fences(text):
        return fences.without_marks(text).strip()
    return "\n".join(line.text for line in fences.lines(text) if not line.code).strip()


def own_name(name: str, tools: Collection[str]) -> str | None:
    """The tool of the run that is meant: `functions.look`, `look.call` and `look<|channel|>commentary` are `look`."""
    name = name.partition("<|")[0].removesuffix(".call")
    if name in tools:
        return name
    _, dot, last = name.rpartition(".")
    return last if dot and last in tools else None
