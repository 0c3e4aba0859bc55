"""What reply each scene of a run wants, for models that can be held to a form (seed 004 §5.2)."""

from collections.abc import Iterable, Mapping
from typing import Any

from ahp.runner.models.model import ToolDefinition, Want
from ahp.runner.tools.tool import Tool
from ahp.runner.words.plan import ID_LENGTH

_WORDS = Want("words")
_TEXT = {"type": "string"}


class Wants:
    """The wants of one run by scene: planning, step, react; every other scene wants words."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        definitions = tuple(definition(tool) for tool in tools)
        self._by_scene = {
            "planning": Want("plan", schema=_PLAN),
            "step": Want("action", definitions, _step(definitions)),
            # Without a schema: the final answer of a task without plan is words.
            "react": Want("action", definitions),
        }

    def of(self, scene: str) -> Want:
        """What is wanted in a scene."""
        return self._by_scene.get(scene, _WORDS)


def definition(tool: Tool) -> ToolDefinition:
    """A tool as a model is told of it."""
    return ToolDefinition(tool.name, " ".join(tool.description.split()), tool.args.model_json_schema())


def _step(tools: tuple[ToolDefinition, ...]) -> dict[str, Any]:
    """One call, one control object, or one answer to the gate."""
    forms = [_object(tool={"const": tool.name}, args=_inlined(tool.parameters)) for tool in tools]
    forms.append(_object(control={"const": "step_done"}))
    forms.append(_object(control={"const": "step_done"}, reason=_TEXT))
    forms.append(_object(control={"const": "replan"}, reason=_TEXT))
    forms.append(_object(respond=_TEXT, action=_TEXT, reason=_TEXT))
    return {"anyOf": forms}


def _inlined(schema: Mapping[str, Any]) -> Any:
    """A schema whose references to its own definitions are written out: they would point elsewhere in a larger one.

    What refers to itself becomes any value; the tool's own validation still holds.
    """
    known = schema.get("$defs", {})

    def plain(value: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [plain(item, inside) for item in value]
        if not isinstance(value, Mapping):
            return value
        name = str(value.get("$ref", "")).removeprefix("#/$defs/")
        if "$ref" in value:
            return {} if name in inside or name not in known else plain(known[name], (*inside, name))
        return {key: plain(item, inside) for key, item in value.items() if key != "$defs"}

    return plain(schema, ())


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_NAMES = {"type": "array", "items": _TEXT}
_PLAN_STEP = _object(
    id={"type": "string", "minLength": 1, "maxLength": ID_LENGTH},
    description={"type": "string", "minLength": 1},
    dependencies=_NAMES,
    tools_expected=_NAMES,
)
_PLAN = _object(title=_TEXT, steps={"type": "array", "items": _PLAN_STEP, "minItems": 1}, verification_policy=_TEXT)
