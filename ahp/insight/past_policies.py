"""The policies that a log describes: which rules each had where, and, where git still has it, in which words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ahp.insight.asked_policy import AskedTrigger, asks_alike
from ahp.policy import compile as compiling
from ahp.policy.program import Program
from ahp.policy.rule import Policy, rule_digest
from ahp.protocol.signals import LEVEL_OF, SILENT, strongest

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

    def take(self, other: PastPolicies) -> None:
        """Knows what `other` was told."""
        self._rules, self._levels, self._programs = dict(other._rules), dict(other._levels), dict(other._programs)

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
                found |= asks_alike(now, old)
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
