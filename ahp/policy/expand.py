"""Merged files to single rules: the short form becomes the protocol's, and each rule stands at each of its triggers."""

from ahp.policy import sources
from ahp.policy.meant import no_trigger
from ahp.policy.models import OracleKeys, ShortRule, SuggestionKeys
from ahp.policy.problems import Problem, closest
from ahp.policy.raw import Field, Fields, OracleDraft, RawPolicy, RawRule, RuleDraft
from ahp.protocol.triggers import TRIGGERS

LEVELS = ShortRule.LEVELS
_ORACLE_KEYS = tuple(OracleKeys.model_fields)


def expand(policy: RawPolicy) -> tuple[list[RawRule], list[Problem]]:
    """Every rule at every trigger, and what is missing from them. Short rules become oracles of one rule a trigger."""
    rules: list[RawRule] = []
    problems: list[Problem] = []
    for trigger, hook in policy.hooks.items():
        for oracle in hook.oracles.values():
            given = (hook.when, oracle.fields.get("when"))
            filters = tuple(f for f in given if f is not None and f.value is not None)
            for position, draft in enumerate(oracle.rules, 1):
                rules.append(_long(trigger, oracle, draft, position, filters))
                problems += _incomplete(draft)
    for draft in policy.short.values():
        expanded, wrong = _short(draft, policy)
        rules += expanded
        problems += wrong
    return rules, problems + _duplicates(rules)


def _long(trigger: str, oracle: OracleDraft, draft: RuleDraft, position: int, filters: tuple[Field, ...]) -> RawRule:
    rule_id = draft.id or str(position)
    key = f"{oracle.name}/{rule_id}"
    return RawRule(trigger, oracle.name, rule_id, key, draft.fields, oracle.fields, filters, draft.layer, draft.place)


def _incomplete(draft: RuleDraft) -> list[Problem]:
    problems = []
    if _empty(draft, "condition"):
        problems.append(Problem(draft.place, "a rule needs a `condition`"))
    if _empty(draft, "intensity"):
        problems.append(Problem(draft.place, "a rule needs a level: `intensity: block`, control, prompt or aid"))
    if draft.id is None:
        for name in ("locked", "refines"):
            if name in draft.fields and draft.fields[name].value:
                problems.append(Problem(draft.fields[name].key_place, f"`{name}` needs the rule to have an `id`"))
    return problems


def _empty(draft: RuleDraft, name: str) -> bool:
    return name not in draft.fields or draft.fields[name].value is None


def _meant(draft: RuleDraft, policy: RawPolicy) -> str:
    """What to say of a rule with neither level nor triggers that is called almost like another one; "" if it is not."""
    whole = {id: other for id, other in policy.short.items() if other.fields.keys() & LEVELS and "at" in other.fields}
    if (name := next((name for name in sources.packs() if _has_rule(name, str(draft.id))), None)) is not None:
        return f"`{draft.id}` is a rule of pack {name}, which is not extended; write `extends: [{name}]`"
    if (id := closest(str(draft.id), whole)) is None:
        what = "`level` changes a rule of a pack or of an extended file, and none is called"
        mend = "a rule of your own has its condition at its level: `prompt: CONDITION`"
        return f"{what} `{str(draft.id)[:60]}`; {mend}" if "level" in draft.fields else ""
    return f"no rule is called `{str(draft.id)[:60]}`; did you mean `{id}` of {whole[id].layer}?"


def _has_rule(pack: str, rule: str) -> bool:
    """Whether a pack has a short rule of this id, as its text stands there."""
    found = sources.pack(pack)
    return found is not None and f"\n  {rule}:".encode() in found[1].partition(b"\nrules:")[2]


def _short(draft: RuleDraft, policy: RawPolicy) -> tuple[list[RawRule], list[Problem]]:
    fields, rule_id = draft.fields, str(draft.id)
    problems = []
    level = next((name for name in LEVELS if name in fields and fields[name].value is not None), None)
    if level is None and "at" not in fields and (meant := _meant(draft, policy)):
        return [], [Problem(draft.place, meant)]
    if level is None:
        what = f"the rule `{rule_id[:60]}` needs a level with its condition: `block:`, `control:`, `prompt:` or `aid:`"
        problems.append(Problem(draft.place, what))
    at = fields.get("at")
    if at is None or not at.value:
        example = "at: [pre-commit, pre-push]"
        problems.append(Problem(draft.place, f"the rule `{rule_id[:60]}` needs its triggers, as in `{example}`"))
    if level is None or at is None or not at.value:
        return [], problems
    rule_fields = {name: f for name, f in fields.items() if name not in (*_ORACLE_KEYS, *LEVELS, "at", "fix", "level")}
    condition = fields[level]
    rule_fields["condition"] = condition
    rule_fields["intensity"] = condition._replace(value={"default": level}, place=condition.key_place)
    if (other := fields.get("level")) is not None and other.value is not None:
        rule_fields["intensity"] = other._replace(value={"default": other.value})
    _feed_fix(rule_fields, fields.get("fix"))
    oracle_fields = {name: f for name, f in fields.items() if name in _ORACLE_KEYS}
    filters = (fields["when"],) if "when" in fields and fields["when"].value is not None else ()
    rules = []
    for trigger in dict.fromkeys(at.value):
        if trigger not in TRIGGERS:
            problems.append(Problem(at.place, *no_trigger(trigger)))
            continue
        rules.append(
            RawRule(trigger, rule_id, rule_id, rule_id, rule_fields, oracle_fields, filters, draft.layer, draft.place)
        )
    return rules, problems


def _feed_fix(rule_fields: Fields, fix: Field | None) -> None:
    """`fix` becomes suggestions and resolution, unless the rule gives these itself."""
    if fix is None:
        return
    rule_fields.setdefault("suggestions", fix._replace(value=[SuggestionKeys(description=step) for step in fix.value]))
    rule_fields.setdefault("resolution", fix)


def _duplicates(rules: list[RawRule]) -> list[Problem]:
    seen: dict[tuple[str, str], RawRule] = {}
    problems = []
    for rule in rules:
        other = seen.setdefault((rule.trigger, rule.key), rule)
        if other is not rule:
            what = f"the id `{rule.key[:60]}` is already taken at {rule.trigger} by {other.place}"
            problems.append(Problem(rule.place, what))
    return problems
