"""ahp.runner.run.agent and ahp.runner.run.work: work by a plan"""

from __future__ import annotations

import json

import pytest

from ahp.runner.models.model import Answer, ContextOverflow, NativeCall
from ahp.runner.run.conversation import check_roles, estimate
from ahp.runner.scripted import scripted_tool
from ahp.runner.verification.result import VerificationResult
from tests.runner.runs import DONE, REPLAN, Scene, call, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

PLANNED = ["INTAKE", "PLANNING", "EXECUTING", "VERIFYING", "DONE"]


class Verdicts:
    """A verifier that gives these results in turn."""

    def __init__(self, *oks: bool) -> None:
        self.oks = list(oks)
        self.times: list[float] = []

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        self.times.append(timeout_s)
        ok = self.oks.pop(0)
        return VerificationResult(type="passed" if ok else "test_failure", summary="2 tests failed")


def order(scene: Scene) -> list[str]:
    return [event["step_id"] for event in scene.of("plan_step_start")]


def test_steps_run_in_the_order_of_their_dependencies() -> None:
    scene = Scene([plan("c", "b", "a", c=["b"], b=["a"]), DONE, DONE, DONE, "all done"], planning=True)
    assert order(scene) == ["a", "b", "c"]
    assert (scene.turn.answer, scene.turn.stop_reason) == ("all done", "DONE")
    assert scene.states == PLANNED
    assert scene.turn.plan is not None
    assert scene.turn.plan.done
    assert [event["status"] for event in scene.of("plan_step_end")] == ["done"] * 3


def test_the_control_protocol_stands_in_the_prompts_of_steps_only() -> None:
    scene = Scene([plan("a"), DONE, "done"], planning=True)
    assert [("step_done" in said) for said in scene.said] == [False, True, False]
    assert "control" not in scene.model.requests[0].messages[0]["content"]


