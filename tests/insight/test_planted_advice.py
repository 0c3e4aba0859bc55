"""Rules of known character, watched in a simulated project: which of them the advice finds, and what it says wrongly.

What is planted is how people act, by chance; the log of that is read as any other, and nothing sets a figure.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from ahp.insight import stats
from ahp.insight.advice import advise
from ahp.policy import layers
from ahp.policy.rule import rule_digest
from ahp.policy.sources import TextSource
from tests.insight.made_log import MadeLog

BEGIN = 1_767_603_600.0
DAY = 86400.0
OF_EACH = 20
STRAY = 0.03  # whatever a rule is like, some people dismiss it, and some go away
EXPECTED = {
    "noise": "noisy",
    "harmful": "noisy",
    "effective": "effective",
    "blind": "blind spot",
    "flapping": "flapping",
    "dormant": "dormant",
    "deterrent": "",
    "plain": "",
}
LEVEL = {"harmful": "block", "deterrent": "block", "blind": "block"}
GUARDED = ("", ", severity: high", ", severity: high, locked: true")


def policy_text() -> str:
    lines = ["version: 1", "rules:"]
    for kind in EXPECTED:
        for n in range(OF_EACH):
            more = GUARDED[n % 3] if kind == "deterrent" else ""
            lines.append(
                f"  {kind}-{n}: {{at: pre-commit, {LEVEL.get(kind, 'prompt')}: files.changed_count > 5{more}}}"
            )
    return "\n".join(lines) + "\n"


class Project(MadeLog):
    """People who commit to branches of their own, each of which one rule has something to say to, or none."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, BEGIN)
        policy = layers.load(TextSource(policy_text()))
        self.digest = "sha256:" + "5e" * 32
        rules = [[one.trigger, one.key, dict(one.intensity), rule_digest(one, policy)] for one in policy.rules]
        self.write("policy", digest=self.digest, origin="committed", commit="c" * 40, rules=rules)
        self.branches = 0

    def attempt(self, branch: str, rule: str, episode: str, *, fixes: bool = False, overrides: str = "") -> str:
        """One `git commit` on a branch, that the rule speaks to, or that fixes it; the id of the signal."""
        self.now += self.chance.uniform(60, 600)
        about = {"hook": "pre-commit", "subject": branch, "host": "git", "actor": "human:ann"}
        about |= {"attempt": f"git:{self.n}:1", "change": f"change1:{self.n}", "policy": self.digest}
        level, id, decision = LEVEL.get(rule.partition("-")[0], "prompt"), "", "allow"
        if fixes:
            self.write("episode-end", rule=rule, reason="mended", correlation_id=episode, **about)
        elif rule:
            id = self.id()
            decision = "warn" if level == "prompt" or overrides else "deny"
            told = {"id": id, "rule": rule, "intensity": level, "declared": level, "decision": decision}
            told |= {"correlation_id": episode, "evidence": f"e{self.n}", "paths": ["a"]}
            self.write("signal", **told, **about, **({"overrides": overrides} if overrides else {}))
        self.write("verdict", decision=decision, facts={}, ms=9, **about)
        return id

    def answer(self, id: str, rule: str, action: str) -> None:
        self.write("response", hook="pre-commit", rule=rule, id=id, action=action, by="human:ann")

    def live(self, rule: str, acts: Callable[[Project, str, str], None]) -> None:
        """One piece of work that breaks a rule, and three that break none."""
        self.branches += 1
        branch = f"topic-{self.branches}"
        acts(self, branch, rule)
        for n in range(3):
            self.attempt(f"{branch}-{n}", "", "")

    def episode(self, branch: str, rule: str, tries: int = 1) -> str:
        """Broken for so many tries; the last signal, and whether some stray happens instead of what is planted."""
        episode, id = self.id(), ""
        for _ in range(tries):
            id = self.attempt(branch, rule, episode)
        self.open = episode
        return id

    def fix(self, branch: str, rule: str) -> None:
        self.attempt(branch, rule, self.open, fixes=True)


