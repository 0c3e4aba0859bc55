"""The circuit breakers of a run (seed 003 §4, seed 004 §3.2): each round its limit, at 0 and at 1."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.runner.config import AgentConfig
from ahp.runner.models.model import Answer, ContextOverflow, ModelError, NativeCall, Want
from ahp.runner.run.agent import Agent
from ahp.runner.run.conversation import Message, check_roles, estimate
from ahp.runner.scripted import AnyArgs, Scripted, scripted_tool
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.system import clock, interrupt, process
from ahp.system.errors import Timeout
from tests.runner.runs import DONE, REPLAN, Scene, call, nowhere, plan
from tests.runner.scripted_gate import ScriptedGate
from tests.system.test_descendants import alive

LETTERS = "abcdefgh"


@pytest.mark.parametrize(
    ("limit", "steps", "carried_out"), [(4, 3, 3), (4, 4, 4), (4, 5, 4), (1, 1, 1), (1, 2, 1), (0, 1, None)]
)
def test_max_plan_steps(limit: int, steps: int, carried_out: int | None) -> None:
    answers = [plan(*LETTERS[:steps]), *[DONE] * steps, "done"]
    answers = answers if carried_out is None else [*answers[: 1 + carried_out], "done"]
    scene = Scene(answers, planning=True, max_plan_steps=limit)
    if carried_out is None:
        assert scene.turn.stop_reason == "PLAN_INVALID"
        assert scene.turn.requests == 0
        return
    assert scene.turn.stop_reason == "DONE"
    assert len(scene.of("plan_step_start")) == carried_out
    assert scene.of("plan_generated")[0]["left_out"] == list(LETTERS[carried_out:steps])
    assert ("cut off" in scene.said[1]) is (steps > carried_out)


@pytest.mark.parametrize(
    ("limit", "calls", "done"), [(3, 2, True), (3, 3, True), (3, 4, False), (1, 1, True), (1, 2, False)]
)
def test_max_step_tool_calls(limit: int, calls: int, done: bool) -> None:
    answers = [plan("a"), *[call(n=n) for n in range(calls)], DONE, "done"]
    scene = Scene(answers, planning=True, max_step_tool_calls=limit, max_replans=0)
    assert (scene.turn.stop_reason == "DONE") is done
    assert scene.figures()["tool_call"] == min(calls, limit)
    assert scene.of("plan_step_end")[0]["status"] == ("done" if done else "failed")
    if not done:
        assert f"more than {limit} tool calls" in scene.of("plan_step_end")[0]["problem"]


def test_max_step_tool_calls_0_allows_none() -> None:
    scene = Scene([plan("a"), call()], planning=True, max_step_tool_calls=0, max_replans=0)
    assert scene.turn.stop_reason == "MAX_REPLANS"
    assert not scene.of("tool_call")


def test_tool_calls_are_counted_for_each_step() -> None:
    answers = [plan("a", "b"), call(n=1), DONE, call(n=2), DONE, "done"]
    assert Scene(answers, planning=True, max_step_tool_calls=1).turn.stop_reason == "DONE"


@pytest.mark.parametrize(
    ("limit", "asked", "reason"),
    [
        (2, 1, "DONE"),
        (2, 2, "DONE"),
        (2, 3, "MAX_REPLANS"),
        (1, 1, "DONE"),
        (1, 2, "MAX_REPLANS"),
        (0, 1, "MAX_REPLANS"),
    ],
)
def test_max_replans(limit: int, asked: int, reason: str) -> None:
    answers = [part for _ in range(asked) for part in (plan("a"), REPLAN)]
    scene = Scene([*answers, plan("a"), DONE, "done"], planning=True, max_replans=limit)
    assert scene.turn.stop_reason == reason
    assert len(scene.of("replan")) == min(limit, asked)
    assert len(scene.of("plan_generated")) == min(limit, asked) + 1


@pytest.mark.parametrize(
    ("limit", "needed", "reason"),
    [(20, 19, "DONE"), (20, 20, "DONE"), (20, 21, "MAX_ITER"), (1, 1, "DONE"), (1, 2, "MAX_ITER"), (0, 1, "MAX_ITER")],
)
def test_max_iterations_of_a_turn(limit: int, needed: int, reason: str) -> None:
    scene = Scene([*[call(n=n) for n in range(needed - 1)], "answer"], max_iterations=limit)
    assert scene.turn.stop_reason == reason
    assert scene.turn.requests == min(limit, needed)
    if reason == "MAX_ITER":
        assert "max_iterations" in scene.turn.answer
        assert scene.turn.state == "BLOCKED"


@pytest.mark.parametrize(
    ("limit", "needed", "reason"), [(3, 2, "DONE"), (3, 3, "DONE"), (3, 4, "MAX_ITER"), (1, 2, "MAX_ITER")]
)
def test_max_iterations_of_a_step(limit: int, needed: int, reason: str) -> None:
    scene = Scene([plan("a"), *["words"] * (needed - 1), DONE, "done"], planning=True, max_iterations=limit)
    assert scene.turn.stop_reason == reason
    assert scene.of("plan_step_end")[0]["status"] == ("done" if reason == "DONE" else "failed")


def test_twenty_iterations_are_the_default() -> None:
    scene = Scene([*[DONE] * 20, "too late"])
    assert scene.turn.stop_reason == "MAX_ITER"
    assert len(scene.of("intercepted")) == 20


@pytest.mark.parametrize(
    ("limit", "times", "warned"), [(3, 2, 0), (3, 3, 1), (3, 4, 2), (1, 1, 1), (1, 2, 2), (0, 1, 1)]
)
def test_the_same_call_with_the_same_result_is_told_to_stop(limit: int, times: int, warned: int) -> None:
    scene = Scene([*[call()] * times, "answer"], repeat_warning=limit)
    assert len(scene.of("repeated_call")) == warned
    assert ("Change your approach" in scene.said[times]) is (warned > 0)
    assert scene.turn.stop_reason == "DONE"


def test_another_result_is_no_repetition() -> None:
    scene = Scene([*[call()] * 4, "answer"], tools=[scripted_tool("look", ["a", "b", "c", "d"])])
    assert not scene.of("repeated_call")


@pytest.mark.parametrize(
    ("limit", "times", "stutters"),
    [(50, 49, 0), (50, 50, 0), (50, 51, 1), (50, 52, 2), (1, 1, 0), (1, 2, 1), (0, 1, 1)],
)
def test_e_stuttering_is_injected_beyond_the_limit(limit: int, times: int, stutters: int) -> None:
    scene = Scene([*[call()] * times, "answer"], max_same_calls=limit, max_iterations=100)
    assert len(scene.of("stuttering")) == stutters
    assert ("E_STUTTERING" in scene.said[times]) is (stutters > 0)
    assert scene.turn.stop_reason == "DONE"


def test_a_call_that_stuttered_is_not_made_again() -> None:
    made: list[int] = []
    tool = FunctionTool("look", "looks", AnyArgs, lambda args, context: made.append(1) or "same")  # type: ignore[func-returns-value]
    scene = Scene([*[call()] * 5, call(other=1), "answer"], tools=[tool], max_same_calls=2)
    assert len(made) == 4
    assert len(scene.of("stuttering")) == 3


class NoArgs(BaseModel):
    pass


def hanging(limit: float | None) -> FunctionTool:
    return FunctionTool("look", "hangs", NoArgs, lambda args, context: str(threading.Event().wait()), timeout_s=limit)


@pytest.mark.parametrize(("own", "settings"), [(0.01, {}), (None, {"tool_timeout_s": 0.01}), (0, {})])
def test_a_tool_over_its_time_is_e_timeout(own: float | None, settings: dict[str, float]) -> None:
    scene = Scene([call(), "answer"], tools=[hanging(own)], **settings)
    assert scene.of("tool_result")[0]["code"] == "E_TIMEOUT"
    assert "E_TIMEOUT" in scene.said[1]


def test_a_tool_is_ended_with_the_time_of_the_run(tmp_path: Path, an_hour_passes_at: Callable[[Path], None]) -> None:
    def run(args: object, context: ToolContext) -> str:
        (tmp_path / "begun").write_text("now")
        return str(threading.Event().wait())

    an_hour_passes_at(tmp_path / "begun")
    tool = FunctionTool("look", "hangs", NoArgs, run, timeout_s=None)
    scene = Scene([call(), "answer"], tools=[tool], budget_seconds=600)
    assert scene.of("tool_result")[0]["code"] == "E_TIMEOUT"


def test_a_tool_s_processes_die_at_its_timeout(tmp_path: Path, an_hour_passes_at: Callable[[Path], None]) -> None:
    an_hour_passes_at(tmp_path / "child")

    def run(args: object, context: ToolContext) -> str:
        script = "sleep 600 & echo $! > child; wait"
        process.capture(["sh", "-c", script], cwd=str(tmp_path), timeout=context.timeout_s)
        return "never"

    scene = Scene([call(), "answer"], tools=[FunctionTool("look", "looks", NoArgs, run, timeout_s=600)])
    assert "E_TIMEOUT" in scene.said[1]
    child = int((tmp_path / "child").read_text())
    deadline = clock.monotonic() + 60
    while alive(child) and clock.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child)


def test_a_tool_without_time_does_not_start() -> None:
    made: list[int] = []
    tool = FunctionTool("look", "looks", NoArgs, lambda args, context: str(made.append(1)), timeout_s=0)
    Scene([call(), "answer"], tools=[tool])
    assert not made


def test_a_tool_that_keeps_its_own_time_is_heard() -> None:
    scene = Scene([call(), "answer"], tools=[scripted_tool("look", [Timeout("git did not finish within 1 s")])])
    assert "E_TIMEOUT: git did not finish" in scene.said[1]


def test_a_full_context_loses_its_oldest_pairs() -> None:
    answers = [
        call(n=1),
        call(n=2),
        call(n=3),
        ContextOverflow("4096 tokens"),
        ContextOverflow("4096 tokens"),
        "answer",
    ]
    scene = Scene(answers, tools=[scripted_tool("look", ["alpha", "beta", "gamma"])])
    assert scene.turn.stop_reason == "DONE"
    last = scene.model.requests[-1].messages
    check_roles(last)
    assert last[0] == scene.model.requests[0].messages[0]
    assert last[1]["content"] == "Task:\nthe task"
    assert ["alpha" in m["content"] or "beta" in m["content"] for m in last] == [False] * 4
    assert len(scene.of("trimmed")) == 2


def test_context_tokens_trims_before_the_model_complains() -> None:
    results = [str(n) * 3_000 for n in range(5)]
    scene = Scene(
        [*[call(n=n) for n in range(5)], "answer"], tools=[scripted_tool("look", results)], context_tokens=3_500
    )
    assert scene.turn.stop_reason == "DONE"
    assert all(estimate(request.messages) <= 3_500 for request in scene.model.requests)
    assert scene.of("trimmed")


def test_a_context_that_cannot_be_trimmed_ends_the_run() -> None:
    scene = Scene([ContextOverflow("too long")] * 2)
    assert scene.turn.stop_reason == "CONTEXT_OVERFLOW"


def used(text: str, read: int, written: int) -> Answer:
    return Answer(text, input_tokens=read, output_tokens=written)


@pytest.mark.parametrize(
    ("budget", "reason", "requests"),
    [(29, "BUDGET_TOKENS", 2), (30, "BUDGET_TOKENS", 2), (31, "DONE", 3), (1, "BUDGET_TOKENS", 1)],
)
def test_budget_tokens(budget: int, reason: str, requests: int) -> None:
    answers = [used(call(n=1), 10, 5), used(call(n=2), 10, 5), used("answer", 1, 1)]
    # 30 tokens are used after two requests.
    scene = Scene(answers, budget_tokens=budget)
    assert (scene.turn.stop_reason, scene.turn.requests) == (reason, requests)


@pytest.mark.parametrize("name", ["tokens", "usd", "seconds"])
def test_a_budget_of_0_allows_no_request(name: str) -> None:
    scene = Scene(["answer"], **{f"budget_{name}": 0})
    assert scene.turn.stop_reason == {"tokens": "BUDGET_TOKENS", "usd": "BUDGET_USD", "seconds": "BUDGET_TIME"}[name]
    assert scene.turn.requests == 0


def test_budget_usd() -> None:
    answers = [Answer(call(n=1), usd=0.5), Answer("answer")]
    assert Scene(answers, budget_usd=0.5).turn.stop_reason == "BUDGET_USD"
    assert Scene(answers, budget_usd=0.51).turn.stop_reason == "DONE"


def test_a_budget_of_dollars_is_not_kept_by_a_model_that_tells_no_price() -> None:
    answers = [Answer(call(n=1), usd=None), Answer("answer", usd=None)]
    stopped = Scene(answers, budget_usd=0.5)
    assert (stopped.turn.stop_reason, stopped.turn.requests) == ("BUDGET_USD", 1)
    assert "tells no price" in stopped.turn.answer and "budget_tokens" in stopped.turn.answer
    assert stopped.of("model_answer") and not stopped.of("tool_call")
    assert Scene(answers).turn.ok


def test_every_request_says_its_max_tokens() -> None:
    scene = Scene([call(), "answer"])
    assert [event["max_tokens"] for event in scene.of("model_request")] == [1024, 1024]
    assert [request.max_tokens for request in Scene(["a"], max_tokens=5).model.requests] == [5]


@pytest.mark.parametrize(("limit", "shown"), [(0, ""), (1, "a"), (9, "aaaaabbbb"), (10, None), (11, None)])
def test_long_output_is_shown_by_its_ends(limit: int, shown: str | None) -> None:
    scene = Scene([call(), "answer"], tools=[scripted_tool("look", ["aaaaabbbbb"])], tool_output_chars=limit)
    text = scene.of("tool_result")[0]["text"]
    if shown is None:
        assert text == "aaaaabbbbb"
    else:
        head, note, tail = text.split("\n")
        assert head + tail == shown
        assert f"{10 - limit} of 10 characters left out" in note


def test_a_run_under_every_limit_asks_the_gate_for_every_call() -> None:
    gate = ScriptedGate()
    Scene([call(n=1), call(n=2), "answer"], gate=gate)
    assert [trigger for trigger, tool in gate.asked if tool] == ["pre-tool-use", "post-tool-use"] * 2


def test_a_model_that_fails_for_a_time_is_asked_again() -> None:
    busy = ModelError("the model loads", transient=True, retry_after_s=0)
    scene = Scene([busy, busy, "answer"], max_iterations=1)
    assert (scene.turn.answer, scene.turn.requests) == ("answer", 3)
    assert [(event["retry"], event["seconds"]) for event in scene.of("model_retry")] == [(1, 0), (2, 0)]
    assert [event["attempt"] for event in scene.of("model_request")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("limit", "failures", "reason"), [(0, 1, "MODEL_ERROR"), (2, 2, "DONE"), (2, 3, "MODEL_ERROR")]
)
def test_max_model_retries(limit: int, failures: int, reason: str) -> None:
    busy = ModelError("the model loads", transient=True, retry_after_s=0)
    scene = Scene([*[busy] * failures, "answer"], max_model_retries=limit)
    assert scene.turn.stop_reason == reason
    assert len(scene.of("model_retry")) == min(limit, failures)


@pytest.mark.parametrize("settings", [{"budget_seconds": 50}, {"model_timeout_s": 50}])
def test_nobody_waits_for_a_model_longer_than_there_is_time(settings: dict[str, float]) -> None:
    scene = Scene([ModelError("busy", transient=True, retry_after_s=100), "answer"], **settings)
    assert scene.turn.stop_reason == "MODEL_ERROR"
    assert "busy (to be asked again in 100 s" in scene.turn.answer


@pytest.mark.parametrize("seconds", ["3", float("nan"), float("inf"), 10**400])
def test_a_time_to_wait_that_is_no_number_is_none(seconds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ahp.system.interrupt.sleep", lambda seconds: None)
    scene = Scene([ModelError("busy", transient=True, retry_after_s=seconds), "answer"])
    assert scene.turn.ok
    assert [event["seconds"] for event in scene.of("model_retry")] == [1.0]


def test_each_wait_is_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(interrupt, "sleep", waits.append)
    Scene([*[ModelError("reset", transient=True)] * 4, "answer"])
    assert waits == [1, 2, 4, 8]


LONG = '{"tool": "look", "args": {"text": "' + "x" * 5_000


@pytest.mark.parametrize("reply", [LONG, "Let me first think. " * 300, '{"control": "step_'])
@pytest.mark.parametrize("planning", [False, True])
def test_a_reply_that_was_cut_is_told_as_cut_and_not_kept(reply: str, planning: bool) -> None:
    answers: list[Scripted] = [Answer(reply, "length"), *([DONE] if planning else []), "done"]
    scene = Scene([plan("a"), *answers] if planning else answers, planning=planning)
    assert scene.turn.answer == "done"
    again = scene.model.requests[1 + planning]
    assert "Your reply was cut at 1024 tokens" in again.said
    assert len(again.messages[2]["content"]) < 500
    assert "end at 1024 tokens" in again.messages[0]["content"]
    assert not scene.of("tool_call")


def test_a_call_whose_arguments_may_lack_some_is_not_made() -> None:
    first = NativeCall("look", {"n": 1}, "a")
    for calls in ((first,), (first, NativeCall("look", {"n": 2}, "b"))):
        scene = Scene([Answer("", "length", calls), "done"])
        assert not scene.of("tool_call")
        assert "Your reply was cut at 1024 tokens" in scene.said[1]
    scene = Scene([Answer("", "length", (NativeCall("look", '{"n": 1}'),)), "done"])
    assert scene.figures()["tool_call"] == 1


def test_a_whole_call_is_made_although_the_reply_was_cut() -> None:
    scene = Scene([Answer(f"Let me look.\n{call()}", "length"), "done"])
    assert scene.figures()["tool_call"] == 1


def test_a_plan_that_was_cut_is_no_plan() -> None:
    cut = Answer("[PLAN]\n1. [ ] write a\n2. [ ] wri", "length")
    scene = Scene([cut, plan("a"), DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert "cut at 1024 tokens" in scene.of("planning_retry")[0]["problems"][0]


@pytest.mark.parametrize("planning", [False, True])
def test_an_answer_that_is_cut_twice_is_given_and_says_so(planning: bool) -> None:
    long: list[Scripted] = [Answer("It is so. " * 300, "length")] * 2
    scene = Scene([plan("a"), DONE, *long] if planning else long, planning=planning)
    assert scene.turn.ok
    assert scene.turn.answer.endswith("It is so.\n\n(The answer was cut at 1024 tokens: max_tokens.)")
    call_like: list[Scripted] = [Answer(LONG, "length")] * 3
    assert Scene([*call_like, "done"]).turn.answer == "done"


SILENT = Answer("", "length")


@pytest.mark.parametrize("planning", [False, True])
def test_a_model_that_thinks_until_its_tokens_are_used_up_is_told_and_then_the_person(planning: bool) -> None:
    thinks = Answer("<think>hm, let me see", "length")
    scene = Scene([SILENT, thinks, SILENT, "never asked"], planning=planning)
    assert (scene.turn.stop_reason, scene.turn.requests) == ("MODEL_ERROR", 3)
    assert "1024 tokens 3 times before it said anything" in scene.turn.answer
    assert "raise max_tokens in .ahp/agent.yaml" in scene.turn.answer
    assert scene.said[1].endswith("Think less, then act or answer.")
    again: list[Scripted] = [SILENT, SILENT, *([plan("a"), SILENT, DONE] if planning else [call()]), SILENT, "answer"]
    assert Scene(again, planning=planning).turn.answer == "answer"


def test_who_reads_of_too_many_requests_reads_that_the_last_reply_was_cut() -> None:
    cut: list[Scripted] = [Answer("a long story " * 9, "length")]
    scene = Scene([plan("a"), *cut, *cut], planning=True, max_iterations=2)
    assert scene.turn.stop_reason == "MAX_ITER"
    assert "The last reply was cut at 1024 tokens (max_tokens)." in scene.turn.answer
    assert "cut" not in Scene([plan("a"), "hm", "hm"], planning=True, max_iterations=2).turn.answer


class Small:
    """A model that reads at most 1,000 tokens, by the estimate."""

    name = "small"

    def __init__(self) -> None:
        self.refused = self.calls = 0

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        check_roles(messages)
        if estimate(messages) > 1_000:
            self.refused += 1
            raise ContextOverflow("at most 1000 tokens")
        self.calls += 1
        return Answer(call(n=self.calls) if self.calls <= 15 else "done")


def test_a_small_context_holds_over_many_calls() -> None:
    model = Small()
    tools = [scripted_tool("look", [f"{n} " * 700 for n in range(15)])]
    config = AgentConfig(enable_planning=False)
    turn = Agent(model, tools, gate=ScriptedGate(), config=config, root=nowhere()).run("the task")
    assert turn.ok
    assert model.calls == 16
    assert model.refused <= 8
