"""Facts taken out of a command's output (design §4): an expression of the condition language over `output`."""

import math

from ahp.conditions.evaluate import closure
from ahp.conditions.runtime import FAULTS, MISSING
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check_value
from ahp.facts.registry import Absent
from ahp.system.errors import AhpError

OUTPUT_TYPES = {
    "json": {"type": "any"},
    "lines": {"type": "list[str]"},
    "exit": {"type": "int"},
    "junit": {"type": "any"},
    "sarif": {"type": "any"},
}
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "list[str]": (list, tuple),
}
_EMPTY: dict[str, object] = {"int": 0, "float": 0.0, "bool": False, "str": "", "list[str]": []}
_LENGTH = 100_000


class ExtractError(AhpError):
    """An `extract` expression that is not in the language, or asks of the output what it cannot hold."""


def plan(expression: str, parse_as: str) -> object:
    """The plan of an expression over `output`, whose type follows from `parse:`. Raises ExtractError."""
    try:
        return check_value(expression, Schema({"output": OUTPUT_TYPES[parse_as]}))
    except ConditionError as error:
        raise ExtractError(f"`{expression[:200]}`: {error.problems[0].message}") from None


def value(built: object, kind: str, output: object) -> object:
    """The expression's value for one output, as a fact of type `kind`; Absent when the output does not hold it."""
    try:
        found = closure(built, {"output": 0})([output])
    except (*FAULTS, OverflowError, RecursionError):
        return Absent("the output does not hold it")
    if found is MISSING:
        return Absent("the output does not hold it")
    if kind == "int" and isinstance(found, float) and found.is_integer():
        found = int(found)
    if not isinstance(found, _KINDS[kind]) or (isinstance(found, bool) and kind != "bool"):
        return Absent(f"the output has a {type(found).__name__} there, not {kind}")
    if isinstance(found, list | tuple):
        if len(found) > _LENGTH or not all(isinstance(item, str) for item in found):
            return Absent("the output has no list of texts there")
        return list(found)
    if kind == "float" and isinstance(found, int | float):
        return _finite(found)
    return found


def _finite(number: "int | float") -> object:
    """A float that the log can hold: Python's JSON, and thus some tool's, also knows NaN and Infinity."""
    try:
        found = float(number)
    except OverflowError:
        found = math.inf
    return found if math.isfinite(found) else Absent("the output has no finite number there")


def empty(kind: str) -> object:
    """What a fact of type `kind` is when the command had nothing to look at."""
    return _EMPTY[kind]
