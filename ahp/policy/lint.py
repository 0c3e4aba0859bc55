"""`ahp policy lint`: two evaluators compared, advice on what is allowed but seldom meant (seed 002 §4.2), and what is
proven of rules: those that never or always hold, that nobody hears, that leave no way.
"""

import os
from collections.abc import Iterator
from itertools import islice, permutations
from typing import Any

from ahp.conditions import compare, reference
from ahp.conditions.evaluate import set_deadline
from ahp.conditions.guards import Plan, walk
from ahp.conditions.language import LOOP, OPERATIONS
from ahp.conditions.logic import joins
from ahp.conditions.parts import SHARED
from ahp.conditions.parts import named as named_parts
from ahp.conditions.pitfalls import braced
from ahp.conditions.runtime import names
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Checked
from ahp.policy.merge import LEVELS
from ahp.policy.problems import Place, PolicyError, Problem, closest
from ahp.policy.program import ALONE, FIXED_AT
from ahp.policy.refine import same_items
from ahp.policy.rule import Policy, Rule, limits_in
from ahp.policy.templates import lone_brace, named, templates
from ahp.policy.vocabulary import Vocabulary
from ahp.protocol.signals import strength
from ahp.protocol.triggers import TRIGGERS


def compare_evaluators(policy: Policy) -> None:
    """Asks the reference evaluator about every condition, on generated facts: a check of ahp itself, as slow as it is.

    Raises PolicyError where it and the evaluator that judges disagree.
    """
    set_deadline(float("inf"))  # the deadline of an event judged earlier in this process does not apply
    words = Vocabulary(policy.raw)
    conditions: dict[tuple[str, str, str], tuple[Checked, Schema, Place]] = {}
    for rule in policy.rules:
        for checked, place in ((rule.condition, rule.raw.where("condition")), (rule.when, rule.place)):
            if checked is not None:
                name = (checked.text, rule.trigger, rule.each.text if rule.each else "")
                conditions.setdefault(name, (checked, words.schema(rule.trigger), place))
    compared = [(place, reference.disagreement(checked, schema)) for checked, schema, place in conditions.values()]
    problems = [Problem(place, found) for place, found in compared if found is not None]
    if problems:
        raise PolicyError(problems)


def advise(policy: Policy) -> list[Problem]:
    """Every piece of advice, sorted by place; the policy is valid all the same."""
    # With `on_missing` its author has said what happens without its facts.
    settled = {rule.raw.where("condition") for rule in policy.rules if rule.raw.get("on_missing") is not None}
    advice = [one for one in policy.advice if one.place not in settled or "undecidable" not in one.what]
    words = Vocabulary(policy.raw)
    for rule in policy.rules:
        advice += _of_rule(rule, policy.raw.setting("escalation") is not None)
        advice += _braces(rule, words.schema(rule.trigger)) + _quadratic(rule)
    advice += _softenings(policy) + _twins(policy) + _proven(policy) + _lent(policy)
    advice += _unread(policy) + _idle_actions(policy) + _patterns(policy) + _alone(policy) + _fraction(policy)
    if policy.raw.setting("mode") == "observe":
        place = policy.raw.settings["mode"].place
        advice.append(Problem(place, "`mode: observe` logs every signal and enforces none"))
    return sorted(set(advice))


def _of_rule(rule: Rule, climbs: bool) -> list[Problem]:
    trigger, place = TRIGGERS[rule.trigger], rule.raw.where("intensity")
    levels = set(rule.intensity.values())
    found = []
    if levels == {"allow"}:
        found.append(Problem(place, f"`{rule.key}` is `allow` everywhere; it never says anything"))
    unusual = levels - set(trigger.advised) - {"allow"}
    for level in sorted(unusual if not place.file.startswith("pack ") else ()):  # a pack's is meant
        usual = " or ".join(trigger.advised)
        found.append(Problem(place, f"`{level}` is unusual at {rule.trigger}; the protocol has {usual} there"))
    if not rule.enabled:
        found.append(Problem(rule.place, f"`{rule.key}` is not enabled"))
    if rule.raw.get("escalate") and not climbs:
        found.append(
            Problem(rule.raw.where("escalate"), f"without `escalation` at the top `{rule.key}` does not climb")
        )
    if not rule.raw.get("continue_allowed"):
        what = f"`continue_allowed: false` is what the signal says; `{rule.key}` stops nothing by it, `block` does"
        found.append(Problem(rule.raw.where("continue_allowed"), what))
    if rule.locked and rule.shadow:
        found.append(Problem(rule.raw.where("shadow"), f"`{rule.key}` is `locked`, and yet `shadow` only logs it"))
    skips = rule.raw.get("on_missing") == "skip" and not rule.raw.where("on_missing").file.startswith("pack ")
    if skips and "block" in levels:
        what = f"`{rule.key}` blocks, but lets everything pass where its facts never were known (`on_missing: skip`)"
        found.append(Problem(rule.raw.where("on_missing"), what))
    return found


