"""Regular expressions are RE2's, and linear in the text."""

from __future__ import annotations

import pytest

from ahp.conditions import globs
from ahp.conditions.evaluate import Bound
from ahp.conditions.globs import PatternError
from ahp.conditions.regexes import regex


def test_regex_finds_anywhere_and_knows_bytes() -> None:
    assert regex("b+")("abbbc") and not regex("^b")("ab")
    assert regex("^é$")("é") and regex("(?i)É")("é")
    assert regex("^a.b$")("a\nb") is False
    assert regex("x$")("\udcffx") and regex("x$")("\ud800x")


@pytest.mark.parametrize(
    "pattern", ["(", "(?=a)", "\\1", "a(?i)b", "a{2000}", "(?s).*(?s)", "\ud800", "(?:(?:a{100}){100}){100}"]
)
def test_a_regex_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        regex(pattern)


@pytest.mark.parametrize("pattern", ["(?i)a", "[(?i)]", "[^](?i)]", "(?i:a)b", "[\\](?i)]"])
def test_what_only_looks_like_a_late_flag_is_accepted(pattern: str) -> None:
    regex(pattern)


def test_texts_past_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "MAX_CHARS", 10)
    monkeypatch.setattr("ahp.conditions.regexes.MAX_CHARS", 10)
    with pytest.raises(Bound):
        regex("a")("a" * 11)


def test_what_would_never_end_with_backtracking_ends() -> None:
    assert not regex("(a*)*b")("a" * 1_000_000)
