"""The actions in a model's reply: calls of tools in the shapes that models write them, answers to the gate, signals.

The prompts ask for `{"tool": NAME, "args": {…}}`. Models trained on other protocols (OpenAI, Anthropic, Hermes,
LangChain) fall back on theirs; what names a tool of the run is a call, whatever its shape, and what cannot be carried
out is said. An object is an action unless a sentence speaks of it: words stand behind it on its line, and words or the
mark of inline code before it.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from ahp.runner.words import strict_json
from ahp.runner.words.control_protocol import (
    FINAL_TOOL,
    ControlEnvelope,
    begins_action,
    find_signals,
    try_parse_control_envelope,
)
from ahp.runner.words.markup import Blocks, without_fences

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

_MARK = r"tool|name|function|action|respond|arguments|parameters|control|steps"
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
_NEAR = 200  # characters before and behind an object that tell whether it belongs to a sentence
_BEHIND = " \t\r\n`*_)|],.;:!?。；！\"'”’(“‘[{}>-\\"


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


@dataclass(frozen=True)
class Signal:
    """A control object, with its `envelope` where it is exactly one, what is nearly one, or a plan."""

    envelope: ControlEnvelope | None = None


Action = ToolCall | Respond | Malformed | Signal


class Found(NamedTuple):
    """An action and where it stands: `text[start:end]`; `fenced` says that a fence or a tag holds it alone."""

    item: Action
    start: int
    end: int
    fenced: bool = False


def find(text: str, tools: Collection[str] = ()) -> list[Found]:
    """The actions of a text in order, but for those that a sentence speaks of or that are part of some code.

    `tools` are the names of the run's tools. Linear in the text; never raises.
    """
    found: list[Found] = []
    mark = _mark(frozenset(tools))
    for span in strict_json.spans(text):
        if found and span.start < found[-1].end:
            continue
        written, tag = text[span.start : span.end], _tagged(text, span.start)
        if tag or mark.search(written, 0, _HEAD) or not span.closed:
            items = _read(written, span.closed, tools, tag)
            found += [Found(item, span.start, span.end) for item in items]
    return _apart(text, _with_signals(text, found)) or _without_object(text, tools)


def _with_signals(text: str, found: list[Found]) -> list[Found]:
    """What was found, and the control signals that stand in no object, such as XML."""
    signals: list[Found] = []
    starts = [one.start for one in found]
    for start, end in find_signals(text):
        at = bisect_right(starts, start) - 1
        if at < 0 or found[at].end <= start:
            signals.append(Found(Signal(), start, end))
    return sorted([*found, *signals], key=lambda one: one.start) if signals else found


def _apart(text: str, found: list[Found]) -> list[Found]:
    """The actions that no sentence speaks of; those with nothing between them stand together."""
    kept: list[Found] = []
    group: list[Found] = []
    blocks = Blocks(text)
    for one in found:
        if group and bare(text[group[-1].end : one.start]):
            kept += _standing(text, group, blocks)
            group = []
        group.append(one)
    return kept + _standing(text, group, blocks)


def _standing(text: str, group: list[Found], blocks: Blocks) -> list[Found]:
    if not group:
        return []
    start, end = group[0].start, group[-1].end
    block = blocks.at(start)
    if block is not None:
        return [one._replace(fenced=True) for one in group] if _only_objects(block.body) else []
    before = text[max(text.rfind("\n", max(0, start - _NEAR), start) + 1, start - _NEAR) : start]
    behind = text[end : end + _NEAR].partition("\n")[0]
    if _TAG.search(before) or _TAG.match(behind.lstrip()):
        return [one._replace(fenced=True) for one in group]
    return [] if bare(behind) and (bare(before) or before.endswith("`")) else group


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


def _read(written: str, closed: bool, tools: Collection[str], tag: str) -> Sequence[Action]:
    try:
        value = strict_json.load_object(written, raw_lines=True)  # a file's text is often written as it is
    except ValueError as error:
        problem = _unreadable(written, closed, error, tools)
        if problem is not None:
            return [problem]
        return [Signal()] if find_signals(written) or (not closed and begins_action(written)) else []
    items = in_value(value, tools)
    if items or tag:
        return items or [ToolCall(tag, value)]
    envelope = try_parse_control_envelope(written)
    return [Signal(envelope)] if envelope or find_signals(written) or _is_plan(value) else []


def _is_plan(value: dict[str, Any]) -> bool:
    """Whether an object is a plan of this runner, and not just some list of steps."""
    steps = value.get("steps")
    if not isinstance(steps, list) or not steps or value.keys() - {"title", "steps", "verification_policy"}:
        return False
    if not all(isinstance(step, dict) and {"id", "description"} <= step.keys() for step in steps):
        return False
    return "verification_policy" in value or any({"dependencies", "tools_expected"} & step.keys() for step in steps)


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
    if given is not None and args is None and name == FINAL_TOOL and isinstance(value[given], str):
        args = {"text": value[given]}
    if args is None:
        form = RIGHT_FORM.replace("NAME", name)
        return Malformed(f"The arguments of {name} are not one object. A tool call is {form}: a name and an object.")
    return ToolCall(name, args)


def _own_name(name: str, tools: Collection[str]) -> str | None:
    """The tool of the run that is meant: `functions.look`, `look.call` and `look<|channel|>commentary` are `look`."""
    name = name.partition("<|")[0].removesuffix(".call")
    plain = name.strip().lower().replace(" ", "_")  # LangChain's `Final Answer`
    return next((one for one in (name, name.rpartition(".")[2], plain) if one in tools), None)


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
    """What is left of a text when fences, tags, markup and punctuation around it are taken away."""
    return without_tags(without_fences(text)).strip(_BEHIND)


def without_tags(text: str) -> str:
    """The text without the tags that models write round calls."""
    return _TAG.sub("", text)


def _tagged(text: str, start: int) -> str:
    """The name in `<function=NAME>` right before `start`, or nothing."""
    found = _FUNCTION_TAG.search(text[max(0, start - _NEAR) : start])
    return found[1] if found else ""


def _only_objects(body: str) -> bool:
    at, rest = 0, []
    for span in strict_json.spans(body):
        rest.append(body[at : span.start])
        at = max(at, span.end)
    return at > 0 and not "".join([*rest, body[at:]]).strip(" \t\r\n[],")