def _quadratic(rule: Rule) -> list[Problem]:
    """Loops over the list whose items are asked about: as many steps as there are pairs, unless a field joins them."""
    if rule.each is None:
        return []
    lists = {node[1] for node in walk(rule.each.plan) if node[0] == "fact"}
    found = []
    for node in walk(rule.condition.plan):
        is_loop = OPERATIONS[node[0]].call == LOOP and node[2][0] == "fact" and node[2][1] in lists
        if is_loop and names(node, rule.each.var) and (node[0] != "any" or not joins(node[1], node[3])):
            what = f"`{rule.key}` asks of every item of {node[2][1]} about every other one; a long list takes too long"
            hint = f"compare a field with `==` or `in` first: any({node[3]}.path == {rule.each.var}.path and …)"
            found.append(Problem(rule.raw.where("condition"), f"{what}; {hint}"))
    return found


def _braces(rule: Rule, schema: Schema) -> list[Problem]:
    """Braces of the rule's texts that have no other one, and those in its action that name a fact."""
    found = []
    for key, text, place in templates(rule.raw):
        if rest := lone_brace(text):
            which = "nothing closes" if rest[0] == "{" else "closes nothing"
            what = f"`{key}` has a brace that {which}: `{rest}`; a brace itself is written twice"
            found.append(Problem(place, what))
    action = rule.raw.get("action")
    written = {key: getattr(action, name, None) for key, name in (("value", "value"), ("with", "with_"))}
    for key, value in written.items():
        texts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
        names = [name for text in texts if isinstance(text, str) for name in named(text)]
        for name in names:
            if name in schema or (rule.each is not None and name.partition(".")[0] == rule.each.var):
                what = (
                    f"`{key}` is written as it is: `{{{name}}}` is filled in only in what a signal says, as `message`"
                )
                found.append(Problem(rule.raw.where("action"), what))
    return found


def _patterns(policy: Policy) -> list[Problem]:
    """Alternatives in braces in the globs that stand outside of conditions."""
    raw = policy.raw
    fields = [("when_changed", field, field.value.when_changed) for field in raw.facts.values()]
    fields += (
        [("authority", raw.settings["authority"], raw.setting("authority"))] if "authority" in raw.settings else []
    )
    fields += [(name, raw.reports[name], raw.report(name)) for name in ("tests", "coverage") if name in raw.reports]
    return [
        Problem(field.place, f"in the pattern `{pattern[:60]}` of `{key}` braces stand for themselves; {hint}")
        for key, field, patterns in fields
        for pattern in patterns
        if (hint := braced(pattern))
    ]


def _alone(policy: Policy) -> list[Problem]:
    """Branches at which no rule of the default branch's policy is asked."""
    field = policy.raw.settings.get("authority")
    patterns = policy.raw.setting("authority") if field is not None else []
    said = "is judged by its own policy alone: one that begins at an old commit brings the policy of then"
    return [
        Problem(field.place, f"`{one.removesuffix(ALONE)}` {said}") for one in patterns if field and one.endswith(ALONE)
    ]


def _fraction(policy: Policy) -> list[Problem]:
    """A floor of coverage that is a fraction of one."""
    field = policy.raw.reports.get("coverage_threshold")
    if field is None or field.value is None or not 0 < field.value < 1:
        return []
    what = (
        f"`coverage_threshold` is a percentage, {field.value:g} is less than one percent; write {field.value * 100:g}"
    )
    return [Problem(field.place, what)]


