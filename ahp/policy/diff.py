"""What changed between two policies, and which way: stricter, weaker, both or unknown (design §4, §13).

Layers use it, too: a rule owns everything it reads, so a changed limit or environment is a change of the rule. They
compare by normal forms; where a change of the policy is judged or shown, a solver proves more (docs/proofs.md).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ahp.conditions import compare as conditions
from ahp.conditions.typecheck import Checked
from ahp.policy.models import Escalation
from ahp.policy.problems import Place, quoted
from ahp.policy.raw import Field, RawPolicy
from ahp.policy.refine import in_environment
from ahp.policy.rule import Policy, Rule, box_of, named_limits
from ahp.policy.vocabulary import DEVELOPMENT, Vocabulary
from ahp.protocol.signals import strength

if TYPE_CHECKING:
    from ahp.conditions.proofs import Comparison

STRONGER, EQUAL, WEAKER, UNKNOWN = "stronger", "equal", "weaker", "unknown"
INCOMPARABLE = "incomparable"  # some changes pass now, others are refused now


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a rule that differs: `verdict` is how strict the new one is beside the old one.

    `proof` is what a solver found of a condition, with facts that tell the two apart.
    """

    trigger: str
    key: str
    part: str
    verdict: str
    detail: str
    place: Place
    proof: "Comparison | None" = None

    @property
    def weakens(self) -> bool:
        """Whether it counts as weaker, as what is unknown does."""
        return self.verdict in (WEAKER, INCOMPARABLE, UNKNOWN)


def compare(old: Policy, new: Policy, prove: bool = False) -> list[Change]:
    """Every change of every rule, added and removed rules too; a rule that was only moved or reworded has none.

    `prove` asks the solver, where one is installed, about conditions that differ. A removed rule is `equal` where a new
    one has its condition, or new ones are proven to ask as much: it has another name, or was split.
    """
    before = {(rule.trigger, rule.key): rule for rule in old.rules}
    after = {(rule.trigger, rule.key): rule for rule in new.rules}
    sides = _Sides(old, new, prove)
    changes: list[Change] = []
    added = [rule for name, rule in after.items() if name not in before]
    for name, rule in before.items():
        if name in after:
            changes += sides.rule(rule, after[name])
        else:
            changes.append(Change(*name, "rule", *sides.removed(rule, added), rule.place))
    for name, rule in after.items():
        if name not in before:
            changes.append(Change(*name, "rule", STRONGER, "added", rule.place))
    return changes


