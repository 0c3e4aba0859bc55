"""Twelve weeks of a small project, as its log would have them: the worked example of docs/feedback.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ahp.policy import layers
from ahp.policy.rule import rule_digest
from ahp.policy.sources import TextSource
from tests.insight.made_log import MadeLog

BEGIN = 1_767_603_600.0  # Monday, 2026-01-05T09:00:00Z
DAY = 86400.0
END = BEGIN + 84 * DAY
POLICY = """\
version: 1
rules:
  # One thing a commit. Rene asked for this one.
  size: {at: pre-commit, prompt: files.changed_count > 5, message: "{files.changed_count} files"}
  subject:
    at: commit-msg
    prompt: not commit.subject.startswith('feat')   # or fix, docs …
  tests: {at: pre-commit, block: tests.failed_count > 0}
  lockfile: {at: pre-commit, block: deps.changed and not deps.lock_changed}
  no-merges: {at: pre-commit, block: commit.is_merge}
  todo: {at: pre-commit, prompt: files.insertions > 400}
"""
RULES = {
    "size": ("pre-commit", "prompt"),
    "subject": ("commit-msg", "prompt"),
    "tests": ("pre-commit", "block"),
    "lockfile": ("pre-commit", "block"),
    "no-merges": ("pre-commit", "block"),
    "todo": ("pre-commit", "prompt"),
}
PEOPLE, AGENTS = ("human:ann", "human:rene"), ("agent:claude", "agent:codex")
DECISION = {"prompt": "warn", "block": "deny"}


class Example(MadeLog):
    """Commits on topic branches; what a rule says to them is fixed, dismissed or left."""

    def __init__(self, seed: int = 16) -> None:
        super().__init__(seed, BEGIN)
        self.policy = "sha256:" + "5e" * 32
        policy = layers.load(TextSource(POLICY))
        rules = [[one.trigger, one.key, dict(one.intensity), rule_digest(one, policy)] for one in policy.rules]
        self.write("policy", digest=self.policy, origin="committed", commit="c" * 40, rules=rules)

    def commit(
        self, branch: str, actor: str, broken: dict[str, str], fixed: dict[str, str], size: int = 3
    ) -> dict[str, str]:
        """One `git commit`: `broken` and `fixed` map rules to their episodes; the ids of what was said."""
        about = {"subject": branch, "host": "git", "actor": actor, "attempt": f"git:{self.n}:1"}
        about |= {"change": f"change1:{self.n}", "policy": self.policy}
        said, refused = {}, False
        for hook in ("pre-commit", "commit-msg"):
            if refused:
                break
            mine = [rule for rule in RULES if RULES[rule][0] == hook]
            for rule in mine:
                if rule in fixed:
                    self.write(
                        "episode-end", hook=hook, rule=rule, reason="mended", correlation_id=fixed[rule], **about
                    )
            refused = any(rule in broken and RULES[rule][1] == "block" for rule in mine)
            speaks = [rule for rule in mine if rule in broken]
            decision = "deny" if refused else "warn" if speaks else "allow"
            for rule in speaks:
                said[rule] = self.id()
                told = {"hook": hook, "intensity": RULES[rule][1], "declared": RULES[rule][1], "decision": decision}
                more = {"id": said[rule], "source": rule, "rule": rule, "consumed": False, "action": None}
                paths = [f"src/{branch}-{n}.py" for n in range(size)]
                self.write(
                    "signal", **told, **more, **about, correlation_id=broken[rule], evidence=f"e{self.n}", paths=paths
                )
            facts: dict[str, Any] = {
                "files.changed_count": size,
                "files.insertions": size * 12,
                "commit.is_merge": False,
            }
            facts = facts if hook == "pre-commit" else {"commit.subject": "wip" if "subject" in broken else "feat: it"}
            ms = round(self.chance.uniform(6, 24), 1)
            self.write("verdict", hook=hook, decision=decision, facts=facts, ms=ms, environment="development", **about)
        return said

    def respond(self, id: str, rule: str, action: str, by: str, feedback: str = "") -> None:
        told = {"hook": RULES[rule][0], "intensity": RULES[rule][1], "rule": rule, "id": id}
        self.write("response", **told, action=action, by=by)
        if feedback:
            self.write("feedback", id=id, rule=rule, by=by, feedback=feedback)


def example() -> list[str]:
    """The lines of the log."""
    told = Example()
    chance = told.chance
    for day in range(84):
        if day % 7 > 4:
            continue
        told.now = BEGIN + day * DAY
        for number in range(5):
            branch, actor = f"topic-{day}-{number}", chance.choice(PEOPLE + AGENTS)
            _branch(told, branch, actor)
    return told.lines


def _branch(told: Example, branch: str, actor: str) -> None:
    chance = told.chance
    is_agent = actor.startswith("agent")
    episodes = {rule: told.id() for rule in RULES}
    breaks = {"size": 0.16, "subject": 0.12, "tests": 0.15 if is_agent else 0.05, "lockfile": 0.07}
    for rule, share in breaks.items():
        if chance.random() >= share:
            continue
        told.now += chance.uniform(60, 600)
        large = 9 if rule == "size" else 3
        episode = {rule: episodes[rule]}
        said = told.commit(branch, actor, episode, {}, large)[rule]
        if rule == "size":
            if not is_agent and chance.random() < 0.7:
                texts = ["generated files count, too", "a rename is not a big change"]
                told.respond(said, rule, "dismiss", actor, chance.choice(texts) if chance.random() < 0.2 else "")
                continue
            if chance.random() < 0.5:
                continue
        tries = chance.choice([2, 3, 4, 5]) if rule == "tests" else 0
        for _ in range(tries):
            told.now += chance.uniform(60, 400)
            told.commit(branch, actor, episode, {}, 3)
        told.now += chance.uniform(40, 300) if rule != "size" else 3 * 3600
        told.commit(branch, actor, {}, episode, 3)
        if rule == "lockfile" and chance.random() < 0.6:
            told.now += 3600
            again = {rule: told.id()}
            told.commit(branch, actor, again, {}, 3)
            told.now += 120
            told.commit(branch, actor, {}, again, 3)
    told.now += chance.uniform(300, 900)
    told.commit(branch, actor, {}, {}, chance.randrange(1, 5))


def write(folder: Path) -> Path:
    """Writes the log into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "signals.jsonl").write_text("\n".join(example()) + "\n")
    return folder