def _softenings(policy: Policy) -> list[Problem]:
    found = []
    for softening in policy.softened:
        what = f"softening: where `{softening.weaker}` matches, the stronger `{softening.stronger}` is not heard"
        found.append(Problem(softening.place, f"{what} ({softening.why})"))
    return found


def _lent(policy: Policy) -> list[Problem]:
    """Rules written in full under the id of an earlier one, which lends them what they leave out."""
    found = []
    for draft in policy.raw.short.values():
        level = next(field for name, field in draft.fields.items() if name in LEVELS)
        at = draft.fields["at"]
        kept = [f"`{name}`" for name, field in draft.fields.items() if field.layer == draft.layer != at.layer]
        if kept and level.layer == at.layer:
            what = f"`{draft.id}` is a rule of {draft.layer}, too, and keeps {', '.join(kept)} of that one"
            found.append(Problem(at.key_place, f"{what}; give the rule another id, or these keys anew"))
    return found


def _unread(policy: Policy) -> list[Problem]:
    """What the policy itself names and nothing reads: mostly the misspelt name of a pack's."""
    raw, shared = policy.raw, Vocabulary(policy.raw).shared
    conditions = [one for rule in policy.rules for one in (rule.condition, rule.when, rule.each) if one is not None]
    conditions += [checked for _, checked in policy.environment]
    limits = limits_in(*(one.text for one in conditions), *(t[1] for rule in policy.rules for t in templates(rule.raw)))
    paths = {path for one in conditions for path in one.reads} | {path for rule in policy.rules for path in rule.shows}
    heads, parts, found = {path.partition(".")[0] for path in paths}, set(), []
    for rule in policy.rules:
        own = rule.raw.get("let")
        fields = (*rule.raw.filters, *(rule.raw.fields[key] for key in ("condition", "each") if key in rule.raw.fields))
        named = {**shared, **{name: field.value for name, field in own.items()}}
        used = {name for field in fields if field.value is not None for name in named_parts(field.value, named)}
        parts |= used
        what = f"no condition of `{rule.key}` names its part"
        found += [Problem(field.key_place, f"{what} `{name}`") for name, field in own.items() if name not in used]
    for name, field in raw.limits.items():
        if f"limits.{name}" not in limits and not field.layer.startswith("pack "):
            near = closest(name, {path.removeprefix("limits.") for path in limits})
            hint = f"; did you mean `{near}`?" if near else ""
            found.append(Problem(field.key_place, f"no rule reads the limit `{name}`{hint}"))
    for named, before, read, what in (
        (raw.conditions, f"{SHARED}.", parts, "no rule names the condition `{}`"),
        (raw.facts, "", heads, "no rule reads `{}`, so its command never runs"),
        (raw.env_allow, "env.", paths, "no rule reads the variable `{}`"),
    ):
        told = {before + name: field for name, field in named.items() if not field.layer.startswith("pack ")}
        found += [Problem(field.key_place, what.format(name)) for name, field in told.items() if name not in read]
    return found


