"""What another policy would have said to what the log tells of (design §7: the facts of each verdict are for this).

A rule that asks what it asked then matched what it matched then: only its level may differ. Any other is asked about
the logged facts, which are scalars: where it needs one that the log lacks it is undecided, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

from ahp.conditions.evaluate import Undecided
from ahp.gate.match import COUNTED
from ahp.gate.rendering import quoted
from ahp.gate.weighing import may_speak_for
from ahp.insight import asked_policy, many_logs, reading
from ahp.insight.asked_policy import AskedRules, AskedTrigger, Found, PastPolicies, ReadOld
from ahp.insight.reading import event_of
from ahp.policy import compile as compiling
from ahp.policy.program import RuleAnswer
from ahp.policy.rule import Policy
from ahp.protocol.signals import LEVEL_OF, SILENT, UNDECIDED
from ahp.protocol.triggers import OF_COMMITS, TRIGGERS
from ahp.system import clock
from ahp.system.jsontext import encode
from ahp.system.terminal import Seen, unseen

_TALLIES = 20_000
_PUSH = "pre-push"
_REFINED = "refined by "
_OF_EACH_COMMIT = Undecided("the facts of each commit")


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
    not describe any more.
    """

    judged: int = 0
    refused: int = 0
    refuses: int = 0
    skipped: int = 0
    begin: float = 0.0
    end: float = 0.0
    changes: list[Change] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    @property
    def decided(self) -> list[Change]:
        """The changes of which the log tells enough."""
        return [change for change in self.changes if change.weight < 3]


class _Tally:
    """What changes at evaluations that are alike, and at how many of them; whether they were `refused`, and are now."""

    __slots__ = ("changes", "count", "missing", "refused", "refuses")

    def __init__(self, refused: bool, refuses: bool) -> None:
        self.refused, self.refuses, self.count = refused, refuses, 0
        self.changes: list[Change] = []
        self.missing: list[tuple[str, str]] = []


class Replay:
    """Feeds the records of a log to a policy; `past` are those that logs describe."""

    def __init__(self, policy: Policy, past: PastPolicies, since: float | None) -> None:
        self.policy, self.past, self.since = policy, past, since
        self.triggers = {name: AskedTrigger(policy, program) for name, program in compiling.programs(policy).items()}
        self.done = Backtest()
        self._alike: dict[tuple[str, str, str, str], tuple[frozenset[str], AskedRules]] = {}
        self._tallies: dict[Hashable, _Tally] = {}
        self._changes: dict[tuple[str, str, str], Change] = {}
        self._missing: dict[str, Counter[str]] = {}
        self._called: Counter[tuple[str, str]] = Counter()  # trigger and policy of calls that were only counted
        self._said: dict[str, Mapping[str, object]] = {}
        self._event: tuple[object, ...] = ()
        self._log, self._at, self._stamp = "", 0.0, object()
        self._said_at = 0.0

    def apply(self, record: Mapping[str, object], log: str = "") -> None:
        """Takes up one record of the log of that name."""
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
        self._settle()
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
            known = {**asked_policy.told(record, others.own), **known}
        if others.hang_on_environment:
            environment = self._environment(now, policies[0], record, known)
            known = now.known_in(environment, known)
        found = others.found(known)
        if not (said or passed or dropped or found):
            return  # what asked and was silent asks the same and is silent
        if environment is None:
            environment = self._environment(now, policies[0], record, known)
        before = self._said_then(record, said)
        same = self._asked_again(now, policies, before, said)
        place = now.program.trigger, found, environment, (*before.items(),), (*same.items(),)
        tally = self._tallies.get(place)
        if tally is None:
            if len(self._tallies) >= _TALLIES:
                self._settle()
            tally = self._tallies[place] = self._tally(now, found, environment, before, same)
        tally.count += 1
        if tally.count <= EXAMPLES:  # later ones find that each change has its examples
            for change in tally.changes:
                self._exemplify(change, record, known)

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

    def _tally(
        self,
        now: AskedTrigger,
        found: Found,
        environment: str | Undecided,
        before: dict[str, str],
        same: Mapping[str, AskedTrigger | None],
    ) -> _Tally:
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
        tally = _Tally("block" in before.values(), "block" in after.values())
        for key in dict.fromkeys([*before, *after]):
            was, will = before.get(key, SILENT), after.get(key, SILENT)
            if was != will:
                tally.changes.append(self._changes.setdefault((key, was, will), Change(key, was, will)))
                if key in doubts:
                    tally.missing.append((key, now.lacks(doubts[key], environment)))
        return tally

    def _settle(self) -> None:
        """Adds up what was counted."""
        for tally in self._tallies.values():
            self.done.refused += tally.count * tally.refused
            self.done.refuses += tally.count * tally.refuses
            for change in tally.changes:
                change.count += tally.count
            for rule, path in tally.missing:
                self._missing.setdefault(rule, Counter())[path] += tally.count
        self._tallies.clear()

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

    def _environment(
        self, now: AskedTrigger, policy: str, record: Mapping[str, object], facts: Mapping[str, object]
    ) -> str | Undecided:
        """The named environment as the new policy would tell it: the log does where both policies name them alike."""
        names = now.program.settings.environment
        old = self.past.program(policy, now.program.trigger)
        is_same = old is not None and encode(old.settings.environment) == encode(names)
        told = record.get("environment")
        return told if names and is_same and told and isinstance(told, str) else now.environment.named(record, facts)

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
