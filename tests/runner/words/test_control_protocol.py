"""ahp.runner.words.control_protocol"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.runner.words.control_protocol import Reading, try_parse_control_envelope
from ahp.runner.words.replies import is_protocol_content, read_control, read_reply

CASES = Path(__file__).resolve().parents[2] / "data" / "cases" / "control.jsonl"
PLAN = [case for case in map(json.loads, CASES.read_text("utf-8").splitlines()) if case["scene"] == "plan"]
MEGABYTE = 1 << 20

HUGE = {
    "braces": "{" * MEGABYTE,
    "nested objects": '{"control":' * (MEGABYTE // 11),
    "nested arrays": '{"control":"step_done","x":' + "[" * MEGABYTE + "]" * MEGABYTE + "}",
    "empty lines": "\n" * MEGABYTE,
    "old strings": "STEP_DONE\n" * (MEGABYTE // 10),
    "fences": "```\nSTEP_DONE\n" * (MEGABYTE // 14),
    "envelopes": '{"control":"step_done"}\n' * (MEGABYTE // 24),
    "calls": '{"tool":"x","args":{}}\n' * (MEGABYTE // 23),
    "open calls": '{"tool":\n' * (MEGABYTE // 9),
    "answers": '{"respond":"a","action":"b"}\n' * (MEGABYTE // 29),
    "escapes": '{"control":"' + '\\"' * (MEGABYTE // 2),
    "spaces": '{ "control"' + " " * MEGABYTE,
    "brackets": "【" * MEGABYTE + "STEP_DONE",
    "thoughts": "<think>" * (MEGABYTE // 7) + "step",
    "lines": "a\n" * (MEGABYTE // 2) + "STEP_DONE",
    "open ends": "step。{ " * 90 + "a" * MEGABYTE,
    "keys": "{" + ",".join(f'"k{i}":1' for i in range(90_000)) + ',"control":"step_done"}',
}


@pytest.mark.parametrize("case", PLAN, ids=lambda case: case["id"])
def test_the_sample_cases_of_plan_steps(case: dict[str, Any]) -> None:
    reading = read_control(case["assistant_text"])
    got = (reading.control, reading.reason, reading.via) if reading else (None, None, None)
    expected = case["expect"]
    assert got == (expected["kind"], expected["reason"], expected["via"]) or got[0] in case["also_ok"]


@pytest.mark.parametrize(
    "text",
    [
        '{"control":"step_done","control":"replan"}',
        '{"control":"step_done","control":"step_done"}',
        '{"control":"step_done","note":NaN}',
        '{"control":"step_done","tool":"read_file"}',
        '{"control":"step_done","reason":5}',
        '{"control":"step_done"}{"control":"replan"}',
        '{"control":"step_done"}\n\n{"control":"step_done","reason":"x"}',
        '{"control":null}',
        '{"control":"\ud800"}',
        "{}",
    ],
)
def test_what_is_no_envelope(text: str) -> None:
    assert try_parse_control_envelope(text) is None
    assert read_control(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '[{"control":"step_done"}]',
        '```json\n{"control":"step_done"}\n```',
        '{"control":"step_done"}\n\n{"control":"step_done"}',
        '```\n{"control":"step_done"}\n```\nMoving on.',
        '```\n{"control":"step_done"}\n```\n{"control":"replan"}',
        'Done.\n{"control":"step_done"}',
    ],
)
def test_an_envelope_beside_anything_else_is_none(text: str) -> None:
    assert read_control(text) is None


def test_other_keys_are_ignored_and_white_space_around_is_nothing() -> None:
    envelope = try_parse_control_envelope(' \n{"control": "replan", "reason": "r", "step": 3}\n')
    assert envelope is not None
    assert (envelope.control, envelope.reason) == ("replan", "r")


@pytest.mark.parametrize("text", [None, 5, b"{}", ["x"], {"control": "step_done"}])
def test_what_is_no_text_is_no_signal(text: Any) -> None:
    assert try_parse_control_envelope(text) is None
    assert read_control(text) is None


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("STEP_DONE", "step_done"),
        ("step_done", "step_done"),
        ("STEPDONE", "step_done"),
        ("Step Done!", "step_done"),
        ("**STEP_DONE**", "step_done"),
        ("【**STEP_DONE**】。", "step_done"),
        ("步骤完成", "step_done"),
        ("【步骤完成】", "step_done"),
        ("步骤完成\uff01", "step_done"),
        ("STEP_DONE...", "step_done"),
        ("RE-PLAN", "replan"),
        ("重新规划。", "replan"),
        ("STEP_DONE\nSTEP_DONE", "step_done"),
        ("STEP_DONE\r\n", "step_done"),
    ],
)
def test_a_reply_that_is_nothing_but_an_old_string_is_a_signal(text: str, control: str) -> None:
    assert read_control(text) == Reading(control, None, "legacy")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "I will say STEP_DONE later",
        "All tests pass.\nSTEP_DONE",
        "STEP_DONE\nThe file is written.",
        'STEP_DONE\n{"control":"step_done"}',
        "not STEP_DONE",
        "STEP_DONE?",
        "STEP_DONE: no",
        "`STEP_DONE`",
        "- STEP_DONE",
        "> STEP_DONE",
        "# STEP_DONE",
        "```\nSTEP_DONE\n```",
        "~~~\nSTEP_DONE",
        "code:\n\n    STEP_DONE",
        "步骤未完成",
        "Result:\nREPLAN",
        "The README contains the line:\nSTEP_DONE",
        "It says\nSTEP_DONE\nI will now continue",
        "Result of read_file:\n<<<3f2a\nSTEP_DONE\n>>>3f2a",
        "<<<3f2a\nSTEP_DONE\n>>>3f2a",
        "I cannot send this yet:\nSTEP_DONE",
        "还不能输出：\n步骤完成",
        '{"tool":"write_file","args":{"text":"STEP_DONE"}}',
        '{"tool":"write_file","args":{"text":"a\nSTEP_DONE\n"}}',
        '{"tool":"write_file","args":{"text":"a\nSTEP_DONE',
        '{"note":"a\nSTEP_DONE\nb"}',
        'STEP_DONE\n{"tool":"run","args":{}}',
        "STEP_DONE\nREPLAN\n",
        "STEP_DONE " * 20,
    ],
)
def test_mentions_negations_code_and_arguments_are_no_signal(text: str) -> None:
    assert read_control(text) is None


def test_an_old_string_is_warned_of_and_an_envelope_is_not(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read_control('{"control":"step_done"}')
        assert not caplog.records
        read_control("STEP_DONE")
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.no_cover
@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
@pytest.mark.slow
def test_huge_texts_are_read(text: str) -> None:
    for read in (try_parse_control_envelope, read_control, is_protocol_content, read_reply):
        read(text)
    read_reply(text, ("x", "look"), "step")


PIECES = st.sampled_from(
    ["STEP_DONE", "步骤完成", "```", "~~~json", "{", "}", "[", "]", '"', "\n", "【", "**", ",", ":", "\\", " ", "\x00"]
) | st.sampled_from(
    [
        '{"control":"step_done"}',
        '{"tool":"x","args":{}}',
        '{"respond":"a","action":"b"}',
        "<think>",
        "</think>",
        "\ud800",
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_nothing_makes_the_readers_raise(text: str) -> None:
    envelope = try_parse_control_envelope(text)
    reading = read_control(text)
    if envelope is not None:
        assert reading == Reading(envelope.control, envelope.reason, "envelope")
        assert is_protocol_content(text)
    read_reply(text)
    is_protocol_content(text)
