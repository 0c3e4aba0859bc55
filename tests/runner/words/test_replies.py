"""ahp.runner.words.replies"""

from __future__ import annotations

import pytest

from ahp.runner.words.replies import Malformed, Respond, ToolCall, calls_a_tool, read_action

CALL = '{"tool": "read_file", "args": {"path": "a"}}'
READ = ToolCall("read_file", {"path": "a"})


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"I will look at it.\n{CALL}",
        f"I will look at it:\n\n```json\n{CALL}\n```",
        f"```\nx = 1\n```\n{CALL}",
    ],
)
def test_a_call_stands_alone_in_a_fence_or_at_the_end(text: str) -> None:
    assert read_action(text) == READ
    assert calls_a_tool(text)


def test_arguments_may_be_left_out() -> None:
    assert read_action('{"tool": "now"}') == ToolCall("now", {})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words",
        f"use {CALL} to read",
        '{"tool": "hammer", "price": 5}',
        '{"a": 1}',
        f"```\n{CALL}\n```\nis how it is called",
        '{"control": "step_done"}',
        '{"respond": 5, "action": "x"}',
        '{"respond": "a", "action": "x", "extra": 1}',
        '{"respond": "a", "action": "x"} and',
        'x {"respond": "a", "action": "x"}',
        '{"respond": "a", "action":',
    ],
)
def test_what_asks_for_nothing(text: str) -> None:
    assert read_action(text) is None


@pytest.mark.parametrize(
    "text",
    [
        f"{CALL}\n{CALL}",
        f"{CALL}\nResult: none",
        f'{CALL}\n{{"control": "step_done"}}',
        '{"tool": "a", "control": "step_done"}',
        '{"tool": "a", "args": [1]}',
        '{"tool": 5}',
        '{"tool": "a", "tool": "b"}',
        '{"tool": "a", "args": {"x": NaN}}',
        '{"tool": "a", "args": {"x": "unfinished',
    ],
)
def test_what_means_to_act_and_cannot(text: str) -> None:
    assert isinstance(read_action(text), Malformed)
    assert calls_a_tool(text)


def test_answers_to_the_gate_may_be_several() -> None:
    text = '{"respond": "ab", "action": "dismiss"}\n{"respond": "cd", "action": "acknowledge", "reason": "r"}'
    assert read_action(text) == [Respond("ab", "dismiss", {}), Respond("cd", "acknowledge", {"reason": "r"})]


def test_details_of_an_answer_become_a_mapping() -> None:
    assert read_action('{"respond": "ab", "action": "dismiss", "details": "why"}') == [
        Respond("ab", "dismiss", {"text": "why"})
    ]
    assert read_action('{"respond": "ab", "action": "dismiss", "details": {"a": 1}}') == [
        Respond("ab", "dismiss", {"a": 1})
    ]
