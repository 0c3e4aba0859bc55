"""ahp.runner.words.markup: fences, thoughts, the marks of turns"""

from __future__ import annotations

import pytest

from ahp.runner.words import markup

CHANNELS = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
CALL = '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"path": "a"}'


@pytest.mark.parametrize(
    "text",
    [
        "It is 5.",
        " <think>hm</think>\nIt is 5.",
        "<think>a</think><think>b</think>It is 5.",
        "<Thinking>hm</Thinking>It is 5.",
        "[THINK]hm[/THINK]It is 5.",
        "◁think▷hm◁/think▷It is 5.",
        "<seed:think>hm</seed:think>\n\nIt is 5.",
        "so it is\n</think>\nIt is 5.",
        "It is 5.<|im_end|>",
        "It is 5.</s>\n",
        "It is 5.<|eot_id|><|eot_id|>",
        "It is 5.\n<end_of_turn>",
        "<|im_start|>assistant\nIt is 5.<|im_end|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\nIt is 5.",
        "<start_of_turn>model\nIt is 5.",
        "It is 5.<|im_end|>\n<|im_start|>user\nAnd 6?<|im_end|>",
        "It is 5.</s><s>[INST] And 6? [/INST]",
        "It is 5.\n<|im_start|>user\nAnd 6?",
        f"{CHANNELS}<|channel|>final<|message|>It is 5.<|return|>",
        "<|channel|>final<|message|>It is 5.",
    ],
)
def test_what_is_said_is_left_of_a_reply(text: str) -> None:
    assert markup.spoken(text) == "It is 5."


@pytest.mark.parametrize(
    "text",
    [
        "<think>hm",
        "a <think>b</think>",
        "Its turns end with <|im_end|>",
        "A turn is closed by `</s>`",
        "```\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n```",
        "<s>struck out</s> is old HTML.",
        "<reasoning>five</reasoning><answer>5</answer>",
    ],
)
def test_marks_that_a_text_speaks_of_stay(text: str) -> None:
    assert markup.spoken(text) == text


def test_of_harmonys_messages_the_last_one_counts() -> None:
    assert markup.spoken("<|channel|>analysis<|message|>We know.<|end|>") == ""
    assert markup.spoken(f"{CHANNELS}{CALL}<|call|>") == CALL


def test_only_a_thinking_block_without_end_is_only_thoughts() -> None:
    assert markup.only_thoughts("<think>hm")
    assert markup.only_thoughts("\ufeff[THINK]hm</think>")
    assert not markup.only_thoughts("<think>hm</think>")
    assert not markup.only_thoughts("hm")


@pytest.mark.parametrize(
    "piece", ["<think></think>", "</s>", "</s> ", "</s><s>", "<|start|>", "```\n</s><s>", "\n</think>"]
)
def test_long_runs_of_marks_are_read_once(piece: str) -> None:
    assert len(markup.spoken(piece * 50_000 + "x")) <= len(piece) * 50_000 + 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```json\n{}\n```", "{}"),
        ("~~~\n{}", "{}"),
        ("```\na\n```\n```\nb\n```", None),
        ("x\n```\na\n```", None),
        ("```\na\n```\nx", None),
        ("```", None),
        ("plain", None),
    ],
)
def test_inside_is_the_body_of_a_text_that_is_one_fence(text: str, expected: str | None) -> None:
    assert markup.inside(text) == expected


def test_without_fences_keeps_what_is_inside() -> None:
    assert markup.without_fences("```json\nx\n```") == "x"
    assert markup.without_fences("x") == "x"
