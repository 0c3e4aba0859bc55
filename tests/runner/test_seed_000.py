"""Seed 000 §5, the acceptance list of the control protocol: each test names the line it covers."""

from __future__ import annotations

import logging

import pytest

from ahp.runner.words.control_protocol import try_parse_control_envelope
from tests.runner.runs import DONE, REPLAN, Scene, plan


def test_line_1_an_envelope_step_done_finishes_the_step() -> None:
    """LLM 输出 {"control": "step_done"} 时，正确识别为步骤完成。"""
    scene = Scene([plan("a"), '{"control": "step_done"}', "done"], planning=True)
    assert scene.of("plan_step_end")[0]["status"] == "done"
    assert scene.turn.stop_reason == "DONE"


def test_line_2_an_envelope_replan_leads_to_a_new_plan() -> None:
    """LLM 输出 {"control": "replan"} 时，正确触发重规划流程。"""
    scene = Scene([plan("a"), '{"control": "replan"}', plan("b"), DONE, "done"], planning=True)
    assert len(scene.of("plan_generated")) == 2
    assert [event["step_id"] for event in scene.of("plan_step_start")] == ["a", "b"]


def test_line_3_the_string_step_done_still_works_and_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """LLM 输出 STEP_DONE 字符串时，仍能工作但记录告警。"""
    with caplog.at_level(logging.WARNING, logger="ahp.runner"):
        scene = Scene([plan("a"), "STEP_DONE", "done"], planning=True)
    assert scene.turn.stop_reason == "DONE"
    assert scene.of("control_signal")[0]["via"] == "legacy"
    assert "old control string" in caplog.text


def test_line_4_other_json_is_no_signal() -> None:
    """LLM 输出无关 JSON 时（如 {"tool": "read_file"}），不误判为控制信号。"""
    assert try_parse_control_envelope('{"tool": "read_file"}') is None
    scene = Scene([plan("a"), '{"tool": "look"}', '{"weather": "sunny"}', DONE, "done"], planning=True)
    assert len(scene.of("control_signal")) == 1


def test_section_4_every_signal_is_an_event_with_its_reason() -> None:
    """所有控制信号触发都会通过 _ev("control_signal", ...) 事件上报。"""
    scene = Scene([plan("a"), REPLAN, plan("b"), DONE, "done"], planning=True)
    assert [(event["control"], event["reason"]) for event in scene.of("control_signal")] == [
        ("replan", "another way"),
        ("step_done", None),
    ]
