"""ahp.runner.run.live"""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from ahp.runner.run.live import LiveView, Progress
from tests.runner.runs import DONE, Scene, call, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict


def story(**settings: Any) -> Scene:
    loud = verdict("pre-tool-use", signal("prompt", "loud", "quiet, please", signal_id="p1"))
    answers = [plan("a", "b"), call(), DONE, DONE, "the answer"]
    return Scene(answers, planning=True, gate=ScriptedGate({"pre-tool-use": [loud]}), **settings)


def terminal(width: int = 80) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=40, highlight=False, color_system=None)


def drawn(events: list[dict[str, Any]], width: int = 80) -> list[str]:
    console = terminal(width)
    view = LiveView(console)
    for event in events:
        view.progress.read(event)
    console.print(view.drawing())
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def test_plan_step_verdicts_and_budget_are_shown() -> None:
    scene = story(budget_tokens=50_000, budget_usd=2, budget_seconds=600)
    ends = [n for n, event in enumerate(scene.events) if event["event"] == "plan_step_start"]
    lines = drawn(scene.events[: ends[1] + 1], width=120)
    assert lines[0] == "goal"
    assert lines[1:3] == ["  ✓ a: do a", "  ▶ b: do b"]
    assert "    gate     pre-tool-use: warn (loud)" in lines
    last = lines[-1]
    assert last.startswith("EXECUTING   3 requests, ")
    assert " of 50000 tokens, $0.00 of $2.00, 0 of 600 s   1 warn" in last


def test_without_limits_none_is_named() -> None:
    progress = Progress()
    for event in story().events:
        progress.read(event)
    assert progress.used(12.4) == f"5 requests, {progress.tokens} tokens, 12 s"
    assert [status for _, status in progress.steps.values()] == ["done", "done"]
    assert progress.state == "DONE"


def test_nothing_that_a_model_writes_is_markup_or_moves_the_cursor() -> None:
    events = Scene(["[red]a[/red]\x1b[2J{", "[bold]answer"], task="[blink]a\x1b[2J task").events
    assert drawn(events)[0] == "[blink]a\ufffd[2J task"
    assert all(len(line) <= 40 for line in drawn(story().events, width=40))


def test_at_a_terminal_the_view_is_drawn_in_place() -> None:
    console = terminal()
    with LiveView(console) as view:
        for event in story().events:
            view(event)
        with view.paused():
            console.print("a question")
    seen = console.file.getvalue()  # type: ignore[attr-defined]
    assert "✓ b: do b" in seen
    assert "a question" in seen
    assert seen.endswith("\x1b[?25h")  # the cursor is shown again


def test_elsewhere_each_event_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveView() as view:
        for event in story().events:
            view(event)
        with view.paused():
            pass
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "task     the task"
    assert "  gate     pre-tool-use: warn (loud)" in lines
    assert lines[-1].startswith("end      DONE")


def test_of_steps_side_by_side_each_line_says_whose_it_is() -> None:
    events = [event for event in story().events if event["event"] == "plan_generated"]
    events += [
        {"event": "plan_step_start", "step_id": one, "description": "x", "step": one, "parallel": True} for one in "ab"
    ]
    events.append({"event": "tool_call", "tool": "look", "args": {}, "step": "b", "parallel": True})
    events.append({"event": "step_merged", "step_id": "a", "paths": ["f"]})
    events.append({"event": "step_conflict", "step_id": "b", "new_id": "b-2", "paths": ["f"]})
    lines = drawn(events, 120)
    assert lines[:3] == ["goal", "  \u25b6 a: do a", "  \u00b7 b-2: do b"]
    assert lines[3:6] == ["    b: tool     look {}", "  merged   a: f", "  conflict b does not fit at f; again as b-2"]
