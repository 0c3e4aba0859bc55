"""Rules graded by what became of the commits that they spoke of, and of those that they were silent on.

Figures are of many commits and never of one: the join of a fix to what it fixes is right only so often, which is
measured and corrected for. What was refused became no commit, so a block has an outcome only where it was overridden,
bypassed, waived or watched in shadow.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from ahp.insight import reading
from ahp.insight.advice import SAMPLE, Share
from ahp.insight.audit import Attempt, CommitRecords, digest_of
from ahp.insight.export import private
from ahp.journal.answers import kind_of
from ahp.journal.decoding import decode
from ahp.protocol.triggers import OF_COMMITS
from ahp.system import files, patch
from ahp.system.commits import Past, PastView, compared, listed, split_text, views
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository
from ahp.system.terminal import Seen, unseen
from ahp.system.view import PATCH

WITHIN = 30
"""Days within which a commit has to be taken back or fixed; of later ones the outcome is not known yet."""
LABELLED = 0.85
"""The share of fixes that are assumed to say so. No history tells it: most of what is taken back without a word was no
mistake. Where it is 0.7 or 1, a precision is off by ten points or so at most.
"""
PLACE = "/cache/outcomes"
"""In the folder of a log: a line a commit, and a line a fix."""
REVERTED, FIXED, HOT_FIXED, RED = "reverted", "fixed", "hot-fixed", "red"
_SURE = (REVERTED, RED)  # nothing is joined by lines there
_DAY = 86400.0
_MADE = 2  # of what is kept; another number reads all anew
_FILES, _LINES = 20, 200  # of a fix; one that changes more files does other things beside
_WIDE = 100  # files; the lines of larger commits are not read
_AT_ONCE = 200
_NAMES = re.compile(r"\b(?:reverts|reapplies|This reverts) commit ([0-9a-f]{40,64})", re.IGNORECASE)
_FIXES = re.compile(
    r"\b(?:(?:hot|bug)?-?fix(?:e[sd])?|bugs?|revert(?:s|ed)?|regress\w*|broken?|crash\w*)\b", re.IGNORECASE
)
_BLAMED = re.compile(r"([0-9a-f]{40,64}) \d+ \d+ (\d+)$")
_RELEASE = re.compile(r"(^|/)((release|hotfix|stable|maint)\b|v?\d+\.[\dx.]+$)")
_NOTHING_SAID = ("#", "//", "/*", "*", "--", ";", "<!--", '"""')


class Fact(NamedTuple):
    """What is kept of a commit: its parents, when it was committed (seconds), the commits that it says it takes back,
    whether its subject says that it fixes, each path with digests of the lines that it adds and removes there, and the
    digests of what it changes.
    """

    parents: list[str]
    at: float
    names: list[str]
    fixes: bool
    taken: list[list[str]]
    digests: list[str]


class Aftermath(NamedTuple):
    """The commits `facts` by id, oldest first, and how those went wrong that did, in one of the words above.

    `found` are those that the join by lines finds, of the commits taken back whole, `false` the share of all commits
    that it takes for others.
    """

    facts: dict[str, Fact]
    outcomes: dict[str, str]
    found: Share
    false: float

    def settled(self, now: float) -> set[str]:
        """The commits of which the outcome is known: `WITHIN` days have passed."""
        until = now - WITHIN * _DAY
        return {id for id, one in self.facts.items() if one.at <= until and one.taken}

    def wrong(self, sure: float, fixed: float, many: float) -> float:
        """How many of `many` commits went wrong, by what is seen of them (Rogan and Gladen 1978)."""
        rest = max(0.0, many - sure)
        finds = LABELLED * self.found.hits / self.found.many if self.found.many >= SAMPLE else 1.0
        return sure + min(rest, max(0.0, (fixed - self.false * rest) / max(0.1, finds - self.false)))


