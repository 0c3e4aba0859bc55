"""Random logs: everything that the gate writes, in any order, and what happens to files."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ahp.system import clock

START = 1_767_225_600.0  # 2026-01-01
RULES = ("size/1", "secrets/1", "shell")
POLICY = "sha256:p"
OTHER = "sha256:q"

_kinds = st.sampled_from(
    ["signal"] * 10
    + ["verdict"] * 3
    + ["episode-end"] * 5
    + ["response"] * 4
    + ["bypass"] * 2
    + ["feedback", "clock", "count", "policy", "copy"]
)
_steps = st.fixed_dictionaries(
    {
        "kind": _kinds,
        "rule": st.sampled_from([RULES[0]] * 4 + list(RULES)),
        "subject": st.sampled_from(["main"] * 4 + ["FEAT-1"]),
        "actor": st.sampled_from(["agent:claude"] * 4 + ["human:ann"]),
        "hook": st.sampled_from(["pre-commit"] * 5 + ["commit-msg", "pre-tool-use", "pre-tool-use", "post-commit"]),
        "host": st.sampled_from(["git"] * 3 + ["claude"]),
        "level": st.sampled_from(["prompt", "prompt", "control", "block"]),
        "declared": st.sampled_from(["prompt", "control"]),
        "mark": st.sampled_from(["", "", "", "", "shadow", "waived", "undecidable", "overrides"]),
        "evidence": st.sampled_from(["e", "f"]),
        "change": st.sampled_from(["c", "d"]),
        "token": st.sampled_from(["new", "same", "none"]),
        "head": st.sampled_from([None, "h1", "h2"]),
        "forget": st.sampled_from([None, None, None, 3]),
        "action": st.sampled_from(
            ["acknowledge", "dismiss", "apply_suggestion", "proceed_with_risk", "retry_after_fix"]
        ),
        "by": st.sampled_from(["human:ann", "human:ann", "agent:claude", "ahp"]),
        "nth": st.integers(0, 9),
        "ms": st.sampled_from([None, 0, 1.5, 20.0, 31.7]),
        "policy": st.sampled_from([POLICY, POLICY, OTHER, "sha256:unknown"]),
        "environment": st.sampled_from([None, "production", "development"]),
        "covered": st.sampled_from([None, None, (1, 2), (1, 1), (2, 3)]),
        "seconds": st.sampled_from([0.0, 0.0, 1.0, 300.0, 700.0, 40_000.0, 90_000.0, 9 * 86400.0, -3600.0]),
        "as_before": st.booleans(),
        "torn": st.sampled_from([0, 0, 0, 0, 7]),
        "rotates": st.sampled_from([False, False, False, True]),
    }
)
steps = st.lists(_steps, min_size=3, max_size=40)


def records_of(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records that the steps make; a step may be of the same event as the one before it."""
    now, token = START, "t0"
    made: list[dict[str, Any]] = [
        {
            "kind": "policy",
            "timestamp": clock.iso(now),
            "digest": POLICY,
            "rules": [["pre-commit", r, {}, ""] for r in RULES],
        }
    ]
    ids: list[str] = []
    about: dict[str, Any] = {}
    for n, s in enumerate(told):
        now = max(START, now + s["seconds"]) if not s["as_before"] else now
        token = {"new": f"t{n}", "same": token, "none": ""}[s["token"]]
        stamp = clock.iso(now)
        if not (s["as_before"] and about):
            about = {
                "hook": s["hook"],
                "host": s["host"],
                "subject": s["subject"],
                "actor": s["actor"],
                "attempt": token,
            }
            about |= {"timestamp": stamp, "change": s["change"], "policy": s["policy"]}
        made += _records(s, dict(about), stamp, ids, n, made)
    return made


