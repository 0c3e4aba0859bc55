"""Text from outside on its way into pydantic models: YAML with places, errors as sentences."""

from typing import Any

from pydantic import ValidationError

from ahp.system import yamltree

_MOST = 10


def sentences(error: ValidationError, whole: str = "") -> list[str]:
    """What was wrong, one sentence a field; `whole` names the value when it is wrong as a whole."""
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False)[:_MOST]:
        where = ".".join(str(part) for part in item["loc"]) or whole
        said = item["msg"].removeprefix("Value error, ")[:500]
        found.append(f"{where}: {said}" if where else said)
    return found


def load_yaml(data: bytes, name: str, limit: int) -> Any:
    """The value of the YAML or JSON file `name`, of at most `limit` bytes. Raises AhpError with every place."""
    node = yamltree.read(yamltree.decode(data, name, limit), name)
    return None if node is None else node.plain()