def aftermath(
    repo: Repository,
    folder: str,
    base: str = "",
    since: float = 0.0,
    seen: Seen = unseen,
    red: Collection[str] = (),
) -> Aftermath:
    """Of the commits of HEAD, and of the release branches, that are not in `base` and came `since` (seconds); merges
    bring nothing of their own. CI failed on those of `red`: the first after one on which it did not was wrong.

    What was found is kept in `folder`, by commit, as it is found: a reading that is ended goes on from there. Raises
    AhpError.
    """
    refs = repo.run("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").decode().split()
    release = [ref for ref in refs if _RELEASE.search(ref)]
    newer = ["--no-merges", *([f"--since={since:.0f}"] if since else []), "--date-order"]
    not_older = [f"^{base}"] if base else []
    head = repo.run("rev-list", *newer, "HEAD", *not_older).decode().split()
    beside = repo.run("rev-list", *newer, *release, "^HEAD", *not_older).decode().split() if release else []
    with _Kept(folder + PLACE) as kept:
        kept.read(repo, [id for id in [*beside, *head] if id not in kept.facts][::-1], seen)
        facts = {id: kept.facts[id] for id in [*beside, *head][::-1]}
        whole, applied_anew = _taken_back(facts)
        fixes = [id for id, one in facts.items() if one.parents and (one.fixes or id in whole)]
        kept.blame(repo, [id for id in fixes if id not in kept.suspects], seen)
    outcomes = {of: REVERTED for of in whole.values() if of not in applied_anew}
    aside = set(beside)
    for id in fixes:
        suspect = kept.suspects[id]
        if suspect in facts and id not in whole and suspect not in whole:
            outcomes.setdefault(suspect, HOT_FIXED if id in aside else FIXED)
    for id in facts.keys() & red:
        if not set(facts[id].parents) & set(red):
            outcomes.setdefault(id, RED)
    joined = [(kept.suspects[by], of) for by, of in whole.items() if by in kept.suspects]
    found = Share.of(sum(suspect == of for suspect, of in joined), len(joined))
    strays = sum(bool(suspect) and suspect != of for suspect, of in joined) / max(1, len(joined))
    false = strays * sum(id not in whole for id in fixes) / max(1, len(facts))
    return Aftermath(facts, outcomes, found, false if found.many >= SAMPLE else 0.0)


def _taken_back(facts: dict[str, Fact]) -> tuple[dict[str, str], set[str]]:
    """Of each commit that takes back another one whole, which; and those that were applied anew later.

    It says so, as `git revert` does, or removes in each file what the other added, adds what it removed, and no more.
    """
    whole: dict[str, str] = {}
    anew: set[str] = set()
    made: dict[tuple[str, str, str], str] = {}
    for id, one in facts.items():
        hits = Counter(made[path, new, old] for path, old, new in one.taken if (path, new, old) in made)
        named = [of for of in one.names if of in facts and of != id]
        # A commit that does other things beside moves lines, or is one of many that changed these.
        named += [of for of, many in hits.items() if many == len(facts[of].taken) == len(one.taken)]
        of = next((of for of in named if one.at - facts[of].at <= WITHIN * _DAY), "")
        if of in whole:
            anew.add(whole[of])
        elif of:
            whole[id] = of
            anew.discard(of)
        for path, old, new in one.taken:
            made[path, old, new] = id
    return whole, anew


