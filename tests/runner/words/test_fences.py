"""ahp.runner.words.fences"""

from __future__ import annotations

import pytest

from ahp.runner.words import fences


def code(text: str) -> list[bool]:
    return [line.code for line in fences.lines(text)]


def test_a_fence_closes_with_its_own_kind_and_at_least_its_length() -> None:
    assert code("a\n```py\nx\n```\nb") == [False, True, True, True, False]
    assert code("````\n```\nx\n````\nb") == [True, True, True, True, False]
    assert code("```\n~~~\n```\nb") == [True, True, True, False]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert code("~~~\nx\ny") == [True, True, True]


def test_inline_code_and_deep_indentation_open_no_fence() -> None:
    assert code("```a``` b\nc") == [False, False]
    assert code("    ```\nc") == [False, False]


def test_carriage_returns_do_not_hide_a_fence() -> None:
    assert [line.text for line in fences.lines("```\r\nx\r\n```\r\ny")] == ["```", "x", "```", "y"]
    assert code("```\r\nx\r\n```\r\ny") == [True, True, True, False]
    assert [line.text for line in fences.lines("a\r\nb")] == ["a", "b"]


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
    assert fences.inside(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so:\n```\na\n```\n", ("so:", "a")),
        ("```\na\n```\nb\n```\nc\n```", ("```\na\n```\nb", "c")),
        ("a ```b```", None),
        ("a\n```", None),
        ("```", None),
        ("plain", None),
    ],
)
def test_last_fence_is_the_one_the_text_ends_with(text: str, expected: tuple[str, str] | None) -> None:
    assert fences.last_fence(text) == expected


def test_of_absurdly_many_lines_the_last_ones_are_told_apart() -> None:
    for first in ("a\n", "```\n"):
        split = fences.lines(first * 100_000 + "last")
        assert len(split) == 50_001
        assert split[-1].text == "last"


def test_open_at_end() -> None:
    assert fences.open_at_end("```\nx\n")
    assert not fences.open_at_end("```\nx\n```\n")
    assert not fences.open_at_end("x\n")


def test_without_marks_keeps_what_is_inside() -> None:
    assert fences.without_marks("```json\nx\n```") == "x"
    assert fences.without_marks("x") == "x"
