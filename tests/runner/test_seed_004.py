"""Seed 004 §5, the robustness list of two-level orchestration: each test names the line it covers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.runner.run.conversation import check_roles
from ahp.runner.run.run_state import State
from ahp.runner.scripted import scripted_tool
from ahp.runner.verification.result import VerificationResult
from ahp.runner.words.plan import PlanError, parse_plan_from_text
from tests.runner.runs import DONE, REPLAN, Scene, call, plan


def test_5_1_roles_alternate_and_the_planning_words_are_in_the_users_message() -> None:
    """role 交替约束：规划指令并入同一 user 消息。"""
    scene = Scene(["no plan", plan("a", "b"), call(), REPLAN, plan("c"), "hm", DONE, "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    for request in scene.model.requests:
        check_roles(request.messages)
    first = scene.model.requests[0].messages
    assert [message["role"] for message in first] == ["system", "user"]
    assert "the task" in first[1]["content"]
    assert "write the plan" in first[1]["content"]


def test_5_1_a_plan_that_cannot_be_read_is_asked_for_again() -> None:
    """计划解析失败重试：planning_retry。"""
    scene = Scene(["no plan", plan("a"), DONE, "done"], planning=True)
    assert len(scene.of("planning_retry")) == 1
    assert scene.turn.stop_reason == "DONE"


def test_5_1_a_long_plan_is_cut() -> None:
    """计划步数裁剪：max_plan_steps。"""
    scene = Scene([plan("a", "b", "c"), DONE, DONE, "done"], planning=True, max_plan_steps=2)
    assert [step.id for step in scene.turn.plan.steps] == ["a", "b"]  # type: ignore[union-attr]


def test_5_1_a_step_has_its_breaker() -> None:
    """单步熔断：max_step_tool_calls。"""
    scene = Scene([plan("a"), call(n=1), call(n=2)], planning=True, max_step_tool_calls=1, max_replans=0)
    assert "max_step_tool_calls" in scene.of("plan_step_end")[0]["problem"]


def test_5_1_replanning_has_its_breaker() -> None:
    """重规划熔断：max_replans。"""
    scene = Scene([plan("a"), REPLAN, plan("b"), REPLAN], planning=True, max_replans=1)
    assert scene.turn.stop_reason == "MAX_REPLANS"


@pytest.mark.parametrize("writes", [True, False])
def test_5_1_what_was_written_is_verified(tmp_path: Path, writes: bool) -> None:
    """最终验证：若本轮有写操作则跑 Verifier。"""
    (tmp_path / "pytest.ini").write_text("")

    class Green:
        def verify(self, root: str, timeout_s: float) -> VerificationResult:
            return VerificationResult(type="passed", summary="1 tests passed")

    tools = [scripted_tool("look", ["ok"], writes=writes)]
    answers = [plan("a"), call(), DONE, "done"]
    scene = Scene(answers, planning=True, tools=tools, root=str(tmp_path), verifiers={"auto": Green()})
    assert scene.of("final_verify")[0]["result"]["type"] == ("passed" if writes else "no_tests")


def test_5_1_the_run_can_be_followed_in_its_events() -> None:
    """日志与事件：plan_generated / plan_step_start / state / final_verify 等。"""
    kinds = set(Scene([plan("a"), call(), DONE, "done"], planning=True).figures())
    assert kinds >= {"plan_generated", "plan_step_start", "plan_step_end", "state", "final_verify", "control_signal"}
    assert kinds >= {
        "run_start",
        "message",
        "model_request",
        "model_answer",
        "tool_call",
        "tool_result",
        "verdict",
        "run_end",
    }


def test_5_2_steps_wait_for_their_dependencies() -> None:
    """依赖调度：执行步骤前检查 dependencies 完成性。"""
    scene = Scene([plan("b", "a", b=["a"]), DONE, DONE, "done"], planning=True)
    assert [event["step_id"] for event in scene.of("plan_step_start")] == ["a", "b"]


@pytest.mark.parametrize("word", ["STEP_DONE", "step_done", "STEPDONE", "步骤完成", "【STEP_DONE】", "**STEP_DONE**"])
def test_5_2_signals_are_read_in_several_forms(word: str) -> None:
    """步骤信号容错：STEP_DONE/REPLAN 支持多种格式变体。"""
    assert Scene([plan("a"), word, "done"], planning=True).turn.stop_reason == "DONE"


def test_5_2_a_step_in_progress_when_its_loop_ends_has_failed() -> None:
    """步骤迭代强制熔断：循环结束后 in_progress 自动标记 failed。"""
    scene = Scene([plan("a"), "words", "words"], planning=True, max_iterations=2)
    assert scene.turn.stop_reason == "MAX_ITER"
    assert scene.turn.plan.step("a").status == "failed"  # type: ignore[union-attr]


def test_5_2_ids_are_unique() -> None:
    """步骤 ID 唯一性校验：Pydantic validator 检测重复 ID。"""
    with pytest.raises(PlanError, match="used twice"):
        parse_plan_from_text(json.dumps({"steps": [{"id": "a", "description": "x"}, {"id": "a", "description": "y"}]}))


def test_5_2_a_deadlock_is_an_error_that_names_the_steps() -> None:
    """死锁检测：全部步骤 blocked 时返回错误。"""
    answers = [plan("a", "b", b=["a"]), call()]
    scene = Scene(answers, planning=True, max_step_tool_calls=0, max_replans=0)
    assert (scene.turn.stop_reason, scene.turn.state) == ("DEADLOCK", "BLOCKED")
    assert "b wait for a" in scene.turn.answer


def test_5_2_there_are_seven_states() -> None:
    """状态机扩展：新增 RECOVERING / BLOCKED 状态。"""
    assert len(State) == 7
    assert {State.RECOVERING, State.BLOCKED} < set(State)
    scene = Scene([plan("a"), REPLAN, plan("a"), DONE, "done"], planning=True)
    assert set(scene.states) == set(State) - {State.BLOCKED}
