"""Logs of attempts as the gate writes them, for hypothesis: some thirty attempts of few people at few subjects."""

from __future__ import annotations

import uuid
from typing import Any

from hypothesis import strategies as st

from ahp.system import clock

from .random_log import OTHER, POLICY, RULES, START

_RULES = ("size/1", "secrets/1", "style", "shell")
_said = st.fixed_dictionaries(
    {
        "rule": st.sampled_from(_RULES[:3]),
        "level": st.sampled_from(["prompt", "prompt", "control", "block"]),
        "declared": st.sampled_from(["prompt", "control"]),
        "mark": st.sampled_from([""] * 8 + ["shadow", "waived", "undecidable", "overrides", "commits"]),
        "forget_after": st.sampled_from([None, None, None, 3 * 86400]),
    }
)
_answer = st.fixed_dictionaries(
    {
        "of": st.integers(0, 5),
        "action": st.sampled_from(["dismiss", "proceed_with_risk", "acknowledge", "retry_after_fix"]),
        "by": st.sampled_from(["ahp", "ahp", "human:ann", "agent:claude"]),
    }
)
_attempts = st.fixed_dictionaries(
    {
        "subject": st.sampled_from(["main", "FEAT-1", "FEAT-2"]),
        "actor": st.sampled_from(["agent:claude", "agent:codex", "human:ann", ""]),
        "at": st.sampled_from(["commit", "commit", "commit", "message", "push", "tool", "after"]),
        "said": st.lists(_said, max_size=3, unique_by=lambda one: str(one["rule"])),
        "ended": st.lists(st.tuples(st.sampled_from(_RULES), st.sampled_from([(2, 2), (1, 3), None])), max_size=2),
        "answers": st.lists(_answer, max_size=2),
        "aid": st.sampled_from([False, False, True]),
        "ms": st.sampled_from([None, 1.5, 2, 20.0]),
        "environment": st.sampled_from([None, "production"]),
        "policy": st.sampled_from([POLICY, POLICY, OTHER, ""]),
        "seconds": st.sampled_from([0.0, 5.0, 300.0, 90_000.0, 4 * 86400.0, 15 * 86400.0]),
        "odd": st.sampled_from([""] * 12 + ["bypass", "feedback", "nameless", "again", "skipped"]),
    }
)
attempts = st.lists(_attempts, min_size=8, max_size=30)
_HOOKS = {"commit": "pre-commit", "message": "commit-msg", "push": "pre-push", "tool": "pre-tool-use", "after": ""}
_DECISIONS = {"block": "deny", "control": "allow_with_modification", "prompt": "warn"}


def records_of(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of such attempts."""
    now, ids, name = START, [str(uuid.UUID(int=99))], ""
    rules = [[hook, rule, {}, ""] for hook in ("pre-commit", "pre-push") for rule in RULES]
    made = [{"kind": "policy", "timestamp": clock.iso(now), "digest": POLICY, "rules": rules}]
    for n, one in enumerate(told):
        now += one["seconds"]
        name = name if one["odd"] == "again" else "" if one["odd"] == "nameless" else f"a{n}"
        host = "claude" if one["at"] == "tool" else "git"
        about = {"subject": one["subject"], "host": host, "actor": one["actor"], "attempt": name}
        about |= {"change": f"c{n // 2}"} if host == "git" else {"target": f"shell:{n % 2}"}
        about = {"timestamp": clock.iso(now), **about, "policy": one["policy"]}
        made += _answers(one, about, ids)
        if hook := _HOOKS[one["at"]]:
            made += _event(one, {**about, "hook": hook}, ids, n)
        if one["aid"] or not hook:
            ids.append(str(uuid.UUID(int=n * 10 + 9)))
            told_after = {**about, "hook": "post-commit", "kind": "signal", "id": ids[-1], "rule": "style"}
            made.append({**told_after, "intensity": "aid", "declared": "aid", "decision": "suggest"})
        if one["odd"] == "bypass":
            made.append({**about, "kind": "bypass", "commit": "c"})
        if one["odd"] == "feedback":
            kept = {"id": ids[-1], "rule": "style", "by": "human:ann", "feedback": f"note {n}"}
            made.append({"timestamp": clock.iso(now), "kind": "feedback", **kept})
    return made


def _answers(one: dict[str, Any], about: dict[str, Any], ids: list[str]) -> list[dict[str, Any]]:
    told = {"timestamp": about["timestamp"], "kind": "response", "hook": "pre-commit"}
    return [{**told, "id": ids[-1 - a["of"] % len(ids)], "action": a["action"], "by": a["by"]} for a in one["answers"]]


def _event(one: dict[str, Any], about: dict[str, Any], ids: list[str], n: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for rule, covered in one["ended"]:
        files = dict(zip(("covered", "files"), covered or (), strict=False))
        made.append({**about, "kind": "episode-end", "rule": rule, "reason": "mended", **files})
    levels = [said["level"] for said in one["said"]]
    decision = next((_DECISIONS[level] for level in ("block", "control", "prompt") if level in levels), "allow")
    for nth, said in enumerate(one["said"]):
        ids.append(str(uuid.UUID(int=n * 10 + nth)))
        record = {**about, "kind": "signal", "id": ids[-1], "rule": said["rule"], "intensity": said["level"]}
        record |= {"declared": said["declared"], "decision": decision, "evidence": "e", "head": f"h{n}"}
        record |= {said["mark"]: "x" if said["mark"] in ("waived", "overrides") else True} if said["mark"] else {}
        made.append(record | ({"forget_after": said["forget_after"]} if said["forget_after"] else {}))
    if one["at"] != "tool" or not levels:
        told = {"decision": decision, "ms": one["ms"], "environment": one["environment"], "working": OTHER}
        skipped = [{"rule": "shell", "why": "?"}] if one["odd"] == "skipped" else []
        made.append({**about, "kind": "verdict", **told, "skipped": skipped})
    return made
