"""The control protocol of plan steps (seed 000): how a model says "this step is done" or "the plan must change"."""

import logging
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from ahp.runner.words import actions, chat_template, fences, strict_json

ControlKind = Literal["step_done", "replan"]
Via = Literal["envelope", "fenced", "repeated", "legacy"]
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
_SAID = {"fenced": "control object in a fence", "repeated": "repeated control object", "legacy": "old control string"}
# An envelope that cannot be read: single quotes, none, or no end.
_BROKEN = re.compile(r"""\{\s*["']?control["']?\s*:\s*["']?(?:step_?done|replan)""", re.IGNORECASE)
_OLD_LINE_LENGTH = 40
_SHORTEST = min(map(len, _OLD_STRINGS))
_PUNCTUATION = ".!;\u3002\uff0e\uff01\uff1b\u2026"  # with their full-width forms, and an ellipsis
_JOINTS = str.maketrans("", "", " _-")
_HINT = re.compile(r"step|plan|步骤|规划", re.IGNORECASE)
_CODE_INDENT = ("    ", "\t")


class ControlEnvelope(BaseModel):
    """The one JSON object of the control channel: `{"control": "step_done"}` (seed 000 §2.2)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    control: ControlKind = Field(description="step_done: the step is finished; replan: the plan must change")
    reason: StrictStr | None = Field(default=None, description="why, for whoever reads the events")


@dataclass(frozen=True)
class Reading:
    """A control signal and how it was given: as an envelope, one in a fence, a repeated one, or an old string."""

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

    An envelope first; then one envelope in a fence, or the same one over and over, as models write it that mean it;
    a reply that calls a tool is none; then the old strings. All but the first are logged as a warning, so that prompts
    and models move to the envelope (seed 000 §2.1).
    """
    envelope = try_parse_control_envelope(text)
    if envelope is not None:
        return Reading(envelope.control, envelope.reason, "envelope")
    if not isinstance(text, str) or not _HINT.search(text):
        return None
    shown = chat_template.spoken(text)
    reading = _nearly_alone(shown)
    if reading is None and not actions.find(shown):
        kind = _old_signal(shown)
        reading = None if kind is None else Reading(kind, None, "legacy")
    if reading is not None:
        _log.warning(
            '%s for %s; the protocol is {"control": "%s"}', _SAID[reading.via], reading.control, reading.control
        )
    return reading


def fault_of(text: str) -> str | None:
    """Why a reply that holds a control object is no signal, as a sentence for the model; None when it holds none."""
    spans = list(strict_json.spans(text))
    written = [text[span.start : span.end] for span in spans]
    envelopes = [envelope for one in written if (envelope := try_parse_control_envelope(one)) is not None]
    if len({envelope.control for envelope in envelopes}) > 1:
        return "Your reply holds different control objects. Send only the one that you mean."
    if envelopes:
        return "There is other text beside the control object. Send the object alone, with nothing before or behind it."
    if any(_nearly(one) for one in written):
        return "That is nearly a control object, but not as it has to be written."
    return None


def _nearly(written: str) -> bool:
    try:
        return is_control_object(strict_json.load_object(written))
    except ValueError:
        return _BROKEN.match(written) is not None


def _nearly_alone(text: str) -> Reading | None:
    """The envelope that a text is when its fence lines are taken away, once or several times alike."""
    bare = fences.without_marks(text).strip()
    if not (bare.startswith("{") and bare.endswith("}")):
        return None
    found = []
    at = 0
    for span in strict_json.spans(bare):
        envelope = try_parse_control_envelope(bare[span.start : span.end])
        if envelope is None or bare[at : span.start].strip():
            return None
        found.append(envelope)
        at = span.end
    if not found or bare[at:].strip() or any(one != found[0] for one in found):
        return None
    return Reading(found[0].control, found[0].reason, "repeated" if len(found) > 1 else "fenced")


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
    """The one signal on the first or the last line; two different ones, envelopes included, are none.

    Anywhere else, in code, behind a colon, or in what a tool gave back, the words are only spoken of.
    """
    kinds: set[ControlKind] = set()
    lines = [line for line in fences.lines(_without_objects(text.strip(), kinds)) if line.text.strip()]
    if not lines:
        return None
    ends = {0: "", len(lines) - 1: lines[-2].text if len(lines) > 1 else ""}
    found = [
        kind
        for at, before in ends.items()
        if not (lines[at].code or lines[at].text.startswith(_CODE_INDENT) or before.rstrip().endswith((":", "：")))
        and (kind := old_string(lines[at].text)) is not None
    ]
    kinds.update(found)
    return kinds.pop() if found and len(kinds) == 1 else None


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
