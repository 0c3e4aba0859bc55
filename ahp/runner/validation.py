"""Text from outside on its way into pydantic models: YAML with places, errors as sentences."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ahp.conditions.spelling import nearest
from ahp.system import yamltree
from ahp.system.yamltree import Fault, Node, Place

_MOST = 10
_FOR_VALIDATION = ("description", "additionalProperties")
_LIMITS = ("minLength", "maxLength", "minimum", "minItems")


class Lean(BaseModel):
    """A model whose JSON schema says what a language model reads with every request, and nothing more.

    Its own documentation, its limits, and the null and empty values of what may be left out are for validation.
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        told = handler.resolve_ref_schema(schema)
        for name in _FOR_VALIDATION:
            told.pop(name, None)
        for name, value in told.get("properties", {}).items():
            if value.get("default", ...) is None:
                value |= next(one for one in value.pop("anyOf") if one != {"type": "null"})
            if not value.get("default", ...):
                del value["default"]
            told["properties"][name] = {key: one for key, one in value.items() if key not in _LIMITS}
        return schema


def sentences(error: ValidationError, whole: str = "", known: Iterable[str] = ()) -> list[str]:
    """What was wrong, one sentence a field; `whole` names the value when it is wrong as a whole.

    `known` are the names at the top, of which one may be meant by a name that is none.
    """
    known = tuple(known)
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False)[:_MOST]:
        where = ".".join(str(part) for part in item["loc"]) or whole
        said = item["msg"].removeprefix("Value error, ")[:500]
        if item["type"] == "extra_forbidden":
            said = _unknown(where, known) if len(item["loc"]) == 1 else "no such name"
        found.append(f"{where}: {said}" if where else said)
    return found


def faults(error: ValidationError, node: Node | None, name: str, known: Iterable[str] = ()) -> list[Fault]:
    """What was wrong with the file `name`, whose tree is `node`, each at its place; `known` as of `sentences`."""
    found = []
    for item, said in zip(error.errors(include_url=False), sentences(error, "the file", known), strict=False):
        path = tuple(part for part in item["loc"] if isinstance(part, str | int))
        place = Place(name)
        if node is not None:
            place = node.key_place(path) if item["type"] == "extra_forbidden" else node.at(path).place
        found.append(Fault(place, said))
    return found


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = nearest(name, known)
    meant = f"; did you mean {near}?" if near else f"; there are {', '.join(known)}" if len(known) <= _MOST else ""
    return f"no such name{meant}"


def load_yaml(data: bytes, name: str, limit: int) -> Any:
    """The value of the YAML or JSON file `name`, of at most `limit` bytes. Raises AhpError with every place."""
    node = tree(data, name, limit)
    return None if node is None else node.plain()


def tree(data: bytes, name: str, limit: int) -> Node | None:
    """The tree of such a file, None where it is empty. Raises AhpError with every place."""
    return yamltree.read(yamltree.decode(data, name, limit), name)