class _Sides:
    def __init__(self, old: Policy, new: Policy, prove: bool) -> None:
        self.old, self.new, self.prove = old, new, prove
        self.proof: Comparison | None = None  # of the condition or `when` that was compared last
        self.old_words, self.new_words = Vocabulary(old.raw), Vocabulary(new.raw)
        self.same_environments = _environments(old.raw) == _environments(new.raw)

    def rule(self, old: Rule, new: Rule) -> list[Change]:
        """The changes of one rule that both policies have."""
        condition, proof = self.condition(old, new), self.proof
        when, proofs = self.when(old, new), {"condition": proof, "when": self.proof}
        found = {
            "condition": condition,
            "when": when,
            "intensity": self.levels(old, new),
            **{key: _order(key, _value(old, key, self.old), _value(new, key, self.new)) for key in _ORDERS},
            "escalate": _order("enabled", old.escalates, new.escalates or (old.escalates and new.always_blocks)),
            "action": self.action(old, new),
            "refines": self.softenings(old, new),
        }
        mode, limits = self.new.raw.settings.get("mode"), self.changed(old, new)
        places = {
            # of another limit, where the condition's own text is the same
            "condition": limits[0][2].place if limits else new.raw.where("condition"),
            "when": new.raw.filters[-1].place if new.raw.filters else new.place,
            "intensity": self.levels_place(old, new),
            "shadow": mode.place if mode is not None and mode.value == "observe" else new.raw.where("shadow"),
            "refines": self.softening_place(new),
        }
        parts = [(part, *told, places.get(part) or new.raw.where(part)) for part, told in found.items()]
        return [
            Change(new.trigger, new.key, part, verdict, detail, place, proofs.get(part))
            for part, verdict, detail, place in [*parts, *self.settings(old, new)]
            if verdict != EQUAL
        ]

    def removed(self, old: Rule, added: list[Rule]) -> tuple[str, str]:
        """What it means that a rule is gone, beside those that are new."""
        fit = [new for new in added if new.trigger == old.trigger and self._may_replace(old, new)]
        names = {name for new in fit for name in self.limit_environments(old, new)}
        alone = [new for new in fit if all(self._covered(old, [new], name) for name in names)]
        together = alone[:1] or fit
        if not fit or not (alone or all(self._covered(old, fit, name) for name in names)):
            return WEAKER, "removed"
        told = f"removed; {' and '.join(f'`{new.key}`' for new in together)} asks as much"
        if old.escalates and self.old.raw.setting("escalation") is not None:
            return UNKNOWN, f"{told}, but climbs from the first rung again"
        return EQUAL, told

    def _may_replace(self, old: Rule, new: Rule) -> bool:
        """Whether `new` is as strict as `old` in all but its condition, and asked of the same items."""
        if (old.each and old.each.plan) != (new.each and new.each.plan):
            return False
        if not self.same_environments and (len(self.limit_environments(old, new)) > 1):
            return False
        return not any(change.weakens for change in self.rule(old, new) if change.part != "condition")

    def _covered(self, old: Rule, rules: list[Rule], environment: str) -> bool:
        """Whether one of the new `rules` holds wherever `old` did, by the limits of one environment."""
        was = in_environment(environment, old, self.old_words)
        now = [in_environment(environment, new, self.new_words) for new in rules]
        if was is None or not all(now):
            return False
        proofs = conditions.solver() if self.prove else None
        return proofs.uncovered(now, was).proven if proofs else any(one.plan == was.plan for one in now if one)

    def stricter(self, new: Checked, old: Checked) -> str:
        """How two conditions compare, with the proof, if any, in `proof`."""
        if new.plan == old.plan:
            return EQUAL
        proofs = conditions.solver() if self.prove else None
        if proofs is None:
            return conditions.stricter(new, old)
        found: Comparison = proofs.compare(new, old)
        worst = self.proof is None or found.verdict == _worst({found.verdict, self.proof.verdict})
        self.proof = found if worst else self.proof
        return found.verdict

    def condition(self, old: Rule, new: Rule) -> tuple[str, str]:
        self.proof = None
        if (old.each and old.each.plan) != (new.each and new.each.plan):
            return UNKNOWN, "another `each`"
        environments, limits = self.limit_environments(old, new), self.changed(old, new)
        verdicts = {self.condition_in(name, old, new) for name in environments}
        if not self.same_environments and len(environments) > 1:
            verdicts.add(UNKNOWN)
        values = [f"{path}: {quoted(was and was.value)} became {quoted(now.value)}" for path, was, now in limits]
        detail = "; ".join(values) or f"`{old.condition.text}` became `{new.condition.text}`"
        return _worst(verdicts), detail

    def condition_in(self, environment: str, old: Rule, new: Rule) -> str:
        """Compares the conditions with the limits that hold in one environment."""
        one = in_environment(environment, old, self.old_words)
        two = in_environment(environment, new, self.new_words)
        if one is None or two is None:
            return UNKNOWN
        return self.stricter(two, one)

    def when(self, old: Rule, new: Rule) -> tuple[str, str]:
        self.proof = None
        if old.when is None or new.when is None:
            if old.when is new.when:
                return EQUAL, ""
            return (STRONGER, "`when` removed") if new.when is None else (WEAKER, "asked only where `when` holds")
        return self.stricter(new.when, old.when), f"`{old.when.text}` became `{new.when.text}`"

    def limit_environments(self, old: Rule, new: Rule) -> set[str]:
        """The environments in which the limits that the rule reads differ, and `default`."""
        names = {"default"}
        for rule, raw in ((old, self.old.raw), (new, self.new.raw)):
            fields = (raw.limits.get(path.split(".")[1]) for path in named_limits(rule))
            names |= {name for field in fields if field and isinstance(field.value, dict) for name in field.value}
        return names

    def changed(self, old: Rule, new: Rule) -> list[tuple[str, Field | None, Field]]:
        """Path, former and present field of the limits that make a condition of the same text another one."""
        if old.condition.text != new.condition.text:
            return []
        names = [path.split(".")[1] for path in sorted(named_limits(new))]
        both = [(f"limits.{name}", self.old.raw.limits.get(name), self.new.raw.limits.get(name)) for name in names]
        return [(path, was, now) for path, was, now in both if now and (was is None or was.value != now.value)]

    def levels(self, old: Rule, new: Rule) -> tuple[str, str]:
        detail = f"{_levels(old)} became {_levels(new)}"
        if self.same_environments:
            names = {*old.intensity, *new.intensity, DEVELOPMENT}
            steps = {strength(new.level(name)) - strength(old.level(name)) for name in names}
        elif old.intensity == new.intensity and len(set(old.intensity.values())) == 1:
            steps = {0}
        else:
            lowest, highest = new.weakest(), max(strength(level) for level in old.intensity.values())
            steps = {min(0, lowest - highest)}
        return (WEAKER if min(steps) < 0 else STRONGER if max(steps) > 0 else EQUAL), detail

    def levels_place(self, old: Rule, new: Rule) -> Place:
        """Where the change of a level was made: at an environment, when its own levels are the same."""
        if old.intensity == new.intensity:
            before = dict(_environments(self.old.raw))
            for name, (text, limits) in _environments(self.new.raw):
                was_text, was_limits = before.get(name, ("", {}))
                if text != was_text:
                    return self.new.raw.environment[name].place
                for limit in limits:
                    if limits[limit] != was_limits.get(limit):
                        return self.new.raw.limits[limit].place
        return new.raw.where("intensity")

    def action(self, old: Rule, new: Rule) -> tuple[str, str]:
        """Two boxes are compared; any other action cannot be. Where neither side controls, it plays no part."""
        if old.is_boxing and new.is_boxing and old.raw.get("action").type == new.raw.get("action").type:
            return compare_boxes(box_of(old, self.old.raw), box_of(new, self.new.raw))
        used = "control" in new.intensity.values() and "control" in old.intensity.values()
        return (UNKNOWN if used and old.raw.get("action") != new.raw.get("action") else EQUAL), "another action"

    def softenings(self, old: Rule, new: Rule) -> tuple[str, str]:
        before = {s.weaker for s in self.old.softened if (s.trigger, s.stronger) == (old.trigger, old.key)}
        after = {s.weaker for s in self.new.softened if (s.trigger, s.stronger) == (new.trigger, new.key)}
        if after - before:
            return WEAKER, f"softened by {', '.join(sorted(after - before))}"
        return (
            (STRONGER, f"no longer softened by {', '.join(sorted(before - after))}") if before - after else (EQUAL, "")
        )

    def softening_place(self, new: Rule) -> Place:
        known = {s.weaker for s in self.old.softened if s.stronger == new.key}
        places = [s.place for s in self.new.softened if s.stronger == new.key and s.weaker not in known]
        return places[0] if places else new.place

    def settings(self, old: Rule, new: Rule) -> list[tuple[str, str, str, Place]]:
        """What the rule reads beside its own keys: commands, reports, the time zone, the ladder."""
        spaces = {path.partition(".")[0] for path in new.reads}
        found = []
        for name in sorted(spaces & self.new.raw.facts.keys() & self.old.raw.facts.keys()):
            if self.old.raw.facts[name].value != self.new.raw.facts[name].value:
                place = self.new.raw.facts[name].place
                found.append((f"facts.{name}", UNKNOWN, "the command it reads changed", place))
        for setting, space, named in (
            ("tests", "tests", "reports"),
            ("coverage", "coverage", "reports"),
            ("coverage_threshold", "coverage", "reports"),
            ("timezone", "time", "settings"),
        ):
            one, two = getattr(self.old.raw, named).get(setting), getattr(self.new.raw, named).get(setting)
            if space in spaces and (one and one.value) != (two and two.value):
                found.append((setting, UNKNOWN, "what it reads comes from elsewhere", two.place if two else new.place))
        if new.escalates:
            verdict = _ladder(self.old.raw.setting("escalation"), self.new.raw.setting("escalation"))
            field = self.new.raw.settings.get("escalation")
            found.append(("escalation", verdict, "another ladder", field.place if field else new.place))
        if "environment" in new.reads and not self.same_environments:
            found.append(("environment", UNKNOWN, "environments are chosen otherwise", new.place))
        return found


