"""Half a year of a project that people and three agents work on: ladders climb, answers are given, some is forgotten.

`python -m tests.insight.lively FOLDER` writes the log there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ahp.system import digest
from tests.insight.made_log import MadeLog

BEGIN = 1_767_603_600.0  # Monday, 2026-01-05T09:00:00Z
DAY = 86400.0
DAYS = 175
END = BEGIN + DAYS * DAY
PEOPLE, AGENTS = ("human:ann", "human:rene", "human:mei"), ("agent:claude", "agent:codex", "agent:gemini")
POLICY = "sha256:" + "5e" * 32
# Rule: trigger, level, how often it is broken by people and by agents, by how many attempts, how the episode ends.
RULES: dict[str, tuple[str, str, float, float, tuple[int, ...], dict[str, float]]] = {
    "change-size": ("pre-commit", "prompt", 0.16, 0.2, (1, 1, 2, 3, 3, 4), {"fixed": 5, "dismiss": 4, "left": 2}),
    "tests-pass": ("pre-commit", "block", 0.05, 0.22, (1, 2, 3, 4, 5, 7), {"fixed": 9, "risk": 1}),
    "commit-message": ("commit-msg", "prompt", 0.08, 0.1, (1, 1, 1, 2), {"fixed": 1}),
    "no-secrets": ("pre-commit", "block", 0.01, 0.02, (1, 1, 2), {"fixed": 1}),
    "lockfile": ("pre-commit", "block", 0.05, 0.06, (1, 2), {"fixed": 8, "waived": 1}),
    "sign-off": ("commit-msg", "control", 0.05, 0.1, (1,), {"fixed": 1}),
    "debug-prints": ("pre-commit", "prompt", 0.03, 0.12, (1, 2, 2, 3), {"fixed": 3, "left": 2}),
    "docs-with-code": ("pre-commit", "prompt", 0.2, 0.15, (1, 1, 1, 2), {"left": 3, "dismiss": 5, "fixed": 1}),
    "ask-for-review": ("post-commit", "aid", 0.1, 0.1, (1,), {"left": 1}),
    "force-push": ("pre-push", "block", 0.004, 0.01, (1,), {"fixed": 1}),
    "no-merges": ("pre-commit", "block", 0.0, 0.0, (1,), {}),
}
LADDER = ("prompt", "prompt", "prompt", "block")
DECISION = {"prompt": "warn", "block": "deny", "control": "allow_with_modification", "aid": "suggest"}
COMMENTS = ("generated files count, too", "a rename is not a big change", "docs live in another repository here")


class Lively(MadeLog):
    """The log as it grows; every record has the keys that the gate writes and that a reader asks for."""

    def __init__(self, seed: int = 5) -> None:
        super().__init__(seed, BEGIN)
        rules = [[told[0], rule, {"default": told[1]}, digest.tagged(rule.encode())] for rule, told in RULES.items()]
        self.write("policy", digest=POLICY, origin="committed", commit="c" * 40, rules=rules)

    def attempt(
        self, about: dict[str, Any], speaks: dict[str, tuple[str, str]], clean: dict[str, str]
    ) -> dict[str, str]:
        """One attempt: `speaks` maps rules to level and episode, `clean` those that are fixed; the ids of signals."""
        about = {**about, "attempt": f"git:{self.n}:1", "change": f"change1:{self.n}", "policy": POLICY}
        said: dict[str, str] = {}
        for hook in ("pre-commit", "commit-msg", "pre-push"):
            mine = {rule: told for rule, told in speaks.items() if RULES[rule][0] == hook}
            if hook == "pre-push" and not {*speaks, *clean} & {"force-push"}:
                continue
            for rule, episode in clean.items():
                if RULES[rule][0] == hook:
                    self.write("episode-end", hook=hook, rule=rule, reason="mended", correlation_id=episode, **about)
            levels = [level for level, _ in mine.values()]
            strong = next((level for level in ("block", "control", "prompt") if level in levels), "")
            decision = DECISION.get(strong, "allow")
            for rule, (level, episode) in mine.items():
                said[rule] = self._signal(rule, level, episode, decision, about)
            ms = round(self.chance.uniform(6, 24), 1)
            self.write("verdict", hook=hook, decision=decision, facts={}, ms=ms, environment="development", **about)
            if decision == "deny":
                return said
        for rule in speaks:
            if RULES[rule][0] == "post-commit":
                said[rule] = self._signal(rule, "aid", "", "suggest", about)
        return said

    def _signal(self, rule: str, level: str, episode: str, decision: str, about: dict[str, Any]) -> str:
        id = self.id()
        told = {"hook": RULES[rule][0], "intensity": level, "declared": RULES[rule][1], "decision": decision}
        about = {**about, "waived": f"{rule} * 2026-07-20"} if episode == "waived" else about
        more = {"id": id, "source": rule, "rule": rule, "consumed": False, "action": None, "correlation_id": episode}
        self.write("signal", **told, **more, **about, evidence=f"e{self.n}", message=f"{rule} has something to say")
        return id

    def respond(self, id: str, rule: str, level: str, action: str, by: str, feedback: str = "") -> None:
        told = {"hook": RULES[rule][0], "intensity": level, "rule": rule, "id": id}
        self.write("response", **told, action=action, by=by, details={"reason": "the release waits"})
        if feedback:
            self.write("feedback", id=id, rule=rule, by=by, feedback=feedback)


def lively(seed: int = 5) -> list[str]:
    """The lines of the log."""
    told = Lively(seed)
    chance = told.chance
    for day in range(DAYS):
        if day % 7 > 4 or 49 <= day < 53:  # a holiday
            continue
        told.now = max(told.now, BEGIN + day * DAY)
        for number in range(chance.randint(2, 7)):
            _branch(told, f"FEAT-{day:03}{number}", chance.choice(PEOPLE + AGENTS * (1 + day // 60)))
    return told.lines


def _branch(told: Lively, branch: str, actor: str) -> None:
    chance, about = told.chance, {"subject": branch, "host": "git", "actor": actor}
    if actor.startswith("agent"):
        about["agent"] = actor.partition(":")[2]
    for rule, (_, level, by_people, by_agents, attempts, ends) in RULES.items():
        if chance.random() >= (by_agents if "agent" in about else by_people):
            continue
        end = chance.choices(list(ends), list(ends.values()))[0]
        _episode(told, about, rule, level, chance.choice(attempts), end)
    told.now += chance.uniform(300, 1500)
    told.attempt(about, {}, {})


def _episode(told: Lively, about: dict[str, Any], rule: str, level: str, attempts: int, end: str) -> None:
    chance, episode = told.chance, "waived" if end == "waived" else told.id()
    climbs = level == "prompt" and rule in ("change-size", "debug-prints")
    for n in range(attempts):
        told.now += chance.choice((90.0, 400.0, 900.0, 2400.0, 9000.0)) * chance.uniform(0.5, 1.5)
        rung = LADDER[min(n, 3)] if climbs else level
        id = told.attempt(about, {rule: (rung, episode)}, {})[rule]
    person = about["actor"] if "agent" not in about else "human:ann"
    if end == "dismiss" and rung == "prompt":
        told.respond(id, rule, rung, "dismiss", person, chance.choice(COMMENTS) if chance.random() < 0.15 else "")
    elif end == "risk":
        told.respond(id, rule, rung, "proceed_with_risk", person)
    elif end == "fixed" or rung == "block":
        told.now += chance.uniform(60, 1200)
        told.attempt(about, {}, {rule: episode})


def write(folder: Path, seed: int = 5) -> Path:
    """Writes the log into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "signals.jsonl").write_text("\n".join(lively(seed)) + "\n")
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[1]))