def _records(
    s: dict[str, Any], about: dict[str, Any], stamp: str, ids: list[str], n: int, made: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    kind = s["kind"]
    id = ids[-1 - s["nth"] // 2 % len(ids)] if ids else str(uuid.UUID(int=99))
    if kind == "signal":
        ids.append(str(uuid.UUID(int=n)))
        level = "aid" if about["hook"] == "post-commit" else s["level"]
        told = {**about, "kind": kind, "id": ids[-1], "rule": s["rule"], "intensity": level}
        told |= {"declared": "aid" if level == "aid" else s["declared"], "evidence": s["evidence"]}
        told["decision"] = {"block": "deny", "control": "allow_with_modification", "aid": "suggest"}.get(level, "warn")
        told |= {"target": "shell:rm"} if about["hook"] == "pre-tool-use" else {}
        told |= {"head": s["head"]} if s["head"] else {}
        told |= {"forget_after": s["forget"] * 86400} if s["forget"] else {}
        told |= {s["mark"]: "x" if s["mark"] in ("waived", "overrides") else True} if s["mark"] else {}
        return [told]
    if kind == "verdict":
        told = {**about, "kind": kind, "decision": "allow", "environment": s["environment"], "working": OTHER}
        told |= {"ms": s["ms"]} if s["ms"] is not None else {}
        return [{**told, "skipped": [{"rule": s["rule"], "why": "?"}] if s["mark"] else []}]
    if kind == "episode-end":
        covered = dict(zip(("covered", "files"), s["covered"] or (), strict=False))
        told = [r for r in made if r["kind"] == "signal"]
        of = told[-1 - s["nth"] % 3 % len(told)] if told else {**about, "rule": s["rule"]}
        ended = {name: of[name] for name in ("hook", "subject", "actor", "rule", "target") if name in of}
        return [{"timestamp": stamp, "kind": kind, **ended, "reason": "mended", **covered}]
    if kind == "response":
        return [{"kind": kind, "timestamp": stamp, "id": id, "action": s["action"], "by": s["by"], "hook": s["hook"]}]
    if kind == "feedback":
        rule = next((r["rule"] for r in made if r.get("id") == id and "rule" in r), s["rule"])
        return [{"kind": kind, "timestamp": stamp, "id": id, "rule": rule, "by": s["by"], "feedback": f"note {n}"}]
    if kind == "bypass":
        return [{**about, "kind": kind, "change": s["change"], "commit": "abc", "reason": "r"}]
    if kind == "count":
        call = {
            "hook": "pre-tool-use",
            "actor": s["actor"],
            "session": "s1",
            "policy": s["policy"],
            "calls": 1 + s["nth"],
        }
        return [{"kind": kind, "timestamp": stamp, "calls": [call]}]
    if kind == "policy":
        return [{"kind": kind, "timestamp": stamp, "digest": OTHER, "rules": [["pre-tool-use", "shell", {}, ""]]}]
    if kind == "copy":
        copied = [r for r in made if r["kind"] == "signal"]
        return [copied[s["nth"] % len(copied)]] if copied else []
    return [{"kind": "clock", "timestamp": stamp, "was": "x", "by": "human:ann"}]


def write(folder: Path, records: list[dict[str, Any]], told: list[dict[str, Any]], format: int | None = 1) -> None:
    """The records as files of a log, with torn lines between them; `format` None: as ahp 0.3 began it."""
    folder.mkdir(parents=True)
    first = {"kind": "genesis", "timestamp": clock.iso(START), "id": "g"}
    lines = [json.dumps(first | ({"format": format, "ahp": "0.3.0"} if format else {}))]
    serial = 1
    for n, record in enumerate(records):
        step = told[n % len(told)] if told else {"torn": 0, "rotates": False}
        line = json.dumps(record)
        if step["torn"]:
            lines.append(line[: -step["torn"]])
        if step["rotates"]:
            (folder / f"signals.{serial}.jsonl").write_text("\n".join(lines) + "\n")
            more = {"format": format, "ahp": "0.3.0"} if format else {}
            stamp = record["timestamp"] if n == 0 else records[n - 1]["timestamp"]
            lines, serial = (
                [json.dumps({"kind": "rotation", "timestamp": stamp, "serial": serial + 1, **more})],
                serial + 1,
            )
        lines.append(line)
    (folder / "signals.jsonl").write_text("\n".join(lines) + '\n{"kind": "signal", "torn": ')
