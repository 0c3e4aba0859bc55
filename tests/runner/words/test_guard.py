"""ahp.runner.words.replies"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.words.replies import Words, is_protocol_content, read_reply

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
        'Sunny.\n{"steps":[{"id":"a","description":"d","dependencies":[]}]}',
        "<think>It is sunny.",
        "[PLAN]\n1. look\n\nThis is what I would do.",
        '{"control":"step_done"} is what finishes a step.',
        '{"tool_calls":[{"name":"x","arguments":{}}]}',
    ],
)
def test_protocol_is_never_shown(text: str) -> None:
    assert is_protocol_content(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is sunny.",
        "[PLAN] is how a list begins.",
        "The plan has three steps.",
        '{"city": "北京", "temperature": 5}',
        '[{"step": 1}, {"step": 2}]',
        '```json\n{"steps": [1, 2]}\n```',
        '{"control": "volume_up"}',
        '{"control": true}',
        '{"controls": ["step_done"]}',
        '{"tool": "hammer", "price": 5}',
        '{"volume": 1, "cont',
        "The old protocol wrote STEP_DONE; it is gone.",
        "NO_REPLAN",
        "I replan the trip.",
        "文件已写好。\n步骤完成。",
        "[control]",
        'It is {"steps": {}} and ends here.\n{"steps": {}}',
        "'step'",
        '"step" is a word',
        '"step\\q"',
        "step,",
        '{"title":"t","steps":[{"id":"a","description":"d"}]}',
        '{"steps":[{"id":"a","text":"d"}],"verification_policy":"auto"}',
        "Final answer: it is sunny.",
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
        'The executor sends {"control":"step_done"} when a step is finished.',
        'In code:\n```py\nDONE = {"control":"step_done"}\n```',
        "Answer: 5\n<control>step_done</control>",
        'Answer: 5\n\n```json\n{"control":"step_done"}\n```\nThanks.',
        'To finish a step the model sends {"control":"step_done"}',
        'It is sunny.\n{"control":"step_done"}\nBye.',
    ],
)
def test_what_stands_beside_words_is_cut_out_of_them(text: str) -> None:
    assert is_protocol_content(text)
    reply = read_reply(text)
    assert isinstance(reply, Words)
    assert reply.cut_out
    assert "control" not in reply.text
    assert not is_protocol_content(reply.text)


@pytest.mark.parametrize(
    "text",
    [
        "｛＂control＂：＂step_done＂｝",
        "control: step_done",
        "Sunny.\ncontrol: step_done",
        "&#123;&quot;control&quot;: &quot;step_done&quot;&#125;",
        '{"con\u200btrol": "step_done"}',
        'assistant: {"control": "step_done"}',
    ],
)
def test_other_letters_and_forms_hide_no_signal(text: str) -> None:
    assert is_protocol_content(text)


def test_what_is_no_text_is_no_answer() -> None:
    assert is_protocol_content(None)
