"""Rules graded by what became of the commits that they spoke of, and of those that they were silent on.

Figures are of many commits and never of one: the join of a fix to what it fixes is right only so often, which is
measured and corrected for. What was refused became no commit, so a block has an outcome only where it was overridden,
bypassed, waived or watched in shadow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ahp.insight import reading
from ahp.insight.advice import SAMPLE, Share
from ahp.insight.aftermath import REVERTED, Aftermath
from ahp.insight.commit_records import Attempt, CommitRecords
from ahp.journal.answers import kind_of
from ahp.protocol.triggers import OF_COMMITS
from ahp.system.terminal import Seen, unseen

MOST = 5
"""Commits that a rule spoke of below which it is not graded."""
OVERRIDDEN, WAIVED, SHADOW, BYPASSED, SKIPPED = "overridden", "waived", "in shadow", "bypassed", "skipped"
DISMISSED, PASSED = "dismissed", "let past"


class Spoken(NamedTuple):
    """What is known of one rule: the commits that it was `asked` about, how it spoke of some (one of the words above),
    and how often it refused what became no commit then.
    """

    asked: set[str]
    spoke: dict[str, str]
    refused: int = 0


class Grade(NamedTuple):
    """A rule by the commits whose outcome is known: it spoke of `spoke` of them, `how` in a word each; `wrong` ones of
    these, in the words of `aftermath`, and `missed` ones that it was silent on went wrong.

    `precision` and `recall` are shares with intervals, corrected; `auc` is how well its word tells the two apart (0.5:
    not at all). None where too few are known. `weak` are the top folders in which its precision, the first of two, is
    not half of what it is elsewhere, with all of the intervals: of many folders one always differs a little.
    """

    rule: str
    asked: int
    spoke: int
    how: dict[str, int]
    wrong: dict[str, int]
    missed: int
    refused: int
    precision: Share | None
    recall: Share | None
    auc: float | None
    weak: dict[str, tuple[Share, Share]]


def grade(rule: str, told: Spoken, after: Aftermath, settled: set[str]) -> Grade:
    """The grade of one rule."""
    spoke, asked = told.spoke.keys() & settled, told.asked & settled
    silent = asked - spoke
    wrong, missed = (_kinds(some, after) for some in (spoke, silent))
    how = Counter(told.spoke[id] for id in spoke)
    precision = recall = auc = None
    if len(spoke) >= MOST:
        precision = _precision(wrong, len(spoke), after)
        hits, misses = precision.hits, _corrected(missed, len(silent), after)
        recall = Share.of(hits, hits + misses) if hits + misses >= 1 else None
        good = len(spoke | asked) - hits - misses
        if recall is not None and good > 0:
            auc = (1 + hits / (hits + misses) - (len(spoke) - hits) / good) / 2
    counts = len(spoke | asked), len(spoke), dict(how.most_common()), dict(wrong.most_common()), missed.total()
    return Grade(rule, *counts, told.refused, precision, recall, auc, _weak(spoke, after))


def _weak(spoke: set[str], after: Aftermath) -> dict[str, tuple[Share, Share]]:
    within: dict[str, set[str]] = {}
    for id in spoke:
        for path, *_ in after.facts[id].taken:
            if "/" in path:
                within.setdefault(path.partition("/")[0] + "/", set()).add(id)
    found: dict[str, tuple[Share, Share]] = {}
    for folder, some in sorted(within.items()):
        if min(len(some), len(spoke - some)) >= SAMPLE:
            here, there = (_precision(_kinds(one, after), len(one), after) for one in (some, spoke - some))
            found |= {folder: (here, there)} if 2 * here.high < there.low else {}
    return found


def _kinds(commits: Iterable[str], after: Aftermath) -> Counter[str]:
    return Counter(after.outcomes[id] for id in commits if id in after.outcomes)


def _corrected(counts: Counter[str], many: float, after: Aftermath) -> float:
    return after.wrong(counts[REVERTED], counts.total() - counts[REVERTED], many)


def _precision(counts: Counter[str], many: int, after: Aftermath) -> Share:
    """The share, each end of its interval corrected as the middle is."""
    seen, reverted = Share.of(counts.total(), many), counts[REVERTED]
    low, high = (
        after.wrong(min(reverted, share * many), max(0.0, share * many - reverted), many) / many
        for share in (seen.low, seen.high)
    )
    return Share(_corrected(counts, many, after), many, low, high)


def spoken(folder: str, after: Aftermath, seen: Seen = unseen) -> dict[str, Spoken]:
    """What the log in `folder` knows of each rule about the commits of `after`, by the digest of what they change.

    Of several attempts at one change the last that was let past made the commit. Raises AhpError.
    """
    known = CommitRecords({id: fact.digests for id, fact in after.facts.items()})
    policies: dict[str, list[tuple[str, str]]] = {}
    dismissed: set[str] = set()
    refused: Counter[str] = Counter()
    for record in reading.records(folder, None, seen):
        known.take(record)
        get, kind = record.get, record.get("kind")
        if kind == "signal" and get("hook") in OF_COMMITS and (get("decision"), get("intensity")) == ("deny", "block"):
            refused[str(get("rule"))] += 1
        elif kind == "policy":
            rules = get("rules")
            told = [one for one in rules if isinstance(one, list) and len(one) > 1] if isinstance(rules, list) else []
            policies[str(get("digest"))] = [(str(one[0]), str(one[1])) for one in told]
        elif kind == "response" and get("action") == "dismiss" and kind_of(str(get("by"))) == "human":
            dismissed.add(str(get("id")))
    found: dict[str, Spoken] = {}

    def of(rule: str) -> Spoken:
        return found.setdefault(rule, Spoken(set(), {}, refused[rule]))

    for commit, digests in known.changes.items():
        passed = [one for digest in digests for one in known.attempts.get(digest, {}).values() if one.passed]
        if passed:
            attempt = max(passed, key=lambda one: one.order)
            asked = {
                rule
                for hook, verdict in attempt.verdicts.items()
                for digest in (verdict.get("policy"), verdict.get("working"))
                for at, rule in policies.get(str(digest), ())
                if at == hook
            }
            said = _said(attempt, dismissed)
            for rule in asked | said.keys():
                if (how := said.get(rule)) != SKIPPED:  # what could not be decided was not asked
                    of(rule).asked.add(commit)
                    of(rule).spoke.update({commit: how} if how else {})
        rules = known.bypasses.get(commit, {}).get("rules")
        for rule in rules if isinstance(rules, list) else ():
            of(str(rule)).spoke[commit] = BYPASSED
    return found


def _said(attempt: Attempt, dismissed: Collection[str]) -> dict[str, str]:
    """How each rule spoke of what an attempt let past."""
    found: dict[str, str] = {}
    for verdict in attempt.verdicts.values():
        skipped = verdict.get("skipped")
        some = [one for one in skipped if isinstance(one, dict)] if isinstance(skipped, list) else []
        found |= {str(one.get("rule")): SKIPPED for one in some}
    for signal in attempt.signals:
        how = DISMISSED if str(signal.get("id")) in dismissed else PASSED
        found[str(signal.get("rule"))] = next((word for key, word in _MARKS.items() if signal.get(key)), how)
    return found


_MARKS = {"shadow": SHADOW, "waived": WAIVED, "overrides": OVERRIDDEN, "undecidable": SKIPPED}
