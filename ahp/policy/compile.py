"""Checked policy to programs: one a trigger, in two halves of plain data (design §2, §4)."""

import os
from typing import Any

from ahp import __version__
from ahp.conditions.typecheck import Checked
from ahp.facts import registry
from ahp.policy import cache, layers, store
from ahp.policy.cache import FORMAT, Program
from ahp.policy.raw import RawPolicy
from ahp.policy.rule import Policy, Rule, rule_digest
from ahp.policy.sources import FileSource, Watched
from ahp.protocol.event import Event
from ahp.protocol.triggers import TRIGGERS
from ahp.system import jsontext
from ahp.system.digest import tagged


def program_for(event: Event) -> Program:
    """Compiles the policy that judges `event`, stores it, and gives its program. Raises PolicyError."""
    return program(event.root, event.journal, event.trigger, event.user_policy)


def program(root: str, folder: str, trigger: str, user: str = "") -> Program:
    """Compiles the policy of the work tree at `root`, stores all its programs, and gives that of `trigger`.

    Parameters as in `cache.find`. Raises PolicyError with every problem of the policy.
    """
    return build(root, folder, user)[1][trigger]


def build(root: str, folder: str, user: str = "") -> tuple[Policy, dict[str, Program]]:
    """The checked policy of the work tree at `root` and its programs by trigger, which are stored in `folder`.

    Raises PolicyError.
    """
    source = FileSource(root, user)
    policy = layers.load(source)
    home = cache.place(root, folder, source.contents)
    made = programs(policy, root, source.watched, home, user)
    store.write(list(made.values()))
    return policy, made


def programs(
    policy: Policy, root: str = "", watched: list[Watched] | None = None, home: str = "", user: str = ""
) -> dict[str, Program]:
    """A program for every trigger, in memory; `watched` is what they depend on, `home` where they will be stored."""
    halves = {trigger: _halves(policy, trigger) for trigger in TRIGGERS}
    mode, settings = policy.raw.setting("mode", "enforce"), _settings(policy)
    common = {
        "format": FORMAT,
        "ahp": __version__,
        "policy": tagged(jsontext.encode([mode, settings, halves]).encode()),
        "root": root,
        "user": user,
        "sources": [list(pair) for pair in dict(watched or []).items()],
        "mode": mode,
        "settings": settings,
        "triggers": [trigger for trigger, (light, _) in halves.items() if light["rules"]],
    }
    made = {}
    for trigger, (light, answers) in halves.items():
        head = {"trigger": trigger, **{name: common[name] for name in ("format", "ahp", "policy")}}
        made[trigger] = Program({**common, **light}, os.path.join(home, trigger), {**head, **answers})
    return made


def _halves(policy: Policy, trigger: str) -> tuple[dict[str, Any], dict[str, Any]]:
    rules = policy.at(trigger)
    return _light(policy, trigger, rules), _answers(policy, rules)


def _settings(policy: Policy) -> dict[str, Any]:
    raw = policy.raw
    return {
        "limits": policy.limits(),
        "env_allow": list(policy.env_names),
        "timezone": raw.setting("timezone"),
        "reports": {name: field.value for name, field in raw.reports.items()},
        "commands": {name: field.value.model_dump() for name, field in raw.facts.items()},
        "environment": [[name, checked.plan] for name, checked in policy.environment],
        "approvers": raw.setting("approvers"),
    }


def _light(policy: Policy, trigger: str, rules: list[Rule]) -> dict[str, Any]:
    whens: list[Checked] = []
    entries = []
    late = set(policy.raw.facts)
    if TRIGGERS[trigger].family == "tool-use":
        late |= {name for name, one in registry.declared().items() if one.costly}
    for rule in rules:
        index = -1
        if rule.when is not None:
            index = next((i for i, known in enumerate(whens) if known.plan == rule.when.plan), len(whens))
            whens += [rule.when] if index == len(whens) else []
        each = [rule.each.var, rule.each.plan] if rule.each is not None else None
        entries.append(
            {
                "key": rule.key,
                "plan": rule.condition.plan,
                "each": each,
                "when": index,
                "costly": bool(late & {path.partition(".")[0] for path in rule.reads}),
            }
        )
    slots = sorted({path for rule in rules for path in rule.reads})
    reads = registry.by_namespace(slots)
    return {
        "trigger": trigger,
        "slots": slots,
        "reads": reads,
        "whens": [checked.plan for checked in whens],
        "rules": entries,
        "costly": sorted(late & reads.keys()),
        "escalates": policy.raw.setting("escalation") is not None and any(rule.escalates for rule in rules),
    }


def _answers(policy: Policy, rules: list[Rule]) -> dict[str, Any]:
    escalation = policy.raw.setting("escalation")
    return {
        "rules": {rule.key: _answer(policy, rule) for rule in rules},
        "escalation": None if escalation is None else escalation.model_dump(),
        "notes": _notes(policy.raw),
    }


def _notes(raw: RawPolicy) -> list[str]:
    return ["mode: observe — signals are logged, none is enforced"] if raw.setting("mode") == "observe" else []


def _answer(policy: Policy, rule: Rule) -> dict[str, Any]:
    raw, action = rule.raw, rule.raw.get("action")
    finding = raw.get("finding")
    reversible = raw.get("reversible")
    return {
        "rule": raw.id,
        "oracle": raw.oracle,
        "type": rule.type,
        "priority": rule.priority,
        "intensity": rule.intensity,
        "message": raw.get("message"),
        "severity": raw.get("severity", "medium"),
        "suggestions": [suggestion.model_dump() for suggestion in raw.get("suggestions", [])],
        "resolution": list(raw.get("resolution", [])),
        "resolvable": raw.get("resolvable", True),
        "reversible": (action is None or action.type != "run") if reversible is None else reversible,
        "continue_allowed": raw.get("continue_allowed", True),
        "action": None if action is None else action.model_dump(by_alias=True),
        "on_missing": rule.on_missing,
        "escalate": rule.escalates,
        "shadow": rule.shadow,
        "locked": rule.locked,
        "overridable": rule.overridable,
        "refines": policy.refines.get((rule.trigger, rule.key), {}),
        "ci": raw.get("ci", "each"),
        "redact": raw.get("redact", False),
        "finding": None if finding is None else finding.model_dump(),
        "ask": raw.get("ask", False),
        "condition": rule.condition.text,
        "each": rule.each.text if rule.each is not None else None,
        "when": rule.when.text if rule.when is not None else None,
        "reads": sorted(rule.reads),
        "shows": sorted(rule.shows),
        "position": str(raw.where("condition")),
        "layer": rule.layer,
        "digest": rule_digest(rule, policy),
    }
