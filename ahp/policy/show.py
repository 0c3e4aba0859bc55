"""The merged policy, with the layer that each part of it comes from (`ahp policy show`)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import yaml

from ahp.policy.model_types import duration
from ahp.policy.raw import Field
from ahp.policy.rule import Policy, Rule, rule_digest
from ahp.protocol.triggers import TRIGGERS

_SECTIONS = ("limits", "conditions", "environment", "facts", "reports")
_SHOWN = 160  # characters of a value
_DURATIONS = ("forget_after", "timeout")
_ONE_LINE: Any = {"width": float("inf"), "sort_keys": False, "allow_unicode": True}


def describe(policy: Policy, waivers: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The policy as plain data: files in the order they apply, settings and rules with their layers.

    Each rule has trigger, rule, level, condition, layer, position, digest, the keys that were given with their layers,
    `refines`, `softened_by`, and the waivers of `waivers` (`{rule, subject, reason, approver, expires}`) that name it.
    """
    waived = list(waivers)
    raw = policy.raw
    named = {name: getattr(raw, name) for name in _SECTIONS}
    return {
        "files": list(raw.files),
        "settings": {name: _field(field) for name, field in raw.settings.items()},
        **{section: {name: _field(field) for name, field in fields.items()} for section, fields in named.items()},
        "env_allow": list(policy.env_names),
        "rules": [_rule(policy, rule, waived) for trigger in TRIGGERS for rule in _ordered(policy, trigger)],
    }


def _ordered(policy: Policy, trigger: str) -> list[Rule]:
    return sorted((rule for rule in policy.rules if rule.trigger == trigger), key=lambda rule: rule.priority)


def _field(field: Field) -> dict[str, Any]:
    return {"value": _plain(field.value), "layer": field.layer, "position": str(field.key_place)}


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True, exclude_none=True)
    if isinstance(value, dict):
        return {name: part.value if isinstance(part, Field) else part for name, part in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _rule(policy: Policy, rule: Rule, waivers: list[Mapping[str, Any]]) -> dict[str, Any]:
    given = {**rule.raw.oracle_fields, **rule.raw.fields}
    return {
        "trigger": rule.trigger,
        "rule": rule.key,
        "level": rule.intensity["default"] if len(rule.intensity) == 1 else dict(rule.intensity),
        "condition": rule.condition.text,
        "each": rule.each.text if rule.each else None,
        "when": rule.when.text if rule.when else None,
        "layer": rule.raw.layer,
        "position": str(rule.place),
        "digest": rule_digest(rule, policy),
        "enabled": rule.enabled,
        "keys": {name: _field(field) for name, field in given.items()},
        "refines": policy.refines.get((rule.trigger, rule.key), {}),
        "softened_by": [
            softening.weaker
            for softening in policy.softened
            if (softening.trigger, softening.stronger) == (rule.trigger, rule.key)
        ],
        "waived": [dict(waiver) for waiver in waivers if waiver.get("rule") == rule.key],
    }


def sections(described: Mapping[str, Any], whole: bool = False) -> list[tuple[str, Sequence[Sequence[str]]]]:
    """`describe` as tables for people, each with its heading: files and settings, then the rules of each trigger.

    Only the `whole` has digests, and values of any length.
    """
    files = "# " + (", then ".join(described["files"]) or "no policy file")
    settings = [
        (name if section == "settings" else f"{section}.{name}", f"{_shown(entry['value'], whole)}  [{entry['layer']}]")
        for section in ("settings", *_SECTIONS)
        for name, entry in described[section].items()
    ]
    triggers = groupby(described["rules"], lambda rule: str(rule["trigger"]))
    return [(files, settings), *[(trigger, [_rule_row(rule, whole) for rule in rules]) for trigger, rules in triggers]]


def _shown(value: Any, whole: bool) -> str:
    """A value as a policy file has it, on one line."""
    if isinstance(value, dict):
        value = {name: duration(one) if name in _DURATIONS else one for name, one in value.items()}
    text = value if isinstance(value, str) else yaml.safe_dump(value, default_flow_style=True, **_ONE_LINE)
    text = text.removesuffix("\n").removesuffix("\n...")
    return text if whole or len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def _rule_row(rule: Mapping[str, Any], whole: bool) -> tuple[str, ...]:
    level = rule["level"]
    level = level if isinstance(level, str) else ", ".join(f"{name}: {word}" for name, word in level.items())
    changed = {entry["layer"] for entry in rule["keys"].values()} - {rule["layer"]}
    layer = rule["layer"] + "".join(f", changed by {name}" for name in sorted(changed))
    flags = [name for name in ("shadow", "locked") if rule["keys"].get(name, {}).get("value")]
    flags += [] if rule["enabled"] else ["not enabled"]
    said = [f"each {rule['each']}"] if rule["each"] else []
    said.append(f"if {rule['condition']}")
    said += [f"when {rule['when']}"] if rule["when"] else []
    said += [f"refines {key}: {why}" for key, why in rule["refines"].items()]
    said += [f"softened by {key}" for key in rule["softened_by"]]
    said += [f"waived for {w.get('subject')} until {w.get('expires')}" for w in rule["waived"]]
    said.append(f"[{layer}]" + (f" ({', '.join(flags)})" if flags else ""))
    said[-1] += f" {rule['digest']}" if whole else ""
    return rule["rule"], level, "\n".join(said)
