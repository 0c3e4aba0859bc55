"""A checked rule and a checked policy: what `validate` makes of text, and all that `compile` takes (design §4)."""

import re
from dataclasses import dataclass, field
from typing import Any

from ahp.conditions.typecheck import Checked, Each
from ahp.policy.control import OF_CALLS, BoxKeys
from ahp.policy.problems import Place, Problem
from ahp.policy.raw import RawPolicy, RawRule
from ahp.protocol.signals import strength
from ahp.protocol.triggers import TRIGGERS
from ahp.system import jsontext
from ahp.system.digest import tagged

_LIMIT = re.compile(r"""\blimits\s*(?:\.\s*|\[\s*['"])(\w+)""")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule at one trigger whose conditions are typed and whose texts name facts that exist.

    `intensity` maps environments and `default` to levels. `when` is all its filters as one condition, None without
    any. `shows` are the fact paths its texts name.
    """

    raw: RawRule
    condition: Checked
    each: Each | None
    when: Checked | None
    intensity: dict[str, str]
    shows: frozenset[str]

    @property
    def trigger(self) -> str:
        return self.raw.trigger

    @property
    def key(self) -> str:
        return self.raw.key

    @property
    def place(self) -> Place:
        return self.raw.place

    @property
    def layer(self) -> str:
        """The layer that its condition comes from."""
        return self.raw.fields["condition"].layer

    @property
    def type(self) -> str:
        return self.raw.of_oracle("type") or self.raw.oracle

    @property
    def priority(self) -> int:
        return int(self.raw.of_oracle("priority"))

    @property
    def always_blocks(self) -> bool:
        """Whether it blocks in every environment, so that it has no rung left to climb to."""
        return set(self.intensity.values()) == {"block"}

    @property
    def enabled(self) -> bool:
        return bool(self.raw.of_oracle("enabled"))

    @property
    def locked(self) -> bool:
        return bool(self.raw.get("locked"))

    @property
    def shadow(self) -> bool:
        return bool(self.raw.get("shadow"))

    @property
    def on_missing(self) -> str:
        """prompt, block or skip; post triggers have nothing to refuse any more and skip (design §4)."""
        if TRIGGERS[self.trigger].post:
            return "skip"
        return self.raw.get("on_missing") or ("block" if self.locked else "prompt")

    @property
    def overridable(self) -> bool:
        given = self.raw.get("overridable")
        return not self.locked if given is None else bool(given)

    @property
    def escalates(self) -> bool:
        """Whether its ignored signals climb: on tool triggers only when it says so (design §8.1)."""
        trigger = TRIGGERS[self.trigger]
        if trigger.post or self.is_boxing or not {"prompt", "control"} & set(self.intensity.values()):
            return False
        given = self.raw.get("escalate")
        if given is None:  # what a fixer has fixed nobody ignores
            is_fixed = getattr(self.raw.get("action"), "type", "") == "run" and "prompt" not in self.intensity.values()
            return trigger.family != "tool-use" and not is_fixed
        return bool(given)

    @property
    def is_boxing(self) -> bool:
        """Whether it says where a call runs, or what is saved before it: no signal, and no rung."""
        return getattr(self.raw.get("action"), "type", "") in OF_CALLS

    @property
    def otherwise(self) -> str:
        """What becomes of its calls where no box can start, or nothing can be saved."""
        return self.raw.get("otherwise") or "block"

    @property
    def cost(self) -> int:
        """Static cost in steps; a condition that is asked of every item counts as a loop of the language does."""
        return sum(one.cost for one in (self.condition, self.when, self.each) if one is not None)

    @property
    def reads(self) -> frozenset[str]:
        """Every fact path that its condition, list and filters read."""
        found = set(self.condition.reads)
        if self.each is not None:
            found |= self.each.reads
        if self.when is not None:
            found |= self.when.reads
        return frozenset(found)

    def level(self, environment: str) -> str:
        """Its level in an environment."""
        return self.intensity.get(environment, self.intensity["default"])

    def weakest(self) -> int:
        """Strength of its lowest level in any environment."""
        return min(strength(level) for level in self.intensity.values())


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy that was checked whole: every condition typed, every name known, bounds kept.

    `environment` are the names with their conditions in order; `env_names` the variables that may be read.
    `refines` maps (trigger, rule key) to the keys it speaks for and why. `advice` is what lint says.
    """

    raw: RawPolicy
    rules: tuple[Rule, ...]
    environment: tuple[tuple[str, Checked], ...]
    env_names: tuple[str, ...]
    refines: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    softened: tuple["Softening", ...] = ()
    advice: tuple[Problem, ...] = ()

    def at(self, trigger: str) -> list[Rule]:
        """The enabled rules of a trigger, by priority, then in the order of the files."""
        found = [rule for rule in self.rules if rule.trigger == trigger and rule.enabled]
        return sorted(found, key=lambda rule: rule.priority)

    def limits(self) -> dict[str, Any]:
        """The limits by name, plain."""
        return {name: found.value for name, found in self.raw.limits.items()}


@dataclass(frozen=True, slots=True)
class Softening:
    """A weaker rule that speaks for a stronger one when both match."""

    trigger: str
    weaker: str
    stronger: str
    why: str
    place: Place


def rule_digest(rule: Rule, policy: Policy) -> str:
    """`sha256:…` of what decides when and how strongly a rule speaks; waivers and overrides are bound to it.

    Its words are left out, as is the trigger: a rule that was reworded is the same rule.
    """
    named = sorted(path.partition(".")[2] for path in named_limits(rule))
    limits = {name: policy.raw.limits[name].value for name in named if name in policy.raw.limits}
    parts = [
        rule.key,
        rule.condition.text,
        rule.each.text if rule.each else None,
        rule.when.text if rule.when else None,
        dict(sorted(rule.intensity.items())),
        rule.on_missing,
        limits,
        _action(rule),
        *([box_of(rule, policy.raw), rule.otherwise] if rule.is_boxing else []),
    ]
    return tagged(jsontext.encode(parts).encode())


def named_limits(rule: Rule) -> set[str]:
    """Full paths of the limits that its conditions name; constants are folded away and read no fact."""
    return limits_in(rule.condition.text, rule.each.text if rule.each else "", rule.when.text if rule.when else "")


def limits_in(*texts: str) -> set[str]:
    """Full paths of the limits that conditions or templates name."""
    return {f"limits.{name}" for text in texts for name in _LIMIT.findall(text)}


def box_of(rule: Rule, raw: RawPolicy) -> dict[str, list[str]]:
    """The keys of the box that its calls run in: the policy's own, and what its action has beside them."""
    whole, own = raw.setting("box"), rule.raw.get("action")
    if own.type == "snapshot":
        return {}
    return {name: [*dict.fromkeys([*getattr(whole, name), *getattr(own, name)])] for name in BoxKeys.model_fields}


def _action(rule: Rule) -> Any:
    action = rule.raw.get("action")
    return None if action is None else action.model_dump(by_alias=True)
