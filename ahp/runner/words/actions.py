"""The actions in a model's reply: calls of tools, in the shapes that models write them, and answers to the gate.

The prompts ask for `{"tool": NAME, "args": {…}}`. Models trained on other protocols (OpenAI, Anthropic, Hermes,
LangChain) fall back on theirs; what names a tool of the run is a call, whatever its shape, and what cannot be carried
out is said.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from ahp.runner.words import fences, strict_json

RIGHT_FORM = '{"tool": "NAME", "args": {}}'

_NAMES = ("tool", "tool_name", "function", "function_name", "action", "name", "recipient_name", "command")
_ARGUMENTS = ("args", "arguments", "parameters", "params", "input", "action_input", "tool_input", "kwargs")
_WRAPPERS = (
    *("tool_calls", "tool_call", "function_calls", "function_call", "calls", "call", "function", "tool"),
    *("actions", "action", "next_action", "response"),
)
_TYPES = frozenset({"function", "function_call", "tool_call", "tool_use"})
# What models write beside a call, for themselves or for an API.
_BESIDE = frozenset({"thought", "thoughts", "thinking", "reasoning", "reason", "rationale", "explanation", "comment"})
_IDS = ("id", "call_id", "tool_call_id")
_BESIDE |= {*_IDS, "index", "type"}
_DEEPEST = 4  # of wrappers in wrappers
_KEYS = frozenset({*_NAMES, *_ARGUMENTS, *_WRAPPERS})

_MARK = r"tool|name|function|action|respond|arguments|parameters"
# An object that cannot be read, and names a tool where the name of a call stands.
_NAMED = re.compile(
    r"""["'“‘]?\b(tool|tool_name|function|function_name|action|name)\\?["'”’]?\s{0,50}[:=：]\s{0,50}\\?["'“‘]?([\w.:/-]{1,100})"""
)
_OURS = re.compile(r"""\{\s{0,50}\\?["'“‘]?tool\\?["'”’]?\s{0,50}[:=：]""")
_HEAD = 2_000  # characters of what cannot be read that are searched for a name
# The name of a call in code, XML or a model's own marks, and how such a reply ends.
_OPENS = re.compile(r"[\w-]{1,100}+(?=[({\[]|\.call\(|[ \t]{0,9}<\||>\s{0,9}<)|(?<=<)[\w-]{1,100}+(?=>)")
_CLOSES, _MARKUP = (")", "}", "]", ">"), " \t\r\n`*"
_FUNCTION_TAG = re.compile(r"<function[=:]\s{0,10}([\w.-]{1,100})\s{0,10}>\s{0,50}$")
_TAG = re.compile(r"</?\|?[\w:=.|-]{1,40}\|?>|\[/?[A-Z_]{4,20}\]")
# `{"tool": "look", "args": {}} is how to look`: the object is what the sentence speaks of.
_EXPLAINED = re.compile(
    r"(?:is|are|means|signals|tells|marks|says|ends|finishes|calls|reads)\b|是|表示|表明|代表|用于|用来|意味"
)
_ENDS_SENTENCE = tuple(".!?:;。！？：；…)）")
_NEAR = 200  # characters before and behind an object that tell whether it belongs to a sentence
# What models write before a call, glued to it.
_LABEL = re.compile(r"(?:json|functools|(?:tool|function)_?calls?)$", re.IGNORECASE)
_ITEM = re.compile(r"(?:\d{1,3}[.)]|[-*+>•#]{1,6})\s{1,10}|[>#*_`(\[\s\"'“‘]{1,20}")
_BEHIND = " \t\r\n`*_)],.;。；\"'”’"


@dataclass(frozen=True)
class ToolCall:
    """One call as the model wrote it; `args` are not validated yet, `id` is what the model calls it by, if it does."""

    tool: str
    args: dict[str, Any]
    id: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Respond:
    """An answer to a signal of the gate: `{"respond": ID, "action": …, "details": {…}}`."""

    signal_id: str
    action: str
    details: dict[str, Any]


@dataclass(frozen=True)
class Malformed:
    """What means to act and cannot be carried out; `problem` is a sentence for the model."""

    problem: str


class Found(NamedTuple):
    """An action and where it stands: `text[start:end]`; `fenced` says that a fence or a tag holds it alone."""

    item: ToolCall | Respond | Malformed
    start: int
    end: int
    fenced: bool


def find(text: str, tools: Collection[str] = ()) -> list[Found]:
    """The actions of a text in order: those that stand for themselves, not those that a sentence speaks of.

    `tools` are the names of the run's tools. Linear in the text; never raises.
    """
    found: list[Found] = []
    places, mark = _Places(text), _mark(frozenset(tools))
    for span in strict_json.spans(text):
        if found and span.start < found[-1].end:
            continue
        written = text[span.start : span.end]
        if not mark.search(written, 0, _HEAD) and not places.tagged(span.start):
            continue
        fenced = places.apart(span, joined=bool(found) and not bare(text[found[-1].end : span.start]))
        if fenced is None:
            continue
        items = _read(written, span.closed, tools, places.tagged(span.start))
        found += [Found(item, span.start, span.end, fenced) for item in items]
    return found or _without_object(text, tools)


@cache
def _mark(tools: frozenset[str]) -> re.Pattern[str]:
    """What an object holds that may be an action: a word of the protocols, or a tool's name as one of its texts."""
    named = "|".join(map(re.escape, sorted(tools)))
    return re.compile(f'{_MARK}|"(?:{named})"' if tools else _MARK, re.IGNORECASE)


def _without_object(text: str, tools: Collection[str]) -> list[Found]:
    """The call of a reply in another form than an object: a bracket opens beside a tool's name, one ends the reply."""
    named = next((name[0] for name in _OPENS.finditer(text[-_HEAD:]) if name[0] in tools), None)
    if named is None or not text.rstrip(_MARKUP).endswith(_CLOSES):
        return []
    form = RIGHT_FORM.replace("NAME", named)
    return [Found(Malformed(f"A tool call is one JSON object: {form}"), 0, len(text), True)]


def in_value(value: Any, tools: Collection[str] = ()) -> list[ToolCall | Respond | Malformed]:
    """The actions that one JSON value is: none, one, or the calls of a list."""
    response = _response(value)
    return [response] if response is not None else list(_calls(value, tools, _DEEPEST))


def _read(written: str, closed: bool, tools: Collection[str], tag: str) -> list[ToolCall | Respond | Malformed]:
    try:
        value = strict_json.load_object(written, raw_lines=True)  # a file's text is often written as it is
    except ValueError as error:
        problem = _unreadable(written, closed, error, tools)
        return [] if problem is None else [problem]
    return [ToolCall(tag, value)] if tag and not in_value(value, tools) else in_value(value, tools)


def _unreadable(written: str, closed: bool, error: ValueError, tools: Collection[str]) -> Malformed | None:
    """What is wrong with an object that cannot be read, when it is meant as a call."""
    named = next((name[2] for name in _NAMED.finditer(written[:_HEAD]) if name[2] in tools), None)
    if named is None and not _OURS.match(written):
        return None
    why = f"{error}" if closed else "it has no end"
    form = RIGHT_FORM.replace("NAME", named) if named else RIGHT_FORM
    return Malformed(f"Your tool call cannot be read ({why}). Reply with one action only, as JSON: {form}")


def _response(value: Any) -> Respond | Malformed | None:
    if not isinstance(value, dict) or "respond" not in value or "action" not in value:
        return None
    signal_id, action, details = value["respond"], value["action"], value.get("details", {})
    if not (isinstance(signal_id, str) and isinstance(action, str)):
        return Malformed('An answer to the gate is {"respond": "ID", "action": "ACTION"}: two texts.')
    details = dict(details) if isinstance(details, dict) else {"text": str(details)}
    if isinstance(value.get("reason"), str):
        details["reason"] = value["reason"]
    return Respond(signal_id, action, details)


def _calls(value: Any, tools: Collection[str], depth: int, outer_id: str = "") -> Iterator[ToolCall | Malformed]:
    """The calls that a value is; nothing for somebody's data."""
    if isinstance(value, list) and depth:
        for item in value:
            yield from _calls(item, tools, depth - 1)
    if not isinstance(value, dict):
        return
    value = {low if (low := str(key).lower()) in _KEYS and low not in value else key: one for key, one in value.items()}
    call_id = next((value[key] for key in _IDS if isinstance(value.get(key), str)), outer_id)
    for key in _WRAPPERS:
        inner = value.get(key)
        inside = list(_calls(inner, tools, depth - 1, call_id)) if isinstance(inner, dict | list) and depth else []
        if inside:
            yield from inside
            return
    call = _call(value, tools)
    if isinstance(call, ToolCall):
        call = replace(call, id=call_id)
    if call is not None and "control" in value:
        call = Malformed("One reply is one action: call the tool or send the control object, not both.")
    if call is not None:
        yield call


def _call(value: dict[str, Any], tools: Collection[str]) -> ToolCall | Malformed | None:
    named = [key for key in _NAMES if isinstance(value.get(key), str)]
    key = next((key for key in named if _own_name(value[key], tools)), named[0] if named else None)
    if key is None:
        only_ours = "tool" in value and not value.keys() - {"tool", "args"}
        return Malformed(f"A tool call is {RIGHT_FORM}: a name and an object.") if only_ours else _keyed(value, tools)
    name = _own_name(value[key], tools) or str(value[key])
    given = next((one for one in _ARGUMENTS if one in value and one != key), None)
    rest = {str(one) for one in value} - {key, given} - _BESIDE
    if name not in tools and not _means_unknown_tool(value, key, given, rest):
        return None
    if given is None and key == "command":  # `{"command": "search"}` is what somebody asked for
        return None
    if given is None and rest:
        if key == "name":  # `{"name": "search", "stars": 5}` speaks of something that is called like a tool
            return None
        return ToolCall(name, {one: value[one] for one in value if one in rest})
    if given is None and key == "name" and value.get("type") not in _TYPES and len(value) > 1:
        return None
    args = _object(value[given]) if given is not None else {}
    if args is None:
        form = RIGHT_FORM.replace("NAME", name)
        return Malformed(f"The arguments of {name} are not one object. A tool call is {form}: a name and an object.")
    return ToolCall(name, args)


def _own_name(name: str, tools: Collection[str]) -> str | None:
    """The tool of the run that is meant: `functions.look`, `look.call` and `look<|channel|>commentary` are `look`."""
    name = name.partition("<|")[0].removesuffix(".call")
    if name in tools:
        return name
    _, dot, last = name.rpartition(".")
    return last if dot and last in tools else None


def _keyed(value: dict[str, Any], tools: Collection[str]) -> ToolCall | None:
    """The call that `{"read_file": {…}}` is; a tool whose name is a plain word may just be a key of somebody's data."""
    keys = value.keys() - _BESIDE
    name = next(iter(keys)) if len(keys) == 1 else ""
    return ToolCall(name, value[name]) if name in tools and "_" in name and isinstance(value[name], dict) else None


def _means_unknown_tool(value: dict[str, Any], key: str, given: str | None, rest: Collection[str]) -> bool:
    """Whether an object that names no tool of the run is a call all the same: then the model hears which there are."""
    if key == "tool":
        return not rest and (given == "args" or len(value) == 1 or (given is not None and _is_object(value[given])))
    if given is None or rest or key == "command" or not _is_object(value[given]):
        return False
    return given in ("arguments", "action_input") or (value.get("type") in _TYPES and given in ("args", "input"))


def _is_object(given: Any) -> bool:
    return _object(given) is not None


def _object(given: Any) -> dict[str, Any] | None:
    """Arguments as an object; some APIs write it as text."""
    if isinstance(given, str):
        try:
            return strict_json.load_object(given, raw_lines=True)
        except ValueError:
            return None
    return {} if given is None else given if isinstance(given, dict) else None


def bare(text: str) -> str:
    """What is left of a text when tags, markup and punctuation around it are taken away."""
    return without_tags(text).strip(_BEHIND + "([{}>-")


def without_tags(text: str) -> str:
    """The text without the tags that models write round calls."""
    return _TAG.sub("", text)


class _Places:
    """Where objects stand in one text: alone on a line, in a fence, at the end of a sentence, or inside one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line_start = self._seen = 0
        self._blocks = list(fences.blocks(text))
        self._starts = [block.start for block in self._blocks]

    def apart(self, span: strict_json.Span, *, joined: bool) -> bool | None:
        """None for an object that a sentence speaks of or that is part of some code; else whether a fence holds it."""
        self._seek(span.start)
        at = bisect_right(self._starts, span.start) - 1
        block = self._blocks[at] if at >= 0 and span.start < self._blocks[at].end else None
        if block is not None:
            return True if _only_objects(block.body) and not self._explained(block.end) else None
        behind = self._text[span.end : span.end + _NEAR].split("\n", 1)[0]
        before = self._text[max(self._line_start, span.start - _NEAR) : span.start]
        tagged = bool(_TAG.search(before))
        bare = _TAG.sub("", before).strip()
        while bare and (item := _ITEM.match(bare + " ")):
            bare = (bare + " ")[item.end() :].strip()
        bare = _LABEL.sub("", bare.rstrip("*_`([ "))
        if self._explained(span.end) or (bare and not joined and not bare.endswith(_ENDS_SENTENCE)):
            return None
        return tagged or bool(_TAG.match(behind.lstrip()))

    def tagged(self, start: int) -> str:
        """The name in `<function=NAME>` right before `start`, or nothing."""
        found = _FUNCTION_TAG.search(self._text[max(0, start - _NEAR) : start])
        return found[1] if found else ""

    def _seek(self, start: int) -> None:
        # Each part of the text is looked at once, however many objects stand on one line.
        line = self._text.rfind("\n", self._seen, start)
        self._line_start = line + 1 if line >= 0 else self._line_start
        self._seen = start

    def _explained(self, end: int) -> bool:
        return bool(_EXPLAINED.match(self._text[end : end + _NEAR].lstrip(_BEHIND + "</>|")))


def _only_objects(body: str) -> bool:
    at, rest = 0, []
    for span in strict_json.spans(body):
        rest.append(body[at : span.start])
        at = max(at, span.end)
    return at > 0 and not "".join([*rest, body[at:]]).strip(" \t\r\n[],")
