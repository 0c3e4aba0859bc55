"""Whatever happens, log and ladder are what a slow and simple reading of the log's bytes says (issue 4)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ahp.journal import query
from ahp.journal.append import Journal
from ahp.journal.index import episode_key
from ahp.journal.state import State
from ahp.journal.verify import verify
from ahp.protocol.actor import Actor
from ahp.system import clock

from .story import START, Story

FORGET = 14 * 86400.0
RULES, SUBJECTS = ("size/1", "secrets/1"), ("main", "FEAT-1")
ACTORS = ("agent:claude", "human:ann")
HOOKS = ("pre-commit", "commit-msg", "pre-push")
FAMILY = {"pre-commit": "commit", "commit-msg": "commit", "pre-push": "push", "post-commit": "commit"}
ANSWERS = (
    "acknowledge",
    "acknowledge",
    "acknowledge",
    "dismiss",
    "apply_suggestion",
    "reject_modification",
    "accept_modification",
    "abort",
)


class Reference:
    """The rules of design §7 and §8 once more, as plainly as they can be said, over all lines from the first."""

    def __init__(self, records: list[dict[str, Any]], now: float) -> None:
        self.open: dict[str, dict[str, Any]] = {}
        self.signals: dict[str, dict[str, Any]] = {}
        at = 0.0
        for record in records:
            at = max(at, clock.parse_iso(record["timestamp"]))
            self.forget(at)
            getattr(self, "take_" + record["kind"].replace("-", "_"), lambda r, t: None)(record, at)
        self.forget(max(at, now))

    def key(self, r: dict[str, Any]) -> str:
        return "|".join([FAMILY[r["hook"]], r["rule"], r["subject"], r["actor"].split(":")[0]])

    def forget(self, at: float) -> None:
        for key in [key for key, e in self.open.items() if e["last"] <= at - e["forget"]]:
            self.close(key, "abort")

    def close(self, key: str, action: str) -> None:
        for s in self.signals.values():
            if s["key"] == key and s["in"] is self.open[key] and not s["action"]:
                s["action"] = action
        del self.open[key]

    def going_on(self, r: dict[str, Any], at: float) -> None:
        for s in self.signals.values():
            o = s["record"]
            mine = o["subject"] == r["subject"] and o["actor"].split(":")[0] == r["actor"].split(":")[0]
            told = o["intensity"] == "aid" or (o["intensity"] == "prompt" and o["decision"] != "deny")
            if not (mine and told) or s["action"]:
                continue
            if o["attempt"] and r["attempt"] and o["host"] == r["host"]:
                same = o["attempt"] == r["attempt"]
            elif (o["host"], o["hook"]) == (r["host"], r["hook"]):
                same = s["at"] == at
            else:
                same = o["change"] == r.get("change") and at - s["at"] <= 600
            if not same:
                s["action"] = "suggestion_deferred" if o["intensity"] == "aid" else "dismiss"

    def take_verdict(self, r: dict[str, Any], at: float) -> None:
        self.going_on(r, at)

    def take_signal(self, r: dict[str, Any], at: float) -> None:
        if r["hook"] != "post-commit":
            self.going_on(r, at)
        s = {"record": r, "key": self.key(r), "at": at, "action": "", "in": None, "nth": 0}
        self.signals[r["id"]] = s
        if r["intensity"] == "aid":
            return
        e = self.open.setdefault(
            s["key"], {"count": 0, "tries": [], "acks": {}, "rejected": False, "last": at, "waits": None}
        )
        s["in"], e["last"], e["forget"] = e, at, r.get("forget_after", FORGET)
        found = next((t for t in reversed(e["tries"][-8:]) if self.is_try(t, r, at)), None)
        if found is None:
            waits = e["waits"]
            landed = waits if waits and "head" in r and waits["r"]["head"] != r["head"] else None
            ack = e["acks"].get(r["evidence"])
            excused = ack is not None and not ack["used"]
            if excused and landed and landed["excused"] and landed["r"]["evidence"] == r["evidence"]:
                excused = not ack["once"]
            found = {"r": r, "at": at, "told": [], "counted": False, "excused": excused}
            found["nth"] = ack["held"] if excused else e["count"] + bool(landed and not landed["excused"])
            if landed:
                self.count(e, landed)
                e["waits"] = None
            e["tries"].append(found)
            e["acks"] = {k: a for k, a in e["acks"].items() if a["once"] or k == r["evidence"]}
        found["told"].append((r["host"], r["hook"]))
        s["nth"] = found["nth"]
        if r["decision"] == "deny" or r["intensity"] == "block":
            return
        if "head" in found["r"]:
            e["waits"] = found
        else:
            self.count(e, found)
        if r["intensity"] == "control" and r["decision"] == "allow_with_modification":
            s["action"] = "accept_modification"

    def count(self, e: dict[str, Any], t: dict[str, Any]) -> None:
        if not t["excused"]:
            e["count"] += not t["counted"]
            t["counted"] = True
        elif (ack := e["acks"].get(t["r"]["evidence"])) and ack["once"]:
            ack["used"] = True

    def is_try(self, t: dict[str, Any], r: dict[str, Any], at: float) -> bool:
        if r["attempt"] and r["attempt"] == t["r"]["attempt"]:
            return True
        hosts = [host for host, _ in t["told"]]
        if r["attempt"] and t["r"]["attempt"] and r["host"] in hosts:
            return False
        if (r["host"], r["hook"]) in t["told"] or at - t["at"] > 600 or r["change"] != t["r"]["change"]:
            return False
        return r["host"] in hosts or r["evidence"] == t["r"]["evidence"]

    def take_episode_end(self, r: dict[str, Any], at: float) -> None:
        if self.key(r) in self.open and r["reason"] != "forgotten":
            self.close(self.key(r), "retry_after_fix")

    def take_response(self, r: dict[str, Any], at: float) -> None:
        s = self.signals.get(r["id"])
        if s is None or r["by"] == "ahp":
            return
        s["action"] = r["action"]
        e = s["in"]
        if e is None or self.open.get(s["key"]) is not e:
            return
        if r["action"] == "acknowledge":
            evidence, once = s["record"]["evidence"], not r["by"].startswith("human")
            if not (once and evidence in e["acks"]):
                e["acks"][evidence] = {"held": s["nth"], "once": once, "used": False}
        elif r["action"].endswith("_modification"):
            e["rejected"] = r["action"].startswith("reject")


class Life(RuleBasedStateMachine):
    """Events, answers, crashes and losses in any order, by two writers."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.mkdtemp()
        path = self.folder + "/ahp"
        self.writers = [Journal(path, rotate_at=6000), Journal(path, rotate_at=6000)]
        self.story = Story(self.writers[0])
        self.promised: list[str] = []
        self.token = ""
        self.cut = False

    def teardown(self) -> None:
        for writer in getattr(self, "writers", []):
            writer.close()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(
        intensity=st.sampled_from(["prompt", "prompt", "control", "block", "aid"]),
        rule_=st.sampled_from(RULES),
        subject=st.sampled_from(SUBJECTS),
        actor=st.sampled_from(ACTORS),
        hook=st.sampled_from(HOOKS),
        host=st.sampled_from(["git", "claude"]),
        evidence=st.sampled_from(["sha256:e", "sha256:f"]),
        change=st.sampled_from(["change1:c", "change1:d"]),
        denied=st.booleans(),
        token=st.sampled_from(["new", "same", ""]),
        head=st.sampled_from([None, "", "h1", "h1", "h2"]),
        forget=st.sampled_from([None, None, 3, 60]),
        writer=st.integers(0, 1),
    )
    def signal(
        self,
        rule_: str,
        denied: bool,
        token: str,
        writer: int,
        intensity: str,
        head: str | None,
        forget: int | None,
        **more: str,
    ) -> None:
        self.story.journal = self.writers[writer]
        if intensity == "aid":
            more["hook"] = "post-commit"
        if token == "new":
            self.token = f"git:{len(self.promised)}"
        given: dict[str, Any] = {**more, "rule": rule_, "attempt": self.token if token else ""}
        if denied:
            given["decision"] = "deny"
        if head is not None:
            given["head"] = head
        if forget:
            given["forget_after"] = forget * 86400.0
        with self.story.state() as state:
            family, kind = FAMILY[more["hook"]], more["actor"].split(":")[0]
            episode = state.episode(episode_key(family, rule_, more["subject"], kind))
        if episode:
            given["correlation_id"] = episode.id
        self.promised.append(self.story.signal(intensity, **given))

    @rule(
        rule_=st.sampled_from(RULES),
        subject=st.sampled_from(SUBJECTS),
        actor=st.sampled_from(ACTORS),
        hook=st.sampled_from(HOOKS),
        ends=st.booleans(),
    )
    def clean(self, rule_: str, ends: bool, **more: str) -> None:
        stamp = clock.iso(self.story.now)
        self.token = f"clean:{len(self.promised)}:{self.story.now}"
        told = {"timestamp": stamp, "host": "git", "attempt": self.token, **more}
        records = [{**told, "kind": "verdict", "decision": "allow"}]
        if ends:
            records.append({**told, "kind": "episode-end", "rule": rule_, "reason": "mended"})
        self.story.journal.append(records)

    @precondition(lambda self: self.promised)
    @rule(
        nth=st.integers(0, 30),
        action=st.sampled_from(ANSWERS),
        by=st.sampled_from([Actor("human", "ann"), Actor("agent", "claude")]),
    )
    def respond(self, nth: int, action: str, by: Actor) -> None:
        self.story.respond(self.promised[-1 - nth % len(self.promised)], action, by)

    @rule(seconds=st.sampled_from([0.0, 1.0, 30.0, 700.0, 86400.0, 8 * 86400.0, -3600.0]))
    def time_passes(self, seconds: float) -> None:
        self.story.now = max(START, self.story.now + seconds)

    @rule(name=st.sampled_from(["state.db", "index", "both", "garbage"]))
    def lose(self, name: str) -> None:
        for one in ("state.db", "index") if name == "both" else (name,):
            path = Path(self.story.journal.folder, "state.db" if one == "garbage" else one)
            if one == "garbage" and path.parent.exists():
                path.write_bytes(b"x" * 5000)
            elif path.exists():
                path.unlink()

    @precondition(lambda self: self.promised)
    @rule(cut=st.integers(1, 5000), known=st.booleans())
    def crash(self, cut: int, known: bool) -> None:
        """The last write stopped at any of its bytes; `known`: index and state had been written, as power was lost."""
        path = self.story.journal.log_path
        data = Path(path).read_bytes()
        last = data.rstrip(b"\n").rpartition(b"\n")[2]
        if b'"kind": "signal"' not in last or last.count(b"\n"):
            return
        id = json.loads(last)["id"] if last.endswith(b"}") else None
        keep = len(data) - 1 - cut % len(last)
        os.truncate(path, keep)
        if id in self.promised and keep < len(data) - 1:
            self.promised.remove(str(id))
        self.cut = self.cut or known
        if not known:
            for name in ("index", "state.db"):
                Path(self.story.journal.folder, name).unlink(missing_ok=True)

    @rule()
    def settle(self) -> None:
        with self.story.state() as state:
            state.settle()

    @invariant()
    def all_agree(self) -> None:
        if not hasattr(self, "story"):
            return
        folder = self.story.journal.folder
        expected = Reference(_records(folder), self.story.now)
        assert set(self.promised) == set(expected.signals)
        found = query.folded(folder, now=self.story.now)[0]
        assert {r["id"]: r["action"] or "" for r in found} == {i: s["action"] for i, s in expected.signals.items()}
        ladders = {k: (e["count"], e["rejected"]) for k, e in expected.open.items()}
        with self.story.state() as state:
            keys = state.store.open_keys() | set(ladders)
            episodes = {key: episode for key in keys if (episode := state.episode(key))}
            assert {key: (e.count, e.rejected) for key, e in episodes.items()} == ladders
            for id, s in expected.signals.items():
                known = state.signal(id)
                if known is not None and (known.action or s["action"] != "abort"):
                    assert known.action == s["action"], id
        assert set(ladders) <= self.writers[1].index().keys
        problems = verify(self.writers[1]).problems
        assert not problems or (self.cut and all("cut" in problem for problem in problems)), problems


def _records(folder: str) -> list[dict[str, Any]]:
    records = []
    if not os.path.exists(folder):
        return []
    names = [name for name in os.listdir(folder) if name.startswith("signals.") and name != "signals.jsonl"]
    rotated = sorted((name for name in names if name.endswith(".jsonl")), key=lambda name: int(name.split(".")[1]))
    for name in [*rotated, "signals.jsonl"] if os.path.exists(folder + "/signals.jsonl") else rotated:
        for line in Path(folder, name).read_bytes().split(b"\n"):
            try:
                records.append(json.loads(line))
            except ValueError:
                continue
    return records


Life.TestCase.settings = settings(max_examples=80, stateful_step_count=30, suppress_health_check=list(HealthCheck))
test_log_and_ladder_equal_a_slow_reference = Life.TestCase


def test_state_of_no_log_is_empty(tmp_path: Path) -> None:
    with State.open(Journal(str(tmp_path / "ahp"))) as state:
        assert state.find("") == []
        assert state.episode("any") is None
