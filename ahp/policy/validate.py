"""Raw policy to checked policy: the second stage, after which every condition is understood (design §4, §5)."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ahp.conditions import compare
from ahp.conditions import typecheck as conditions
from ahp.conditions.diagnostics import ConditionError
from ahp.conditions.diagnostics import Problem as ConditionProblem
from ahp.conditions.globs import PatternError
from ahp.conditions.regexes import regex
from ahp.conditions.schema import MAX_COST, MAX_RULES, Schema, Type
from ahp.conditions.typecheck import Checked
from ahp.facts import registry
from ahp.facts.schemas import where
from ahp.policy import refine
from ahp.policy.control import OF_CALLS
from ahp.policy.merge import expand
from ahp.policy.problems import Place, Problem, quoted
from ahp.policy.raw import Field, RawPolicy, RawRule
from ahp.policy.rule import Policy, Rule, limits_in
from ahp.policy.templates import check_texts
from ahp.policy.vocabulary import Vocabulary, leaves_root
from ahp.protocol.triggers import TRIGGERS


def validate(raw: RawPolicy) -> tuple[Policy, list[Problem]]:
    """The rules that are right, as a policy, and every problem of the rest. Only one without problems may judge."""
    return _Checker(raw).run()


T = TypeVar("T")
Ask = Callable[..., Any]  # of `constants=`, what is checked


class _Text(NamedTuple):
    """The text of a field, with what is known where it stands: the variable of the rule's `each`, its named parts."""

    field: Field
    schema: Schema
    raw: RawRule | None = None
    item: tuple[str, Type] | None = None
    parts: Mapping[str, str] = {}

    def read(self, read: Callable[..., T], **more: Any) -> T:
        """What it says, as `read` of `conditions` has it. Raises ConditionError."""
        more |= {"item": self.item} if self.item else {}
        return read(self.field.value, self.schema, position=self.field.place, parts=self.parts, **more)


