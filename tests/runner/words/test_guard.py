"""ahp.runner.words.guard"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.words.guard import holds_signal, is_protocol_content

CASES = Path(__file__).resolve().parents[2] / "data" / "cases" / "control.jsonl"
REACT = [case for case in map(json.loads, CASES.read_text("utf-8").splitlines()) if case["scene"] == "react"]


@pytest.mark.parametrize("case", REACT, ids=lambda case: case["id"])
def test_the_sample_cases_of_final_answers(case: dict[str, Any]) -> None:
    assert is_protocol_content(case["assistant_text"]) is not case["final_ok"]


@pytest.mark.parametrize(
    "text",
    [
        '{"control":"step_done"}\n\n{"control":"step_done"}',
        '{"control":"step_done"}{"control":"step_done"}',
        '"{"control": "step_done"}"',
        '“{"control": "step_done"}”',
        "The weather is fine. STEP_DONE",
        "天气很好。 **STEP_DONE**",
        "[PLAN]\n1. [ ] look\n2. [ ] answer (tools: look)",
        "[PLAN]\n- look",
        '{"control":"step_done"},\n{"control":"replan","reason":"x"}',
        '{"control": "step_done", "note": 1}',
        '{"control":"Step_Done"}',
        '{"control":{"control":"step_done"}}',
        '{"control":["step_done"]}',
        "{'control': 'step_done'}",
        "{control: step_done}",
        '"{\\"control\\":\\"step_done\\"}"',
        '"STEP_DONE"',
        "`STEP_DONE`",
        '`{"control":"step_done"}`',
        '```json\n{"control":"step_done"}\n```',
        '```\n{"control":"step_done"}\n{"control":"step_done"}',
        '```\n{"control":"step_done"}\n```\n```\n{"control":"step_done"}\n```',
        '{"control":"step_done"',
        '{"control":"step_',
        '{"contr',
        "{",
        '{"control":"replan","reason":"the conf}',
        '{"control":"step_done"}\n\n{"control":"st',
        '{"tool":"read_file","args":{"pa',
        '{"tool":"read_file"',
        '{"tool":"read_file","args":{}}',
        '{"respond":"ab12","action":"dismiss"}',
        "STEP_DONE",
        "**STEP_DONE**\n",
        "步骤完成。",
        "STEP_DONE\nREPLAN",
        "<control>step_done</control>",
        '<think>done?</think>{"control":"step_done"}',
        '\ufeff{"control":"step_done"}\x00',
        "",
        " \n",
        "\x00",
        # beside an answer
        '{"control":"step_done"} It is sunny.',
        '{"control":"step_done"} 今天北京晴。',
        '{"control":"step_done"}.',
        '今天北京晴，5 度。\n\n{"control":"step_done"}',
        '今天北京晴，5 度。{"control":"step_done"}',
        '今天北京晴。{"tool":"get_weather","args":{}}',
        '今天北京晴。 {"control":"step_',
        'It is sunny.\n```json\n{"control":"step_done"}\n```',
        'It is sunny.\n{\n  "control": "step_done"\n}',
        'It is sunny.\n{"control":"step_do',
        '{"control":"step_done"}\nIt is sunny.',
        'It is sunny.\n{"control":"step_done"}\nBye.',
        "It is sunny.\nSTEP_DONE",
        "It is sunny.\n【STEP_DONE】。\nBye.",
        'Sunny.\n{"tool":"get_weather","args":{"city":"x"}}',
        # marked up
        '- {"control":"step_done"}',
        '1) {"control":"step_done"}'.replace("1) ", "* "),
        '> {"control":"step_done"}',
        '**{"control":"step_done"}**',
        '({"control":"step_done"})',
        '<code>{"control":"step_done"}</code>',
        'Final Answer:\n{"control":"step_done"}',
        'Final Answer: {"tool":"x","args":{}}',
        '\u200b\u202e{"control":"step_done"}',
        'It is sunny.\n- {"control":"step_done"}',
        '{"title":"t","steps":[{"id":"a","description":"d","dependencies":[]}]}',
        'Sunny.\n{"steps":[{"id":"a","description":"d"}],"verification_policy":"auto"}',
        "<think>It is sunny.",
        '{"tool_calls":[{"name":"x","arguments":{}}]}',
    ],
)
def test_protocol_is_never_shown(text: str) -> None:
    assert is_protocol_content(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is sunny.",
        "A step ends with the word STEP_DONE",
        "[PLAN] is how a list begins.",
        "[PLAN]\n1. look\n\nThis is what I would do.",
        "The plan has three steps.",
        '{"city": "北京", "temperature": 5}',
        '[{"step": 1}, {"step": 2}]',
        '```json\n{"steps": [1, 2]}\n```',
        '{"control": "volume_up"}',
        '{"control": true}',
        '{"controls": ["step_done"]}',
        '{"tool": "hammer", "price": 5}',
        '{"volume": 1, "cont',
        'The executor sends {"control":"step_done"} when a step is finished.',
        '`{"control":"step_done"}` is the envelope that finishes a step.',
        'To finish a step the model sends {"control":"step_done"}',
        'To finish a step, send:\n```json\n{"control":"step_done"}\n```',
        'To finish a step, send:\n{"control":"step_done"}\nand wait.',
        '{"control":"step_done"} is what finishes a step.',
        '{"control":"replan"} 表示需要重规划。',
        "The old protocol wrote STEP_DONE; it is gone.",
        "The signals are:\n- STEP_DONE\n- REPLAN",
        "文件已写好。\n步骤完成。",
        '用 {"control":"step_done"} 表示步骤完成。',
        "[control]",
        'It is {"steps": {}} and ends here.\n{"steps": {}}',
        '```\nx = 1\n\n{"control":"step_done"}',
        "'step'",
        '"step" is a word',
        '"step\\q"',
        "step,",
        '{"title":"t","steps":[{"id":"a","description":"d"}]}',
        '{"steps":[{"id":"a","text":"d"}],"verification_policy":"auto"}',
        'A plan looks like this:\n{"title":"t","steps":[{"id":"a","description":"d","dependencies":[]}]}',
        "Final answer: it is sunny.",
        ",",
    ],
)
def test_answers_pass(text: str) -> None:
    assert not is_protocol_content(text)


@pytest.mark.parametrize(
    "text",
    [
        'Answer: 5 {"control":"step_done"}',
        'Antwort: 5 {"control":"step_done"}.',
        '答案是5{"control":"step_done"}',
        'الجواب: 5 {"control":"step_done"}',
        'Answer: 5 - **{"control":"step_done"}**',
        'Answer: 5 `{"control": "step_done"}`',
        '- one\n- two {"control": "replan", "reason": "x"}\n- three',
        '| 1 | {"control": "step_done"} |',
        'Answer: 5 {"control":"step_done"}{"control":"step_done"}',
        "Answer: 5 {'control': 'step_done'}",
        r"Answer: 5 {\"control\": \"step_done\"}",
        'Answer: 5 {"control":"step_do',
        'Answer: 5 {"control"',
        "Answer: 5 STEP_DONE",
        "STEP_DONE: the answer is 5",
        "Answer: 5\n<control>step_done</control>",
        'Answer: 5\n\n```json\n{"control":"step_done"}\n```\nThanks.',
        'To finish a step the model sends {"control":"step_done"}',
    ],
)
def test_a_signal_at_an_end_of_a_line_may_be_left_behind(text: str) -> None:
    assert not is_protocol_content(text)
    assert holds_signal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Answer: 5",
        "The plan has three steps.",
        'The executor sends {"control":"step_done"} when a step is finished.',
        'To finish a step, send:\n{"control":"step_done"}\nand wait.',
        'To finish a step, send: {"control":"step_done"}',
        'To finish a step, send:\n```json\n{"control":"step_done"}\n```',
        'In code:\n```py\nDONE = {"control":"step_done"}\n```',
        "I replan the trip.",
        "NO_REPLAN",
        '{"control": "volume_up"}',
    ],
)
def test_a_signal_that_a_sentence_speaks_of_is_none(text: str) -> None:
    assert not holds_signal(text)


def test_what_is_no_text_is_no_answer() -> None:
    assert is_protocol_content(None)
