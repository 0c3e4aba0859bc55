"""The policy that a back-test asks: its rules at each trigger, put to the facts that a log has kept; and the policies
that the log describes: which rules each had where, and, where git still has it, in which words.

Logged facts are scalars; of one that the log lacks nobody knows whether it was there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from ahp.conditions.evaluate import MISSING, Bound, Undecided, build, build_each
from ahp.facts import actor, registry
from ahp.facts.environment import DEFAULT, Slots
from ahp.gate.match import left_open
from ahp.policy import compile as compiling
from ahp.policy import refine
from ahp.policy.program import Program, RuleAnswer, RulePlan
from ahp.policy.rule import Policy, rule_digest
from ahp.protocol.signals import LEVEL_OF, SILENT, UNDECIDED, strongest

_REMEMBERED = 20_000
_ENVIRONMENT = "environment"
_T = TypeVar("_T")
_LACKS = object()  # MISSING can be neither compared nor kept in a table


class AskedRule:
    """A rule of the new policy at one trigger, ready to be asked about logged facts."""

    def __init__(self, plan: RulePlan, program: Program, answer: RuleAnswer) -> None:
        self.key, self.answer = plan.key, answer
        self.slots = {path: index for index, path in enumerate(program.slots)}
        self.limits = _constants(program)
        # Of a fact that the log lacks nobody knows whether it was there: `has` and `default` are left open.
        unsure = [name for name in program.reads if name != "limits"]
        self.when = build(left_open(program.whens[plan.when], unsure), self.slots) if plan.when >= 0 else None
        body = left_open(plan.plan, unsure)
        self.holds: Callable[[list[Any]], bool | Undecided]
        if plan.items is None:
            self.holds = build(body, self.slots)
        else:
            self.holds = _some(build_each(left_open(plan.items, unsure), body, plan.var, self.slots))
        self.reads = [path for path in answer.reads if path in self.slots]

    def matches(self, facts: Mapping[str, object]) -> bool | Undecided:
        """Whether it holds, by the facts of a record."""
        limits = {path: value for path, value in self.limits.items() if path in self.slots}
        slots = _slots({**facts, **limits}, self.slots)
        when = True if self.when is None else _decided(self.when, slots)
        holds = _decided(self.holds, slots) if when else False
        return when if holds and when is not True else holds


class AskedEnvironment:
    """The named environments of the new policy, ready to be asked about logged facts."""

    def __init__(self, program: Program) -> None:
        self._limits = _constants(program)
        self._slots = Slots()
        unsure = [
            name
            for name in (*registry.NAMESPACES, *program.settings.namespaces, *program.settings.commands)
            if name != "limits"
        ]
        choices = program.settings.environment or []
        self._choices = [(name, build(left_open(plan, unsure), self._slots)) for name, plan in choices]
        self._reads = [path for path in self._slots if not path.startswith("limits.")]
        self._known: dict[tuple[object, ...], str | Undecided] = {}

    def named(self, record: Mapping[str, object], facts: Mapping[str, object]) -> str | Undecided:
        """The first that holds by the facts of a record; what it cannot be told for want of."""
        if not self._choices:
            return DEFAULT
        given = {path: facts[path] for path in self._reads if path in facts}
        known = {**told(record, self._reads), **given, **self._limits}
        return _remembered(
            self._known, _told(known, self._slots), lambda: _decided(self._named, _slots(known, self._slots))
        )

    def _named(self, slots: list[Any]) -> str:
        return next((name for name, holds in self._choices if holds(slots)), DEFAULT)


class AskedTrigger:
    """The new policy at one trigger: its rules, and which of them the old policies asked alike."""

    def __init__(self, policy: Policy, program: Program) -> None:
        self.policy, self.program = policy, program
        assert program.answers is not None
        self.answers = program.answers
        self.plans = {plan.key: plan for plan in program.rules}
        self.digests = {rule.key: rule_digest(rule, policy) for rule in policy.rules if rule.trigger == program.trigger}
        self.environment = AskedEnvironment(program)
        limits = program.settings.limits.items()
        self._by_environment = {f"limits.{name}": value for name, value in limits if isinstance(value, dict)}
        self._asked: dict[str, AskedRule] = {}

    def asked(self, key: str) -> AskedRule:
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = AskedRule(self.plans[key], self.program, self.answers.rules[key])
        return found

    def hang_on_environment(self, paths: Iterable[str]) -> bool:
        """Whether any of these facts is another one in another environment."""
        return any(path == _ENVIRONMENT or path in self._by_environment for path in paths)

    def known_in(self, environment: str | Undecided, facts: Mapping[str, object]) -> dict[str, object]:
        """The facts with the name of the new policy's environment and its limits in it, not those of the old one."""
        named = {_ENVIRONMENT, *self._by_environment}
        known = {path: value for path, value in facts.items() if path not in named}
        if isinstance(environment, str):
            known[_ENVIRONMENT] = environment
            for path, limit in self._by_environment.items():
                value = refine.of_environment(limit, environment)
                known |= {} if value is None else {path: value}
        return known

    def lacks(self, doubt: Undecided, environment: str | Undecided) -> str:
        """The fact that a doubt is for want of: of a limit by environment, the one that the environment hangs on."""
        if isinstance(environment, Undecided) and self.hang_on_environment([doubt.path or ""]):
            doubt = environment
        return doubt.path or doubt.kind

    def level(self, key: str, environment: str | Undecided) -> str:
        """What a match of the rule says."""
        rule = self.answers.rules[key]
        if rule.shadow or self.answers.mode == "observe":
            return SILENT
        if isinstance(environment, Undecided):
            if len(set(rule.intensity.values())) > 1:
                return UNDECIDED
            environment = "default"
        told = rule.intensity.get(environment, rule.intensity["default"])
        return told if told in LEVEL_OF else SILENT


