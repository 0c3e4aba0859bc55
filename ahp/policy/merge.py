"""Files to one merged policy: rules meet by id, fields replace, each field remembers where it came from (design §4).

Then each rule stands alone at each of its triggers, and the short form has become the protocol's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ahp.policy import sources
from ahp.policy.meant import no_trigger
from ahp.policy.models import HookKeys, HooksFile, Oracle, OracleKeys, ShortRule, SuggestionKeys
from ahp.policy.problems import Problem, closest
from ahp.policy.raw import Field, Fields, HookDraft, OracleDraft, RawPolicy, RawRule, RuleDraft
from ahp.policy.shape import RawFile
from ahp.protocol.triggers import TRIGGERS

_SETTINGS = ("mode", "timezone", "escalation", "authority", "software_keys", "box")
_NAMED_SETTINGS = ("limits", "conditions", "environment", "facts")


class _Fields:
    """Makes fields of one file."""

    def __init__(self, raw: RawFile) -> None:
        self.raw = raw

    def field(self, value: Any, *path: str | int) -> Field:
        raw = self.raw
        return Field(value, raw.key_place(*path), raw.text_place(*path), raw.layer)

    def given(self, model: Any, *path: str | int, leave: tuple[str, ...] = ()) -> Fields:
        names = [name for name in type(model).model_fields if name in model.model_fields_set and name not in leave]
        found = {name: self.field(getattr(model, name), *path, name) for name in names}
        if "let" in found:
            parts = {name: self.field(text, *path, "let", name) for name, text in model.let.items()}
            found["let"] = found["let"]._replace(value=parts)
        return found


def merge(policy: RawPolicy, raw: RawFile, adds_only: bool = False) -> list[Problem]:
    """Adds one file to `policy`, in place, and gives the problems that show only when files are merged.

    With `adds_only` what is already there stays as it is: a pack in a layer that may only tighten adds its rules, but
    does not put its own limits in the place of the project's.
    """
    at, model = _Fields(raw), raw.model
    policy.files.append(raw.name)
    if adds_only:
        model = _new_parts(policy, model)
    problems: list[Problem] = []
    _merge_settings(policy, at, model)
    for rule_id, rule in model.rules.items():
        fields = at.given(rule, "rules", rule_id)
        draft = policy.short.get(rule_id)
        if draft is None:
            place = raw.key_place("rules", rule_id)
            policy.short[rule_id] = RuleDraft(rule_id, fields, raw.layer, place)
        else:
            replaced = ShortRule.LEVELS if fields.keys() & ShortRule.LEVELS else ()
            kept = {name: value for name, value in draft.fields.items() if name not in replaced}
            policy.short[rule_id] = replace(draft, fields={**kept, **fields})
    for trigger, hook in model.hooks.items():
        problems += _merge_hook(policy, at, trigger, hook)
    return problems


def _new_parts(policy: RawPolicy, model: HooksFile) -> HooksFile:
    """The rules, limits, conditions, environments and facts of a file whose names are not taken yet."""
    known: dict[str, Mapping[str, object]] = {
        "limits": policy.limits,
        "conditions": policy.conditions,
        "environment": policy.environment,
        "facts": policy.facts,
        "rules": policy.short,
    }
    parts: dict[str, Any] = {"hooks": {}}
    for section, names in known.items():
        parts[section] = {name: value for name, value in getattr(model, section).items() if name not in names}
    for trigger, hook in model.hooks.items():
        taken = policy.hooks[trigger].oracles if trigger in policy.hooks else {}
        kept = [oracle for oracle in hook.oracles if oracle.name not in taken]
        parts["hooks"][trigger] = hook.model_copy(update={"oracles": kept})
    return HooksFile.model_construct(_fields_set=set(parts), **parts)


def _merge_settings(policy: RawPolicy, at: _Fields, model: HooksFile) -> None:
    given = at.given(model)
    policy.settings.update({name: given[name] for name in _SETTINGS if name in given})
    for section in _NAMED_SETTINGS:
        named: Fields = getattr(policy, section)
        named.update({name: at.field(value, section, name) for name, value in getattr(model, section).items()})
    policy.reports.update(at.given(model.reports, "reports"))
    for index, name in enumerate(model.env_allow):
        policy.env_allow.setdefault(name, at.field(name, "env_allow", index))


def _merge_hook(policy: RawPolicy, at: _Fields, trigger: str, hook: HookKeys) -> list[Problem]:
    problems = []
    if trigger not in TRIGGERS:
        place = at.raw.key_place("hooks", trigger)
        return [Problem(place, *no_trigger(trigger))]
    if hook.trigger is not None and hook.trigger != trigger:
        what = f"`trigger` says {hook.trigger[:60]}, but this stands under {trigger}; make them agree"
        problems.append(Problem(at.raw.place("hooks", trigger, "trigger"), what))
    draft = policy.hooks.setdefault(trigger, HookDraft())
    if hook.when is not None:
        draft.when = at.field(hook.when, "hooks", trigger, "when")
    plain_list = at.raw.node is not None and isinstance(at.raw.node.at(("hooks", trigger)).value, list)
    base: tuple[str | int, ...] = ("hooks", trigger) if plain_list else ("hooks", trigger, "oracles")
    names: set[str] = set()
    for index, oracle in enumerate(hook.oracles):
        if oracle.name in names:
            what = f"the oracle `{oracle.name}` is already given here; put its rules together"
            problems.append(Problem(at.raw.place(*base, index, "name"), what))
        names.add(oracle.name)
        problems += _merge_oracle(draft, at, oracle, (*base, index))
    return problems


def _merge_oracle(hook: HookDraft, at: _Fields, oracle: Oracle, path: tuple[str | int, ...]) -> list[Problem]:
    draft = hook.oracles.setdefault(oracle.name, OracleDraft(oracle.name, {}))
    draft.fields = {**draft.fields, **at.given(oracle, *path, leave=("name", "rules"))}
    earlier: dict[str | None, int] = {rule.id: number for number, rule in enumerate(draft.rules) if rule.id is not None}
    problems, seen = [], set()
    for index, rule in enumerate(oracle.rules):
        place = at.raw.place(*path, "rules", index)
        if rule.id is not None and rule.id in seen:
            problems.append(Problem(place, f"the rule `{rule.id}` is already given in this oracle"))
            continue
        seen.add(rule.id)
        fields = at.given(rule, *path, "rules", index, leave=("id",))
        number = earlier.get(rule.id)
        if number is None:
            draft.rules.append(RuleDraft(rule.id, fields, at.raw.layer, place))
        else:
            known = draft.rules[number]
            draft.rules[number] = replace(known, fields={**known.fields, **fields})
    return problems


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
