"""What a model's reply does: the one reader of every scene (seed 001 §4), and the guard before a final answer."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ahp.protocol.text import one_line
from ahp.runner.validation import sentences
from ahp.runner.words import actions, markup
from ahp.runner.words.actions import Found, Malformed, Respond, Signal, ToolCall, bare
from ahp.runner.words.control_protocol import (
    CONTROL_TOOL,
    FINAL_TOOL,
    ControlEnvelope,
    Reading,
    folded,
    old_string,
    try_parse_control_envelope,
)

STEP = "step"  # the scene in which control signals are read
OWN_TOOLS = frozenset({CONTROL_TOOL, FINAL_TOOL})

_log = logging.getLogger(__name__)

_BOTH = "One reply is one action: call the tool or send the control object, not both."
_ANSWER = '{"tool": "final_answer", "args": {"text": "…"}}'
_QUOTED = (
    "Your reply has words and then a call that stands just so in what you have read, and was not made. If you mean it, "
    f"send the call alone. If you quote it in your answer, send that as {_ANSWER}"
)
_THOUGHTS = "Your reply is a thought that never ends: nothing of it was read. Close your thoughts, then act or answer."
_NOT_HERE = {
    CONTROL_TOOL: "control ends a plan step, and none is worked on. Nothing was done.",
    FINAL_TOOL: 'final_answer ends the whole run, not a step. End the step with {"control": "step_done"}.',
}
_ALONE = "final_answer ends the run: send it alone, once you have read the results of your calls. Nothing was done."
_ALONE_IN_STEP = "A step ends only by one control object with nothing around it, exactly as it is asked for."
_OLD = re.compile("STEP_?DONE|REPLAN")
_PLAN_LIST = re.compile(r"\[PLAN\][ \t\r]*\n", re.IGNORECASE)
_NOTHING = " \t\r\n.…{"  # what says nothing when it is all that is said
_MOST_LINES = 1_000  # that are looked at of old control strings
_LONGEST_FOLDED = 100_000  # characters


@dataclass(frozen=True)
class Act:
    """A reply to act on: first `responses` go to the gate, then `calls` are made in order or `control` is taken."""

    responses: tuple[Respond, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    control: Reading | None = None


@dataclass(frozen=True)
class Final:
    """The typed answer of the run; `args` are not validated yet."""

    args: dict[str, Any]


@dataclass(frozen=True)
class Protocol:
    """Protocol that does nothing here, or nothing at all: never shown to a person."""


@dataclass(frozen=True)
class Words:
    """Words that a person can be shown; `cut_out` says that protocol stood beside them, which is not in them."""

    text: str
    cut_out: bool = False


Reply = Act | Final | Malformed | Protocol | Words


def is_protocol_content(text: str | None, tools: Collection[str] = ()) -> bool:
    """Whether a reply is protocol and not an answer for a person: then the model is asked again.

    True for nothing at all, and for envelopes, tool calls, plans, answers to the gate and old control strings, however
    they are written, also cut off or beside an answer. `tools` are the names of the run's tools. False for JSON that
    somebody asked for. Linear; never raises.
    """
    if not isinstance(text, str):
        return True
    reply = read_reply(text, tools)
    return not isinstance(reply, Words) or reply.cut_out


def read_control(text: str | None) -> Reading | None:
    """The control signal of a reply in a plan step, or None; nothing makes it raise.

    An envelope alone; else the old strings, with a warning, so that prompts and models move to the envelope (seed 000
    §2.1).
    """
    envelope = try_parse_control_envelope(text)
    if envelope is not None:
        return Reading(envelope.control, envelope.reason, "envelope")
    reading = _old_signal(markup.spoken(text)) if isinstance(text, str) else None
    if reading is not None:
        _log.warning('old control string for %s; the protocol is {"control": "%s"}', reading.control, reading.control)
    return reading


def read_reply(
    text: str,
    tools: Collection[str] = (),
    scene: str = "",
    outside: Callable[[], Iterable[str]] = tuple,
    calls: Sequence[ToolCall | Malformed] = (),
) -> Reply:
    """What a reply does in a scene of a run (planning, step, react, answer, gate). Never raises; linear in the text.

    `tools` are the names of the run's tools: an object that names one of them where a call names its tool is a call,
    in whatever shape, or Malformed with the right one. Control signals and old control strings are read in steps only.
    `outside` gives the texts from outside that the model has read: what it may only quote, behind words of its own.
    `calls` came beside the text, as such: then the text only comments on them, and answers the gate.
    """
    if markup.only_thoughts(text) and not calls:
        return Malformed(_THOUGHTS)
    body = markup.spoken(text)
    tools = {*tools, *OWN_TOOLS}
    found = actions.find(body, tools)
    responses = tuple(one.item for one in found if isinstance(one.item, Respond))
    if calls:
        return _typed(list(calls), responses, scene)
    if any(isinstance(one.item, ToolCall | Malformed) for one in found):
        return _act(body, found, responses, scene, outside)
    if scene == STEP:
        control = read_control(without(body, [one for one in found if isinstance(one.item, Respond)]))
        if control is not None:
            return Act(responses, control=control)
        if found and not responses:
            return Malformed(_ALONE_IN_STEP)
    return Act(responses) if responses else _words(body, found, tools)


def without(body: str, found: Iterable[Found], at: int = 0) -> str:
    """The text from `at` on without these actions."""
    kept = []
    for one in (one for one in found if one.start >= at):
        kept.append(body[at : one.start])
        at = max(at, one.end)
    return "".join([*kept, body[at:]])


def _words(body: str, found: list[Found], tools: Collection[str]) -> Protocol | Words:
    """A reply in which nothing is done: what a person can be shown of it."""
    said = without(body, found)
    marked = found or _OLD.search(said)
    letters = _OLD.sub("", bare(said)) if marked else markup.without_fences(said).strip(_NOTHING)
    if not letters or _old_signal(body) or _PLAN_LIST.match(body):
        return Protocol()
    if found:
        return Words(said.strip(), cut_out=True)
    plain = folded(body) if len(body) < _LONGEST_FOLDED and ("&" in body or not body.isascii()) else body
    return Protocol() if plain != body and actions.find(plain, tools) else Words(body)


def _typed(calls: list[ToolCall | Malformed], responses: tuple[Respond, ...], scene: str) -> Act | Final | Malformed:
    """What calls of tools do; those of the runner's own end a step or the run."""
    for call in calls:
        if isinstance(call, Malformed):
            return call
    made = [call for call in calls if isinstance(call, ToolCall)]
    if len({repr(call) for call in made}) < len(made):
        return Malformed(f"You wrote the same call twice ({_listed(made)}), and none was made. Send each call once.")
    own = next((call for call in made if call.tool in OWN_TOOLS), None)
    if own is None:
        return Act(responses, tuple(made))
    if (own.tool == CONTROL_TOOL) is not (scene == STEP):
        return Malformed(_NOT_HERE[own.tool])
    if len(made) > 1:
        return Malformed(_BOTH if own.tool == CONTROL_TOOL else _ALONE)
    if own.tool == FINAL_TOOL:
        return Final(own.args)
    try:
        envelope = ControlEnvelope.model_validate(own.args)
    except ValidationError as error:
        return Malformed(f"control: {'; '.join(sentences(error))}")
    return Act(responses, control=Reading(envelope.control, envelope.reason, "tool"))