Found: TypeAlias = "tuple[tuple[str, bool | Undecided], ...]"
"""What rules say to one set of facts: those that match (True), and those that cannot be decided."""


class AskedRules:
    """Some rules of a trigger, asked together: evaluations whose facts are the same to all of them share one answer.

    `own` are the facts they read that a record may tell by its own keys.
    """

    def __init__(self, now: AskedTrigger, keys: Sequence[str]) -> None:
        self.keys = keys
        self._rules = [now.asked(key) for key in keys]
        self._reads = sorted({path for rule in self._rules for path in rule.reads})
        self.own = [path for path in self._reads if path in (*_OF_ACTORS, *_OF_PUSHES)]
        self.hang_on_environment = now.hang_on_environment(self._reads)
        self._known: dict[tuple[object, ...], Found] = {}

    def found(self, facts: Mapping[str, object]) -> Found:
        """What they say to the facts of a record."""

        def asked() -> Found:
            holds = [(rule.key, rule.matches(facts)) for rule in self._rules]
            return tuple((key, told) for key, told in holds if told is not False)

        return _remembered(self._known, _told(facts, self._reads), asked)


def _remembered(known: dict[tuple[object, ...], _T], about: tuple[object, ...], ask: Callable[[], _T]) -> _T:
    """What is known of these facts; the same are not asked about twice."""
    found = known.get(about)
    if found is None:
        if len(known) >= _REMEMBERED:
            known.clear()
        found = known[about] = ask()
    return found


def _decided(ask: Callable[[list[Any]], _T], slots: list[Any]) -> _T | Undecided:
    try:
        return ask(slots)
    except Undecided as error:
        return error
    except Bound as error:
        return Undecided("bound", str(error))


def _some(each: Callable[[list[Any]], tuple[list[Any], Undecided | None]]) -> Callable[[list[Any]], bool | Undecided]:
    """Whether there are any of these items."""

    def holds(slots: list[Any]) -> bool | Undecided:
        items, unsure = each(slots)
        return bool(items) or unsure or False

    return holds


def _slots(facts: Mapping[str, object], paths: Iterable[str]) -> list[Any]:
    return [MISSING if (value := _scalar(facts, path)) is _LACKS else value for path in paths]


def _told(facts: Mapping[str, object], paths: Iterable[str]) -> tuple[object, ...]:
    """The values of `paths` with their types: 1, 1.0 and true are equal, and not the same."""
    values = [_scalar(facts, path) for path in paths]
    return (*values, *map(type, values))


def _scalar(facts: Mapping[str, object], path: str) -> object:
    """A logged fact, `_LACKS` where the log has none."""
    value = facts.get(path, _LACKS)
    return value if value is None or isinstance(value, bool | int | float | str) else _LACKS


def _constants(program: Program) -> dict[str, object]:
    """The policy's limits that are one value everywhere, by path."""
    limits = program.settings.limits.items()
    return {f"limits.{name}": value for name, value in limits if not isinstance(value, dict)}


def _words(plan: RulePlan, program: Program) -> list[Any]:
    return [plan.plan, plan.var, plan.items, program.whens[plan.when] if plan.when >= 0 else None]


def _asks_alike(now: AskedTrigger, old: Program) -> set[str]:
    words = {plan.key: _words(plan, old) for plan in old.rules}
    return {
        plan.key
        for plan in now.program.rules
        if words.get(plan.key) == _words(plan, now.program)
        and all(
            registry.alike(path.partition(".")[0], now.program.settings, old.settings)
            for path in now.answers.rules[plan.key].reads
        )
    }


_KINDS = actor.NAMESPACE.schema["kind"]["enum"]
_BRANCHES, _TAGS = "refs/heads/", "refs/tags/"
_OF_ACTORS = ("actor.kind", "actor.name", "session.id", "session.agent")
_OF_PUSHES = ("branch.name", "branch.target", "push.ref", "push.is_tag", "push.is_delete")


