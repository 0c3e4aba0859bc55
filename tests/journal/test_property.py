"""Whatever happens, log and ladder are what a slow and simple reading of the log's bytes says (issue 4)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ahp.journal import query
from ahp.journal.append import Journal
from ahp.journal.index import episode_key
from ahp.journal.state import State
from ahp.journal.verify import verify
from ahp.protocol.event import Actor
from ahp.system import clock
from tests.examples import examples

from .reading import FAMILY, Reading
from .story import START, Story

RULES, SUBJECTS = ("size/1", "secrets/1"), ("main", "FEAT-1")
ACTORS = ("agent:claude", "human:ann")
HOOKS = ("pre-commit", "commit-msg", "pre-push")
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
        expected = Reading(_records(folder), self.story.now)
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


Life.TestCase.settings = examples(80, *HealthCheck, stateful_step_count=30)
test_log_and_ladder_equal_a_slow_reference = Life.TestCase


def test_state_of_no_log_is_empty(tmp_path: Path) -> None:
    with State.open(Journal(str(tmp_path / "ahp"))) as state:
        assert state.find("") == []
        assert state.episode("any") is None
