"""The typed ends: the control object of plan steps (seed 000), and the final answer of a run."""

import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from pydantic import ConfigDict, Field, StrictStr, ValidationError, ValidationInfo, field_validator

from ahp.runner.validation import Lean
from ahp.runner.words import markup

ControlKind = Literal["step_done", "replan"]
Via = Literal["envelope", "tool", "legacy"]
CONTROL_TOOL = "control"  # the envelope as a tool, for models that have tools
FINAL_TOOL = "final_answer"  # ends the run

# The written forms that models used before the envelope, without case, spaces, hyphens and underscores.
_OLD_STRINGS: dict[str, ControlKind] = {
    "stepdone": "step_done",
    "步骤完成": "step_done",
    "replan": "replan",
    "重新规划": "replan",
    "需要重规划": "replan",
}
_OLD_LINE_LENGTH = 40
_SHORTEST = min(map(len, _OLD_STRINGS))
_PUNCTUATION = ".!;\u3002\uff0e\uff01\uff1b\u2026"  # with their full-width forms, and an ellipsis
_JOINTS = str.maketrans("", "", " _-")
# An envelope however it is written: with any quotes or none, as XML or YAML, nested, escaped, cut off.
_SIGNAL = re.compile(
    r"<?(?<!\w)control\W{0,9}[:=>]\W{0,9}(?:control\W{1,12})?(?:step[ _-]?done|replan)(?!\w)(?:\W{0,9}/control>)?",
    re.IGNORECASE,
)
_MOST = 1_000  # signals of one text
_QUOTES = str.maketrans("", "", "\"'\\“”‘’")
_KEYS = ("tool", "control", "respond")


class ControlEnvelope(Lean):
    """The one JSON object of the control channel: `{"control": "step_done"}` (seed 000 §2.2)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    control: ControlKind = Field(description="step_done: it is finished; replan: the plan must change")
    reason: StrictStr | None = Field(default=None, description="why, or what later steps have to know")


class FinalAnswer(Lean):
    """The answer of a run as a call of `final_answer`: `changed` is what it claims."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str = Field(min_length=1)
    changed: list[str] | None = Field(
        default=[],
        description="files you changed; null: no change was asked for",
    )
    unsure: str = ""

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip(" \t\r\n.…"):  # as the form that a model is shown has it
            raise ValueError("it has to be the answer, in words")
        return text

    @field_validator("changed", "unsure", mode="before")
    @classmethod
    def _as_models_write_it(cls, value: object, info: ValidationInfo) -> object:
        if info.field_name == "changed":
            return [value] if isinstance(value, str) else value
        return "; ".join(map(str, value)) if isinstance(value, list) else value or ""


@dataclass(frozen=True)
class Reading:
    """A control signal and how it was given: an envelope, the tool, or an old string."""

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
        value = markup.load_object(text)
        return None if "tool" in value else ControlEnvelope.model_validate(value)
    except (ValueError, ValidationError):
        return None


def find_signals(text: str) -> list[tuple[int, int]]:
    """Where control signals stand in a text, also such as cannot be read; of absurdly many the first ones."""
    return [found.span() for found in islice(_SIGNAL.finditer(text), _MOST)] if "control" in text.lower() else []


def begun(written: str, closed: bool) -> str | None:
    """The key of the protocol with which an object that cannot be read begins, in any quotes; it may be cut off."""
    plain = "".join(written[:200].translate(_QUOTES).split())
    cut = (key for key in _KEYS if not closed and f"{{{key}:".startswith(plain))
    return next((key for key in _KEYS if plain.startswith(f"{{{key}:")), next(cut, None))


def folded(text: str) -> str:
    """The text as it reads: full-width letters, HTML's entities and marks that nobody sees made plain."""
    plain = unicodedata.normalize("NFKC", html.unescape(text))
    return "".join(one for one in plain if unicodedata.category(one) != "Cf")


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
