"""The log read once more, slowly and plainly, by what docs/log-records.md says under "What a reader makes of it"."""

from __future__ import annotations

from typing import Any

from ahp.system import clock

DAY = 86400.0
FORGET = 14 * DAY
FAMILY = {"pre-commit": "commit", "commit-msg": "commit", "post-commit": "commit", "pre-push": "push"}
FAMILY |= {"pre-tool-use": "tool-use", "post-tool-use": "tool-use"}


class Reading:
    """`open`: the open episodes by key; `signals` by id, each with its `action`, "" without one."""

    def __init__(self, records: list[dict[str, Any]], now: float) -> None:
        self.open: dict[str, dict[str, Any]] = {}
        self.signals: dict[str, dict[str, Any]] = {}
        at = 0.0
        for record in records:
            told = clock.parse_iso(record["timestamp"])
            if record["kind"] == "clock":
                at = told
                for e in self.open.values():
                    e["last"] = min(e["last"], at)
            at = max(at, told)
            self.forget(at)
            getattr(self, "take_" + record["kind"].replace("-", "_"), lambda r, t: None)(record, at)
        self.forget(max(at, now))

    def key(self, r: dict[str, Any]) -> str:
        parts = [FAMILY[r["hook"]], r["rule"], r["subject"], r["actor"].split(":")[0]]
        return "|".join([*parts, r["target"]] if parts[0] == "tool-use" and r.get("target") else parts)

    def act(self, r: dict[str, Any], at: float) -> dict[str, Any]:
        names = ("host", "hook", "attempt", "change", "evidence", "head")
        return {"at": at, **{name: r.get(name) for name in names}}

    def forget(self, at: float) -> None:
        for key in [key for key, e in self.open.items() if e["last"] <= at - e["forget"]]:
            self.close(key, "abort")

    def close(self, key: str, action: str) -> None:
        for s in self.signals.values():
            if s["key"] == key and s["in"] is self.open[key] and not s["action"]:
                s["action"] = action
        del self.open[key]

    def is_enforced(self, r: dict[str, Any]) -> bool:
        return not r.get("shadow") and not r.get("waived")

    def goes_past(self, r: dict[str, Any]) -> bool:
        return self.is_enforced(r) and r["decision"] != "deny"

    def going_on(self, r: dict[str, Any], at: float) -> None:
        if r["hook"].startswith("post-"):
            return
        new = self.act(r, at)
        for s in self.signals.values():
            o, old = s["record"], s["act"]
            mine = o["subject"] == r["subject"] and o["actor"].split(":")[0] == r["actor"].split(":")[0]
            told = o["intensity"] == "aid" or (o["intensity"] == "prompt" and self.goes_past(o))
            if not (mine and told and self.is_enforced(o)) or s["action"]:
                continue
            if not self.is_same(old, new, at):
                s["action"] = "suggestion_deferred" if o["intensity"] == "aid" else "dismiss"
            elif r["decision"] == "deny" and s["in"] is self.open.get(s["key"]):
                self.nothing_came_of(s["in"], old)

    def is_same(self, old: dict[str, Any], new: dict[str, Any], at: float) -> bool:
        if old["attempt"] and new["attempt"] and old["host"] == new["host"]:
            return bool(old["attempt"] == new["attempt"])
        if (old["host"], old["hook"]) == (new["host"], new["hook"]):
            return bool(old["at"] == at)
        return bool(old["change"]) and old["change"] == new["change"] and 0 <= at - old["at"] <= 600

    def nothing_came_of(self, e: dict[str, Any] | None, told: dict[str, Any]) -> None:
        waits = e and e["waits"]
        if e and waits and self.is_same(waits["act"], told, told["at"]):
            e["waits"] = None

    def take_verdict(self, r: dict[str, Any], at: float) -> None:
        self.going_on(r, at)

    def take_signal(self, r: dict[str, Any], at: float) -> None:
        self.going_on(r, at)
        s = {"record": r, "key": self.key(r), "at": at, "action": "", "in": None, "nth": 0}
        s["act"] = self.act(r, at)
        self.signals[r["id"]] = s
        if r["intensity"] == "aid" or not self.is_enforced(r):
            return
        new = {"count": 0, "tries": [], "acks": {}, "rejected": False, "last": at, "waits": None}
        e = self.open.setdefault(s["key"], new)
        s["in"], e["last"], e["forget"] = e, at, r.get("forget_after", FORGET)
        s["nth"] = self.attempt(e, s, past=self.counts(r))
        changed = r["decision"] == "allow_with_modification" and not r.get("advises")
        if r["intensity"] == "control" and changed:
            s["action"] = "accept_modification"

    def counts(self, r: dict[str, Any]) -> bool:
        climbing = r["intensity"] in ("prompt", "control") and self.goes_past(r)
        return climbing and not r.get("undecidable") and r.get("counted") is not False

    def attempt(self, e: dict[str, Any], s: dict[str, Any], past: bool) -> int:
        """Counts the attempt that a signal belongs to; how many had counted before it."""
        new = s["act"]
        found = next((t for t in reversed(e["tries"][-8:]) if self.is_try(t, new)), None)
        if found is None:
            waits = e["waits"]
            landed = waits if waits and new["head"] is not None and waits["act"]["head"] != new["head"] else None
            ack = e["acks"].get(new["evidence"])
            excused = ack is not None and not ack["used"]
            if excused and landed and landed["excused"] and landed["act"]["evidence"] == new["evidence"]:
                excused = not ack["once"]
            found = {"act": new, "told": [], "counted": False, "excused": excused}
            found["nth"] = ack["held"] if excused else e["count"] + bool(landed and not landed["excused"])
            if landed:
                self.count(e, landed)
                e["waits"] = None
            e["tries"].append(found)
            e["acks"] = {k: a for k, a in e["acks"].items() if a["once"] or k == new["evidence"]}
        found["told"].append((new["host"], new["hook"]))
        if past and found["act"]["head"] is not None:
            e["waits"] = found
        elif past:
            self.count(e, found)
        return int(found["nth"])

    def count(self, e: dict[str, Any], t: dict[str, Any]) -> None:
        if not t["excused"]:
            e["count"] += not t["counted"]
            t["counted"] = True
        elif (ack := e["acks"].get(t["act"]["evidence"])) and ack["once"]:
            ack["used"] = True

    def is_try(self, t: dict[str, Any], new: dict[str, Any]) -> bool:
        old = t["act"]
        if new["attempt"] and new["attempt"] == old["attempt"]:
            return True
        hosts = [host for host, _ in t["told"]]
        if new["attempt"] and old["attempt"] and new["host"] in hosts:
            return False
        near = 0 <= new["at"] - old["at"] <= 600 and bool(new["change"]) and new["change"] == old["change"]
        if (new["host"], new["hook"]) in t["told"] or not near:
            return False
        return new["host"] in hosts or new["evidence"] == old["evidence"]

    def take_episode_end(self, r: dict[str, Any], at: float) -> None:
        if self.key(r) in self.open and r["reason"] != "forgotten":
            self.close(self.key(r), "retry_after_fix")

    def take_response(self, r: dict[str, Any], at: float) -> None:
        s = self.signals.get(r["id"])
        if s is None or r["by"] == "ahp":
            return
        s["action"] = r["action"]
        e, human = s["in"], r["by"].startswith("human")
        if e is None or self.open.get(s["key"]) is not e:
            return
        if r["action"] == "acknowledge":
            evidence = s["act"]["evidence"]
            if evidence and not (not human and evidence in e["acks"]):
                e["acks"][evidence] = {"held": s["nth"], "once": not human, "used": False}
        elif r["action"].endswith("_modification"):
            e["rejected"] = r["action"].startswith("reject")
        elif r["action"] in ("retry_after_fix", "apply_suggestion") and human and s["key"].startswith("tool-use"):
            self.close(s["key"], "retry_after_fix")