class _Checker:
    def __init__(self, raw: RawPolicy) -> None:
        self.raw = raw
        self.vocabulary = Vocabulary(raw)
        self.problems: list[Problem] = self.vocabulary.problems()
        self.advice: list[Problem] = []
        self.told: set[str] = set()  # what is wrong with a part is not said again where it is named

    def run(self) -> tuple[Policy, list[Problem]]:
        raw_rules, incomplete = expand(self.raw)
        self.problems += incomplete
        self.shared()
        words = self.vocabulary.for_environments
        chosen = [(name, self.condition(_Text(field, words))) for name, field in self.raw.environment.items()]
        environment = tuple((name, checked) for name, checked in chosen if checked is not None)
        checked_rules = [self.rule(raw) for raw in raw_rules if raw.get("condition") and raw.get("intensity")]
        rules = tuple(rule for rule in checked_rules if rule is not None)
        self.bounds(rules)
        found = refine.refinements(rules)
        self.problems += found.problems
        self.problems += refine.chosen_by_variable(environment, rules, self.vocabulary)
        env_names = sorted(
            {path[4:] for _, checked in environment for path in checked.reads if path.startswith("env.")}
        )
        names = tuple(dict.fromkeys([*self.raw.env_allow, *env_names]))
        policy = Policy(self.raw, rules, environment, names, found.refines, tuple(found.softened), tuple(self.advice))
        return policy, _unique(self.problems)

    def rule(self, raw: RawRule) -> Rule | None:
        before = len(self.problems)
        schema = self.vocabulary.schema(raw.trigger)
        parts = {**self.vocabulary.shared, **{name: field.value for name, field in raw.get("let").items()}}
        self.levels(raw)
        self.problems += _check_action(raw)
        of = partial(_Text, schema=schema, raw=raw, parts=parts)
        filters = [self.condition(of(field)) for field in raw.filters]
        each = self.asked(conditions.check_each, of(raw.fields["each"])) if raw.get("each") else None
        if raw.get("each") and each is None:
            return None
        item = (each.var, each.item) if each is not None else None
        of = partial(of, item=item)
        if not self.let(raw, of):
            return None
        condition = self.condition(of(raw.fields["condition"]))
        if condition is None or None in filters:
            return None
        limits = {f"limits.{name}" for name in self.raw.limits}
        shows, wrong = check_texts(raw, schema, limits, each)
        self.problems += wrong
        when = self.joined([checked for checked in filters if checked is not None], schema)
        if when is not None and condition.constant is when.constant is None:
            both = ["and", when.plan, condition.plan]
            if compare.constant(both, {**when.types, **condition.types}) is False:  # it looks like a guard and is none
                what = "this rule is unreachable: its condition never holds where its `when` does"
                self.problems.append(Problem(raw.where("condition"), what))
        if len(self.problems) > before:
            return None
        return Rule(raw, condition, each, when, dict(raw.get("intensity")), frozenset(shows))

    def levels(self, raw: RawRule) -> None:
        place, trigger = raw.where("intensity"), TRIGGERS[raw.trigger]
        levels: dict[str, str] = raw.get("intensity")
        if "default" not in levels:
            self.problems.append(Problem(place, "`intensity` by environment needs a level for `default`"))
        self.problems += self.vocabulary.unknown_environments(levels, place, "`intensity`")
        for level in sorted(set(levels.values())):
            if level not in (*trigger.intensities, "allow"):
                comes, can = "after" if trigger.post else "before", ", ".join(trigger.intensities)
                what = f"`{level}` cannot be carried by {trigger.name}, which comes {comes} the action; it can: {can}"
                self.problems.append(Problem(place, what))

    def asked(self, read: Callable[..., T], text: _Text) -> T | None:
        """What a text says, as `read` of `conditions` has it; None where it is wrong, which `problems` then say."""
        ask = partial(text.read, read, variants=self.vocabulary.variants)
        try:
            return ask(constants=self.vocabulary.constants)
        except ConditionError as error:
            self.refuse(error.problems, text, ask)
            if read is conditions.check_value:  # a part, of which that is not said again where it is named
                self.told |= {problem.message for problem in error.problems}
            return None

    def shared(self) -> None:
        """Refuses named conditions that are wrong at every trigger, at their own place."""
        for field in self.raw.conditions.values():
            self.asked(conditions.check_value, _Text(field, self.vocabulary.everything, parts=self.vocabulary.shared))

    def let(self, raw: RawRule, of: Callable[[Field], _Text]) -> bool:
        """Refuses parts of a rule that are wrong, at their own place; whether all are right."""
        before = len(self.problems), len(self.told)
        for name, field in raw.get("let").items():
            text = of(field)
            if not self.vocabulary.may_name(name, text.schema) or (text.item and text.item[0] == name):
                what = f"`let` cannot call a part `{name[:60]}`: it is taken, or no word of letters, digits and `_`"
                self.problems.append(Problem(field.key_place, what))
            self.asked(conditions.check_value, text)
        return (len(self.problems), len(self.told)) == before

    def condition(self, text: _Text) -> Checked | None:
        """The typed condition of a rule, or of `environment`; None when it is wrong, which `problems` then say."""
        ask = partial(text.read, conditions.check, variants=self.vocabulary.variants)
        checked = self.asked(conditions.check, text)
        if checked is None:
            return None
        if checked.constant_problem is not None:
            what, empty = _said(checked.constant_problem), self.emptied(checked, text.schema)
            told, verb = (self.advice, "reads") if empty else (self.problems, "cannot use")
            told.append(self.placed(checked.constant_problem, what + empty, text, ask, verb))
            if not empty:
                return None
        self.advice += [self.placed(found, _said(found), text, ask, "reads") for found in checked.advice]
        return checked

    def emptied(self, checked: Checked, schema: Schema) -> str:
        """Which empty lists of the policy leave a condition no choice, in words; "" where it never had one."""
        empty = [path for path in sorted(limits_in(checked.text)) if self.vocabulary.constants.get(path) == []]
        filled = {**self.vocabulary.constants, **{path: [f"x{at}"] for at, path in enumerate(empty)}}
        try:
            again = conditions.check(checked.text, schema, item=checked.item, constants=filled)
        except ConditionError:  # whatever it says of "x", the list was not that
            again = None
        is_it = empty and (again is None or again.constant is None)
        return f", as {' and '.join(f'`{path}`' for path in empty)} is empty" if is_it else ""

    def refuse(self, found: Iterable[ConditionProblem], text: _Text, ask: Ask) -> None:
        for problem in found:
            if problem.message in self.told:
                continue
            what = _said(problem)
            if problem.kind == "name" and text.raw is not None:
                said = " ".join([text.field.value, *self.vocabulary.shared.values()])
                what = self.elsewhere(problem.message, said, text.raw.trigger) or what
            self.problems.append(self.placed(problem, what, text, ask))

    def placed(self, found: ConditionProblem, what: str, text: _Text, ask: Ask, verb: str = "cannot use") -> Problem:
        """What is found about a condition: at its place, or where another file gives the limit that is to blame."""
        field, blamed = text.field, _limit_of(found, text.field, self.raw, self.vocabulary.constants, ask)
        if blamed is None:
            return Problem(Place(found.file or field.place.file, found.line, found.column), what)
        path, limit = blamed
        who = f"`{text.raw.key}`" if text.raw is not None else "a condition of `environment`"
        return Problem(limit.place, f"{who} of {field.place.file} {verb} {quoted(limit.value)} as `{path}`: {what}")

    def elsewhere(self, message: str, condition: str, trigger: str) -> str:
        """What to say of a name that is only unknown at this trigger; "" when it is unknown everywhere."""
        here = self.vocabulary.schema(trigger)
        for path in re.findall(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+", condition):
            if path in self.vocabulary.everything and path not in here and f"'{path.partition('.')[0]}'" in message:
                return f"`{path}` is not available at {trigger}, but at {', '.join(where(path))}"
        known = self.vocabulary.everything.namespaces - here.namespaces
        for name in sorted(known):
            if message == f"unknown name '{name}'":
                return f"`{name}` is not available at {trigger}, but at {', '.join(registry.namespace(name).triggers)}"
        return ""

    def joined(self, filters: list[Checked], schema: Schema) -> Checked | None:
        if len(filters) < 2:
            return filters[0] if filters else None
        text = " and ".join(f"({checked.text})" for checked in filters)
        try:
            return conditions.check(text, schema, constants=self.vocabulary.constants)
        except ConditionError as error:
            self.problems.append(Problem(Place("when"), _said(error.problems[0])))
            return None

    def bounds(self, rules: tuple[Rule, ...]) -> None:
        """Bounds the rules of a trigger and their static cost, so that a decision ends in time (design §5)."""
        for trigger in TRIGGERS:
            here = [rule for rule in rules if rule.trigger == trigger]
            cost = sum(rule.cost for rule in here)
            if len(here) > MAX_RULES:
                what = f"{len(here)} rules at {trigger}; at most {MAX_RULES} can be judged in time"
                self.problems.append(Problem(here[MAX_RULES].place, what))
            elif cost > MAX_COST:
                own = [rule for rule in here if not rule.layer.startswith("pack ")] or here
                dear = max(own, key=lambda rule: rule.cost)
                what = (
                    f"the rules at {trigger} may take {cost} steps together, more than {MAX_COST}, "
                    f"this one {dear.cost}: a loop inside of `each` asks every item about every other; "
                    "leave one of the two out"
                )
                self.problems.append(Problem(dear.place, what))


def _check_action(rule: RawRule) -> list[Problem]:
    """What is wrong with a rule's control action at its trigger."""
    action, trigger = rule.get("action"), TRIGGERS[rule.trigger]
    levels = set((rule.get("intensity") or {}).values())
    if rule.get("otherwise") is not None and getattr(action, "type", "") not in OF_CALLS:
        return [Problem(rule.where("otherwise"), "`otherwise` is for a rule whose action is `sandbox` or `snapshot`")]
    if action is None:
        if "control" in levels:
            return [Problem(rule.where("intensity"), "`control` needs an `action` that says what it changes")]
        return []
    place = rule.where("action")
    if trigger.post and not (action.type == "run" and trigger.name.startswith("post-")):
        return [Problem(place, f"{trigger.name} comes after the action; nothing is left to change")]
    if action.type in OF_CALLS:
        return _check_box(rule, levels)
    if action.type in ("run", "split_suggestion"):
        if action.type == "run" and leaves_root(action.directory):
            return [Problem(place, "`directory` is a folder inside the repository")]
        return []
    problems = _target(action.target, action.type, trigger.name, place)
    if action.type == "replace":
        try:
            regex(action.pattern)
        except PatternError as error:
            problems.append(Problem(place, f"`pattern`: {error}"))
    return problems


def _check_box(rule: RawRule, levels: set[str]) -> list[Problem]:
    """What is wrong with a rule that says where a call runs, or has the work tree saved before it."""
    kind = f"`{rule.get('action').type}`"
    if rule.trigger != "pre-tool-use":
        return [Problem(rule.where("action"), f"{kind} is for tool calls: at pre-tool-use, not at {rule.trigger}")]
    if levels != {"control"}:
        what = f"a rule with {kind} is a control in every environment: it gives no signal"
        return [Problem(rule.where("intensity"), what)]
    if rule.get("refines"):
        return [Problem(rule.where("refines"), f"a rule with {kind} gives no signal, so it refines no other rule")]
    return []


def _target(target: str, kind: str, trigger: str, place: Place) -> list[Problem]:
    if trigger == "pre-tool-use":
        if re.match(r"tool\.input(\.[A-Za-z0-9_\-]+)+\Z", target):
            return []
        return [Problem(place, f"`target` is an argument of the tool, like tool.input.command, not {target[:60]!r}")]
    if trigger == "commit-msg":
        if target == "commit.message" and kind != "clamp":
            return []
        what = "the only thing to change at commit-msg is the target commit.message, a text"
        return [Problem(place, what)]
    what = f"nothing can be changed at {trigger}; actions there are run and split_suggestion"
    return [Problem(place, what)]


def _said(problem: ConditionProblem) -> str:
    return f"{problem.message}; {problem.hint}" if problem.hint else problem.message


def _unique(problems: list[Problem]) -> list[Problem]:
    """Sorted, one of each: at several triggers a rule has the same problem, with other names offered."""
    first: dict[tuple[Place, str], Problem] = {}
    for problem in sorted(problems):
        first.setdefault((problem.place, problem.what.partition(";")[0]), problem)
    return list(first.values())


_SAMPLES: tuple[Any, ...] = (50, "x", ["x"])  # values of a limit that no other file gives


def _limit_of(
    found: ConditionProblem, field: Field, raw: RawPolicy, constants: dict[str, Any], ask: Ask
) -> tuple[str, Field] | None:
    """The full path of a limit that a condition names, and its value, without which `found` would not be said; None
    where the condition's own file is to blame.

    `field` has the condition; `ask` checks it with the constants it is given. A limit is to blame only where a later
    file gives it than the condition's, or any file that a pack's condition cannot know, and where `found` goes away
    with the value that another file gives, or with a sample.
    """
    named = {path: raw.limits.get(path.removeprefix("limits.")) for path in sorted(limits_in(field.value))}
    foreign = [(path, limit) for path, limit in named.items() if limit and _is_later(limit, field, raw)]
    before = _told(ask, constants) if foreign else set()
    kept = dict(constants)
    for path, limit in foreign:
        told = {str(value): _told(ask, {**kept, path: value}) for value in _SAMPLES}
        right = [value for value in _SAMPLES if told[str(value)] <= before]
        if any(_mark(found) not in told[str(value)] for value in right):
            return path, limit
        if right:  # where two limits are wrong, neither alone takes the problem away
            kept[path] = right[0]
    return None


def _is_later(limit: Field, field: Field, raw: RawPolicy) -> bool:
    if limit.layer.startswith("pack ") or limit.place.file == field.place.file:
        return False
    order = {name: number for number, name in enumerate(raw.files)}
    return field.layer.startswith("pack ") or order[limit.place.file] > order[field.place.file]


Mark = tuple[str, int, int]


def _mark(problem: ConditionProblem) -> Mark:
    return problem.kind, problem.line, problem.column


def _told(ask: Ask, constants: dict[str, Any]) -> set[Mark]:
    """All that is said of a condition with these constants."""
    try:
        checked = ask(constants=constants)
    except ConditionError as error:
        return {_mark(problem) for problem in error.problems}
    told = (*getattr(checked, "advice", ()), getattr(checked, "constant_problem", None))
    return {_mark(problem) for problem in told if problem is not None}
