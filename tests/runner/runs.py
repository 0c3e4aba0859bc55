"""Runs of the agent with a script, for the tests of this folder."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from typing import Any

from ahp.protocol.signals import Signal
from ahp.runner.config import AgentConfig
from ahp.runner.gating.signal_desk import Gate
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import Event, EventLog
from ahp.runner.scripted import Scripted, ScriptedModel, scripted_tool
from ahp.runner.tools.tool import Tool
from tests.runner.scripted_gate import ScriptedGate, signal

DONE = '{"control": "step_done"}'
REPLAN = '{"control": "replan", "reason": "another way"}'


def call(tool: str = "look", **args: Any) -> str:
    return json.dumps({"tool": tool, "args": args})


def plan(*steps: str, policy: str = "auto", **waits_for: list[str]) -> str:
    """A plan of these step ids; `waits_for` gives dependencies by id."""
    listed = [{"id": step, "description": f"do {step}", "dependencies": waits_for.get(step, [])} for step in steps]
    return json.dumps({"title": "goal", "steps": listed, "verification_policy": policy})


def block(rule: str = "no-look", why: str = "it is secret", signal_id: str = "b1000000") -> Signal:
    return signal("block", rule, why, signal_id=signal_id, ways=["ask first"])


@cache
def nowhere() -> str:
    """A folder that is no project, so that nothing in it is verified."""
    folder = tempfile.mkdtemp(prefix="ahp-scene-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Scene:
    """One run: the model, the gate and the events it left, and how it ended."""

    def __init__(
        self,
        answers: Iterable[Scripted],
        *,
        tools: Iterable[Tool] | None = None,
        gate: Gate | None = None,
        task: str = "the task",
        planning: bool = False,
        verifiers: Any = None,
        root: str = "",
        log: EventLog | None = None,
        **settings: Any,
    ) -> None:
        self.model = ScriptedModel(answers)
        self.gate = gate if gate is not None else ScriptedGate()
        look = [scripted_tool("look", ["seen"])] if tools is None else tools
        config = AgentConfig(enable_planning=planning, **settings)
        agent = Agent(
            self.model,
            look,
            gate=self.gate,
            config=config,
            root=root or nowhere(),
            verifiers=verifiers,
            events=log,
        )
        self.events: list[Event] = agent.events.seen
        self.turn: AgentTurn = agent.run(task)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event["event"] == kind]

    def framed(self, text: str) -> str:
        """`text` as the model reads what comes from outside."""
        nonce = self.events[0]["nonce"]
        return f"<<<{nonce}\n{text}\n>>>{nonce}"

    @property
    def states(self) -> list[str]:
        return ["INTAKE", *(event["state"] for event in self.of("state"))]

    @property
    def said(self) -> list[str]:
        """The user's turn of each request."""
        return [request.said for request in self.model.requests]

    def figures(self) -> dict[str, int]:
        """How often each kind of event came."""
        counts: dict[str, int] = {}
        for event in self.events:
            counts[event["event"]] = counts.get(event["event"], 0) + 1
        return counts
