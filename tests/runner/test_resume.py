"""A run that was killed or blocked goes on from its events (ahp.runner.past, Agent.resume)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.protocol.verdict import Verdict
from ahp.runner.agent import Agent, AgentTurn
from ahp.runner.config import AgentConfig
from ahp.runner.conversation import Message, check_roles
from ahp.runner.events import EventLog, read_events
from ahp.runner.model import Answer
from ahp.runner.past import Past
from ahp.runner.scripted import ScriptedGate, ScriptedModel, scripted_tool, signal, verdict
from ahp.runner.tool import FunctionTool, ToolContext
from ahp.runner.verification import VerificationResult
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, REPLAN, block, call, plan

PRE = "pre-tool-use"


class World:
    """What tools changed: every call that really ran, in order; it outlives a killed process."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def tool(self) -> FunctionTool:
        class Args(BaseModel):
            what: str

        def work(args: Any, context: ToolContext) -> str:
            assert args.what not in ("secret", "unclamped"), "the gate let it through"
            self.ran.append(args.what)
            return f"worked on {args.what}"

        return FunctionTool("work", "works", Args, work, writes=True)

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        ok = "mended" in self.ran
        return VerificationResult(ok=ok, type="passed" if ok else "test_failure", summary="looked")


class Gate(ScriptedGate):
    """Blocks what is secret, rewrites what is unclamped, warns of what is loud; one aid after each call."""

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None) -> Verdict:
        self.asked.append((trigger, tool, issue))
        what = tool["input"]["what"] if tool else ""
        key = f"{len(self.asked):08d}"
        if trigger == "post-tool-use":
            return verdict(trigger, signal("aid", "tip", f"after {what}", signal_id="a" + key))
        if what == "secret":
            return verdict(trigger, block(signal_id="b" + key))
        if what == "unclamped":
            change = {"target": "tool.input.what", "original": what, "updated": "clamped", "reason": "too much"}
            return verdict(trigger, signal("control", "c", "less", signal_id="c" + key), modifications=[change])
        if what == "loud" or trigger == "pre-issue-submit":
            return verdict(trigger, signal("prompt", "p", "loud", signal_id="d" + key))
        return verdict(trigger)


class Worker:
    """A model that works by what it reads, so that it can be killed anywhere: each step works on what it is named."""

    name = "worker"

    def __init__(self, world: World) -> None:
        self.world = world
        self.heard: list[list[Message]] = []

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float) -> Answer:
        check_roles(messages)
        self.heard.append(messages)
        return Answer(self.reply(messages), input_tokens=10, output_tokens=1, usd=0.5)

    def reply(self, messages: list[Message]) -> str:
        said = messages[-1]["content"]
        if "First write the plan" in said:
            if "red" in said or "looked" in said:
                return plan("mended", policy="seen")
            if "The plan has to change" in said:
                return plan("loud", "last", policy="seen")
            return plan("first", "secret", "unclamped", "again", policy="seen")
        if "Now answer the task" in said:
            return "all is done"
        if "is next. Before that" in said:
            found = re.findall(r'"respond": "(\w+)"', said)
            return "\n".join(json.dumps({"respond": one, "action": "acknowledge"}) for one in found) or "go on"
        steps = re.findall(r"^Step (\w+): do ", "\n".join(m["content"] for m in messages if m["role"] == "user"), re.M)
        step = steps[-1]
        if step == "again":
            return REPLAN
        known = f"worked on {'clamped' if step == 'unclamped' else step}"
        behind = "".join(m["content"] for m in messages[2:])
        asked = any("refused" in m["content"] for m in messages) and step == "secret"
        # A careful model looks whether a call of which nobody knows did its work.
        if known in behind or asked or {"unclamped": "clamped"}.get(step, step) in self.world.ran:
            return DONE
        return call("work", what=step)


SETTINGS: dict[str, Any] = {"max_replans": 5, "max_same_blocks": 3, "submit": True}


