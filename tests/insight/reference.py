"""The figures of a log once more, as plainly as they can be said, over all records in memory."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ahp.system import clock
from tests.journal.reading import FORGET
from tests.journal.reading import Reading as JournalReference

FAMILY = {"pre-commit": "commit", "commit-msg": "commit", "post-commit": "commit", "pre-tool-use": "tool-use"}
STRENGTH = ["aid", "prompt", "control", "block"]


def event(r: dict[str, Any]) -> list[Any]:
    return [r.get(name) for name in ("timestamp", "hook", "host", "attempt", "subject", "actor")]


class Reference(JournalReference):
    """Episodes and answers are the journal's own slow reading; here it is watched and added up."""

    def __init__(
        self, records: list[dict[str, Any]], now: float, by: str = "rule", since: float = 0.0, rule: str = ""
    ) -> None:
        self.records, self.by, self.only = records, by, rule
        self.open: dict[str, dict[str, Any]] = {}
        self.signals: dict[str, dict[str, Any]] = {}
        self.aside: dict[str, dict[str, Any]] = {}
        self.episodes: list[dict[str, Any]] = []
        self.comments: list[tuple[dict[str, Any], float]] = []
        self.times = self.running_times()
        before = [n for n, at in enumerate(self.times) if at < since]
        self.start = before[-1] + 1 if before else 0
        at = 0.0
        for self.n, record in enumerate(records):
            self.record = record
            self.forget(max(at, self.times[self.n]) if record["kind"] != "clock" else at)
            at = self.times[self.n]
            getattr(self, "take_" + record["kind"].replace("-", "_"), lambda r, t: None)(record, at)
        self.record = {"kind": "end"}
        self.forget(max(at, now))

    def running_times(self) -> list[float]:
        times, at = [], 0.0
        for r in self.records:
            stamp = clock.parse_iso(r["timestamp"])
            at = stamp if r["kind"] == "clock" else max(at, stamp)
            times.append(at)
        return times

    def key(self, r: dict[str, Any]) -> str:
        family = FAMILY[r["hook"]]
        target = r.get("target") if family == "tool-use" else None
        return "|".join([family, r["rule"], r["subject"], r["actor"].split(":")[0], str(target)])

    def wants(self, rule: str) -> bool:
        return not self.only or rule == self.only or rule.split("/")[0] == self.only

    def take_clock(self, r: dict[str, Any], at: float) -> None:
        for e in self.open.values():
            e["last"], e["opened"] = min(e["last"], at), min(e["opened"], at)

    def take_signal(self, r: dict[str, Any], at: float) -> None:
        if r["id"] in self.signals or r["id"] in self.aside:
            return
        if r.get("shadow") or r.get("waived"):
            self.going_on(r, at)
            self.aside[r["id"]] = {"record": r, "n": self.n, "in": None, "new": False, "action": "", "given": False}
            return
        known = self.open.get(self.key(r))
        tries = len(known["tries"]) if known else 0
        super().take_signal(r, at)
        s = self.signals[r["id"]]
        s.update(n=self.n, given=False, new=False)
        e = s["in"]
        if e is None:
            return
        if e is not known:
            e.update(n=self.n, opened=at, state="open", flags=set(), signals=[], took=None, key=self.key(r))
            for other in self.episodes:
                ended = other.get("ended")
                if other["key"] == e["key"] and other["raw"] == "fixed" and not other.get("followed"):
                    other["followed"] = True
                    if at - ended <= 86400:
                        other["flags"].add("reopened")
            self.episodes.append(e)
        s["new"] = len(e["tries"]) > tries or e is not known
        e["signals"].append(s)
        if r.get("overrides"):
            e["flags"].add("overridden")

    def going_on(self, r: dict[str, Any], at: float) -> None:
        if not r["hook"].startswith("post-"):
            super().going_on(r, at)

    def close(self, key: str, action: str) -> None:
        e = self.open[key]
        kind = self.record["kind"]
        state = "forgotten" if action == "abort" else "fixed" if kind == "episode-end" else "withdrawn"
        if state == "fixed" and self.record.get("covered") == 1 and self.record.get("files", 0) > 1:
            state = "reset"
        ended = e["last"] + e["forget"] if state == "forgotten" else self.times[self.n]
        e.update(raw=state, ended=ended, took=round(max(0.0, ended - e["opened"]), 3))
        super().close(key, action)

    def take_response(self, r: dict[str, Any], at: float) -> None:
        s = self.signals.get(r["id"])
        if s is None:
            return
        if r["by"] == "ahp":
            if not s["action"]:
                s["action"] = r["action"]
            return
        super().take_response(r, at)
        s["given"] = True
        e, human = s["in"], r["by"].startswith("human")
        if e and r["action"] == "dismiss" and human:
            e["flags"].add("dismissed")
        if e and r["action"] == "proceed_with_risk":
            e["flags"].add("risk taken")
        resets = human and r["action"] in ("retry_after_fix", "apply_suggestion")
        if resets and e and s["key"].startswith("tool-use") and self.open.get(s["key"]) is e:
            self.close(s["key"], "retry_after_fix")

    def take_feedback(self, r: dict[str, Any], at: float) -> None:
        s = self.signals.get(r["id"])
        if s and s["in"] and self.n >= self.start:
            s["in"]["flags"].add("feedback")

    def take_bypass(self, r: dict[str, Any], at: float) -> None:
        for e in self.open.values():
            if any(s["record"].get("change") == r["change"] for s in e["signals"]):
                e["flags"].add("bypassed")

    # What follows is asked when all has been read.

    def group(self, r: dict[str, Any]) -> str:
        if self.by == "agent":
            kind, _, name = r.get("actor", "").partition(":")
            return {"agent": name or "agent", "human": "(people)"}.get(kind, kind or "(unknown)")
        return r.get(self.by) or "(unknown)"

    def signals_since(self) -> list[dict[str, Any]]:
        found = [s for s in (*self.signals.values(), *self.aside.values()) if s["n"] >= self.start]
        return sorted(found, key=lambda s: s["n"])

    def counted_signals(self) -> list[dict[str, Any]]:
        return [s for s in self.signals_since() if self.wants(s["record"]["rule"])]

    def policies(self) -> dict[str, list[list[str]]]:
        return {r["digest"]: r["rules"] for r in self.records if r["kind"] == "policy"}

    def evaluations(self) -> list[tuple[dict[str, Any], int, int]]:
        """Record, its place, how many."""
        found: list[tuple[dict[str, Any], int, int]] = []
        for n, r in enumerate(self.records):
            if n < self.start:
                continue
            if r["kind"] == "verdict":
                found.append((r, n, 1))
            if r["kind"] == "count":
                found += [({**c, "subject": c["session"], "kind": "count"}, n, c["calls"]) for c in r["calls"]]
        last: list[Any] = []
        for s in self.signals_since():
            r = s["record"]
            if event(r) != last and FAMILY[r["hook"]] == "tool-use":
                found.append(({**r, "kind": "call"}, s["n"], 1))
            last = event(r)
        return found

    def head(self) -> tuple[int, int]:
        """How many evaluations asked a rule that is wanted, and how many of all refused."""
        told = self.evaluations()
        asked = sum(many for r, _, many in told if self.asked(r) or not self.only)
        return asked, sum(r.get("decision") == "deny" for r, *_ in told)

    def asked(self, r: dict[str, Any]) -> set[str]:
        known = self.policies()
        rules = [*known.get(r.get("policy", ""), []), *known.get(r.get("working", ""), [])]
        return {rule for hook, rule, *_ in rules if hook == r["hook"] and self.wants(rule)}

    def figures(self) -> dict[str, dict[str, Any]]:
        return {name: told(g) for name, g in self.groups().items()}

    def groups(self) -> dict[str, dict[str, Any]]:
        groups: dict[str, dict[str, Any]] = {}

        def of(name: str) -> dict[str, Any]:
            empty: dict[str, Any] = {"seconds": [], "tries": [], "states": Counter()}
            more = {"excuses": Counter(), "answers": Counter(), "levels": Counter(), "n": Counter()}
            return groups.setdefault(name, {**empty, **more, "waivers": set(), "comments": []})

        for r, _, many in self.evaluations():
            asked = self.asked(r)
            names = asked if self.by == "rule" else {self.group(r)} if asked or not self.only else set()
            for name in names:
                of(name)["n"]["asked"] += many
        for n, r in enumerate(self.records[self.start :], self.start):
            for skip in r.get("skipped", []) if r["kind"] == "verdict" else []:
                if self.wants(skip["rule"]):
                    of(self.group({**r, "rule": skip["rule"]}))["n"]["undecided"] += 1
            if r["kind"] == "bypass" and self.by != "rule":
                of(self.group(r))["n"]["bypasses"] += 1
            if r["kind"] == "feedback" and self.wants(r["rule"]):
                known = self.signals.get(r["id"]) or self.aside.get(r["id"])
                seen = known is not None and known["n"] <= n and known in self.counted_signals()
                named = self.group(known["record"]) if known and seen else ""
                of(named or self.group({**r, "actor": r["by"]}))["comments"].append(r["feedback"])
        for s in self.counted_signals():
            self.add_signal(of(self.group(s["record"])), s)
        for e in self.episodes:
            if e["n"] >= self.start and self.wants(self.records[e["n"]]["rule"]):
                self.add_episode(of(self.group(e["signals"][0]["record"])), e)
        return groups

    def add_signal(self, g: dict[str, Any], s: dict[str, Any]) -> None:
        r, n = s["record"], g["n"]
        n["undecided"] += bool(r.get("undecidable"))
        if r.get("waived"):
            g["waivers"].add((r["rule"], r["subject"]))
        if r.get("shadow") or r.get("waived"):
            n["shadow"] += bool(r.get("shadow"))
            n["waived"] += bool(r.get("waived"))
            return
        n["signals"] += 1
        n["overridden"] += bool(r.get("overrides"))
        if s["new"] or r["intensity"] == "aid":
            n["attempts"] += 1
            g["levels"][r["intensity"]] += 1
            n["climbed"] += STRENGTH.index(r["intensity"]) > STRENGTH.index(r["declared"])
        if s["action"]:
            g["answers"][s["action"], s["given"]] += 1
        else:
            n["unanswered"] += 1

    def add_episode(self, g: dict[str, Any], e: dict[str, Any]) -> None:
        state = e.get("raw", "open")
        if state == "fixed" and "overridden" in e["flags"]:
            state = "overridden"
        elif state == "fixed" and "bypassed" in e["flags"]:
            state = "bypassed"
        g["n"]["episodes"] += 1
        g["states"][state] += 1
        g["n"]["reopened"] += state == "fixed" and "reopened" in e["flags"]
        excuses = e["flags"] & {"dismissed", "risk taken", "bypassed", "feedback"}
        g["n"]["excused"] += bool(excuses)
        g["excuses"].update(excuses)
        if state == "fixed":
            g["seconds"].append(e["took"])
            g["tries"].append(len(e["tries"]))
            g["n"]["at_once"] += len(e["tries"]) <= 1
            g["n"]["slow"] += len(e["tries"]) >= 3


