"""The alternatives of a regex together match what the regex matches, and nothing else."""

from __future__ import annotations

import random

import pytest

from ahp.conditions.globs import PatternError
from ahp.conditions.regexes import examples, regex
from ahp.conditions.samples import alternatives


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("(?i)a|b", ["(?i)a", "(?i)b"]),
        ("(?i:a|b)", ["(?i:a)", "(?i:b)"]),
        ("(?i)(?:(?P<x>a|b)|c)", ["(?i)(?P<x>a|b)", "(?i)c"]),
        ("(a)|(b)", ["(a)", "(b)"]),
        ("((?:a|b))", ["a", "b"]),
        ("(?s:(?i:a|b))", ["(?s:(?i:a|b))"]),
        ("(?:a|b)c|d", ["(?:a|b)c", "d"]),
        (r"\||\(", [r"\|", r"\("]),
        ("[|]|[]|]|[^]|]", ["[|]", "[]|]", "[^]|]"]),
        ("[[:alpha:]|]|b", ["[[:alpha:]|]", "b"]),
        ("[[:]a|[^]|]*", ["[[:]a", "[^]|]*"]),
        (r"\Qa|b\E", [r"\Qa|b\E"]),
        ("a|", ["a", ""]),
        ("(?:a)", ["a"]),
    ],
)
def test_what_stands_at_the_top(pattern: str, parts: list[str]) -> None:
    assert alternatives(pattern) == parts


def test_together_they_match_what_the_whole_does() -> None:
    random.seed(7)
    pieces = [
        "a",
        "b",
        "|",
        "|",
        "(",
        ")",
        "(?:",
        "(?i:",
        "(?P<n>",
        "[ab]",
        "[|)]",
        "^",
        "$",
        r"\b",
        ".",
        "*",
        "{2}",
        r"\|",
    ]
    texts = ["", "a", "b", "A", "ab", "aa", "b|", "|", ")", "Ab b", "bb"]
    compared = 0
    while compared < 300:
        pattern = "".join(random.choices(pieces, k=random.randint(2, 9)))
        try:
            whole = regex(pattern)
        except PatternError:
            continue
        parts = [regex(part) for part in alternatives(pattern)]
        compared += len(parts) > 1
        for text in texts:
            assert any(part(text) for part in parts) == whole(text), (pattern, text)


def test_examples_of_a_regex_match_it_where_it_has_an_end() -> None:
    for pattern in ("AKIA[0-9A-Z]{16}", r"\bgh[pousr]_\w{3}", "(?i)todo"):
        assert all(map(regex(pattern), examples(pattern)))
