"""What another policy would have said to what the log tells of (design §7: the facts of each verdict are for this).

A rule that asks what it asked then matched what it matched then: only its level may differ. Any other is asked about
the logged facts, which are scalars: where it needs one that the log lacks it is undecided, never guessed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ahp.conditions.evaluate import MISSING, Bound, Undecided, build, build_each
from ahp.facts import actor, registry
from ahp.facts.environment import DEFAULT
from ahp.gate.match import COUNTED, left_open
from ahp.gate.rendering import quoted
from ahp.gate.weighing import may_speak_for
from ahp.insight import many_logs, reading
from ahp.insight.reading import event_of
from ahp.policy import compile as compiling
from ahp.policy import refine
from ahp.policy.program import Program, RuleAnswer, RulePlan
from ahp.policy.rule import Policy, rule_digest
from ahp.protocol.signals import LEVEL_OF, SILENT, UNDECIDED, strongest
from ahp.protocol.triggers import OF_COMMITS, TRIGGERS
from ahp.system import clock
from ahp.system.jsontext import encode
from ahp.system.terminal import Seen, unseen

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


class AskedTrigger:
    """The new policy at one trigger: its rules, and which of them the old policies asked alike."""

    def __init__(self, policy: Policy, program: Program) -> None:
        self.policy, self.program = policy, program
        assert program.answers is not None
        self.answers = program.answers
        self.plans = {plan.key: plan for plan in program.rules}
        self.digests = {rule.key: rule_digest(rule, policy) for rule in policy.rules if rule.trigger == program.trigger}
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

        about = _told(facts, self._reads)
        found = self._known.get(about)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            holds = [(rule.key, rule.matches(facts)) for rule in self._rules]
            found = self._known[about] = tuple((key, told) for key, told in holds if told is not False)
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


_PUSH = "pre-push"
_REFINED = "refined by "
_OF_EACH_COMMIT = Undecided("the facts of each commit")
_OF_ENVIRONMENT = Undecided("the environment")


EXAMPLES = 3
"""Of each change."""


class Example(NamedTuple):
    """One evaluation whose outcome changes: when (seconds), at which trigger, about whom, and the facts it went by."""

    at: float
    hook: str
    subject: str
    actor: str
    told: str


@dataclass
class Change:
    """How often a rule would have said `after` where it said `before`: a level, `silent` or `undecided`."""

    rule: str
    before: str
    after: str
    count: int = 0
    examples: list[Example] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """0: a block gained, 1: a block lost, 2: another change, 3: nobody knows."""
        if UNDECIDED in (self.before, self.after):
            return 3
        return 0 if self.after == "block" else 1 if self.before == "block" else 2


@dataclass
class Backtest:
    """`judged` evaluations of the log, `refused` of them then and `refuses` now as far as is decided.

    `changes`: blocks gained first, then blocks lost, other changes, undecided ones. `missing` facts by rule, that the
    log lacks. `calls` that were only counted, of rules at tool triggers that did not ask the same then: what these
    would have said is unknown, and so is what `skipped` evaluations would have been, by policies that the log does
    not describe any more. `corpus` is a digest of the records: who asks the same of them finds the same.
    """

    judged: int = 0
    refused: int = 0
    refuses: int = 0
    skipped: int = 0
    begin: float = 0.0
    end: float = 0.0
    corpus: str = ""
    changes: list[Change] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    @property
    def decided(self) -> list[Change]:
        """The changes of which the log tells enough."""
        return [change for change in self.changes if change.weight < 3]


_Changed: TypeAlias = "tuple[bool, bool, list[tuple[Change, str]]]"
"""Whether evaluations that are alike were refused, and are now; what changes, with the fact that the log lacks."""


class Replay:
    """Feeds the records of a log to a policy; `past` are those that logs describe."""

    def __init__(self, policy: Policy, past: PastPolicies, since: float | None) -> None:
        self.policy, self.past, self.since = policy, past, since
        self.triggers = {name: AskedTrigger(policy, program) for name, program in compiling.programs(policy).items()}
        self.done = Backtest()
        self._alike: dict[tuple[str, str, str, str], tuple[frozenset[str], AskedRules]] = {}
        self._known: dict[Hashable, _Changed] = {}
        self._changes: dict[tuple[str, str, str], Change] = {}
        self._missing: dict[str, Counter[str]] = {}
        self._called: Counter[tuple[str, str]] = Counter()  # trigger and policy of calls that were only counted
        self._said: dict[str, Mapping[str, object]] = {}
        self._event: tuple[object, ...] = ()
        self._log, self._at, self._stamp = "", 0.0, object()
        self._said_at = 0.0
        self._corpus = hashlib.sha256()
        self._last: Mapping[str, object] = {}

    def apply(self, record: Mapping[str, object], log: str = "") -> None:
        """Takes up one record of the log of that name."""
        self._corpus.update(b"%a" % record.get("prev"))
        self._last = record
        if log != self._log:
            self._tool_call()
            self._log, self._at, self._stamp = log, 0.0, object()
        kind = record.get("kind")
        stamp = record.get("timestamp")
        if stamp != self._stamp:
            self._at, self._stamp = max(self._at, clock.seconds(stamp) or 0.0), stamp
        if kind == "policy":
            if self.past.describe(record):
                self._alike.clear()  # what asked alike was told without it
        elif kind == "signal":
            self._signal(record)
        elif kind == "verdict":
            if self._said and self._event != event_of(record):
                self._tool_call()
            self._judge(record, self._said)
            self._event, self._said = (), {}
        elif kind == "count":
            self._count(record)

    def result(self) -> Backtest:
        """What came of it."""
        self._tool_call()
        self._corpus.update(b"%a" % self._last)  # what no later record tells of
        self.done.corpus = f"sha256:{self._corpus.hexdigest()}"
        for (hook, policy), calls in self._called.items():
            for key in self._alike_rules(self.triggers[hook], (policy, ""), "")[1].keys:
                self.done.calls[key] = self.done.calls.get(key, 0) + calls
        order = sorted(
            self._changes.values(), key=lambda one: (one.weight, -one.count, one.rule, one.before, one.after)
        )
        self.done.changes = order
        self.done.missing = {
            rule: sorted(paths, key=lambda path: (-paths[path], path)) for rule, paths in self._missing.items()
        }
        return self.done

    def _counts(self) -> bool:
        return self.since is None or self._at >= self.since

    def _signal(self, record: Mapping[str, object]) -> None:
        event = event_of(record)
        if event != self._event:
            self._tool_call()
            self._event, self._said, self._said_at = event, {}, self._at
        self._said[str(record.get("rule"))] = record

    def _tool_call(self) -> None:
        """Signals of a tool call have no verdict after them: nothing is known of the call but what was said."""
        first = next(iter(self._said.values()), None)
        trigger = TRIGGERS.get(str(first.get("hook"))) if first is not None else None
        if first is not None and trigger is not None and trigger.family in COUNTED:
            facts: dict[str, object] = {}
            for signal in self._said.values():
                told = signal.get("facts")
                facts |= told if isinstance(told, dict) else {}
            at, self._at = self._at, self._said_at
            self._judge({**first, "facts": facts, "environment": "", "working": ""}, self._said)
            self._at = at
        self._event, self._said = (), {}

    def _judge(self, record: Mapping[str, object], said: Mapping[str, Mapping[str, object]]) -> None:
        now = self.triggers.get(str(record.get("hook")))
        if now is None or not self._counts():
            return
        done = self.done
        done.begin, done.end = min(done.begin or self._at, self._at), max(done.end, self._at)
        policies = str(record.get("policy") or ""), str(record.get("working") or "")
        if policies[0] not in self.past:
            done.skipped += 1
            return
        done.judged += 1
        passed, dropped = record.get("skipped"), record.get("dropped")
        others = self._alike_rules(now, policies, str(record.get("environment") or ""))[1]
        facts = record.get("facts")
        known: Mapping[str, object] = facts if isinstance(facts, dict) else {}
        environment: str | Undecided | None = None
        if others.own:
            known = {**told(record, others.own), **known}
        if others.hang_on_environment:
            environment = self._environment(now, policies[0], record)
            known = now.known_in(environment, known)
        found = others.found(known)
        if not (said or passed or dropped or found):
            return  # what asked and was silent asks the same and is silent
        if environment is None:
            environment = self._environment(now, policies[0], record)
        before = self._said_then(record, said)
        same = self._asked_again(now, policies, before, said)
        place = now.program.trigger, found, environment, (*before.items(),), (*same.items(),)
        if (changed := self._known.get(place)) is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            changed = self._known[place] = self._changed(now, found, environment, before, same)
        refused, refuses, changes = changed
        done.refused += refused
        done.refuses += refuses
        for change, lacks in changes:
            change.count += 1
            self._exemplify(change, record, known)
            if lacks:
                self._missing.setdefault(change.rule, Counter())[lacks] += 1

    def _said_then(self, record: Mapping[str, object], said: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
        """What each rule that the log tells of said of itself; also one that was not delivered, as it matched."""
        before = {rule: _before(signal) for rule, signal in said.items()}
        for one in _mappings(record.get("skipped")):
            before.setdefault(str(one.get("rule")), UNDECIDED)
        policies = str(record.get("policy") or ""), str(record.get("working") or "")
        hook, environment = str(record.get("hook")), str(record.get("environment") or "")
        for one in _mappings(record.get("dropped")):
            rule, is_spoken_for = str(one.get("rule")), str(one.get("why")).startswith(_REFINED)
            triggers = (hook, *OF_COMMITS) if hook == _PUSH else (hook,)
            level = SILENT if is_spoken_for else self.past.level(policies, triggers, rule, environment)
            before.setdefault(rule, level)
        return before

    def _asked_again(
        self,
        now: AskedTrigger,
        policies: tuple[str, str],
        before: Mapping[str, str],
        said: Mapping[str, Mapping[str, object]],
    ) -> dict[str, AskedTrigger | None]:
        """Where the new policy asks what these rules asked then: what they said tells whether they match.

        A push also told of rules that each of its commits was asked. Where such a rule asks otherwise now it is None:
        the log has no facts of each commit.
        """
        alike = self._alike_rules(now, policies, "")[0]
        same: dict[str, AskedTrigger | None] = {key: now for key in before if key in alike}
        for key in before if now.program.trigger == _PUSH else ():
            signal = said.get(key, {})
            if not signal.get("commits") and (key in now.plans or self.past.has(policies, _PUSH, key)):
                continue
            there = [asked for asked in map(self.triggers.__getitem__, OF_COMMITS) if key in asked.plans]
            judges = (str(signal.get("policy") or policies[0]), policies[1])
            if there:
                same[key] = next((one for one in there if key in self._alike_rules(one, judges, "")[0]), None)
        return same

    def _changed(
        self,
        now: AskedTrigger,
        found: Found,
        environment: str | Undecided,
        before: dict[str, str],
        same: Mapping[str, AskedTrigger | None],
    ) -> _Changed:
        """What changes where the rules `before` had said so; those of `same` ask what they asked then, at that trigger
        (None: nobody knows what they say), `found` are the others."""
        doubts: dict[str, Undecided] = {}
        matched: dict[str, AskedTrigger] = {}
        still_open: list[str] = []
        for key, asked in same.items():
            if asked is None:
                doubts[key] = _OF_EACH_COMMIT
            elif before[key] == UNDECIDED:
                still_open.append(key)
            else:
                matched[key] = asked
        for key, holds in found:
            if key in same:
                continue
            if isinstance(holds, Undecided):
                doubts[key] = holds
            else:
                matched[key] = now
        after = {
            **dict.fromkeys([*still_open, *doubts], UNDECIDED),
            **{key: asked.level(key, environment) for key, asked in matched.items()},
        }
        if isinstance(environment, Undecided):
            doubts |= {key: environment for key in matched if after[key] == UNDECIDED}
        _refine({key: asked.answers.rules[key] for key, asked in matched.items()}, after)
        changes = []
        for key in dict.fromkeys([*before, *after]):
            was, will = before.get(key, SILENT), after.get(key, SILENT)
            if was != will:
                lacks = now.lacks(doubts[key], environment) if key in doubts else ""
                changes.append((self._changes.setdefault((key, was, will), Change(key, was, will)), lacks))
        return "block" in before.values(), "block" in after.values(), changes

    def _exemplify(self, change: Change, record: Mapping[str, object], facts: Mapping[str, object]) -> None:
        if len(change.examples) < EXAMPLES:
            now, rule = self.triggers[str(record.get("hook"))], change.rule
            reads = now.answers.rules[rule].reads if rule in now.plans else list(facts)
            told = ", ".join(f"{path} = {quoted(facts[path])}" for path in reads if path in facts)
            about = [str(record.get(name) or "") for name in ("hook", "subject", "actor")]
            change.examples.append(Example(self._at, about[0], about[1], about[2], told))

    def _count(self, record: Mapping[str, object]) -> None:
        """Keeps how many calls there were: the log often counts the first calls of a policy before it describes it."""
        for one in _mappings(record.get("calls")) if self._counts() else ():
            hook, calls = str(one.get("hook")), one.get("calls")
            if hook in self.triggers and isinstance(calls, int):
                self._called[hook, str(one.get("policy") or "")] += calls

    def _environment(self, now: AskedTrigger, policy: str, record: Mapping[str, object]) -> str | Undecided:
        """The named environment: the log tells it where both policies name them alike."""
        names = now.program.settings.environment
        if not names:
            return DEFAULT
        old = self.past.program(policy, now.program.trigger)
        is_same = old is not None and encode(old.settings.environment) == encode(names)
        told = record.get("environment")
        return told if is_same and told and isinstance(told, str) else _OF_ENVIRONMENT

    def _alike_rules(
        self, now: AskedTrigger, policies: tuple[str, str], environment: str
    ) -> tuple[frozenset[str], AskedRules]:
        """The rules of the new policy that ask what one of the old ones asked, and those whose silence tells nothing:
        the others, and what had no level in that environment then.
        """
        place = (now.program.trigger, *policies, environment)
        known = self._alike.get(place)
        if known is None:
            digests = [*filter(None, policies)]
            alike = self.past.alike(now, digests)
            telling = alike - self.past.mute(digests, now.program.trigger, environment)
            others = AskedRules(now, [key for key in now.plans if key not in telling])
            known = self._alike[place] = frozenset(alike), others
        return known


def _refine(rules: Mapping[str, RuleAnswer], after: dict[str, str]) -> None:
    """Silences what another rule that matches speaks for; `rules` are those that match."""
    levels = {key: after[key] for key in rules if after[key] in LEVEL_OF}
    for key, level in levels.items():
        for other in rules[key].refines:
            if other in levels and may_speak_for(rules[key], level, rules[other], levels[other]):
                after[other] = SILENT


def _before(signal: Mapping[str, object]) -> str:
    """What a rule said of itself, whatever ladder, waiver or override made of it."""
    if signal.get("shadow"):
        return SILENT
    if signal.get("undecidable"):
        return UNDECIDED
    told = str(signal.get("declared") or signal.get("intensity"))
    return told if told in LEVEL_OF else SILENT


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def replay(
    folder: str,
    policy: Policy,
    read_old: ReadOld = lambda record: None,
    *,
    since: float | None = None,
    from_: Sequence[str] = (),
    seen: Seen = unseen,
) -> Backtest:
    """What `policy` would have said to what the log in `folder` tells of, or the folders and files `from_`.

    `read_old` gives the policy that a `policy` record tells of, or None. Raises AhpError when the log cannot be read.
    """
    past = PastPolicies(read_old)

    def once() -> Backtest:
        run = Replay(policy, past, since)
        of_one = zip(repeat(""), reading.records(folder, since, seen), strict=False)
        for log, record in many_logs.records(from_, since, seen) if from_ else of_one:
            run.apply(record, log)
        return run.result()

    with reading.no_garbage():
        done = once()
        # What a log does not describe, one that is read after it may.
        return once() if from_ and done.skipped else done