def of_many(logs: list[Reference]) -> dict[str, dict[str, Any]]:
    """The figures of several logs: each is read by itself, a policy is known when one of them tells of it."""
    policies = {digest: rules for log in logs for digest, rules in log.policies().items()}
    pooled: dict[str, dict[str, Any]] = {}
    for log in logs:
        log.policies = lambda: policies  # type: ignore[method-assign]
        for name, g in log.groups().items():
            g["waivers"] = {(id(log), *one) for one in g["waivers"]}
            known = pooled.setdefault(name, {})
            for part, value in g.items():
                if part not in known:
                    known[part] = value
                elif isinstance(value, set):
                    known[part] |= value
                else:
                    known[part] += value
    return {name: told(g) for name, g in pooled.items()}


def told(g: dict[str, Any]) -> dict[str, Any]:
    answers: dict[str, list[int]] = {}
    for (action, given), many in g["answers"].items():
        answers.setdefault(action, [0, 0])[0 if given else 1] += many
    if g["waivers"]:
        g["excuses"]["waived"] = len(g["waivers"])
        g["n"]["excused"] += len(g["waivers"])
    return {
        **{name: many for name, many in g["n"].items() if many},
        **{name: dict(g[name]) for name in ("levels", "states", "excuses") if g[name]},
        **{name: spread(g[name]) for name in ("seconds", "tries") if g[name]},
        **({"answers": answers} if answers else {}),
        **({"comments": g["comments"]} if g["comments"] else {}),
    }


def spread(values: list[float]) -> tuple[int, float, float]:
    ordered = sorted(values)
    return len(ordered), *[ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9)]


__all__ = ["FORGET", "Reference"]