def told(record: Mapping[str, object], paths: Iterable[str]) -> dict[str, object]:
    """The values of those of `paths` that the keys of `record` tell."""
    kind, _, name = str(record.get("actor")).partition(":")
    found: dict[str, object] = {"actor.kind": kind, "actor.name": name, "session.agent": name} if kind in _KINDS else {}
    session, ref, head = record.get("session"), record.get("target"), record.get("head")
    if isinstance(session, str):
        found["session.id"] = session
    # A pattern stands for what `--mirror` deletes.
    if record.get("hook") == "pre-push" and isinstance(ref, str) and ref.startswith("refs/") and "*" not in ref:
        branch = ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else ""
        found |= {"branch.name": branch, "branch.target": branch, "push.ref": ref, "push.is_tag": ref.startswith(_TAGS)}
        if isinstance(head, str) and head:
            found["push.is_delete"] = not head.strip("0")
    return {path: found[path] for path in paths if path in found}


ReadOld = Callable[[Mapping[str, object]], Policy | None]


class PastPolicies:
    """What `policy` records told of, by digest. `read_old` gives the policy that such a record names, or None."""

    def __init__(self, read_old: ReadOld) -> None:
        self._read_old = read_old
        self._rules: dict[str, dict[str, dict[str, str]]] = {}  # digest → trigger → rule → rule digest
        self._levels: dict[tuple[str, str], dict[str, Mapping[str, object]]] = {}  # digest, trigger → rule → levels
        self._programs: dict[str, Mapping[str, Program]] = {}

    def __contains__(self, digest: str) -> bool:
        return digest in self._rules

    def describe(self, record: Mapping[str, object]) -> bool:
        """Takes up a `policy` record; whether it tells anything new."""
        digest, told = str(record.get("digest")), dict[str, dict[str, str]]()
        rules = record.get("rules")
        for one in rules if isinstance(rules, list) else ():
            if isinstance(one, list) and len(one) > 3:
                trigger, rule, levels = str(one[0]), str(one[1]), one[2]
                told.setdefault(trigger, {})[rule] = str(one[3])
                self._levels.setdefault((digest, trigger), {})[rule] = levels if isinstance(levels, dict) else {}
        is_new = self._rules.get(digest) != told
        self._rules[digest] = told
        # A policy is described as the work tree's first, and once more, with its commit, when it is committed.
        old = self._read_old(record) if is_new or digest not in self._programs else None
        if old is not None and _rules_of(old) == told:
            self._programs[digest] = compiling.programs(old)
            is_new = True
        return is_new

    def program(self, digest: str, trigger: str) -> Program | None:
        """What a policy was at a trigger, None where it cannot be read any more."""
        found = self._programs.get(digest)
        return found[trigger] if found is not None else None

    def alike(self, now: AskedTrigger, digests: Iterable[str]) -> set[str]:
        """The rules of `now` that one of the old policies asked in the same words about the same facts.

        The old policy tells, where it can still be read; else the log where a rule had the same digest.
        """
        found = set[str]()
        for digest in digests:
            old = self.program(digest, now.program.trigger)
            if old is not None:
                found |= _asks_alike(now, old)
            else:
                described = self._rules.get(digest, {}).get(now.program.trigger, {})
                found |= {key for key, told in now.digests.items() if described.get(key) == told}
        return found & now.plans.keys()

    def has(self, digests: Iterable[str], trigger: str, rule: str) -> bool:
        """Whether one of the policies asked a rule at a trigger."""
        return any(rule in self._levels.get((digest, trigger), {}) for digest in digests)

    def level(self, digests: Iterable[str], triggers: Iterable[str], rule: str, environment: str) -> str:
        """The strongest level of its own that a rule had, at the first of `triggers` that it was asked at."""
        known = list(digests)
        for trigger in triggers:
            told = [self._levels.get((digest, trigger), {}).get(rule) for digest in known]
            named = [str(one.get(environment, one.get("default"))) for one in told if one is not None]
            if named:
                levels = [level for level in named if level in LEVEL_OF]
                return strongest(levels) if levels else SILENT
        return SILENT

    def mute(self, digests: Iterable[str], trigger: str, environment: str) -> set[str]:
        """The rules whose silence tells nothing, as they may have had no level there; "": nobody knows where."""
        mute, heard = set[str](), set[str]()
        for digest in digests:
            for rule, levels in self._levels.get((digest, trigger), {}).items():
                is_heard = all(level in LEVEL_OF for level in _levels_in(levels, environment))
                (heard if is_heard else mute).add(rule)
        return mute - heard


def _levels_in(levels: Mapping[str, object], environment: str) -> list[str]:
    """The level in an environment; where that is not known, each that it may be."""
    told = [levels.get(environment, levels.get("default"))] if environment else [*levels.values()]
    return [str(level) for level in told if level is not None]


def _rules_of(policy: Policy) -> dict[str, dict[str, str]]:
    """Digests by trigger and rule, as the log's `policy` records have them."""
    told: dict[str, dict[str, str]] = {}
    for rule in policy.rules:
        if rule.enabled:
            told.setdefault(rule.trigger, {})[rule.key] = rule_digest(rule, policy)
    return told
