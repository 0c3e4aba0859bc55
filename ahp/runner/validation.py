"""Text from outside on its way into pydantic models: YAML with places, errors as sentences."""

from typing import Any

import yaml
from pydantic import ValidationError

from ahp.system.errors import AhpError

_MOST = 10


def sentences(error: ValidationError, whole: str = "") -> list[str]:
    """What was wrong, one sentence a field; `whole` names the value when it is wrong as a whole."""
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False)[:_MOST]:
        where = ".".join(str(part) for part in item["loc"]) or whole
        said = item["msg"].removeprefix("Value error, ")[:500]
        found.append(f"{where}: {said}" if where else said)
    return found


def load_yaml(data: bytes, where: str) -> Any:
    """The value of one YAML or JSON text. Raises AhpError with line and column; a key written twice is an error."""
    try:
        return yaml.load(data, _UniqueKeys)  # noqa: S506  # a safe loader that also refuses duplicate keys
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise AhpError(f"{where}{place}: {getattr(error, 'problem', None) or error}") from None


class _UniqueKeys(yaml.SafeLoader):
    """Safe loading that does not choose in silence between two values of one key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key.value!r}", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)