def _act(
    body: str,
    found: list[Found],
    responses: tuple[Respond, ...],
    scene: str,
    outside: Callable[[], Iterable[str]],
) -> Act | Final | Malformed:
    """The calls of a text, all of them or none: none with a control object, or with words behind one of them.

    A model that writes on behind its call makes up the result.
    """
    if any(isinstance(one.item, Signal) for one in found):
        return Malformed(_BOTH)
    for one in found:
        if isinstance(one.item, Malformed):
            return one.item
    made = [one for one in found if isinstance(one.item, ToolCall)]
    calls = [one.item for one in made if isinstance(one.item, ToolCall)]
    first = made[0]
    if bare(without(body, found, first.start)):
        return Malformed(
            f"You wrote text behind a call ({_listed(calls)}), and nothing was done. Send the call alone: its result "
            f"comes with the next message. If it is part of your answer, send that as {_ANSWER}"
        )
    alone = not actions.without_tags(markup.without_fences(body[: first.start])).strip()
    if not alone and _quotes([body[one.start : one.end] for one in made], outside()):
        return Malformed(_QUOTED)
    if calls[0].tool == CONTROL_TOOL and scene == STEP and not alone:
        return Malformed(_ALONE_IN_STEP)
    return _typed([*calls], responses, scene)


def _listed(calls: Sequence[ToolCall]) -> str:
    return ", ".join(one_line(call.tool, 80) for call in calls[:10])


def _quotes(written: list[str], texts: Iterable[str]) -> bool:
    """Whether one of the objects stands in one of the texts, white space aside."""
    wanted = ["".join(one.split()) for one in written]
    return any(one in held for held in ("".join(text.split()) for text in texts) for one in wanted)


def _old_signal(text: str) -> Reading | None:
    """The signal of a reply that is an old control string and nothing else, once or over and over."""
    kinds = {old_string(line) for line in text.splitlines()[:_MOST_LINES] if line.strip()}
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else Reading(kind, None, "legacy")