_SWITCH, _MISSING = ((False,), (True,)), (("skip",), ("prompt",), ("block",))
# What the keys of a rule may be, from the weakest to the strictest; values side by side are as strict as each other.
_ORDERS: dict[str, tuple[tuple[object, ...], ...]] = {
    **dict.fromkeys(["enabled", "locked", "redact", "ask"], _SWITCH),
    **dict.fromkeys(["shadow", "overridable"], _SWITCH[::-1]),
    **dict.fromkeys(["on_missing", "otherwise"], _MISSING),
    # Only `high` has an effect: such a rule also blocks a change of nothing but the policy (authority §2.5).
    "severity": (("low", "medium"), ("high",)),
    "ci": (("skip",), ("each", "range")),
}
_RUNGS = ("prompt", "control", "block")


def _worst(verdicts: set[str]) -> str:
    for verdict in (WEAKER, INCOMPARABLE, UNKNOWN, STRONGER):
        if verdict in verdicts:
            return verdict
    return EQUAL


def _environments(raw: RawPolicy) -> list[tuple[str, Any]]:
    """Environments with the text of their conditions and the limits these name."""
    limits = {name: field.value for name, field in raw.limits.items()}
    found: list[tuple[str, Any]] = []
    for name, field in raw.environment.items():
        used = {limit: value for limit, value in limits.items() if f"limits.{limit}" in field.value}
        found.append((name, (field.value, used)))
    return found


