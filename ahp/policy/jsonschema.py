"""The JSON Schema of hooks.yaml for editors, made from the models (`ahp policy schema`)."""

import ast
import inspect
from typing import Any

from ahp.policy import control, models
from ahp.policy.model_types import Keys
from ahp.policy.models import HooksFile
from ahp.protocol.triggers import TRIGGERS


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a policy file, with the triggers by name and a description for every key."""
    made: dict[str, Any] = HooksFile.model_json_schema(by_alias=True)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "ahp policy: hooks.yaml"
    for name, definition in [("HooksFile", made), *made["$defs"].items()]:
        _describe(definition, name)
    names = list(TRIGGERS)
    made["properties"]["hooks"]["propertyNames"] = {"enum": names}
    trigger = {"enum": names}
    at = made["$defs"]["ShortRule"]["properties"]["at"]
    at["anyOf"] = [trigger, {"type": "array", "items": trigger, "minItems": 1}]
    return made


def _describe(definition: dict[str, Any], name: str) -> None:
    """Adds to each property of the model `name` the text that stands under its field, the model's own or inherited."""
    known = {one.__name__: one for one in control.kinds()}
    model: type[Keys] = known.get(name) or getattr(models, name)
    texts: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, Keys) and one is not Keys:
            texts.update(_texts_of(one))
    for field, told in model.model_fields.items():
        # Of ahp's own models every field has its text; an action of another package may lack one.
        text = texts.get(field, "") if model in known.values() and model not in control.OWN else texts[field]
        definition["properties"][told.alias or field]["description"] = text


def _texts_of(model: type[Keys]) -> dict[str, str]:
    """Field → the text under it, of those that the model itself declares."""
    (parsed,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(parsed, ast.ClassDef)
    found = {}
    for field, text in zip(parsed.body, parsed.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            assert isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
            found[field.target.id] = inspect.cleandoc(text.value.value)
    return found
