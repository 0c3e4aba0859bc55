"""What the models of the policy file are made of: the base of its mappings, and its kinds of value in the spellings
people use (design §4).
"""

import re
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

Scalar = str | int | float | bool | None

Intensity = Literal["block", "control", "prompt", "aid", "allow"]
Severity = Literal["low", "medium", "high"]
OnMissing = Literal["prompt", "block", "skip"]

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]{1,9})\s*(ms|s|m|h|d)\Z")
_COMPARISON = re.compile(r"\s*(==|!=|<=|>=|<|>|not\s+in\b|in\b|is\b)")
FACT_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")


class Keys(BaseModel):
    """A mapping of the policy file: unknown keys are refused, nothing is converted silently."""

    # The texts under the keys are their documentation; `jsonschema` reads them when it is asked for, for pydantic would
    # parse every module anew each time that a policy is compiled.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _remember(cls, data: object, info: ValidationInfo) -> object:
        # so that the error for an unknown key can name the nearest key of this very mapping
        if isinstance(info.context, dict):
            info.context[id(data)] = cls
        return data


def seconds(value: object) -> float:
    """Seconds of `20s`, `5m`, `12h`, `14d`, `500ms`. Raises ValueError for anything else."""
    found = _DURATION.match(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a duration is a number with a unit: 500ms, 20s, 5m, 12h or 14d")
    return int(found.group(1)) * _SECONDS[found.group(2)]


def duration(seconds: float) -> str:
    """The text that `seconds` reads as these seconds, in the largest unit that fits: `14d`, `90s`."""
    unit = max((unit for unit in _SECONDS if not seconds % _SECONDS[unit]), key=_SECONDS.__getitem__, default="ms")
    return f"{round(seconds / _SECONDS[unit])}{unit}"


def as_list(value: object) -> object:
    """One text as a list of one; anything else unchanged."""
    return [value] if isinstance(value, str) else value


def alone(key: str, **more: str) -> Callable[[object], object]:
    """Reads one text as the mapping that has it under a key; anything else unchanged."""
    return lambda value: {key: value, **more} if isinstance(value, str) else value


def filter_text(value: object) -> object:
    """`when` as one condition: the mapping form becomes its entries joined by `and`.

    A list means `in`, a text beginning with a comparison is one, every other value means equality.
    Raises ValueError for a key that is no fact path or a value that is neither scalar nor list of scalars.
    """
    if not isinstance(value, dict):
        return value
    if not value:
        raise ValueError("an empty mapping filters nothing; remove `when`")
    return " and ".join(_entry(path, wanted) for path, wanted in value.items())


def _entry(path: str, wanted: object) -> str:
    if not FACT_PATH.match(path):
        raise ValueError(f"{path[:60]!r} is no fact path; write it like `issue.type`")
    if isinstance(wanted, str) and _COMPARISON.match(wanted):
        return f"({path} {wanted.strip()})"
    if isinstance(wanted, list):
        return f"{path} in [{', '.join(_literal(path, item) for item in wanted)}]"
    return f"{path} is None" if wanted is None else f"{path} == {_literal(path, wanted)}"


def _literal(path: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return repr(value)
    raise ValueError(f"the values of `{path}` are texts, numbers, true or false")


Duration = Annotated[
    float,
    BeforeValidator(
        seconds,
        json_schema_input_type=Annotated[str, Field(pattern="^[0-9]+ *(ms|s|m|h|d)$", examples=["20s", "14d"])],
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$")]
Text = Annotated[str, Field(min_length=1, max_length=4096)]
Condition = Annotated[str, Field(min_length=1, max_length=4096)]
Texts = Annotated[list[Text], BeforeValidator(as_list, json_schema_input_type=str | list[str])]
Filter = Annotated[
    Condition, BeforeValidator(filter_text, json_schema_input_type=str | dict[str, Scalar | list[Scalar]])
]
_Levels = dict[str, Intensity]
_WithDefault = Annotated[_Levels, Field(json_schema_extra={"required": ["default"]})]
Intensities = Annotated[_Levels, BeforeValidator(alone("default"), json_schema_input_type=Intensity | _WithDefault)]
