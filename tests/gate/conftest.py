"""Events whose facts are given, judged by a policy in text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ahp.gate.decide import decide
from ahp.policy import judge as policies
from ahp.policy.tree import WAIVERS
from ahp.protocol.event import Actor, Event, Workspace
from ahp.protocol.verdict import Verdict
from ahp.system import clock

Judge = Callable[..., Verdict]


class Committed:
    """A tree that has a file of waivers and nothing else."""

    name = "HEAD"

    def __init__(self, waivers: bytes) -> None:
        self.waivers = waivers

    def read(self, path: str) -> bytes | None:
        return self.waivers if path == WAIVERS else None


class Desk:
    """A root with a policy and a journal, and the gate asked about made-up events."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = root / "journal"
        self.attempts = 0
        self.waivers = b""

    def policy(self, text: str) -> None:
        (self.root / ".ahp").mkdir(exist_ok=True)
        (self.root / ".ahp" / "hooks.yaml").write_text("version: 1\n" + dedent(text))

    def event(self, trigger: str = "pre-commit", mode: str = "real", **slots: Any) -> Event:
        """An event; capitalised keywords are its slots' facts: `event(files={"changed_count": 3})`."""
        names = {"actor", "env", "subject", "draft", "tool", "issue", "session", "view", "repo", "host", "genesis"}
        given = {name: slots.pop(name) for name in list(slots) if name not in names}
        self.attempts += 1
        slots.setdefault("actor", Actor("human", "ann"))
        slots.setdefault("subject", "main")
        where = Workspace(str(self.root), str(self.journal), slots.pop("env", dict(os.environ)))
        made = Event(trigger, "git", slots.pop("actor"), where, clock.monotonic() + 60, mode)
        return made.but(given=given, attempt=f"t{self.attempts}", **slots)

    def judge(self, trigger: str = "pre-commit", mode: str = "real", **slots: Any) -> Verdict:
        event = self.event(trigger, mode, **slots)
        return decide(event, self.judges(event) if self.waivers else None)

    def judges(self, event: Event) -> list[policies.Judge]:
        """The policy here as if it were committed, together with `waivers`."""
        tree: Any = Committed(self.waivers)
        return [policies.Judge(policies.working(event), policies.COMMITTED, excusing=tree)]

    def log(self, kind: str = "") -> list[dict[str, Any]]:
        path = self.journal / "signals.jsonl"
        records = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
        return [record for record in records if not kind or record["kind"] == kind]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """The gate over a folder that is no repository."""
    root = tmp_path / "desk"
    root.mkdir()
    (root / "journal").mkdir()
    return Desk(root)


def signals(verdict: Verdict) -> list[tuple[str, str]]:
    """(rule, intensity) of each signal delivered."""
    return [(str(s.context["rule"]), s.intensity) for s in verdict.signals]
