"""Calls that are no JSON object by themselves: in the forms of other protocols, which servers leave in the text.

They are told the right form rather than made: where one ends and what its arguments are is anybody's guess.
"""

import re
from collections.abc import Collection

from ahp.runner.words import fences

_NAME = r"((?:[A-Za-z_]\w{0,30}\.)?[\w-]{1,100})"
# ReAct's two lines, XML, a line of code.
_REACT = re.compile(rf"^[ \t]*Action[ \t]*:[ \t]*`?{_NAME}`?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_XML = re.compile(rf"""(?:<[\w:]{{0,30}}calls?>\s{{0,20}})?<(?:invoke\s{{1,10}}name=["'])?{_NAME}["']?\s{{0,10}}/?>""")
_CODE = re.compile(rf"(?:print\()?{_NAME}\([^\n]{{0,2000}}\)+;?$")
# Mistral's `[TOOL_CALLS]name{…}`, DeepSeek's `function<sep>name`, Harmony's `to=functions.name … {…}`, a name before an
# object: nothing but marks before the name, nothing but marks between it and the object.
# Possessive, as one long run of marks would else be divided in every possible way.
_TAGS = r"(?:<[^<>\n]{1,60}+>|\[/?[A-Z_]{4,20}+\]|\s++){0,40}+"
_BEFORE_OBJECT = re.compile(
    rf"{_TAGS}(?:(?:commentary|analysis|function|tool_call|json)\b{_TAGS})?(?:to=)?{_NAME}{_TAGS}(?:json\b|args\b|arguments\b)?"
    rf":?{_TAGS}\(?\s{{0,5}}+\{{"
)
# `I will call write_file:` and then its arguments.
_ANNOUNCED = re.compile(
    rf"\b(?:call|calling|use|using|run|running|invoke|invoking)\s{{1,5}}(?:the\s{{1,5}})?(?:tool\s{{1,5}})?`?{_NAME}`?"
    r"(?:\s{1,5}with(?:\s{1,5}[\w ]{1,40})?)?\s{0,5}:\s{0,5}\{",
    re.IGNORECASE,
)
_NEAR = 4_000  # characters from the beginning that are searched


def named(text: str, tools: Collection[str]) -> str | None:
    """The tool of the run that a reply calls in one of these forms; None for any other reply. Linear; never raises."""
    plain = fences.without_marks(text).strip()
    ends_as_object = plain.rstrip(" \t\r\n`)>]").endswith("}") or plain.endswith(">")
    forms = [_REACT.search(text, 0, _NEAR), _XML.match(plain), _CODE.match(plain)]
    if ends_as_object:
        forms += [_BEFORE_OBJECT.match(plain), _ANNOUNCED.search(plain, 0, _NEAR)]
    found = (own_name(form[1], tools) for form in forms if form is not None)
    return next((name for name in found if name is not None), None)


def own_name(name: str, tools: Collection[str]) -> str | None:
    """The tool of the run that is meant: `functions.look` and `default_api.look` are `look`."""
    if name in tools:
        return name
    _, dot, last = name.rpartition(".")
    return last if dot and last in tools else None