@pytest.mark.parametrize(
    "text", ["no plan", plan("a", "b", a=["b"], b=["a"]), plan("a", a=["a"]), plan("a", "a"), plan()]
)
def test_a_plan_that_cannot_be_carried_out_is_asked_for_once_more(text: str) -> None:
    scene = Scene([text, plan("a"), DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    [retry] = scene.of("planning_retry")
    assert retry["problems"][0] in scene.said[1]


def test_a_second_bad_plan_ends_the_run() -> None:
    scene = Scene(["no plan", plan("a", "a"), plan("a")], planning=True)
    assert (scene.turn.stop_reason, scene.turn.state) == ("PLAN_INVALID", "BLOCKED")
    assert scene.states == ["INTAKE", "PLANNING", "BLOCKED"]
    assert scene.turn.requests == 2


def test_a_replan_keeps_finished_steps() -> None:
    again = json.dumps(
        {
            "steps": [
                {"id": "a", "description": "again", "status": "done"},
                {"id": "c", "description": "new", "dependencies": ["a"]},
            ]
        }
    )
    scene = Scene([plan("a", "b", b=["a"]), DONE, REPLAN, again, DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert scene.turn.plan is not None
    assert [(step.id, step.description, step.status) for step in scene.turn.plan.steps] == [
        ("a", "do a", "done"),
        ("c", "new", "done"),
    ]
    assert order(scene) == ["a", "b", "c"]
    assert scene.states == [*PLANNED[:3], "RECOVERING", "PLANNING", "EXECUTING", "VERIFYING", "DONE"]
    assert "another way" in scene.said[3]
    assert "- a: do a" in scene.said[3]


@pytest.mark.parametrize(
    ("again", "carried_out"),
    [
        ("[PLAN]\n1. write c\n2. write d", ["write a", "write b", "write c", "write d"]),
        ('{"steps": [{"id": "step_1", "description": "mend"}]}', ["write a", "write b", "mend"]),
    ],
)
def test_a_replan_loses_nothing(again: str, carried_out: list[str]) -> None:
    answers = ["[PLAN]\n1. write a\n2. write b", DONE, REPLAN, again, *[DONE] * (len(carried_out) - 2), "done"]
    scene = Scene(answers, planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert [event["description"] for event in scene.of("plan_step_start")] == carried_out
    ended = [event["step_id"] for event in scene.of("plan_step_end") if event["status"] == "done"]
    assert len(set(ended)) == len(ended) == len(carried_out) - 1
    assert '"id": "step_2"' in scene.said[3]
    assert "- step_1: write a" in scene.said[3]


def test_a_replan_without_anything_left_to_do_is_no_plan() -> None:
    scene = Scene([plan("a", "b"), DONE, REPLAN, plan("a"), plan("b"), DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert "nothing is left to do" in scene.of("planning_retry")[0]["problems"][0]


def test_a_step_ends_only_by_a_signal() -> None:
    scene = Scene([plan("a"), "I think it is done.", "STEP_DONE maybe", call(), DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert "neither a tool call nor a control object" in scene.said[2]
    assert scene.figures()["tool_call"] == 1


def test_signals_are_events_with_step_reason_and_way() -> None:
    scene = Scene([plan("a"), '{"control":"step_done","reason":"ok"}', "x"], planning=True)
    [event] = scene.of("control_signal")
    assert {key: event[key] for key in ("control", "step_id", "reason", "via")} == {
        "control": "step_done",
        "step_id": "a",
        "reason": "ok",
        "via": "envelope",
    }
    scene = Scene([plan("a"), "步骤完成", "x"], planning=True)
    assert scene.of("control_signal")[0]["via"] == "legacy"


@pytest.mark.parametrize("reply", [f"```json\n{DONE}\n```", f"{DONE}\n\n{DONE}", f"Done.\n{DONE}"])
def test_a_step_ends_by_one_envelope_alone(reply: str) -> None:
    scene = Scene([plan("a"), reply, DONE, "done"], planning=True)
    assert (scene.turn.stop_reason, scene.turn.requests) == ("DONE", 4)
    assert [event["via"] for event in scene.of("control_signal")] == ["envelope"]


def test_a_control_object_that_is_no_signal_is_told_its_fault() -> None:
    scene = Scene([plan("a"), f"Done.\n{DONE}", DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert "one control object with nothing around it" in scene.said[2]
    assert '{"control": "step_done"}' in scene.said[2]
    assert len(scene.of("malformed_reply")) == 1


def test_what_does_not_depend_on_a_failed_step_is_done_and_the_deadlock_named() -> None:
    answers = [plan("a", "b", "c", "d", b=["a"], c=["b"]), call(), DONE]
    scene = Scene(answers, planning=True, max_replans=0, max_step_tool_calls=0)
    assert scene.turn.stop_reason == "DEADLOCK"
    assert "b, c wait for a" in scene.turn.answer
    assert order(scene) == ["a", "d"]
    assert scene.turn.plan is not None
    assert [step.status for step in scene.turn.plan.steps] == ["failed", "blocked", "blocked", "done"]
    assert [event["step_id"] for event in scene.of("plan_step_blocked")] == ["b", "c"]


def test_a_step_in_progress_when_the_run_ends_has_failed() -> None:
    scene = Scene([plan("a"), RuntimeError("gone")], planning=True)
    assert scene.turn.stop_reason == "MODEL_ERROR"
    assert scene.turn.plan is not None
    assert scene.turn.plan.step("a").status == "failed"
    assert scene.of("plan_step_end")[0]["status"] == "failed"


def test_all_steps_done_and_verification_red_leads_to_a_replan() -> None:
    verifier = Verdicts(False, True)
    answers = [plan("a", policy="check"), DONE, plan("b", policy="check"), DONE, "done"]
    scene = Scene(answers, planning=True, verifiers={"check": verifier})
    assert scene.turn.stop_reason == "DONE"
    assert scene.states == [*PLANNED[:4], "RECOVERING", "PLANNING", "EXECUTING", "VERIFYING", "DONE"]
    assert [event["result"]["ok"] for event in scene.of("final_verify")] == [False, True]
    assert "2 tests failed" in scene.said[2]
    assert scene.turn.verification is not None
    assert scene.turn.verification.ok


def test_verification_red_to_the_end_is_no_success() -> None:
    scene = Scene([plan("a", policy="check"), DONE], planning=True, verifiers={"check": Verdicts(False)}, max_replans=0)
    assert (scene.turn.stop_reason, scene.turn.state) == ("VERIFICATION_FAILED", "BLOCKED")
    assert scene.states[-3:] == ["VERIFYING", "RECOVERING", "BLOCKED"]


def test_the_final_answer_is_guarded_and_uses_no_tool() -> None:
    scene = Scene([plan("a"), DONE, DONE, call(), "the answer"], planning=True)
    assert scene.turn.answer == "the answer"
    assert not scene.of("tool_call")
    assert "no tool runs any more" in scene.said[4]


def test_the_gate_may_be_answered_while_planning_and_at_the_end() -> None:
    gate = ScriptedGate(
        {
            "session-start": [verdict("session-start", signal("prompt", "big", "large", signal_id="p1"))],
            "task-complete": [verdict("task-complete", signal("prompt", "tip", "look again", signal_id="p2"))],
        }
    )
    answers = [
        '{"respond": "p1", "action": "acknowledge"}',
        plan("a"),
        DONE,
        '{"respond": "p2", "action": "acknowledge"}',
        "done",
    ]
    scene = Scene(answers, planning=True, gate=gate)
    assert scene.turn.stop_reason == "DONE"
    assert [(key, action) for key, action, _ in gate.responses] == [("p1", "acknowledge"), ("p2", "acknowledge")]
    assert "(p1): " in scene.said[0]
    assert scene.turn.answer == "done"


def test_each_step_has_a_conversation_of_its_own() -> None:
    answers = [
        plan("a", "b", "c", c=["a"]),
        *(call(n=1), call(n=2), '{"control": "step_done", "reason": "two looks"}'),
        *(DONE, "words", DONE, "done"),
    ]
    tools = [scripted_tool("look", ["alpha", "beta"])]
    scene = Scene(answers, planning=True, tools=tools)
    assert scene.turn.stop_reason == "DONE"
    assert [len(request.messages) for request in scene.model.requests] == [2, 2, 4, 6, 2, 2, 4, 2]
    for request in scene.model.requests:
        check_roles(request.messages)
        assert "ask:\nthe task\n\n" in request.messages[1]["content"]
    first, third, last = (scene.model.requests[at].messages[1]["content"] for at in (1, 6, 7))
    assert "- [in_progress] a: do a\n- [pending] b: do b" in first
    assert "Last result" not in first
    assert "- [done] a: do a (two looks)\n- [done] b: do b\n- [in_progress] c: do c" in third
    assert "First write the plan" not in third
    for head in (third, last):
        assert f"Last result of step a, of look:\n{scene.framed('beta')}" in head
        assert "alpha" not in head


def test_a_step_keeps_its_head_and_its_last_exchange_in_a_small_context() -> None:
    results = [str(n) * 2_000 for n in range(15)] + ["x" * 60_000]
    answers = [plan("a"), *[call(n=n) for n in range(16)], DONE, "done"]
    settings = {"max_step_tool_calls": 20, "context_tokens": 2_000, "tool_output_chars": 60_000}
    scene = Scene(answers, planning=True, tools=[scripted_tool("look", results)], **settings)
    assert scene.turn.stop_reason == "DONE"
    for request in scene.model.requests:
        check_roles(request.messages)
        assert estimate(request.messages) <= 2_000
    for request in scene.model.requests[1:-1]:
        assert '{"control": "step_done"}' in request.messages[1]["content"]
        assert "Step a: do a" in request.messages[1]["content"]
    cut = scene.model.requests[-2].said
    assert cut.startswith(f"Result of look:\n<<<{scene.events[0]['nonce']}\nxxx")
    assert cut.endswith(f"xxx\n>>>{scene.events[0]['nonce']}")
    assert "characters left out" in cut


def test_a_model_whose_context_is_full_gets_shorter_results() -> None:
    full = ContextOverflow("4096 tokens")
    scene = Scene(
        [plan("a"), call(), full, full, DONE, "done"], planning=True, tools=[scripted_tool("look", ["x" * 9_000])]
    )
    assert scene.turn.stop_reason == "DONE"
    lengths = [len(request.said) for request in scene.model.requests[2:5]]
    assert 9_000 < lengths[0] < 9_100
    assert 4_500 < lengths[1] < 4_700
    assert 2_250 < lengths[2] < 2_500
    assert [event["cuts"] for event in scene.of("trimmed")] == [[lengths[0] // 2], [lengths[1] // 2]]


def test_what_the_model_names_stands_on_one_line() -> None:
    steps = [{"id": "a\nahp", "description": "do\n\nGate x:\nb", "tools_expected": ["look\nnow"]}]
    scene = Scene([json.dumps({"title": "a\ngoal", "steps": steps}), DONE, "done"], planning=True)
    assert "Plan: a goal\n- [in_progress] a ahp: do  Gate x: b\n" in scene.said[1]
    assert scene.said[1].startswith("Step a ahp: do  Gate x: b (tools: look now)\n")


def test_events_of_a_step_carry_its_id() -> None:
    scene = Scene([plan("a", "b"), call(), DONE, DONE, "done"], planning=True)
    steps = [event.get("step") for event in scene.events]
    begins = [n for n, event in enumerate(scene.events) if event["event"] == "plan_step_start"]
    ends = [n for n, event in enumerate(scene.events) if event["event"] == "plan_step_end"]
    for name, begin, end in zip("ab", begins, ends, strict=True):
        assert set(steps[begin : end + 1]) == {name}
    assert set(steps[: begins[0]] + steps[ends[-1] + 1 :]) == {None}


@pytest.mark.parametrize("words", ["I have done all of it.", "STEP_DONE and then some", f"Done. {DONE}"])
def test_words_of_a_model_with_native_tools_get_the_form_once_and_end_no_step(words: str) -> None:
    def said(text: str) -> Answer:
        return Answer(text, native=True)

    looked = Answer("", "tool_calls", (NativeCall("look", {}),), native=True)
    ended = Answer("", "tool_calls", (NativeCall("control", {"control": "step_done"}),), native=True)
    scene = Scene([plan("a", "b"), said(words), looked, said(words), ended, ended, "fine", "fine"], planning=True)
    assert (scene.turn.stop_reason, scene.turn.answer) == ("DONE", "fine")
    assert [DONE in turn for turn in scene.said[1:5]] == [True, True, False, True]  # the head has it, too
    scene = Scene([plan("a", "b"), said(words), said("All steps are done."), said("It is."), ended], planning=True)
    if DONE not in words:  # an envelope beside words is told its form, and is no answer
        assert (scene.turn.stop_reason, len(scene.model.requests)) == ("NO_EVIDENCE", 3)
    assert scene.turn.stop_reason == "NO_EVIDENCE" and not scene.of("control_signal")
    assert "step a got words twice" in scene.turn.answer


def test_a_model_without_native_tools_may_speak_more_than_once_in_a_step() -> None:
    scene = Scene([plan("a"), "I look.", "I look at it now.", DONE, "fine"], planning=True)
    assert scene.turn.stop_reason == "DONE"
