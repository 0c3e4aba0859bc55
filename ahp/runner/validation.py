"""Text from outside on its way into pydantic models: YAML with places, errors as sentences."""

from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from ahp.conditions.spelling import nearest
from ahp.system import yamltree

_MOST = 10


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


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = nearest(name, known)
    meant = f"; did you mean {near}?" if near else f"; there are {', '.join(known)}" if len(known) <= _MOST else ""
    return f"no such name{meant}"


def load_yaml(data: bytes, name: str, limit: int) -> Any:
    """The value of the YAML or JSON file `name`, of at most `limit` bytes. Raises AhpError with every place."""
    node = yamltree.read(yamltree.decode(data, name, limit), name)
    return None if node is None else node.plain()
