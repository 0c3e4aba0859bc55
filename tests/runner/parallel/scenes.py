"""Runs of the agent whose steps work side by side in a real repository, for the tests of this folder."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ahp.runner.config import AgentConfig
from ahp.runner.gating.signal_desk import Gate
from ahp.runner.models.model import Answer, Want
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.conversation import Message, check_roles
from ahp.runner.run.events import Event, EventLog
from ahp.runner.tools.catalog import standard_tools
from tests.runner.runs import DONE, call, plan
from tests.runner.scripted_gate import ScriptedGate

STEP = re.compile(r"^Step (\S+): ", re.M)


def write(path: str, content: str) -> str:
    return call("write_file", path=path, content=content)


def edit(path: str, old: str, new: str) -> str:
    return call("edit", path=path, edits=[{"old": old, "new": new}])


def run(command: str) -> str:
    return call("run_command", command=command)


class StepModel:
    """Does in each step what `calls` say of it, one after the other by the results that it has read.

    So it can be killed anywhere, and asked from several threads. `plans` are given in turn.
    """

    name = "by step"

    def __init__(self, plans: Sequence[str], calls: Mapping[str, Sequence[str]]) -> None:
        self._plans, self._calls = list(plans), calls
        self.heard: dict[str, list[list[Message]]] = {}
        self._lock = threading.Lock()

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        check_roles(messages)
        head = messages[1]["content"]
        step = STEP.match(head)
        with self._lock:
            self.heard.setdefault(step[1] if step else "", []).append(messages)
            return Answer(self._reply(head, step, messages), input_tokens=10, output_tokens=1)

    def _reply(self, head: str, step: re.Match[str] | None, messages: list[Message]) -> str:
        if step is None:
            if "Now answer the task" in head:
                return "all is done"
            return self._plans[1 if "The plan has to change" in head else 0]
        replies = self._calls.get(step[1], ())
        read = sum(message["content"].count("Result of ") for message in messages[2:] if message["role"] == "user")
        return replies[read] if read < len(replies) else DONE


class Scene:
    """One run of the project at `root`: how it ended, and its events."""

    def __init__(
        self,
        root: Path,
        calls: Mapping[str, Sequence[str]],
        *plans: str,
        jobs: int = 4,
        gate: Gate | None = None,
        log: EventLog | None = None,
        model: Any = None,
        tools: Any = (),
        resumes: bool = False,
        **settings: Any,
    ) -> None:
        self.model = model or StepModel(plans or [plan(*calls)], calls)
        self.log = log or EventLog()
        config = AgentConfig.model_validate({"jobs": jobs, "verification_policy": "none", **settings})
        agent = Agent(
            self.model,
            [*standard_tools(lambda text: None), *tools],
            gate=gate or ScriptedGate(),
            config=config,
            events=self.log,
            root=str(root),
        )
        try:
            self.turn: AgentTurn = agent.resume() if resumes else agent.run("the task")
        finally:
            self.log.close()
        self.events: list[Event] = self.log.seen

    def of(self, kind: str, step: str | None = None) -> list[Event]:
        return [one for one in self.events if one["event"] == kind and (step is None or one.get("step") == step)]

    @property
    def merged(self) -> list[str]:
        return [one["step_id"] for one in self.of("step_merged")]
