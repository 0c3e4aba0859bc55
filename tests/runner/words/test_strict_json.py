"""ahp.runner.words.markup"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.runner.words import markup


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"x": {"a": 1, "a": 2}}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1} {"b": 2}',
        '{"a": 1',
        "{'a': 1}",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a": ' + "9" * 10_000 + "}",
        '{"a": ' * 101 + "1" + "}" * 101,
    ],
)
def test_what_is_not_exactly_one_object_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        markup.load_object(text)


def test_an_array_is_a_value_and_no_object() -> None:
    assert markup.load(" [1] ") == [1]
    assert markup.load("[" * 100 + "]" * 100)
    with pytest.raises(ValueError):
        markup.load_object("[1]")


def test_spans_skip_braces_inside_strings() -> None:
    text = 'see {"a": "}{"} and {"b": {}}'
    assert [text[s.start : s.end] for s in markup.spans(text)] == ['{"a": "}{"}', '{"b": {}}']


def test_a_lone_brace_does_not_hide_the_object_behind_it() -> None:
    text = 'a { in prose, then {"a": 1}'
    spans = list(markup.spans(text))
    assert not spans[0].closed
    assert [text[s.start : s.end] for s in spans if s.closed] == ['{"a": 1}']


def test_an_object_that_the_text_cuts_is_told_apart() -> None:
    assert [span.closed for span in markup.spans('{"a": "no end')] == [False]


@pytest.mark.parametrize("piece", ["{", '{"a":', "{}", '{"', "}"])
def test_spans_of_absurd_texts_end(piece: str) -> None:
    assert len(list(markup.spans(piece * 300_000))) <= 300_000


@given(st.text(alphabet='{}[]",:\\ a1\n'))
def test_spans_are_in_order_and_inside_the_text(text: str) -> None:
    for span in markup.spans(text):
        assert 0 <= span.start < span.end <= len(text)
        assert text[span.start] == "{"