def character(kind: str, chance: random.Random) -> Callable[[Project, str, str], None]:
    """How people act on one rule of that kind; how strongly it is so, chance says."""
    often = chance.uniform(0.65, 0.95)

    def strays(told: Project, id: str, rule: str) -> bool:
        if told.chance.random() < STRAY:
            told.answer(id, rule, "dismiss")
        return told.chance.random() < STRAY

    def noise(told: Project, branch: str, rule: str) -> None:
        id = told.episode(branch, rule)
        if told.chance.random() < often:
            if told.chance.random() < 0.8:
                told.answer(id, rule, "dismiss")
        else:
            told.fix(branch, rule)

    def harmful(told: Project, branch: str, rule: str) -> None:
        id = told.episode(branch, rule)
        if told.chance.random() < often:
            told.answer(id, rule, "proceed_with_risk")
            told.attempt(branch, rule, told.open, overrides=id)
        told.fix(branch, rule)

    def effective(told: Project, branch: str, rule: str) -> None:
        id = told.episode(branch, rule, 1 if told.chance.random() < 0.9 else 2)
        if not strays(told, id, rule):
            told.fix(branch, rule)

    def blind(told: Project, branch: str, rule: str) -> None:
        many = told.chance.choice([3, 4, 5, 6]) if told.chance.random() < often else told.chance.choice([1, 2])
        id = told.episode(branch, rule, many)
        if not strays(told, id, rule):
            told.fix(branch, rule)

    def flapping(told: Project, branch: str, rule: str) -> None:
        id = told.episode(branch, rule)
        if strays(told, id, rule):
            return
        told.fix(branch, rule)
        if told.chance.random() < often:
            told.now += told.chance.uniform(600, 6 * 3600)
            told.episode(branch, rule)
            told.now += 30 * 3600 * (told.chance.random() < 0.5)

    def plain(told: Project, branch: str, rule: str) -> None:
        id = told.episode(branch, rule, told.chance.choice([1, 2, 2, 3]))
        if told.chance.random() < 0.12:
            told.answer(id, rule, "dismiss")
        elif told.chance.random() < 0.75:
            told.fix(branch, rule)

    kinds = [noise, harmful, effective, blind, flapping, plain]
    return {act.__name__: act for act in kinds}[kind]


@cache
def advised(episodes: int, seed: int) -> list[tuple[str, str, str]]:
    """Rule, kind and change of all that is advised after so many episodes of each rule."""
    told = Project(seed)
    acts = [
        (f"{kind}-{n}", character(kind, told.chance))
        for kind in EXPECTED
        for n in range(OF_EACH)
        if kind not in ("dormant", "deterrent")
    ]
    told.chance.shuffle(acts)
    for _ in range(episodes):
        for rule, act in acts:
            told.live(rule, act)
        told.now += 4 * DAY
    told.now += 20 * DAY  # what nobody came back to is forgotten
    told.attempt("later", "", "")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "signals.jsonl").write_text("\n".join(told.lines) + "\n")
        figures = stats.collect(folder, now=told.now)
    policy = layers.load(TextSource(policy_text()))
    return [(one.rule, one.kind, one.change) for one in advise(figures, policy)]


def score(episodes: int, seed: int) -> tuple[float, float]:
    """Precision and recall of what is advised."""
    found = [(rule, kind) for rule, kind, _ in advised(episodes, seed)]
    planted = {(f"{kind}-{n}", word) for kind, word in EXPECTED.items() for n in range(OF_EACH) if word}
    right = sum(one in planted for one in found)
    return right / len(found), right / len(planted)


@pytest.mark.slow
@pytest.mark.parametrize(("episodes", "recall"), [(10, 0.6), (20, 0.85), (60, 0.85)])
def test_planted_rules_are_found_and_little_else_is(episodes: int, recall: float) -> None:
    precision, found = score(episodes, 38)
    assert precision >= 0.9 and found >= recall, (precision, found)


def test_no_advice_weakens_what_is_silent_because_it_works() -> None:
    for episodes in (10, 20, 60):
        assert [one for one in advised(episodes, 38) if one[0].startswith("deterrent")] == []
        assert {rule.partition("-")[0] for rule, _, change in advised(episodes, 38) if change == "disable"} == {
            "dormant"
        }
