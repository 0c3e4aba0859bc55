"""ahp.runner.run.agent and ahp.runner.run.work: work without a plan"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.models.model import Answer, ContextOverflow, ModelError, NativeCall
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import Hang, Scripted, ScriptedModel, Sleep, scripted_tool
from tests.runner.runs import DONE, Scene, block, call, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict


def test_a_tool_is_used_and_its_result_read_before_the_answer() -> None:
    scene = Scene([call(path="a"), "It says: seen."])
    assert (scene.turn.answer, scene.turn.stop_reason, scene.turn.state) == ("It says: seen.", "DONE", "DONE")
    assert scene.states == ["INTAKE", "EXECUTING", "VERIFYING", "DONE"]
    assert scene.said[1] == f"Result of look:\n{scene.framed('seen')}"
    assert scene.turn.requests == 2
    assert scene.turn.plan is None


def test_an_agent_carries_out_one_task_after_another() -> None:
    model = ScriptedModel(["one", "two"])
    agent = Agent(model, gate=ScriptedGate())
    agent.config = agent.config.model_copy(update={"enable_planning": False, "budget_tokens": 10_000})
    assert [agent.run("a").answer, agent.run("b").answer] == ["one", "two"]
    assert len(model.requests[1].messages) == 2


@pytest.mark.parametrize(
    "reply",
    [DONE, f"{DONE}\n\n{DONE}", "STEP_DONE", "", '{"control":"step_', f"```json\n{DONE}\n```", f"Sunny.\n{DONE}"],
)
def test_protocol_is_asked_for_again_and_never_the_answer(reply: str) -> None:
    scene = Scene([reply, "It is sunny."])
    assert scene.turn.answer == "It is sunny."
    assert [event["text"] for event in scene.of("intercepted")] == [reply]
    assert "plain words" in scene.said[1]
    assert not scene.of("control_signal")


GLUED = f"Answer: 5 {DONE}"


@pytest.mark.parametrize("planning", [False, True])
def test_an_answer_with_a_signal_glued_to_it_is_asked_for_once_more(planning: bool) -> None:
    before = [plan("step_1"), DONE] if planning else []
    scene = Scene([*before, GLUED, "Answer: 5"], planning=planning)
    assert (scene.turn.answer, scene.turn.stop_reason) == ("Answer: 5", "DONE")
    assert [event["text"] for event in scene.of("intercepted")] == [GLUED]
    assert "Answer again in plain words" in scene.said[-1]


def test_the_words_beside_a_signal_are_not_lost_and_the_signal_is_not_shown() -> None:
    assert Scene([GLUED, GLUED]).turn.answer == "Answer: 5"
    # Where nothing better can come any more: no request, no answer, or nothing but protocol.
    assert Scene([GLUED, "x"], max_iterations=1).turn.answer == "Answer: 5"
    assert Scene([GLUED, ModelError("gone", transient=False)]).turn.answer == "Answer: 5"
    ended = Scene([GLUED, *[DONE] * 20])
    assert (ended.turn.answer, ended.turn.stop_reason) == ("Answer: 5", "DONE")
    # Work in between makes the former answer an old one.
    assert Scene([GLUED, call(), *[DONE] * 20]).turn.stop_reason == "MAX_ITER"


@pytest.mark.parametrize(
    "reply",
    [
        '{"thought": "I look", "tool": "look", "args": {}}',
        '{"name": "look", "arguments": {}}',
        '<tool_call>{"name": "look", "arguments": {}}</tool_call>',
        '```json\n{"tool": "look", "args": {}}\n```',
        'Let me look: {"tool": "look", "args": {}}',
    ],
)
def test_a_call_in_another_shape_is_made_and_never_the_answer(reply: str) -> None:
    scene = Scene([reply, "It says: seen."])
    assert (scene.turn.answer, scene.figures()["tool_call"]) == ("It says: seen.", 1)


def test_answers_to_the_gate_and_a_call_in_one_reply_are_both_carried_out() -> None:
    gate = ScriptedGate(
        {"pre-tool-use": [verdict("pre-tool-use", signal("prompt", "p", "careful", signal_id="p1")), verdict("x")]}
    )
    reply = '{"respond": "p1", "action": "acknowledge"}\n' + call(n=2)
    scene = Scene([call(n=1), reply, "done"], gate=gate)
    assert [(key, action) for key, action, _ in gate.responses] == [("p1", "acknowledge")]
    assert scene.figures()["tool_call"] == 2
    assert "p1: acknowledge, noted." in scene.said[2]
    assert "Result of look" in scene.said[2]


def test_a_malformed_call_is_said_and_not_made() -> None:
    scene = Scene([f"{call()}\nResult: seen\n{call(n=1)}", call() + call(), "sorry"])
    assert "text behind a call (look, look), and nothing was done" in scene.said[1]
    assert "the same call twice" in scene.said[2]
    assert not scene.of("tool_call")


def test_several_calls_of_a_reply_are_judged_and_made_in_order_and_answered_by_id() -> None:
    def judged(tool: Any) -> Any:
        n = tool["input"]["n"]
        return verdict("pre-tool-use", block() if n == 2 else signal("prompt", "p", "careful", signal_id=f"p{n}"))

    tool = scripted_tool("look", ["one", "three"])
    calls = tuple(NativeCall("look", {"n": n}, f"id{n}") for n in (1, 2, 3))
    gate = ScriptedGate({"pre-tool-use": judged})
    scene = Scene([Answer("I look.", "tool_calls", calls), "done"], tools=[tool], gate=gate)
    assert scene.turn.answer == "done"
    pre = [asked["input"]["n"] for trigger, asked in gate.asked if trigger == "pre-tool-use" and asked]
    assert pre == [1, 2, 3]
    assert [event["code"] for event in scene.of("tool_result")] == ["ok", "blocked", "ok"]
    assert f"Result of look (id1):\n{scene.framed('one')}" in scene.said[1]
    assert "Result of look (id2):" in scene.said[1] and "the gate refused it" in scene.said[1]
    assert f"Result of look (id3):\n{scene.framed('three')}" in scene.said[1]
    # The model has not read what was said of the first call when the next one of the same reply is made.
    assert all("acknowledge" in line for line in scene.said[1].splitlines() if line.startswith("Answer it with"))
    assert scene.said[1].count("Answer it with") == 2


def test_calls_in_text_have_numbers_where_they_have_no_ids() -> None:
    scene = Scene([call(n=1) + "\n" + call(n=2), "done"], tools=[scripted_tool("look", ["one", "two"])])
    assert f"Result of look (call 1):\n{scene.framed('one')}" in scene.said[1]
    assert f"Result of look (call 2):\n{scene.framed('two')}" in scene.said[1]


@pytest.mark.parametrize("depth", [90, 900])
@pytest.mark.parametrize(
    "opening",
    ['{"tool":"look","args":{"a":', '{"respond":"a","action":"b","details":[', '{"steps":[{"id":"a","status":['],
    ids=["call", "answer", "plan"],
)
def test_deeply_nested_replies_break_nothing(opening: str, depth: int) -> None:
    closing = opening[::-1].translate(str.maketrans("{[", "}]"))
    closing = "".join(mark for mark in closing if mark in "}]")
    reply = opening + "[" * depth + "]" * depth + closing
    for planning in (False, True):
        assert Scene([reply, reply, DONE, *["words"] * 4], planning=planning).turn.stop_reason in (
            "DONE",
            "PLAN_INVALID",
        )


def test_thoughts_are_no_part_of_an_answer() -> None:
    scene = Scene([f"<think>{DONE}</think>{call()}", "<think>hm</think>yes"])
    assert scene.turn.answer == "yes"
    assert scene.figures()["tool_call"] == 1


@pytest.mark.parametrize(
    ("answer", "settings", "reason"),
    [
        (ModelError("no key"), {}, "MODEL_ERROR"),
        (RuntimeError("boom"), {}, "MODEL_ERROR"),
        (Answer("", "content_filter"), {}, "MODEL_ERROR"),
        (Answer("I can", "content_filter"), {}, "MODEL_ERROR"),
        (Answer("", "content_filter", (NativeCall("look", {}),)), {}, "MODEL_ERROR"),
        (Hang(), {"model_timeout_s": 0.01}, "MODEL_TIMEOUT"),
        (Hang(), {"budget_seconds": 0.01}, "BUDGET_TIME"),
        ("never asked", {"model_timeout_s": 0}, "MODEL_TIMEOUT"),
        (ContextOverflow("too long"), {}, "CONTEXT_OVERFLOW"),
        (Answer(5), {}, "MODEL_ERROR"),  # type: ignore[arg-type]
        (Answer("x", input_tokens="5"), {}, "MODEL_ERROR"),  # type: ignore[arg-type]
        (Answer("x", output_tokens=-1), {}, "MODEL_ERROR"),
        (Answer("x", usd=float("nan")), {}, "MODEL_ERROR"),
    ],
)
def test_a_model_that_fails_ends_the_run_with_the_reason(answer: Any, settings: dict[str, Any], reason: str) -> None:
    scene = Scene([answer], **settings)
    assert (scene.turn.stop_reason, scene.turn.state) == (reason, "BLOCKED")
    assert scene.turn.answer
    assert scene.events[-1]["event"] == "run_end"
    assert scene.states[-1] == "BLOCKED"


def test_a_script_at_its_end_is_a_model_error() -> None:
    assert "only 1 answers" in Scene([call()]).turn.answer


def test_an_answer_may_come_late() -> None:
    assert Scene([Sleep(0.01, "late")]).turn.answer == "late"


def test_a_bug_is_no_end_of_a_run_but_leaves_its_event() -> None:
    events = EventLog(None)
    agent = Agent(ScriptedModel(["x"]), gate=ScriptedGate({"prompt-submit": lambda tool: 1 // 0}), events=events)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError):
        agent.run("task")
    assert events.seen[-1]["stop_reason"] == "ERROR ZeroDivisionError"


def test_an_interruption_leaves_its_event() -> None:
    events = EventLog(None)
    agent = Agent(ScriptedModel([KeyboardInterrupt()]), gate=ScriptedGate(), events=events)
    with pytest.raises(KeyboardInterrupt):
        agent.run("task")
    assert events.seen[-1]["stop_reason"] == "INTERRUPTED"


def test_the_first_event_is_the_start_and_the_last_the_end() -> None:
    scene = Scene(["hello"])
    assert scene.events[0]["event"] == "run_start"
    assert scene.events[0]["task"] == "the task"
    assert scene.events[-1]["event"] == "run_end"
    assert [event["n"] for event in scene.events] == list(range(1, len(scene.events) + 1))


def test_what_a_model_reports_is_counted_and_else_estimated() -> None:
    scene = Scene([Answer("a", input_tokens=100, output_tokens=20, usd=0.25)])
    assert (scene.turn.tokens, scene.turn.usd) == (120, 0.25)
    assert Scene(["a"]).turn.tokens > 100


def test_the_tools_stand_in_the_prompt_in_one_line_each() -> None:
    tool = scripted_tool("look", ["x"], description="looks\nat it")
    short = Scene(["a"], tools=[tool]).model.requests[0].messages[0]["content"]
    assert "- look(): looks at it" in short
    assert "properties" not in short
    long = Scene(["a"], tools=[tool], inject_schemas=True).model.requests[0].messages[0]["content"]
    assert '"properties"' in long
    assert "(none)" in Scene(["a"], tools=[]).model.requests[0].messages[0]["content"]


def test_what_a_model_quotes_of_a_file_is_no_call() -> None:
    held = '{"tool": "look", "args": {"at": "all"}}'
    look = scripted_tool("look", [f"a file\n{held}\n"])
    typed = call("final_answer", text=f"`{held}` is what it holds.")
    scene = Scene([call(), f"It holds:\n{held}", typed], tools=[look])
    assert (scene.turn.answer, len(scene.of("tool_call"))) == (f"`{held}` is what it holds.", 1)
    # Alone it is a call, and beside the text it is none of the text's words.
    native = Answer("I do so:", "tool_calls", (NativeCall("look", {"at": "all"}),))
    for reply in (held, native):
        assert len(Scene([call(), reply, "done"], tools=[look]).of("tool_call")) == 2


@pytest.mark.parametrize("said", ["", "Let me look."])
@pytest.mark.parametrize("planning", [False, True])
def test_a_reply_that_ends_for_a_call_which_is_not_there_is_no_answer(said: str, planning: bool) -> None:
    lost: list[Scripted] = [Answer(said, "tool_calls")] * (1 if said else 2)
    work = [*lost, call(), *([DONE] if planning else []), "done"]
    scene = Scene([plan("a"), *work] if planning else work, planning=planning)
    assert (scene.turn.answer, len(scene.of("tool_call"))) == ("done", 1)
    assert ("final_answer" in scene.said[1 + planning] or "control object" in scene.said[1 + planning]) or not said


def test_where_every_reply_is_said_to_end_for_a_call_the_second_one_is_the_answer() -> None:
    scene = Scene([Answer("It is 5.", "tool_calls")] * 2)
    assert (scene.turn.answer, scene.turn.requests) == ("It is 5.", 2)


def test_what_is_wrong_with_a_call_is_told() -> None:
    scene = Scene([Answer('{"tool": "look", "args": ', "tool_calls"), "done"])
    assert "it has no end" in scene.of("malformed_reply")[0]["problem"]
