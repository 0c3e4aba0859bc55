"""What another policy would have said to what the log tells of (design §7: the facts of each verdict are for this).

A rule that asks what it asked then matched what it matched then: only its level may differ. Any other is asked about
the logged facts, which are scalars: where it needs one that the log lacks it is undecided, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ahp.conditions.evaluate import Undecided
from ahp.gate.match import COUNTED
from ahp.gate.rendering import quoted
from ahp.gate.weighing import may_speak_for
from ahp.insight import many_logs, reading, record_facts
from ahp.insight.asked_policy import SILENT, UNDECIDED, AskedRules, AskedTrigger, Found, asks_alike
from ahp.insight.changes import EXAMPLES, Backtest, Change, Example, Tally
from ahp.insight.reading import event_of
from ahp.policy import compile as compiling
from ahp.policy.program import Program
from ahp.policy.rule import Policy, rule_digest
from ahp.protocol.levels import LEVEL_OF
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock
from ahp.system.jsontext import encode
from ahp.system.terminal import Seen, unseen

_TALLIES = 20_000

ReadOld = Callable[[Mapping[str, object]], Policy | None]


class Replay:
    """Feeds the records of a log to a policy. `read_old` gives the policy that a `policy` record tells of, or None."""

    def __init__(self, policy: Policy, read_old: ReadOld, since: float | None = None) -> None:
        self.policy, self.read_old, self.since = policy, read_old, since
        self.triggers = {name: AskedTrigger(policy, program) for name, program in compiling.programs(policy).items()}
        self.done = Backtest()
        self._rules: dict[str, dict[str, dict[str, str]]] = {}  # digest → trigger → rule → rule digest
        self._old: dict[str, Mapping[str, Program]] = {}
        self._alike: dict[tuple[str, str, str], tuple[frozenset[str], AskedRules]] = {}
        self._tallies: dict[tuple[Found, str | Undecided], Tally] = {}
        self._changes: dict[tuple[str, str, str], Change] = {}
        self._missing: dict[str, Counter[str]] = {}
        self._called: Counter[tuple[str, str]] = Counter()  # trigger and policy of calls that were only counted
        self._said: dict[str, Mapping[str, object]] = {}
        self._event: tuple[object, ...] = ()
        self._log, self._at, self._stamp = "", 0.0, object()

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
            self._describe(record)
        elif kind == "signal":
            self._signal(record)
        elif kind == "verdict":
            said = self._said if self._said and self._event == event_of(record) else {}
            self._judge(record, said)
            self._event, self._said = (), {}
        elif kind == "count":
            self._count(record)

    def take_policies(self, other: Replay) -> None:
        """Knows the policies that `other` was told of from the beginning."""
        self._rules, self._old = dict(other._rules), dict(other._old)

    def result(self) -> Backtest:
        """What came of it."""
        self._tool_call()
        self._settle()
        for (hook, policy), calls in self._called.items():
            for key in self._alike_rules(self.triggers[hook], policy, "")[1].keys:
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

    def _describe(self, record: Mapping[str, object]) -> None:
        told: dict[str, dict[str, str]] = {}
        rules = record.get("rules")
        for one in rules if isinstance(rules, list) else ():
            if isinstance(one, list) and len(one) > 3:
                told.setdefault(str(one[0]), {})[str(one[1])] = str(one[3])
        digest = str(record.get("digest"))
        if digest not in self._rules:
            self._alike.clear()  # what asked alike was told without it
        self._rules[digest] = told
        old = self.read_old(record)
        if old is not None and _rules_of(old) == told:
            self._old[digest] = compiling.programs(old)

    def _signal(self, record: Mapping[str, object]) -> None:
        event = event_of(record)
        if event != self._event:
            self._tool_call()
            self._event, self._said = event, {}
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
            self._judge({**first, "facts": facts, "environment": "", "working": ""}, self._said)
        self._event, self._said = (), {}

    def _judge(self, record: Mapping[str, object], said: Mapping[str, Mapping[str, object]]) -> None:
        now = self.triggers.get(str(record.get("hook")))
        if now is None or not self._counts():
            return
        done = self.done
        done.begin, done.end = min(done.begin or self._at, self._at), max(done.end, self._at)
        policies = [str(record.get(name) or "") for name in ("policy", "working")]
        if policies[0] not in self._rules:
            done.skipped += 1
            return
        done.judged += 1
        passed = {str(one.get("rule")) for one in _mappings(record.get("skipped"))}
        dropped = {str(one.get("rule")) for one in _mappings(record.get("dropped"))}
        alike, others = self._alike_rules(now, policies[0], policies[1])
        facts = record.get("facts")
        known: Mapping[str, object] = facts if isinstance(facts, dict) else {}
        environment: str | Undecided | None = None
        if others.own:
            known = {**record_facts.told(record, others.own), **known}
        if others.hang_on_environment:
            environment = self._environment(now, policies[0], record, known)
            known = now.known_in(environment, known)
        found = others.found(known)
        if not (said or passed or dropped or found.holds):
            return  # what asked and was silent asks the same and is silent
        if environment is None:
            environment = self._environment(now, policies[0], record, known)
        if said or passed or dropped:
            tally = self._tally(now, found, environment, said, passed, (set(said) | dropped | passed) & alike)
            done.refused += "block" in tally.before.values()
            self._add(tally, 1)
        else:
            tally = self._tallies.get((found, environment)) or self._remember(now, found, environment)
            tally.count += 1
        if tally.count <= EXAMPLES:  # later ones find that each change has its examples
            for change in tally.changes:
                self._exemplify(change, record, known)

    def _remember(self, now: AskedTrigger, found: Found, environment: str | Undecided) -> Tally:
        """Of evaluations that nothing was said at, which are nearly all, it is only counted how often they come."""
        if len(self._tallies) >= _TALLIES:
            self._settle()
        tally = self._tallies[found, environment] = self._tally(now, found, environment, {}, set(), set())
        return tally

    def _tally(
        self,
        now: AskedTrigger,
        found: Found,
        environment: str | Undecided,
        said: Mapping[str, Mapping[str, object]],
        passed: set[str],
        same: set[str],
    ) -> Tally:
        """What changes where the rules `said` had spoken and `passed` had been passed over; `same` ask what they asked
        then, `found` are the others."""
        before = {rule: _before(signal) for rule, signal in said.items()}
        doubts: dict[str, Undecided] = {}
        matched: list[str] = []
        still_open: list[str] = []
        for key in same:
            (still_open if key in passed or before.get(key) == UNDECIDED else matched).append(key)
        for key, holds in found.holds:
            if isinstance(holds, Undecided):
                doubts[key] = holds
            else:
                matched.append(key)
        after = {
            **dict.fromkeys([*still_open, *doubts], UNDECIDED),
            **{key: now.level(key, environment) for key in matched},
        }
        if isinstance(environment, Undecided):
            doubts |= {key: environment for key in matched if after[key] == UNDECIDED}
        self._refine(now, after)
        tally = Tally(before, "block" in after.values())
        for key in dict.fromkeys([*before, *passed, *after]):
            was = before.get(key, UNDECIDED if key in passed else SILENT)
            will = after.get(key, SILENT)
            if was != will:
                tally.changes.append(self._changes.setdefault((key, was, will), Change(key, was, will)))
                if key in doubts:
                    tally.missing.append((key, now.lacks(doubts[key], environment)))
        return tally

    def _add(self, tally: Tally, many: int) -> None:
        self.done.refuses += many * tally.refuses
        for change in tally.changes:
            change.count += many
        for rule, path in tally.missing:
            self._missing.setdefault(rule, Counter())[path] += many

    def _settle(self) -> None:
        """Adds up what was counted."""
        for tally in self._tallies.values():
            self._add(tally, tally.count)
        self._tallies.clear()

    def _refine(self, now: AskedTrigger, after: dict[str, str]) -> None:
        """Silences what another rule that matches speaks for."""
        rules = now.answers.rules
        levels = {key: level for key, level in after.items() if level in LEVEL_OF}
        for key, level in levels.items():
            for other in rules[key].refines:
                if other in levels and may_speak_for(rules[key], level, rules[other], levels[other]):
                    after[other] = SILENT

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
        old = self._old.get(policy)
        is_same = old is not None and encode(old[now.program.trigger].settings.environment) == encode(names)
        told = record.get("environment")
        return told if names and is_same and told and isinstance(told, str) else now.environment.named(record, facts)

    def _alike_rules(self, now: AskedTrigger, policy: str, working: str) -> tuple[frozenset[str], AskedRules]:
        """The rules of the new policy that the old ones asked in the same words about the same facts, and the others.

        The old policy tells, where it can still be read; else the log where a rule had the same digest. What such a
        rule said then tells whether it matched.
        """
        place = (now.program.trigger, policy, working)
        known = self._alike.get(place)
        if known is None:
            found = set()
            for digest in filter(None, (policy, working)):
                if digest in self._old:
                    found |= asks_alike(now, self._old[digest][now.program.trigger])
                else:
                    described = self._rules.get(digest, {}).get(now.program.trigger, {})
                    found |= {key for key, told in now.digests.items() if described.get(key) == told}
            found &= now.plans.keys()
            others = AskedRules(now, [key for key in now.plans if key not in found])
            known = self._alike[place] = frozenset(found), others
        return known


def _rules_of(policy: Policy) -> dict[str, dict[str, str]]:
    """Digests by trigger and rule, as the log's `policy` records have them."""
    told: dict[str, dict[str, str]] = {}
    for rule in policy.rules:
        if rule.enabled:
            told.setdefault(rule.trigger, {})[rule.key] = rule_digest(rule, policy)
    return told


def _before(signal: Mapping[str, object]) -> str:
    """What a rule said of itself, whatever ladder, waiver or override made of it."""
    if signal.get("shadow"):
        return SILENT
    if signal.get("undecidable"):
        return UNDECIDED
    return str(signal.get("declared") or signal.get("intensity"))


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

    `read_old` as in `Replay`: only rules that ask what they asked then are decided without the facts. Raises AhpError
    when the log cannot be read.
    """
    run = Replay(policy, read_old, since)
    with reading.no_garbage():
        if not from_:
            for record in reading.records(folder, since, seen):
                run.apply(record)
            return run.result()
        described: Replay | None = None
        while True:
            for log, record in many_logs.records(from_, since, seen):
                run.apply(record, log)
            done = run.result()
            if not done.skipped or described is not None:
                return done
            # What a log does not describe, one that is read after it may.
            described, run = run, Replay(policy, read_old, since)
            run.take_policies(described)
