"""What the gate's answers do to a run: block, control, prompt, aid (seed 002 §2, design §7)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import ANY

import pytest
from pydantic import BaseModel, ConfigDict, Field

from ahp.facts.tool import Touched
from ahp.protocol.verdict import Verdict
from ahp.runner.run.conversation import check_roles
from ahp.runner.scripted import scripted_tool
from ahp.runner.tools.tool import FunctionTool
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, Scene, block, call, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

PRE = "pre-tool-use"


class Args(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = "."
    size: int = Field(default=1, le=100)


class Recorder:
    """A tool that keeps what it was run with."""

    def __init__(self, writes: bool = False) -> None:
        self.calls: list[Args] = []
        self.tool = FunctionTool("look", "looks", Args, self.run, writes=writes, touched=lambda args: Touched())

    def run(self, args: Args, context: object) -> str:
        self.calls.append(args)
        return f"size {args.size}"


def of_tools(gate: ScriptedGate) -> list[str]:
    return [trigger for trigger, tool in gate.asked if tool]


def control(updated: Any, target: str = "tool.input.size", signal_id: str = "c1000000") -> Verdict:
    change = {"target": target, "original": 1, "updated": updated, "reason": "smaller"}
    sent = signal("control", "sizes", "", signal_id=signal_id)
    sent.payload["modifications"] = [change]
    return verdict(PRE, sent, modifications=[change])


def test_a_blocked_call_does_not_happen_and_the_next_turn_says_why_and_what_to_do() -> None:
    recorder = Recorder()
    gate = ScriptedGate({PRE: [verdict(PRE, block()), verdict(PRE)]})
    scene = Scene([call(), call(path="b"), "answer"], tools=[recorder.tool], gate=gate)
    assert recorder.calls == [Args(path="b")]
    assert "ahp blocked: no-look (b1000000)\nWhy: it is secret\nDo: ask first" in scene.said[1]
    assert "look did not run" in scene.said[1]
    assert of_tools(gate) == [PRE, PRE, "post-tool-use"]
    assert scene.of("tool_result")[0]["code"] == "blocked"


@pytest.mark.parametrize(
    "reply",
    [call() + "\n" + call(), f"```json\n{call()}\n```\n{call()}", f'{{"tool":"look","control":"step_done"}}\n{call()}'],
    ids=["two", "fenced and bare", "with a signal"],
)
def test_no_reply_runs_a_blocked_call_by_a_side_way(reply: str) -> None:
    recorder = Recorder()
    Scene([reply, call(), reply, "answer"], tools=[recorder.tool], gate=ScriptedGate({PRE: [verdict(PRE, block())]}))
    assert not recorder.calls


def test_every_try_is_judged_anew() -> None:
    recorder = Recorder()
    gate = ScriptedGate({PRE: [verdict(PRE, block()), verdict(PRE)]})
    Scene([call(), call(), "answer"], tools=[recorder.tool], gate=gate)
    assert len(recorder.calls) == 1


@pytest.mark.parametrize(
    ("limit", "blocks", "reason"),
    [(3, 2, "DONE"), (3, 3, "GATE_BLOCKED"), (3, 4, "GATE_BLOCKED"), (1, 1, "GATE_BLOCKED")],
)
def test_the_same_block_three_times_ends_in_blocked(limit: int, blocks: int, reason: str) -> None:
    gate = ScriptedGate({PRE: [verdict(PRE, block(signal_id=f"b{n}")) for n in range(blocks)] + [verdict(PRE)]})
    scene = Scene([*[call()] * blocks, "answer"], gate=gate, max_same_blocks=limit)
    assert scene.turn.stop_reason == reason
    assert scene.turn.state == ("DONE" if reason == "DONE" else "BLOCKED")
    assert len(scene.of("blocked")) == min(limit, blocks)
    if reason != "DONE":
        assert f"no-look: it is secret (b{limit - 1})" in scene.turn.answer


def test_other_blocks_are_not_the_same_block() -> None:
    gate = ScriptedGate({PRE: [verdict(PRE, block(why=f"reason {n}")) for n in range(5)]})
    assert Scene([*[call()] * 5, "answer"], gate=gate).turn.stop_reason == "DONE"


def test_a_block_in_a_step_ends_the_step_as_failed() -> None:
    gate = ScriptedGate({PRE: [verdict(PRE, block())]})
    scene = Scene([plan("a"), *[call()] * 3], planning=True, gate=gate)
    assert scene.turn.stop_reason == "GATE_BLOCKED"
    assert scene.of("plan_step_end")[0]["status"] == "failed"


def test_a_gate_that_cannot_judge_lets_nothing_happen() -> None:
    recorder = Recorder()
    scene = Scene([call()], tools=[recorder.tool], gate=ScriptedGate({PRE: [AhpError("hooks.yaml:1:1: no")]}))
    assert (scene.turn.stop_reason, scene.turn.state) == ("GATE_ERROR", "BLOCKED")
    assert "hooks.yaml:1:1" in scene.turn.answer
    assert not recorder.calls


def test_advice_that_cannot_be_had_keeps_the_result() -> None:
    scene = Scene([call(), "answer"], gate=ScriptedGate({"post-tool-use": [AhpError("no log")]}))
    assert scene.turn.stop_reason == "DONE"
    assert "post-tool-use could not be judged: no log" in scene.said[1]
    assert "seen" in scene.said[1]
    assert scene.of("gate_error")[0]["trigger"] == "post-tool-use"


def test_control_rewrites_the_arguments_and_they_are_judged_again() -> None:
    recorder = Recorder()
    gate = ScriptedGate({PRE: [control(5), verdict(PRE)]})
    scene = Scene([call(size=50), "answer"], tools=[recorder.tool], gate=gate)
    assert recorder.calls == [Args(size=5)]
    assert [tool["input"] for trigger, tool in gate.asked if tool and trigger == PRE] == [
        {"path": ".", "size": 50},
        {"path": ".", "size": 5},
    ]
    assert gate.responses == [("c1000000", "accept_modification", {})]
    assert "ahp changed this: sizes (c1000000)" in scene.said[1]


def test_rewritten_arguments_may_be_blocked() -> None:
    recorder = Recorder()
    gate = ScriptedGate({PRE: [control(5), verdict(PRE, block())]})
    Scene([call(size=50), "answer"], tools=[recorder.tool], gate=gate)
    assert not recorder.calls


@pytest.mark.parametrize(
    ("updated", "target"),
    [(500, "tool.input.size"), ("x", "input.size"), (1, "tool.input.colour"), (1, "tool.input.a.b")],
)
def test_a_change_that_does_not_fit_the_tool_is_refused(updated: Any, target: str) -> None:
    recorder = Recorder()
    gate = ScriptedGate({PRE: [control(updated, target)]})
    scene = Scene([call(size=50), "answer"], tools=[recorder.tool], gate=gate)
    assert not recorder.calls
    assert gate.responses[0][:2] == ("c1000000", "reject_modification")
    assert "Change the call" in scene.said[1]


def test_changes_without_end_are_refused() -> None:
    recorder = Recorder()
    gate = ScriptedGate({PRE: [control(n) for n in range(2, 9)]})
    scene = Scene([call(), "answer"], tools=[recorder.tool], gate=gate)
    assert not recorder.calls
    assert of_tools(gate) == [PRE] * 3
    assert "still being changed after 3 rounds" in scene.said[1]


def test_a_suggestion_to_split_lets_the_call_go_on() -> None:
    recorder = Recorder()
    split = control(10, "batch_size")
    Scene([call(), "answer"], tools=[recorder.tool], gate=ScriptedGate({PRE: [split]}))
    assert len(recorder.calls) == 1


def prompt(signal_id: str = "p1000000") -> Verdict:
    return verdict(PRE, signal("prompt", "big", "25 files", signal_id=signal_id, ways=["split it"]))


def test_a_prompt_lets_the_call_go_on_and_asks_for_an_answer() -> None:
    gate = ScriptedGate({PRE: [prompt(), verdict(PRE)]})
    answer = '{"respond": "p100", "action": "acknowledge", "reason": "small files"}'
    scene = Scene([call(), answer, call(path="b"), "answer"], gate=gate)
    assert "seen" in scene.said[1]
    assert "25 files" in scene.said[1]
    assert '{"respond": "p1000000", "action": "acknowledge"}' in scene.said[1]
    assert gate.responses == [("p1000000", "acknowledge", {"reason": "small files"})]
    assert "p100: acknowledge, noted." in scene.said[2]


@pytest.mark.parametrize("end", [[call(path="b"), "answer"], ["answer"]], ids=["next call", "end of the run"])
def test_a_prompt_without_answer_is_dismissed(end: list[str]) -> None:
    gate = ScriptedGate({PRE: [prompt(), verdict(PRE)]})
    scene = Scene([call(), *end], gate=gate)
    assert gate.responses == [("p1000000", "dismiss", {"automatic": True})]
    assert scene.turn.stop_reason == "DONE"


def test_an_aid_is_read_in_the_next_turn() -> None:
    tip = signal("aid", "tip", "5 files changed", signal_id="a1000000", ways=["run the tests"])
    gate = ScriptedGate({"post-tool-use": [verdict("post-tool-use", tip)]})
    scene = Scene([call(), "answer"], gate=gate)
    assert "ahp note: tip (a1000000): 5 files changed\nDo: run the tests" in scene.said[1]
    assert not gate.responses


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('{"respond": "p1000000", "action": "proceed_with_risk"}', "a person's answer"),
        ('{"respond": "b", "action": "proceed_with_risk"}', "a person's answer"),
        ('{"respond": "b", "action": "dismiss"}', "a block is answered with retry_after_fix, abort"),
        ('{"respond": "p1000000", "action": "nonsense"}', "a prompt is answered with acknowledge"),
        ('{"respond": "zzz", "action": "dismiss"}', "no signal of this run"),
        ('{"respond": "", "action": "dismiss"}', "no signal of this run"),
        ('{"respond": "p", "action": "dismiss"}', "several signals begin so"),
    ],
)
def test_answers_that_do_not_fit_are_refused(answer: str, told: str) -> None:
    given = [verdict(PRE, block()), prompt(), prompt("p2000000"), verdict(PRE)]
    gate = ScriptedGate({PRE: given})
    scene = Scene([call(), call(), call(), answer, "answer"], gate=gate)
    assert told in scene.said[4]
    assert ("p1000000", "nonsense") not in [response[:2] for response in gate.responses]


def test_an_agent_may_give_up_a_blocked_action() -> None:
    gate = ScriptedGate({PRE: [verdict(PRE, block())]})
    Scene([call(), '{"respond": "b1", "action": "abort"}', "answer"], gate=gate)
    assert gate.responses == [("b1000000", "abort", {})]


class RefusingGate(ScriptedGate):
    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        raise AhpError("the log is read-only")


def test_an_answer_the_gate_does_not_take_is_said_and_no_end() -> None:
    gate = RefusingGate({PRE: [prompt(), verdict(PRE)]})
    scene = Scene([call(), '{"respond": "p1", "action": "dismiss"}', "answer"], gate=gate)
    assert "the log is read-only" in scene.said[2]
    assert scene.of("response")[0]["problem"] == "the log is read-only"
    assert scene.turn.stop_reason == "DONE"


def test_what_the_gate_says_last_is_in_the_turn() -> None:
    tip = signal("aid", "tip", "well done", signal_id="a1")
    gate = ScriptedGate({"task-complete": [verdict("task-complete", tip)]})
    scene = Scene(["answer"], gate=gate)
    assert scene.turn.notes == ["ahp note: tip (a1): well done"]


def test_roles_alternate_whatever_the_gate_says() -> None:
    given = [verdict(PRE, block()), control(5), verdict(PRE), prompt(), verdict(PRE)]
    answers = [plan("a"), call(), call(size=9), call(), "words", DONE, DONE, "done"]
    scene = Scene(answers, planning=True, gate=ScriptedGate({PRE: given}), tools=[Recorder().tool])
    assert scene.turn.stop_reason == "DONE"
    for request in scene.model.requests:
        check_roles(request.messages)


def test_tools_report_what_went_wrong() -> None:
    tool = scripted_tool("look", [AhpError("no such file"), ValueError("bug\nhere"), "fine"])
    scene = Scene([call(), call(), call(), call("other"), "answer"], tools=[tool])
    assert [event["code"] for event in scene.of("tool_result")] == ["E_TOOL", "E_TOOL", "ok", "E_UNKNOWN_TOOL"]
    assert "ValueError: bug here" in scene.said[2]


def test_what_was_tried_is_told_to_the_gate_with_its_result() -> None:
    gate = ScriptedGate()
    Scene([call(size=2), call(size=200), "answer"], tools=[Recorder().tool], gate=gate)
    told = {"name": "look", "kind": "other", "writes": False, "input": {"path": ".", "size": 2}, "touched": ANY}
    assert [(trigger, tool) for trigger, tool in gate.asked if tool] == [
        (PRE, told),
        ("post-tool-use", {**told, "output": "size 2", "code": "ok"}),
    ]


def test_a_block_is_the_same_whatever_tool_runs_into_it() -> None:
    given = [verdict(PRE, block()), verdict(PRE, block(), block("other", "too", "b2")), verdict(PRE, block())]
    tools = [scripted_tool("look", ["seen"]), scripted_tool("peek", ["seen"])]
    scene = Scene([call(), call("peek"), call(n=1), "never"], gate=ScriptedGate({PRE: given}), tools=tools)
    assert scene.turn.stop_reason == "GATE_BLOCKED"
    assert [event["times"] for event in scene.of("blocked")] == [1, 2, 3]
    others = [verdict(PRE, block(why=why)) for why in "abc"]
    scene = Scene([call(), call(), call(), "answer"], gate=ScriptedGate({PRE: [*others, verdict(PRE)]}))
    assert scene.turn.stop_reason == "DONE"
