"""ahp.runner.run.live"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.run import live
from tests.runner.runs import DONE, Scene, call, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict


def story(**settings: Any) -> Scene:
    loud = verdict("pre-tool-use", signal("prompt", "loud", "quiet, please", signal_id="p1"))
    answers = [plan("a", "b"), call(), DONE, DONE, "the answer"]
    return Scene(answers, planning=True, gate=ScriptedGate({"pre-tool-use": [loud]}), **settings)


def test_each_event_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    shown = live.Live()
    for event in story().events:
        shown(event)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "task     the task"
    assert "  gate     pre-tool-use: warn (loud)" in lines
    assert lines[-1].startswith("end      DONE")


def test_nothing_that_a_model_writes_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    shown = live.Live()
    for event in Scene(["a\x1b[2J{", "answer"], task="a\x1b[2J task").events:
        shown(event)
    said = capsys.readouterr().err
    assert said.startswith("task     a\ufffd[2J task\n") and "\x1b" not in said


def test_the_code_of_a_result_is_shown_once() -> None:
    result = {"event": "tool_result", "code": "E_TOOL", "text": "E_TOOL: no such city"}
    assert live.line(result) == "result   E_TOOL: no such city"


@pytest.mark.parametrize(("requests", "words"), [(1, "1 request, "), (2, "2 requests, ")])
def test_the_end_counts_requests(requests: int, words: str) -> None:
    end = {"event": "run_end", "stop_reason": "DONE", "requests": requests, "tokens": 510}
    assert live.line(end) == f"end      DONE ({words}510 tokens)"


def test_of_steps_side_by_side_each_line_says_whose_it_is() -> None:
    call = {"event": "tool_call", "tool": "look", "args": {}, "step": "b", "parallel": True}
    merged = {"event": "step_merged", "step_id": "a", "paths": ["f"]}
    conflict = {"event": "step_conflict", "step_id": "b", "new_id": "b-2", "paths": ["f"]}
    assert list(map(live.line, (call, merged, conflict))) == [
        "  b: tool     look {}",
        "merged   a: f",
        "conflict b does not fit at f; again as b-2",
    ]


def test_what_a_model_says_is_shown_by_the_line_while_it_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = live.Live()
    shown.hear("I look at")
    assert capsys.readouterr().err == ""
    shown.hear(' it.\n\n{"tool": "look"}\nThen\x1b[2J')
    assert capsys.readouterr().err == "says     I look at it.\n"
    shown({"event": "model_answer"})
    assert capsys.readouterr().err == "says     Then\ufffd[2J\n"