def _value(rule: Rule, key: str, policy: Policy) -> object:
    """The value of a key of `_ORDERS`, as the rule has it with its defaults."""
    observed = key == "shadow" and policy.raw.setting("mode") == "observe"
    return observed or (getattr(rule, key) if hasattr(rule, key) else rule.raw.get(key))


def _order(key: str, old: object, new: object) -> tuple[str, str]:
    was, now = (next(rank for rank, same in enumerate(_ORDERS[key]) if one in same) for one in (old, new))
    verdict = STRONGER if now > was else WEAKER if now < was else EQUAL
    if key == "ci" and old != new and now == was:  # each commit is asked other questions than the range is
        verdict = UNKNOWN
    return verdict, f"{str(old).lower()} became {str(new).lower()}"


def _levels(rule: Rule) -> str:
    if len(rule.intensity) == 1:
        return rule.intensity["default"]
    return "{" + ", ".join(f"{name}: {level}" for name, level in rule.intensity.items()) + "}"


def compare_boxes(old: dict[str, list[str]], new: dict[str, list[str]]) -> tuple[str, str]:
    """How strict the box of the keys `new` is: what may be written or seen opens it, the rest closes it."""
    steps = {EQUAL}
    told = []
    for name in old:
        opens = name in ("writable", "shown", "network")
        for sign, paths in (("+", set(new[name]) - set(old[name])), ("-", set(old[name]) - set(new[name]))):
            if paths:
                steps.add(WEAKER if opens == (sign == "+") else STRONGER)
                told.append(f"{name} {sign} {quoted(sorted(paths))}")
    return _worst(steps), "; ".join(told)


def _ladder(old: Escalation | None, new: Escalation | None) -> str:
    if old == new:
        return EQUAL
    if old is None or new is None:
        return STRONGER if old is None else WEAKER
    climbs = new.after <= old.after and new.forget_after >= old.forget_after
    same_or_steeper = len(new.ladder) <= len(old.ladder) and all(
        _RUNGS.index(mine) >= _RUNGS.index(theirs) for mine, theirs in zip(new.ladder, old.ladder, strict=False)
    )
    return STRONGER if climbs and same_or_steeper and _top(new) >= _top(old) else WEAKER


def _top(ladder: Escalation) -> int:
    return _RUNGS.index(ladder.ladder[-1])
