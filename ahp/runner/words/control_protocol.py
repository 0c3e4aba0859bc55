"""The control protocol of plan steps (seed 000): how a model says "this step is done" or "the plan must change"."""

import logging
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from ahp.runner.words import fences, replies, strict_json

ControlKind = Literal["step_done", "replan"]
Via = Literal["envelope", "legacy"]
KINDS: tuple[ControlKind, ...] = ("step_done", "replan")

_log = logging.getLogger(__name__)

# The written forms that models used before the envelope, without case, spaces, hyphens and underscores.
_OLD_STRINGS: dict[str, ControlKind] = {
    "stepdone": "step_done",
    "stepcomplete": "step_done",
    "stepcompleted": "step_done",
    "步骤完成": "step_done",
    "步骤已完成": "step_done",
    "replan": "replan",
    "重规划": "replan",
    "重新规划": "replan",
    "需要重规划": "replan",
    "需要重新规划": "replan",
}
_OLD_LINE_LENGTH = 40
_SHORTEST = min(map(len, _OLD_STRINGS))
_PUNCTUATION = ".!;\u3002\uff0e\uff01\uff1b\u2026"  # with their full-width forms, and an ellipsis
_JOINTS = str.maketrans("", "", " _-")
_HINT = re.compile(r"step|plan|步骤|规划", re.IGNORECASE)
_NEGATED = re.compile(r"\bnot\b|n't\b|\bnever\b|\bno\b|cannot|不|没|未|别|勿|禁", re.IGNORECASE)
_CODE_INDENT = ("    ", "\t")


class ControlEnvelope(BaseModel):
    """The one JSON object of the control channel: `{"control": "step_done"}` (seed 000 §2.2)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    control: ControlKind = Field(description="step_done: the step is finished; replan: the plan must change")
    reason: StrictStr | None = Field(default=None, description="why, for whoever reads the events")


@dataclass(frozen=True)
class Reading:
    """A control signal and how it was given: as an envelope or as one of the old strings."""

    control: ControlKind
    reason: str | None
    via: Via


def try_parse_control_envelope(text: str | None) -> ControlEnvelope | None:
    """The envelope that `text` is, white space aside, or None; nothing makes it raise (seed 000 §3.2).

    Refused: text around it, arrays, duplicate keys, NaN, and a second action key `tool`. Other keys are ignored.
    """
    if not isinstance(text, str):
        return None
    try:
        value = strict_json.load_object(text)
        return None if "tool" in value else ControlEnvelope.model_validate(value)
    except (ValueError, ValidationError):
        return None


def read_control(text: str | None) -> Reading | None:
    """The control signal of a reply in a plan step, or None; nothing makes it raise.

    An envelope first; a reply that calls a tool is none; then the old strings, which are logged as a warning
    so that prompts and models move to the envelope (seed 000 §2.1).
    """
    envelope = try_parse_control_envelope(text)
    if envelope is not None:
        return Reading(envelope.control, envelope.reason, "envelope")
    if not isinstance(text, str) or not _HINT.search(text) or replies.calls_a_tool(text):
        return None
    kind = _old_signal(text)
    if kind is None:
        return None
    _log.warning('old control string for %s; the protocol is {"control": "%s"}', kind, kind)
    return Reading(kind, None, "legacy")


def old_string(line: str) -> ControlKind | None:
    """The signal that a line is and nothing else, after `【】`, `**` and end punctuation are taken off."""
    if not _SHORTEST <= len(line) <= _OLD_LINE_LENGTH:
        return None
    bare = line.strip()
    previous = ""
    while bare != previous:
        previous = bare
        bare = bare.rstrip(_PUNCTUATION).strip()
        for left, right in (("**", "**"), ("【", "】")):
            if bare.startswith(left) and bare.endswith(right) and len(bare) > len(left + right):
                bare = bare[len(left) : -len(right)].strip()
    # A list item or a rule of dashes begins with what elsewhere only joins words.
    return _OLD_STRINGS.get(bare.translate(_JOINTS).lower()) if bare[:1].isalpha() else None


def is_control_object(value: Any) -> bool:
    """Whether a JSON value is an envelope, or so near to one that nobody but the runner can mean it."""
    if not isinstance(value, dict):
        return False
    control = next((item for key, item in value.items() if key.strip().lower() == "control"), None)
    if isinstance(control, list):
        return any(isinstance(item, str) and item in KINDS for item in control)
    if isinstance(control, str):
        return control.strip().lower().replace("-", "_") in KINDS
    return isinstance(control, dict) and control.get("control") in KINDS


def _old_signal(text: str) -> ControlKind | None:
    """The one signal among the lines outside code; two different ones, envelopes included, are none."""
    kinds: set[ControlKind] = set()
    found = False
    before = ""
    for line in fences.lines(_without_objects(text.strip(), kinds)):
        if line.code or not line.text or line.text.startswith(_CODE_INDENT):
            continue
        kind = old_string(line.text)
        if kind is not None and not _is_mention(before):
            kinds.add(kind)
            found = True
        before = line.text if not line.text.isspace() else before
    return kinds.pop() if found and len(kinds) == 1 else None


def _is_mention(before: str) -> bool:
    """Whether the line before says that what follows is not meant: `I cannot send this yet:`."""
    before = before[-200:].rstrip()
    return before.endswith((":", "：")) and _NEGATED.search(before) is not None


def _without_objects(text: str, kinds: set[ControlKind]) -> str:
    """The text without its JSON objects, whose strings may hold anything; `kinds` gains what their envelopes say."""
    kept = []
    at = 0
    for span in strict_json.spans(text):
        written = text[span.start : span.end]
        begins_line = not text[text.rfind("\n", 0, span.start) + 1 : span.start].strip()
        if span.start < at or not (span.closed or begins_line):
            continue
        envelope = try_parse_control_envelope(written)
        if envelope is not None and begins_line:
            kinds.add(envelope.control)
        # A gap of words, so that what is left of the line cannot pass for a line of its own.
        kept += [text[at : span.start], "{…}"]
        at = span.end
    return "".join([*kept, text[at:]])
