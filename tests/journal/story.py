"""Records as the gate writes them, in a journal whose clock the test moves."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.journal.episodes import LoggedSignal, new_id
from ahp.journal.index import episode_key
from ahp.journal.state import State
from ahp.protocol.event import Actor
from ahp.system import clock

DAY = 86400.0
START = 4_110_357_600.0  # 2100-04-02T14:00:00Z: after every genesis, which has the real time
KEY = episode_key("commit", "size/1", "main", "agent")
PERSON = Actor("human", "ann")
AGENT = Actor("agent", "claude")


class Story:
    """A journal and a clock; every attempt is a git command of its own unless it is given a token."""

    def __init__(self, journal: Journal) -> None:
        self.journal, self.now = journal, START
        self._tokens = itertools.count()

    def signal(self, intensity: str = "prompt", **more: Any) -> str:
        """One signal, delivered; gives its id."""
        known = {
            "rule": "size/1",
            "hook": "pre-commit",
            "subject": "main",
            "actor": "agent:claude",
            "host": "git",
            "decision": {"block": "deny", "control": "allow_with_modification", "aid": "suggest"}.get(
                intensity, "warn"
            ),
            "evidence": "sha256:e",
            "change": "change1:c",
            "paths": ["a.py"],
            "attempt": f"t{next(self._tokens)}",
            "correlation_id": new_id(self.now),
            **more,
        }
        id = str(uuid.uuid4())
        first = {
            "timestamp": clock.iso(self.now),
            "hook": known.pop("hook"),
            "intensity": intensity,
            "source": str(known["rule"]).partition("/")[0],
            "consumed": False,
            "action": None,
            "kind": "signal",
            "id": id,
        }
        self.journal.append([{**first, **known}])
        return id

    def clean(self, ends: bool = True, **more: Any) -> None:
        """A clean evaluation; `ends` the episode as the gate does when it is about the same thing."""
        known = {
            "hook": "pre-commit",
            "subject": "main",
            "actor": "agent:claude",
            "host": "git",
            "attempt": f"t{next(self._tokens)}",
            **more,
        }
        stamp = clock.iso(self.now)
        records: list[dict[str, object]] = [{"timestamp": stamp, "kind": "verdict", "decision": "allow", **known}]
        if ends:
            records.append({"timestamp": stamp, "kind": "episode-end", "rule": "size/1", "reason": "mended", **known})
        self.journal.append(records)

    def respond(self, id: str, action: str, by: Actor = AGENT, **details: Any) -> None:
        more = {"details": details} if details else {}
        answer = {"timestamp": clock.iso(self.now), "kind": "response", "id": id, "action": action, "by": str(by)}
        self.journal.append([{**answer, "consumed": True, **more}])

    def state(self) -> State:
        return State.open(self.journal, now=self.now)

    def seen(self, id: str) -> LoggedSignal:
        with self.state() as state:
            signal = state.signal(id)
        assert signal is not None
        return signal

    def count(self, key: str = KEY) -> int | None:
        """How many attempts of the open episode counted; None when none is open."""
        with self.state() as state:
            episode = state.episode(key)
        return episode.count if episode else None


def kinds(story: Story) -> list[str]:
    return [str((line.record() or {}).get("kind")) for line in segments.backward(story.journal.folder)][::-1]
