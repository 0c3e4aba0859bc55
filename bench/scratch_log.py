"""Logs of any length as a busy repository would leave them: for measuring what reads them.

Of a hundred records about 68 are verdicts, 15 signals, 11 answers and 6 ends of episodes, shaped as the gate's are.
"""

from __future__ import annotations

import json
import os
import random
import uuid
from collections.abc import Iterator

from ahp.system import clock, digest

START = 1_735_689_600.0  # 2025-01-01
_RULES = [(f"rule-{n}", ("prompt", "prompt", "control", "block")[n % 4]) for n in range(30)]
_POLICIES = ["sha256:" + f"{n:02x}" * 32 for n in range(4)]
_FILE = 64 << 20


def policy(limit: int) -> str:
    """A policy of the rules that the log tells of."""
    rules = [
        f"  {rule}: {{at: pre-commit, {level}: files.changed_count > {limit + n}"
        for n, (rule, level) in enumerate(_RULES)
    ]
    action = ", action: {type: split_suggestion, max_batch: 10}}"
    ended = [rule + (action if "control:" in rule else "}") for rule in rules]
    return "version: 1\nrules:\n" + "\n".join(ended) + "\n"


def write(folder: str, records: int, seed: int = 7) -> None:
    """Writes a chained log of `records` lines into `folder`, in files of 64 MiB as the journal rotates them."""
    os.makedirs(folder)
    prev, size, serial = None, 0, 1
    file = open(f"{folder}/signals.jsonl", "w", encoding="utf-8")  # noqa: SIM115
    try:
        for n, record in enumerate(_records(random.Random(seed), records), 1):
            line = json.dumps({**record, "n": n, "prev": prev})
            prev = digest.tagged(line.encode())
            if size > _FILE:
                file.close()
                os.rename(f"{folder}/signals.jsonl", f"{folder}/signals.{serial}.jsonl")
                file = open(f"{folder}/signals.jsonl", "w", encoding="utf-8")  # noqa: SIM115
                serial, size = serial + 1, 0
            size += file.write(line + "\n")
    finally:
        file.close()


def _records(chance: random.Random, wanted: int) -> Iterator[dict[str, object]]:
    yield {"timestamp": clock.iso(START), "kind": "genesis", "id": str(uuid.UUID(int=1)), "format": 1, "ahp": "0.3.0"}
    made = 1
    for number, name in enumerate(_POLICIES):
        rules = [["pre-commit", rule, {"default": level}, "sha256:" + f"{number:02x}" * 32] for rule, level in _RULES]
        yield {"timestamp": clock.iso(START), "kind": "policy", "digest": name, "origin": "committed", "rules": rules}
        made += 1
    now, open_now = START, {}
    while made < wanted:
        now += chance.uniform(5, 120)
        for record in _attempt(chance, now, open_now):
            if made == wanted:
                return
            yield record
            made += 1


def _attempt(chance: random.Random, now: float, open_now: dict) -> Iterator[dict[str, object]]:
    """One `git commit`: what broke before may be mended, what breaks now is told, both hooks leave their verdict."""
    stamp, subject = clock.iso(now), f"topic-{chance.randrange(2000)}"
    actor = chance.choice(["human:ann", "human:ben", "agent:claude"])
    about = {
        "subject": subject,
        "host": "git",
        "actor": actor,
        "attempt": f"git:{chance.randrange(1 << 16)}:{int(now * 1000):x}",
        "change": f"change1:{chance.getrandbits(256):064x}",
    }
    policy = _POLICIES[min(3, int((now - START) / 86400 / 90))]
    waiting = open_now.setdefault((subject, actor), {})
    mended = [rule for rule in waiting if chance.random() < 0.5]
    for rule in mended:
        ids, episode = waiting.pop(rule)
        told = {"subject": subject, "actor": actor, "correlation_id": episode, "attempt": about["attempt"]}
        yield {
            "timestamp": stamp,
            "kind": "episode-end",
            "hook": "pre-commit",
            "rule": rule,
            **told,
            "reason": "mended",
        }
        for id, level in ids:
            yield _answer(stamp, id, level, rule, "retry_after_fix", "ahp")
    decision = "allow"
    for rule, level in _RULES:
        if chance.random() > 0.008 and rule not in waiting:
            continue
        decision = "deny" if level == "block" else "warn" if decision == "allow" else decision
        id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        ids, episode = waiting.setdefault(rule, ([], _episode(chance, now)))
        if ids and level == "prompt":
            yield _answer(stamp, *ids.pop(), rule, *chance.choice([("dismiss", "ahp"), ("acknowledge", actor)]))
        ids.append((id, level))
        six = {
            "timestamp": stamp,
            "hook": "pre-commit",
            "intensity": level,
            "source": rule,
            "consumed": False,
            "action": None,
        }
        yield {
            **six,
            "kind": "signal",
            "id": id,
            "type": rule,
            "correlation_id": episode,
            "rule": rule,
            "declared": level,
            **about,
            "message": "12 files in one commit, at most 10 are allowed here (1st time; it blocks after 2 more)",
            "facts": {"files.changed_count": 12, "limits.max_files": 10},
            "evidence": f"sha256:{chance.getrandbits(256):064x}",
            "policy": policy,
            "origin": "committed",
            "decision": decision,
            "paths": [f"src/module_{chance.randrange(500)}.py" for _ in range(4)],
            "overridable": True,
            "digest": "sha256:" + "11" * 32,
            "head": f"{chance.getrandbits(160):040x}",
        }
    for hook, facts in (
        ("pre-commit", {"files.changed_count": chance.randrange(40), "branch.name": subject, "limits.max_files": 10}),
        ("commit-msg", {"commit.subject": "feat: something that is worth a commit", "commit.type": "feat"}),
    ):
        more = {
            "ms": round(chance.uniform(1, 40), 1),
            "head": f"{chance.getrandbits(160):040x}",
            "environment": "development",
        }
        yield {
            "timestamp": stamp,
            "hook": hook,
            "kind": "verdict",
            "decision": decision,
            **about,
            "policy": policy,
            "facts": facts,
            **more,
        }
        if decision == "deny":
            break


def _answer(stamp: str, id: str, level: str, rule: str, action: str, by: str) -> dict[str, object]:
    six = {
        "timestamp": stamp,
        "hook": "pre-commit",
        "intensity": level,
        "source": rule,
        "consumed": True,
        "action": action,
    }
    return {**six, "kind": "response", "id": id, "by": by}


def _episode(chance: random.Random, now: float) -> str:
    return str(uuid.UUID(int=int(now * 1000) << 80 | 7 << 76 | chance.getrandbits(76)))
