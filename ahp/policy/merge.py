"""Files to one merged policy: rules meet by id, fields replace, each field remembers where it came from (design §4)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ahp.policy.meant import no_trigger
from ahp.policy.models import HookKeys, HooksFile, Oracle, ShortRule
from ahp.policy.problems import Problem
from ahp.policy.raw import Field, Fields, HookDraft, OracleDraft, RawPolicy, RuleDraft
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
    for name, value in model.limits.items():
        policy.every_limit.setdefault(name, []).append(at.field(value, "limits", name))
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
