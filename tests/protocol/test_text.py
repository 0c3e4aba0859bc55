"""Text from outside, made safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.protocol.text import one_line, trim


@given(st.text(), st.integers(1, 300))
def test_one_bounded_line_without_anything_that_moves(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert len(shown) <= limit
    assert all(c.isprintable() or c == " " for c in shown)
    assert not [c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")]
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc\rd", "a b c d"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("evil\u202etxt", "evil\ufffdtxt"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("bytes\udcff", "bytes\ufffd"),
        ("ünïcödé", "ünïcödé"),
        (
            "to https://ann:pa@ss@example.org/x@y.git, and ssh://git@h:22",
            "to https://example.org/x@y.git, and ssh://h:22",
        ),
        ("'helper::https://ann@h?a@b' a@b://c", "'helper::https://h?a@b' a@b://c"),
        ("https://example.org/a@b git@example.org:x", "https://example.org/a@b git@example.org:x"),
        ("https://ann:secret@", "https://"),
        ("", ""),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_anything_can_be_shown() -> None:
    assert one_line(5) == "5"
    assert one_line(None) == "None"


def test_what_was_cut_is_marked() -> None:
    assert trim("12345", 5) == "12345"
    assert trim("123456", 5) == "1234…"