def missing_folders(policy: Policy, root: str) -> list[Problem]:
    """Patterns of the policy's own below a folder that is not there, where one of nearly that name is."""
    there = [entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    found = []
    for rule in policy.rules:
        if rule.layer.startswith("pack "):
            continue
        for pattern in [one for part in (rule.condition, rule.when) if part for one in _globs(part.plan)]:
            folder, slash, rest = pattern.lstrip("/").partition("/")
            if slash and rest and not set(folder) & set("*?[\\") and folder not in there:
                near = closest(folder, there)
                if near:
                    what = f"the pattern `{pattern[:60]}` is about a folder that is not here; did you mean `{near}`?"
                    found.append(Problem(rule.raw.where("condition"), what))
    return sorted(set(found))


def _globs(whole: Plan) -> Iterator[str]:
    """The literal patterns of every glob() in a plan."""
    for node in walk(whole):
        if node[0] == "glob" and node[2][0] == "const":
            given = node[2][1]
            yield from given if isinstance(given, list) else [given]


def _idle_actions(policy: Policy) -> list[Problem]:
    """Actions of rules that are no control, and never become one by climbing."""
    escalation = policy.raw.setting("escalation")
    climbs = escalation is not None and "control" in escalation.ladder
    found = []
    for rule in policy.rules:
        action, levels = rule.raw.get("action"), set(rule.intensity.values())
        idle = levels <= {"block", "allow"} or (levels <= {"block", "prompt", "allow"} and not climbs)
        is_fixer = action is not None and action.type == "run" and not TRIGGERS[rule.trigger].post
        if is_fixer and rule.trigger not in FIXED_AT:
            what = f"`run` fixes what is staged, at pre-commit; at {rule.trigger} `{rule.key}` only names the command"
            found.append(Problem(rule.raw.where("action"), what))
        elif action is not None and idle:
            what = f"an `action` is carried out by `control`; `{rule.key}` never does it"
            found.append(Problem(rule.raw.where("action"), what))
    return found


def _twins(policy: Policy) -> list[Problem]:
    """Rules that ask the same at one trigger: two signals for one fault."""
    first: dict[tuple[str, str, str, str], Place] = {}
    found = []
    for rule in policy.rules:
        each, when = rule.each.text if rule.each else "", rule.when.text if rule.when else ""
        question = (rule.trigger, repr(rule.condition.plan), each, when)
        earlier = first.setdefault(question, rule.place)
        if earlier != rule.place:
            found.append(Problem(rule.place, f"`{rule.key}` asks the same as the rule at {earlier}"))
    return found


_AT_MOST = 100  # questions of one kind to the solver, which takes some 20 ms for each


def _proven(policy: Policy) -> list[Problem]:
    """What the author of a rule, or of one of two, probably did not mean."""
    solver = compare.solver()
    if solver is None:
        return []
    softened = {(one.trigger, one.weaker, one.stronger) for one in policy.softened}
    found: list[Problem] = []
    for rule in islice((rule for rule in policy.rules if not _of_pack(rule)), _AT_MOST):
        found += _by_itself(rule, policy, solver)
    for trigger in TRIGGERS:
        plain = [rule for rule in policy.at(trigger) if rule.each is None and rule.when is None and not rule.shadow]
        related = [pair for pair in permutations(plain, 2) if pair[0].condition.reads & pair[1].condition.reads]
        related = [pair for pair in related if not _of_pack(*pair)]  # two of packs are meant so
        for weak, strong in islice((pair for pair in related if _may_be_unheard(*pair)), _AT_MOST):
            is_new = (trigger, weak.key, strong.key) not in softened
            if is_new and solver.uncovered([strong.condition], weak.condition).proven:
                what = f"`{weak.key}` matches only where `{strong.key}` refuses; are the two conditions swapped?"
                found.append(Problem(weak.raw.where("condition"), what))
        blocks = (pair for pair in related if plain.index(pair[0]) < plain.index(pair[1]))
        for one, other in islice((pair for pair in blocks if all(rule.always_blocks for rule in pair)), _AT_MOST):
            if solver.can_fail(one.condition, other.condition).proven:
                what = f"`{one.key}` and `{other.key}` refuse everything together: one of them always holds"
                found.append(Problem(other.raw.where("condition"), what))
    return found


def _by_itself(rule: Rule, policy: Policy, solver: Any) -> Iterator[Problem]:
    """A condition that is never or always true, and a rule that refines one with which it never holds."""
    asked = [one for one in (rule.when, rule.condition) if one is not None]
    place = rule.raw.where("condition")
    if rule.condition.reads and solver.can_hold(*asked).proven:
        yield Problem(place, f"`{rule.key}` never holds")
    elif rule.condition.reads and solver.can_fail(rule.condition).proven:
        yield Problem(place, f"the condition of `{rule.key}` holds for all facts that are there")
    refined = rule.raw.get("refines")
    for other in policy.at(rule.trigger) if refined else ():
        same = (other.raw.oracle, other.raw.id) == (rule.raw.oracle, refined)
        if same and same_items(rule, other) and solver.can_hold(rule.condition, other.condition).proven:
            yield Problem(
                rule.raw.where("refines"), f"`{rule.key}` never refines `{other.key}`: they never hold together"
            )


def _of_pack(*rules: Rule) -> bool:
    return all(rule.layer.startswith("pack ") for rule in rules)


def _may_be_unheard(weak: Rule, strong: Rule) -> bool:
    """Whether a rule that lets go on may speak only where another one blocks."""
    is_below_block = all(0 < strength(level) < strength("block") for level in weak.intensity.values())
    return strong.always_blocks and is_below_block and weak.condition.plan != strong.condition.plan
