"""The sample lines of the seeds in whole runs, of a model that writes text and of one that has native tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.models.model import Answer, NativeCall
from ahp.runner.words.replies import is_protocol_content
from tests.runner.runs import DONE, Scene, plan

CASES = Path(__file__).resolve().parents[1] / "data" / "cases" / "control.jsonl"
LINES = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]


def said(text: str, native: bool) -> Answer:
    return Answer(text, native=native)


@pytest.mark.parametrize("native", [False, True], ids=["text", "native"])
@pytest.mark.parametrize("case", [one for one in LINES if one["scene"] == "plan"], ids=lambda case: case["id"])
def test_a_line_in_a_plan_step(case: dict[str, Any], native: bool) -> None:
    answers = [plan("a"), said(case["assistant_text"], native), said(DONE, native), plan("b"), DONE, "fine", "fine"]
    scene = Scene(answers, planning=True, tools=[])
    signals = [(event["control"], event["reason"]) for event in scene.of("control_signal")]
    expected = case["expect"]
    first = signals[0] if scene.model.requests[2].said.startswith(("Task", "Step")) else (None, None)
    assert first == (expected["kind"], expected["reason"]) or first[0] in case["also_ok"]
    assert not is_protocol_content(scene.turn.answer)


@pytest.mark.parametrize("native", [False, True], ids=["text", "native"])
@pytest.mark.parametrize("case", [one for one in LINES if one["scene"] == "react"], ids=lambda case: case["id"])
def test_a_line_where_an_answer_is_wanted(case: dict[str, Any], native: bool) -> None:
    text = case["assistant_text"]
    scene = Scene([said(text, native), said("It is fine.", native), said("It is fine.", native)], tools=[])
    shown = text if case["final_ok"] and not native else "It is fine."
    assert (scene.turn.stop_reason, scene.turn.answer) == ("DONE", shown)
    assert not scene.of("control_signal")


@pytest.mark.parametrize("reason", [None, "tests pass"])
@pytest.mark.parametrize("control", ["step_done", "replan"])
@pytest.mark.parametrize("words", ["", "The step is complete.", "STEP_DONE", '{"control": "replan"}'])
def test_the_envelope_as_a_tool_is_the_signal_whatever_is_said_beside(
    control: str, reason: str | None, words: str
) -> None:
    call = NativeCall("control", {"control": control, **({"reason": reason} if reason else {})})
    answers = [plan("a"), Answer(words, "tool_calls", (call,), native=True), plan("b"), DONE, "fine"]
    scene = Scene(answers if control == "replan" else [*answers[:2], "fine"], planning=True)
    first = scene.of("control_signal")[0]
    assert (first["control"], first["reason"], first["via"]) == (control, reason, "tool")
    assert scene.turn.answer == "fine"
