"""The actions in a model's text, for models without native tools: calls of tools, answers to the gate, signals.

The prompts ask for `{"tool": NAME, "args": {…}}`. Of what models write instead, an object is a call where it names a
tool of the run and holds one other object, whatever that is called.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ahp.runner.words import markup
from ahp.runner.words.control_protocol import (
    FINAL_TOOL,
    ControlEnvelope,
    begun,
    find_signals,
    try_parse_control_envelope,
)
from ahp.runner.words.markup import without_fences

RIGHT_FORM = '{"tool": "NAME", "args": {}}'

_NAMES = ("tool", "name", "function", "action")
_DEEPEST = 4  # of objects and lists that hold calls
_HEAD = 2_000  # characters of what cannot be read that are searched for a name
# A tool's name as a value of an object that cannot be read, and as the name of a call in code or XML.
_VALUE = re.compile(r"""[:=]\s{0,50}\\?["'“‘]([\w.-]{1,100})\\?["'”’]""")
_OPENS = re.compile(r"[\w-]{1,100}+(?=[({\[>]|\.call\(|[ \t]{0,9}<\|)")
_CLOSES, _MARKUP = (")", "}", "]", ">"), " \t\r\n`*"
_TAG = re.compile(r"</?\|?[\w:=.|-]{1,40}\|?>|\[/?[A-Z_]{4,20}\]")


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
    """An action and where it stands: `text[start:end]`."""

    item: Action
    start: int
    end: int


def find(text: str, tools: Collection[str] = ()) -> list[Found]:
    """The actions of a text in order. `tools` are the names of the run's tools. Linear in the text; never raises."""
    found: list[Found] = []
    for span in markup.spans(text):
        if found and span.start < found[-1].end:
            continue
        items = _read(text[span.start : span.end], span.closed, tools)
        found += [Found(item, span.start, span.end) for item in items]
    objects = iter([*found, None])
    one = next(objects)
    for start, end in find_signals(text):  # also such as stand in no object, as in XML
        while one is not None and one.end <= start:
            one = next(objects)
        if one is None or end <= one.start:
            found.append(Found(Signal(), start, end))
    return sorted(found, key=lambda one: one.start) or _without_object(text, tools)


def native(name: str, args: Any, call_id: str, tools: Collection[str]) -> ToolCall | Malformed:
    """A call that came beside the text, as such; some interfaces give its arguments as text."""
    name = _own_name(name, tools) or name
    found = _object(args)
    return ToolCall(name, found, call_id) if found is not None else _no_object(name)


def _without_object(text: str, tools: Collection[str]) -> list[Found]:
    """The call of a reply in another form than an object: a bracket opens beside a tool's name, one ends the reply."""
    named = next((name[0] for name in _OPENS.finditer(text[-_HEAD:]) if name[0] in tools), None)
    if named is None or not text.rstrip(_MARKUP).endswith(_CLOSES):
        return []
    form = RIGHT_FORM.replace("NAME", named)
    return [Found(Malformed(f"A tool call is one JSON object: {form}"), 0, len(text))]


def _read(written: str, closed: bool, tools: Collection[str]) -> Iterable[Action]:
    try:
        value = markup.load_object(written, raw_lines=True)  # a file's text is often written as it is
    except ValueError as error:
        return _unreadable(written, f"{error}" if closed else "it has no end", closed, tools)
    response = _response(value)
    items = [response] if response is not None else list(_calls(value, tools, _DEEPEST))
    if items:
        return items
    envelope = try_parse_control_envelope(written)
    return [Signal(envelope)] if envelope or find_signals(written) or _is_plan(value) else []


def _unreadable(written: str, why: str, closed: bool, tools: Collection[str]) -> list[Action]:
    """What an object that cannot be read is meant for: it names a tool, or begins as one of the protocol."""
    named = next((own for name in _VALUE.finditer(written[:_HEAD]) if (own := _own_name(name[1], tools))), None)
    key = begun(written, closed)
    if named is None and key != "tool":
        return [Signal()] if key or find_signals(written) else []
    form = RIGHT_FORM.replace("NAME", named) if named else RIGHT_FORM
    return [Malformed(f"Your tool call cannot be read ({why}). Reply with one action only, as JSON: {form}")]


def _is_plan(value: dict[str, Any]) -> bool:
    """Whether an object is a plan of this runner, and not just some list of steps."""
    steps = value.get("steps")
    known = {"id", "description", "dependencies"}
    return isinstance(steps, list) and bool(steps) and all(isinstance(one, dict) and known <= {*one} for one in steps)


def _response(value: dict[str, Any]) -> Respond | Malformed | None:
    if "respond" not in value or "action" not in value:
        return None
    signal_id, action, details = value["respond"], value["action"], value.get("details", {})
    if not (isinstance(signal_id, str) and isinstance(action, str)):
        return Malformed('An answer to the gate is {"respond": "ID", "action": "ACTION"}: two texts.')
    details = dict(details) if isinstance(details, dict) else {"text": str(details)}
    if isinstance(value.get("reason"), str):
        details["reason"] = value["reason"]
    return Respond(signal_id, action, details)


def _calls(value: Any, tools: Collection[str], depth: int) -> Iterator[ToolCall | Malformed]:
    """The calls that a value is or holds; nothing for somebody's data."""
    call = _call(value, tools) if isinstance(value, dict) else None
    if call is not None:
        yield call
    elif depth and isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _calls(part, tools, depth - 1)


def _call(value: dict[str, Any], tools: Collection[str]) -> ToolCall | Malformed | None:
    ours, rest = value.get("tool"), value.keys() - {"tool", "args"}
    if ours is not None and not isinstance(ours, str):
        return None if rest or isinstance(ours, dict) else _no_object("NAME")
    named = (own for key in _NAMES if isinstance(one := value.get(key), str) and (own := _own_name(one, tools)))
    name = next(named, ours)
    if name is None and value.keys() == {"name", "arguments"} and isinstance(value["name"], str):
        name = value["name"]  # no tool of the run, but nothing else than a call
    if name is None:
        return None
    args = _object(value.get("args"))
    given = [found for one in value.values() if (found := _object(one)) is not None] if args is None else [args]
    if name not in tools and (len(given) != 1 or len(value) != 2) and (rest or given):
        return None
    if "control" in value:
        return Malformed("One reply is one action: call the tool or send the control object, not both.")
    if len(given) == 1:
        return ToolCall(name, given[0])
    if ours is None:
        return None
    text = value.get("args")
    if text is None and not given:  # the arguments stand beside the name
        return ToolCall(name, {key: one for key, one in value.items() if key in rest})
    return ToolCall(name, {"text": text}) if name == FINAL_TOOL and isinstance(text, str) else _no_object(name)


def _no_object(name: str) -> Malformed:
    form = RIGHT_FORM.replace("NAME", name)
    return Malformed(f"The arguments of {name} are not one object. A tool call is {form}: a name and an object.")


def _own_name(name: str, tools: Collection[str]) -> str | None:
    """The tool of the run that is meant: `functions.look` and `look<|channel|>commentary` are `look`."""
    plain = name.partition("<|")[0]
    return next((one for one in (plain, plain.rpartition(".")[2], plain.lower()) if one in tools), None)


def _object(given: Any) -> dict[str, Any] | None:
    """Arguments as an object; some interfaces write it as text, some models as the text of a text."""
    try:
        while isinstance(given, str):
            given = markup.load(given, raw_lines=True)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def bare(text: str) -> str:
    """The letters and numbers of a text, without those of fences and tags around it."""
    return re.sub(r"\W+", "", without_tags(without_fences(text)))


def without_tags(text: str) -> str:
    """The text without the tags that models write round calls."""
    return _TAG.sub("", text)