def agent(world: World, log: EventLog, *, model: Any = None, gate: Any = None, **settings: Any) -> Agent:
    return Agent(
        model or Worker(world),
        [world.tool()],
        gate=gate or Gate(),
        config=AgentConfig(**{**SETTINGS, **settings}),
        events=log,
        issue="FEAT-1",
        move=lambda issue, verb: world.ran.append(f"{issue} {verb}"),
        verifiers={"seen": world},
    )


@pytest.fixture
def story(tmp_path: Path) -> list[bytes]:
    """The lines of a run with two plans, a block, a rewrite, a prompt, red tests and a submit."""
    world = World()
    log = EventLog(str(tmp_path / "story" / "events.jsonl"))
    turn = agent(world, log).run("the task")
    log.close()
    assert turn.stop_reason == "DONE", turn.answer
    assert world.ran == ["FEAT-1 start", "first", "clamped", "loud", "last", "mended", "FEAT-1 submit"]
    return (tmp_path / "story" / "events.jsonl").read_bytes().splitlines(keepends=True)


def killed(lines: list[bytes], path: Path) -> World:
    """The world as a run left it whose events end so: a call that may have run did."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    world = World()
    open_call = None
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            break
        if event["event"] == "verdict" and event["trigger"] == PRE and event["decision"] == "allow" and open_call:
            world.ran.append(open_call)
        if event["event"] == "verdict" and event["trigger"] == PRE and event["decision"] == "warn" and open_call:
            world.ran.append(open_call)
        if event["event"] == "tool_call":
            what = event["args"]["what"]
            open_call = {"unclamped": "clamped"}.get(what, what)
        if event["event"] == "issue_moved":
            world.ran.append(f"{event['issue']} {event['verb']}")
    return world


def events_of(path: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in read_events(str(path)) if event["event"] == kind]


def check_resumed(path: Path, world: World, before: list[str], turn: AgentTurn) -> None:
    events = read_events(str(path))
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert turn.stop_reason == "DONE", turn.answer
    assert world.ran[: len(before)] == before
    assert len(set(world.ran)) == len(world.ran), "something happened twice"
    assert [what for what in world.ran if not what.startswith("FEAT")] == ["first", "clamped", "loud", "last", "mended"]
    done = [event["step_id"] for event in events if event["event"] == "plan_step_end" and event["status"] == "done"]
    assert len(set(done)) == len(done), "a finished step was repeated"
    assert turn.requests == len([event for event in events if event["event"] == "model_request"])
    assert turn.tokens == 11 * len([event for event in events if event["event"] == "model_answer"])
    assert turn.plan is not None
    assert turn.plan.done
    again = Past(events)
    assert again.stop_reason == "DONE"
    assert {"start", "submit"} <= again.moved


def test_a_run_killed_at_any_event_goes_on(story: list[bytes], tmp_path: Path) -> None:
    for cut in range(1, len(story)):
        torn = story[cut][: len(story[cut]) // 2]
        path = tmp_path / str(cut) / "events.jsonl"
        world = killed([*story[:cut], torn], path)
        before = list(world.ran)
        log = EventLog(str(path), resumes=True)
        turn = agent(world, log).resume()
        log.close()
        check_resumed(path, world, before, turn)


def test_a_resumed_run_killed_again_goes_on(story: list[bytes], tmp_path: Path) -> None:
    for cut in range(1, len(story), 7):
        path = tmp_path / str(cut) / "events.jsonl"
        world = killed(story[:cut], path)
        log = EventLog(str(path), resumes=True)
        agent(world, log).resume()
        log.close()
        lines = path.read_bytes().splitlines(keepends=True)
        for again in range(cut + 1, len(lines), 11):
            second = tmp_path / f"{cut}-{again}" / "events.jsonl"
            world = killed(lines[:again], second)
            before = list(world.ran)
            log = EventLog(str(second), resumes=True)
            turn = agent(world, log).resume()
            log.close()
            check_resumed(second, world, before, turn)
