"""The JSON Schema of hooks.yaml for editors, made from the models (`ahp policy schema`)."""

from typing import Any

from ahp.policy.models import HooksFile
from ahp.protocol.triggers import TRIGGERS


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a policy file, with the triggers by name and a description for every key."""
    made: dict[str, Any] = HooksFile.model_json_schema(by_alias=True)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "ahp policy: hooks.yaml"
    names = list(TRIGGERS)
    made["properties"]["hooks"]["propertyNames"] = {"enum": names}
    hook = made["properties"]["hooks"].pop("additionalProperties")
    oracles = made["$defs"]["HookKeys"]["properties"]["oracles"]
    made["properties"]["hooks"]["additionalProperties"] = {"anyOf": [hook, {k: oracles[k] for k in ("type", "items")}]}
    trigger = {"enum": names}
    at = made["$defs"]["ShortRule"]["properties"]["at"]
    at["anyOf"] = [trigger, {"type": "array", "items": trigger, "minItems": 1}]
    for name in ("ShortRule", "LongRule"):
        suggestions = made["$defs"][name]["properties"]["suggestions"]
        suggestions["items"] = _or_text(suggestions["items"])
    extract = made["$defs"]["Command"]["properties"]["extract"]
    extract["additionalProperties"] = _or_text(extract["additionalProperties"])
    return made


def _or_text(entry: dict[str, Any]) -> dict[str, Any]:
    """Where a plain text is read, too; the model's schema knows only the mapping it becomes."""
    return {"anyOf": [{"type": "string"}, entry]}
