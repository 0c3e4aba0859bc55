"""A run that was killed or blocked goes on from its events (ahp.runner.run.run_state, Agent.resume)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.protocol.verdict import Verdict
from ahp.runner.config import AgentConfig
from ahp.runner.models.model import Answer, ContextOverflow, ModelError, Want
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.conversation import Message, check_roles
from ahp.runner.run.events import VERSION, EventLog, read_events
from ahp.runner.run.run_state import RunState
from ahp.runner.scripted import ScriptedModel, scripted_tool
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.runner.verification.result import VerificationResult
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, REPLAN, block, call, nowhere, plan
from tests.runner.scripted_gate import ScriptedGate, changing, signal, verdict

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
        return VerificationResult(type="passed" if ok else "test_failure", summary="looked")


class Gate(ScriptedGate):
    """Blocks what is secret, rewrites what is unclamped, warns of what is loud; one aid after each call."""

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, dry: bool = False) -> Verdict:
        self.asked.append((trigger, tool))
        what = tool["input"]["what"] if tool else ""
        key = f"{len(self.asked):08d}"
        if trigger == "post-tool-use":
            return verdict(trigger, signal("aid", "tip", f"after {what}", signal_id="a" + key))
        if what == "secret":
            return verdict(trigger, block(signal_id="b" + key))
        if what == "unclamped":
            change = {"target": "tool.input.what", "original": what, "updated": "clamped", "reason": "too much"}
            less = verdict(trigger, signal("control", "c", "less", signal_id="c" + key), modifications=[change])
            return changing(less, tool)
        if what == "loud":
            return verdict(trigger, signal("prompt", "p", "loud", signal_id="d" + key))
        return verdict(trigger)


class Worker:
    """A model that works by what it reads, so that it can be killed anywhere: each step works on what it is named."""

    name = "worker"

    def __init__(self, world: World) -> None:
        self.world = world
        self.heard: list[list[Message]] = []

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
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


SETTINGS: dict[str, Any] = {"max_replans": 5, "max_same_blocks": 3}


def agent(world: World, log: EventLog, *, model: Any = None, gate: Any = None, **settings: Any) -> Agent:
    return Agent(
        model or Worker(world),
        [world.tool()],
        gate=gate or Gate(),
        config=AgentConfig(**{**SETTINGS, **settings}),
        root=nowhere(),
        events=log,
        verifiers={"seen": world},
    )


@pytest.fixture
def story(tmp_path: Path) -> list[bytes]:
    """The lines of a run with two plans, a block, a rewrite, a prompt, and red tests."""
    world = World()
    log = EventLog(str(tmp_path / "story" / "events.jsonl"))
    turn = agent(world, log).run("the task")
    log.close()
    assert turn.stop_reason == "DONE", turn.answer
    assert world.ran == ["first", "clamped", "loud", "last", "mended"]
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
        if event["event"] == "verdict" and event["trigger"] == PRE and event["decision"] != "deny" and open_call:
            world.ran.append(open_call)
        if event["event"] == "tool_call":
            what = event["args"]["what"]
            open_call = {"unclamped": "clamped"}.get(what, what)
    return world


def events_of(path: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in read_events(str(path)) if event["event"] == kind]


def check_resumed(path: Path, world: World, before: list[str], turn: AgentTurn) -> None:
    events = read_events(str(path))
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert turn.stop_reason == "DONE", turn.answer
    assert world.ran[: len(before)] == before
    assert len(set(world.ran)) == len(world.ran), "something happened twice"
    assert world.ran == ["first", "clamped", "loud", "last", "mended"]
    done = [event["step_id"] for event in events if event["event"] == "plan_step_end" and event["status"] == "done"]
    assert len(set(done)) == len(done), "a finished step was repeated"
    assert turn.requests == len([event for event in events if event["event"] == "model_request"])
    assert turn.tokens == 11 * len([event for event in events if event["event"] == "model_answer"])
    assert turn.plan is not None
    assert turn.plan.done
    again = RunState.of(events)
    assert again.stop_reason == "DONE"


def every_kind_of_cut(story: list[bytes]) -> list[int]:
    """The first place of each pair of what was written last and what was cut off."""
    kinds = [json.loads(line)["event"] for line in story]
    places = {(kinds[cut - 1], kinds[cut]): cut for cut in reversed(range(1, len(story)))}
    return sorted(places.values())


def check_killed_at(cuts: Iterable[int], story: list[bytes], tmp_path: Path) -> None:
    for cut in cuts:
        torn = story[cut][: len(story[cut]) // 2]
        path = tmp_path / str(cut) / "events.jsonl"
        world = killed([*story[:cut], torn], path)
        before = list(world.ran)
        log = EventLog(str(path), resumes=True)
        turn = agent(world, log).resume()
        log.close()
        check_resumed(path, world, before, turn)


@pytest.mark.slow
def test_a_run_killed_at_any_kind_of_event_goes_on(story: list[bytes], tmp_path: Path) -> None:
    check_killed_at(every_kind_of_cut(story), story, tmp_path)


@pytest.mark.slow
def test_a_run_killed_at_any_event_goes_on(story: list[bytes], tmp_path: Path) -> None:
    check_killed_at(range(1, len(story)), story, tmp_path)


@pytest.mark.slow
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


@pytest.mark.parametrize("tokens", [None, 1_000, 900])
def test_the_conversation_read_back_is_the_one_that_the_model_heard(tokens: int | None) -> None:
    full = ContextOverflow("full")
    calls = [call(n=n) for n in range(6)]
    model = ScriptedModel([plan("a", "b"), *calls, "words", DONE, call(), full, full, DONE, "done"])
    tools = [scripted_tool("look", [*[str(n) * 900 for n in range(5)], "x" * 9_000])]
    one = Agent(
        model,
        tools,
        gate=ScriptedGate({"pre-tool-use": [verdict(PRE, signal("prompt", "p", "loud", signal_id="d1"))]}),
        config=AgentConfig(context_tokens=tokens),
        root=nowhere(),
    )
    assert one.run("the task").stop_reason == "DONE"
    seen = one.events.seen
    assert {event["why"] for event in one.events.of("trimmed")} >= ({"context_tokens"} if tokens else set())
    asked = [number for number, event in enumerate(seen) if event["event"] == "model_request"]
    for number, request in zip(asked, model.requests, strict=True):
        past = RunState.of(seen[:number])
        assert past.conversation is not None
        assert past.conversation.messages == request.messages


def test_a_step_that_was_broken_off_goes_on_in_its_own_conversation(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    planned(path, plan("a", "b"), DONE, call(n=1))  # the script ends here
    turn, model = planned(path, DONE, "answer", resumes=True)
    assert turn.stop_reason == "DONE"
    messages = model.requests[0].messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "Step b: do b" in messages[1]["content"]
    assert "Result of look" in messages[3]["content"]
    assert messages[3]["content"].endswith("This run was broken off and goes on now.\n\nGo on with the task.")
    assert len(events_of(path, "conversation")) == 4  # planning, a, b, answer


def test_an_answer_that_was_given_is_not_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    planned(path, plan("a"), DONE, "the answer")
    lines = path.read_bytes().splitlines(keepends=True)
    answered = [json.loads(line)["event"] for line in lines].index("answered")
    path.write_bytes(b"".join(lines[: answered + 1]))
    turn, model = planned(path, resumes=True)
    assert (turn.answer, turn.stop_reason, model.requests) == ("the answer", "DONE", [])


def direct(path: Path, *answers: str, gate: Any = None, resumes: bool = False, **settings: Any) -> Any:
    """(turn, model, how often the tool ran) of a run without a plan, or of its resumption."""
    ran: list[Any] = []

    class Any_(BaseModel):
        n: int = 0

    def look(args: Any, context: ToolContext) -> str:
        ran.append(args.n)
        return "seen"

    log = EventLog(str(path), resumes=resumes)
    model = ScriptedModel(answers)
    tool = FunctionTool("look", "looks", Any_, look)
    config = AgentConfig(**{"enable_planning": False, **settings})
    one = Agent(model, [tool], gate=gate or ScriptedGate(), config=config, root=nowhere(), events=log)
    try:
        return (one.resume() if resumes else one.run("the task")), model, ran
    finally:
        log.close()


def test_without_a_plan_a_killed_run_goes_on_anywhere(tmp_path: Path) -> None:
    whole = tmp_path / "whole.d" / "events.jsonl"
    direct(whole, call(), call(n=1), "the answer")
    lines = whole.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        path = tmp_path / str(cut) / "events.jsonl"
        path.parent.mkdir()
        path.write_bytes(b"".join(lines[:cut]))
        turn, model, _ = direct(path, "the answer", resumes=True)
        assert (turn.stop_reason, turn.answer) == ("DONE", "the answer")
        for request in model.requests:
            check_roles(request.messages)
        if not model.requests:  # the answer was there already
            assert b'"role": "assistant", "content": "the answer"' in b"".join(lines[:cut])


def test_the_model_reads_what_it_had_not_read(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    given = verdict("post-tool-use", signal("aid", "tip", "well done", signal_id="a1"))
    direct(path, call(), "never", gate=ScriptedGate({"post-tool-use": [given]}))
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["event"] for line in lines]
    result = kinds.index("tool_result")
    called = kinds.index("verdict", kinds.index("tool_call"))

    path.write_bytes(b"".join(lines[: result + 1]))
    _, model, ran = direct(path, "answer", resumes=True)
    assert ran == []
    said = model.requests[0].said
    assert "ahp note: tip (a1): well done" in said
    assert "goes on now." in said
    nonce = json.loads(lines[0])["nonce"]
    assert f"Result of look:\n<<<{nonce}\nseen\n>>>{nonce}" in said

    path.write_bytes(b"".join(lines[: called + 1]))
    _, model, ran = direct(path, "answer", resumes=True)
    assert "It ended while look ran: whether that did its work is not known." in model.requests[0].said
    assert ran == []

    path.write_bytes(b"".join(lines[: kinds.index("tool_call")]))
    _, model, _ = direct(path, "answer", resumes=True)
    assert "Your last reply was not acted on." in model.requests[0].said


def test_of_several_calls_the_model_reads_which_were_made(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    direct(path, f"{call(n=1)}\n{call(n=2)}\n{call(n=3)}", "never")
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["event"] for line in lines]
    first = kinds.index("tool_result")
    second = kinds.index("verdict", kinds.index("tool_call", first))

    path.write_bytes(b"".join(lines[: first + 1]))
    _, model, ran = direct(path, "answer", resumes=True)
    said = model.requests[0].said
    assert "Result of look (call 1):" in said
    assert "The last 2 of the calls in your last reply were not made." in said
    assert ran == []

    path.write_bytes(b"".join(lines[: second + 1]))
    _, model, ran = direct(path, "answer", resumes=True)
    said = model.requests[0].said
    assert "Result of look (call 1):" in said
    assert "It ended while look ran" in said
    assert "The last 1 of the calls in your last reply were not made." in said
    assert ran == []


def test_a_block_that_ended_a_run_ends_it_again_at_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    gate = ScriptedGate({PRE: [verdict(PRE, block())]})
    turn, _, _ = direct(path, call(), call(), call(), gate=gate)
    assert (turn.stop_reason, turn.requests) == ("GATE_BLOCKED", 3)
    for times in (4, 5):
        turn, model, ran = direct(path, call(), "never", gate=gate, resumes=True)
        assert (turn.stop_reason, turn.requests, ran) == ("GATE_BLOCKED", times, [])
        assert "it is secret" in model.requests[0].said
    turn, _, ran = direct(path, call(), "answer", resumes=True)  # by a policy that allows it now
    assert (turn.stop_reason, ran) == ("DONE", [0])


def test_what_is_used_up_stays_used_up(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    turn, _, _ = direct(path, call(), call(n=1), max_iterations=2)
    assert turn.stop_reason == "MAX_ITER"
    turn, model, _ = direct(path, "never", max_iterations=2, resumes=True)
    assert (turn.stop_reason, model.requests) == ("MAX_ITER", [])
    turn, model, _ = direct(path, call(n=2), "never", max_iterations=3, resumes=True)
    assert (turn.stop_reason, len(model.requests)) == ("MAX_ITER", 1)
    turn, _, _ = direct(path, "answer", max_iterations=4, resumes=True)
    assert (turn.stop_reason, turn.requests) == ("DONE", 4)


def test_a_request_made_again_is_no_iteration_after_a_kill_either(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    busy: Any = ModelError("busy", transient=True, retry_after_s=0)
    direct(path, busy, ContextOverflow("full"), call("look"), max_iterations=2)  # type: ignore[arg-type]
    assert RunState.of(read_events(str(path))).iterations == {"the task": 1}


def test_budgets_are_carried_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    turn, _, _ = direct(path, Answer(call(), input_tokens=60, output_tokens=40, usd=1.0), budget_tokens=100)  # type: ignore[arg-type]
    assert turn.stop_reason == "BUDGET_TOKENS"
    for budget, reason in (({"budget_tokens": 100}, "BUDGET_TOKENS"), ({"budget_usd": 1.0}, "BUDGET_USD")):
        turn, model, _ = direct(path, "never", resumes=True, **budget)
        assert (turn.stop_reason, model.requests) == (reason, [])
    lines = path.read_text().splitlines()
    early = [{**json.loads(lines[0]), "at": "2026-01-01T00:00:00.000Z"}]
    early += [{**json.loads(line), "at": "2026-01-01T00:01:00.000Z"} for line in lines[1:3]]
    path.write_text("".join(json.dumps(event) + "\n" for event in early))
    turn, _, _ = direct(path, "never", resumes=True, budget_seconds=60)
    assert turn.stop_reason == "BUDGET_TIME"
    turn, _, _ = direct(
        path, Answer("answer", input_tokens=1, output_tokens=1, usd=0.5), resumes=True, budget_seconds=90
    )  # type: ignore[arg-type]
    assert (turn.stop_reason, turn.tokens, turn.usd) == ("DONE", 2, 0.5)


def test_repeated_calls_are_counted_across_kills(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    direct(path, call(), call(), max_same_calls=3)  # the script ends here
    _, model, ran = direct(path, call(), call(), call(), "answer", max_same_calls=3, resumes=True)
    assert "given this result 3 times" in model.requests[1].said
    assert "E_STUTTERING" in model.requests[2].said
    assert "E_STUTTERING" in model.requests[3].said
    assert ran == [0, 0]  # the third and the fourth; the fifth is not made
    lines = path.read_bytes().splitlines(keepends=True)
    stuttered = [number for number, line in enumerate(lines) if b'"stuttering"' in line]
    path.write_bytes(b"".join(lines[: stuttered[0] + 2]))
    _, model, ran = direct(path, call(), "answer", max_same_calls=3, resumes=True)
    assert ("E_STUTTERING" in model.requests[1].said, ran) == (True, [])


def planned(path: Path, *answers: str, resumes: bool = False, **settings: Any) -> tuple[AgentTurn, ScriptedModel]:
    log = EventLog(str(path), resumes=resumes)
    model = ScriptedModel(answers)
    one = Agent(
        model,
        [scripted_tool("look", ["seen"])],
        gate=ScriptedGate(),
        config=AgentConfig(**settings),
        root=nowhere(),
        events=log,
    )
    try:
        return (one.resume() if resumes else one.run("the task")), model
    finally:
        log.close()


def test_the_tool_calls_of_a_step_are_carried_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    settings = {"max_step_tool_calls": 2, "max_replans": 0}
    assert planned(path, plan("a"), call(n=1), call(n=2), **settings)[0].stop_reason == "MODEL_ERROR"
    turn, _ = planned(path, call(n=3), resumes=True, **settings)
    assert turn.stop_reason == "MAX_REPLANS"
    assert "needed more than 2 tool calls" in events_of(path, "plan_step_end")[-1]["problem"]


def test_replans_are_carried_over_and_may_be_raised(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first = (plan("a", "b", b=["a"]), REPLAN, plan("a", "c"), REPLAN)
    assert planned(path, *first, max_replans=1)[0].stop_reason == "MAX_REPLANS"
    turn, model = planned(path, plan("d"), DONE, "answer", max_replans=2, resumes=True)
    assert turn.stop_reason == "DONE"
    assert "The plan has to change: step a asks for it: another way" in model.requests[0].said
    assert turn.plan is not None
    assert [step.id for step in turn.plan.steps] == ["d"]


def test_a_deadlock_is_still_one(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    settings = {"max_step_tool_calls": 0, "max_replans": 0}
    assert planned(path, plan("a", "b", b=["a"]), call(), **settings)[0].stop_reason == "DEADLOCK"
    turn, model = planned(path, resumes=True, **settings)
    assert (turn.stop_reason, model.requests) == ("DEADLOCK", [])


def test_a_plan_may_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert planned(path, plan("a", "a"), plan())[0].stop_reason == "PLAN_INVALID"
    assert planned(path, plan("a"), DONE, "answer", resumes=True)[0].stop_reason == "DONE"


def test_other_tools_are_told_in_another_system_prompt(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    planned(path, plan("a"))
    log = EventLog(str(path), resumes=True)
    model = ScriptedModel([DONE, "answer"])
    other = scripted_tool("other", ["x"])
    assert Agent(model, [other], gate=ScriptedGate(), root=nowhere(), events=log).resume().stop_reason == "DONE"
    log.close()
    assert "- other(" in model.requests[0].messages[0]["content"]
    systems = [event for event in events_of(path, "message") if event["role"] == "system"]
    assert len(systems) == 2
    assert RunState.of(read_events(str(path))).system == systems[1]["content"]


def test_trimmed_exchanges_stay_trimmed(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    direct(path, *[call(n=n) for n in range(6)], context_tokens=0)
    _, model, _ = direct(path, "answer", resumes=True)
    messages = model.requests[0].messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "the task" in messages[1]["content"]


def test_what_cannot_be_resumed_is_said(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    direct(path, "answer")
    with pytest.raises(AhpError, match="this run is done"):
        direct(path, resumes=True)
    path.write_bytes(b'{"event": "run_sta')
    with pytest.raises(AhpError, match="killed before it began"):
        direct(path, resumes=True)
    assert path.read_bytes() == b""
    with pytest.raises(AhpError, match="no events"):
        direct(tmp_path / "none" / "events.jsonl", resumes=True)


@pytest.mark.parametrize(
    "line",
    [
        {"event": "plan_step_end", "step_id": "a", "status": "done", "problem": None},
        {"event": "plan_generated", "plan": {"steps": []}, "left_out": []},
        {"event": "plan_generated", "plan": 5, "left_out": []},
        {"event": "message", "role": "user"},
        {"event": "message", "role": "user", "content": "no conversation before"},
        {"event": "conversation", "scene": "react"},
        {"event": "verdict", "trigger": PRE, "decision": "deny", "signals": [5]},
        {"event": "tool_result", "tool": "look"},
        {"event": "model_answer", "input_tokens": None, "output_tokens": 1, "usd": 1},
        {"event": "trimmed", "pairs": "x", "cuts": []},
        {"event": "trimmed", "pairs": 1, "cuts": []},
        {"event": "run_start", "version": 1},
        {"event": "state", "at": "yesterday"},
    ],
)
def test_events_that_make_no_sense_are_an_error_with_their_number(tmp_path: Path, line: dict[str, Any]) -> None:
    config = {"enable_planning": False}
    start = {"event": "run_start", "version": VERSION, "task": "t", "nonce": "n"}
    start.update(model="m", endpoint=None, since="", policy=None, config=config)
    stamped = [{"at": "2026-01-01T00:00:00.000Z", **event} for event in (start, line)]
    with pytest.raises(AhpError, match="event 2 of this run cannot be read back"):
        RunState.of(stamped)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (VERSION + 1, "of a newer ahp; resume it with that one"),
        (VERSION - 1, "of another ahp$"),
        ("x", "of another ahp$"),
    ],
)
def test_a_run_of_another_version_is_not_resumed(tmp_path: Path, version: object, said: str) -> None:
    path = tmp_path / "run" / "events.jsonl"
    direct(path, call(n=1))
    first, *rest = read_events(str(path))
    path.write_text("".join(json.dumps(line) + "\n" for line in [{**first, "version": version}, *rest]))
    before = path.read_bytes()
    with pytest.raises(AhpError, match=said):
        direct(path, "done", resumes=True)
    assert path.read_bytes() == before


def test_a_log_that_holds_a_run_takes_no_other_one(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    direct(path, "done")
    before = path.read_bytes()
    with pytest.raises(AhpError, match="holds a run already: resume that"):
        EventLog(str(path))
    assert path.read_bytes() == before
    EventLog(str(path), resumes=True).close()  # the refused one has left it


def test_a_run_with_other_planning_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    direct(path)
    log = EventLog(str(path), resumes=True)
    with pytest.raises(ValueError, match="other planning"):
        Agent(ScriptedModel([]), gate=ScriptedGate(), root=nowhere(), events=log).resume()
    log.close()


@pytest.mark.slow
def test_a_run_that_still_goes_on_cannot_be_resumed(tmp_path: Path) -> None:
    path = str(tmp_path / "run" / "events.jsonl")
    log = EventLog(path)
    log("run_start")
    with pytest.raises(AhpError, match="this run still goes on"):
        EventLog(path, resumes=True)
    log.close()
    EventLog(path, resumes=True).close()


@pytest.mark.slow
def test_another_process_cannot_resume_it_either_whatever_has_read_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    log = EventLog(str(path))
    log("run_start")
    (path.parent / "lock").read_bytes()
    code = "import sys; from ahp.runner import EventLog; EventLog(sys.argv[1], resumes=True)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run([sys.executable, "-c", code, path], env=env, capture_output=True, check=False)
    assert b"this run still goes on" in other.stderr
    log.close()
    (path.parent / "lock").unlink()
    (path.parent / "lock").mkdir()
    with pytest.raises(AhpError, match="cannot lock"):
        EventLog(str(path), resumes=True)


def test_a_whole_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"event": "a"}\n{"event": "b"}')
    log = EventLog(str(path), resumes=True)
    log("c")
    log.close()
    assert [event["event"] for event in read_events(str(path))] == ["a", "b", "c"]


def test_a_prompt_of_before_can_still_be_answered(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    loud = verdict(PRE, signal("prompt", "p", "loud", signal_id="d1234567-8"))
    direct(path, call(), "never", gate=ScriptedGate({PRE: [loud]}))
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["event"] for line in lines]
    path.write_bytes(b"".join(lines[: kinds.index("tool_result") + 1]))
    gate = ScriptedGate()
    direct(path, '{"respond": "d1234567", "action": "acknowledge"}', "answer", gate=gate, resumes=True)
    assert gate.responses == [("d1234567-8", "acknowledge", {})]
    path.write_bytes(b"".join(lines[: kinds.index("tool_result") + 1]))
    gate = ScriptedGate()
    direct(path, call(), "answer", gate=gate, resumes=True)
    assert gate.responses == [("d1234567-8", "dismiss", {"automatic": True})]