class _Kept:
    """What is known of commits and fixes, in a file that only grows; a line that is no such thing is passed over."""

    def __init__(self, path: str) -> None:
        self.path, self.facts, self.suspects = path, dict[str, Fact](), dict[str, str]()

    def __enter__(self) -> _Kept:
        files.make_dirs(os.path.dirname(self.path))
        try:
            with open(self.path, "rb") as file:
                for line in file:
                    self._load(decode(line) or {})
        except FileNotFoundError:
            pass
        self._file = open(self.path, "ab", opener=private)  # closed below
        self._file.write(b"\n")  # behind a line that was cut
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _load(self, told: dict[str, Any]) -> None:
        if told.get("made") != _MADE:
            return
        if "fact" in told:
            self.facts[told["id"]] = Fact(*told["fact"])
        else:
            self.suspects[told["id"]] = told["suspect"]

    def _keep(self, id: str, **told: object) -> None:
        self._file.write(json.dumps({"made": _MADE, "id": id, **told}).encode() + b"\n")

    def read(self, repo: Repository, ids: list[str], seen: Seen) -> None:
        """Takes up the commits, oldest first."""
        for start in range(0, len(ids), _AT_ONCE):
            past = listed(repo, ids[start : start + _AT_ONCE])
            for one, view in zip(past, views(repo, past, with_text=True), strict=True):
                self.facts[one.id] = _fact(one, view)
                self._keep(one.id, fact=self.facts[one.id])
            seen(start + len(past), len(ids))

    def blame(self, repo: Repository, ids: list[str], seen: Seen) -> None:
        """Asks of each fix which commit brought most of the lines that it takes back, within the time."""
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            told = compared(repo, [(id, self.facts[id].parents[0]) for id in some], (*PATCH, "-w"))
            texts = {id: text for _, data in told for id, text in split_text(data).items()}
            for done, id in enumerate(some, start + 1):
                self.suspects[id] = _suspect(repo, self.facts[id], texts.get(id, b""))
                self._keep(id, suspect=self.suspects[id])
                seen(done, len(ids))


def _fact(past: Past, view: PastView) -> Fact:
    try:
        entries, at = view.change().entries, past.time.timestamp()
    except AhpError:  # what it changes or when nobody knows
        return Fact([*past.parents], 0.0, [], False, [], [])
    sides: dict[str, list[list[str]]] = {}
    for side, lines in enumerate(patch.parse(view.diff()) if len(entries) <= _WIDE else ()):
        for line in lines:
            sides.setdefault(str(line["path"]), [[], []])[side].append(str(line["text"]))
    taken = [[one.path, *map(_mark, sides.get(one.path, ([one.new_oid], [one.old_oid])))] for one in entries]
    digests = sorted({digest_of(part) for part in (view, view.own)} - {""}) if entries else []
    return Fact([*past.parents], at, _NAMES.findall(past.message), bool(_FIXES.search(past.subject)), taken, digests)


def _mark(lines: list[str]) -> str:
    return blake2b("\n".join(lines).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _suspect(repo: Repository, fix: Fact, text: bytes) -> str:
    """The commit that brought most of the lines that a fix takes back, "" for none."""
    wanted: dict[str, list[int]] = {}
    for line in patch.parse(text, with_added=False)[1]:
        said = str(line["text"]).strip()
        if any(map(str.isalnum, said)) and not said.startswith(_NOTHING_SAID):
            wanted.setdefault(str(line["path"]), []).append(int(str(line["line"])))
    found: Counter[str] = Counter()
    for path, lines in wanted.items() if len(wanted) <= _FILES else ():
        ranges = [f"-L{line},{line}" for line in lines[:_LINES]]
        since = f"--since={fix.at - WITHIN * _DAY:.0f}"
        options = ("-w", "-C", "--incremental", "--ignore-revs-file=", since, *ranges)
        try:
            told = repo.run("blame", *options, fix.parents[0], "--", path, objects=True)
        except GitError:  # a submodule, or what a partial clone lacks
            continue
        older: set[str] = set()
        many: Counter[str] = Counter()
        commit = ""
        for row in told.decode("utf-8", "replace").splitlines():
            if head := _BLAMED.match(row):
                commit = head[1]
                many[commit] += int(head[2])
            elif row == "boundary":
                older.add(commit)
        found.update({commit: count for commit, count in many.items() if commit not in older})
    return max(found, key=lambda commit: (found[commit], commit), default="")


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
    sure = sum(counts[kind] for kind in _SURE)
    return after.wrong(sure, counts.total() - sure, many)


def _precision(counts: Counter[str], many: int, after: Aftermath) -> Share:
    """The share, each end of its interval corrected as the middle is."""
    seen, sure = Share.of(counts.total(), many), sum(counts[kind] for kind in _SURE)
    low, high = (
        after.wrong(min(sure, share * many), max(0.0, share * many - sure), many) / many
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
