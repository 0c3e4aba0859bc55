from __future__ import annotations

import pytest

from ahp.agents.shell import marks
from ahp.agents.shell.marks import Marks, Unknown


def test_a_word_keeps_its_unknown_parts_and_wildcards_through_everything() -> None:
    known = Marks()
    word = "a/" + known.mark(Unknown("$X")) + marks.wild("*.py")
    assert (known.shown(word), known.pattern(word)) == ("a/$X*.py", "a/***.py")
    assert (marks.is_known(word), marks.is_wild(word), marks.is_unknown(word)) == (False, True, False)
    assert [part.source for part in known.of(word)] == ["$X"]
    assert marks.literal(marks.wild("[a]?")) == "[a]?"


def test_an_unknown_part_with_a_pattern_is_that_path() -> None:
    known = Marks()
    assert known.pattern(known.mark(Unknown("$(find src)", pattern="src/**")) + "/x") == "src/**/x"


@pytest.mark.parametrize(
    ("before", "unknown", "may_be"),
    [
        ("", Unknown("$X"), True),
        ("", Unknown("$X", quoted=True), False),
        ("", Unknown("$(x)", "output", quoted=True), False),
        ("", Unknown("${X:---n}", "script", quoted=True), True),
        ("-", Unknown("$X", quoted=True), True),
        ("--", Unknown("$X", quoted=True), True),
        ("--file=", Unknown("$X", quoted=True), False),
        ("--file=", Unknown("$X"), True),
        ("v", Unknown("$X"), False),
        ("v", Unknown("$(x)", "output"), True),
        ("v", Unknown("$(x)", "output", quoted=True), False),
    ],
)
def test_a_quoted_value_from_outside_is_no_option(before: str, unknown: Unknown, may_be: bool) -> None:
    known = Marks()
    assert known.may_be_option(before + known.mark(unknown)) is may_be


def test_a_known_word_is_no_matter() -> None:
    known = Marks()
    assert not known.may_be_option("--x")
    assert known.of("x") == []
    assert (known.shown("é"), known.pattern("é"), known.quoted("é", True), known.named("é", "x")) == (
        "é",
        "é",
        "é",
        "é",
    )


def test_only_what_a_command_prints_leads_a_path_astray() -> None:
    known = Marks()
    ways = {
        origin: known.is_astray(known.mark(Unknown("", origin)) + "/x") for origin in ("outside", "output", "script")
    }
    assert ways == {"outside": False, "output": True, "script": True}
    assert not known.is_astray("d/" + known.mark(Unknown("", "output")))


def test_quotes_and_names_are_given_to_what_is_there() -> None:
    known = Marks()
    plain, named = known.mark(Unknown("")), known.mark(Unknown("$Y"))
    assert [part.quoted for part in known.of(known.quoted(plain + named, True))] == [True, True]
    assert known.quoted(plain, False) == plain
    assert known.shown(known.named(plain + named, "$(x)")) == "$(x)$Y"


def test_what_looks_like_a_mark_in_a_script_is_none() -> None:
    assert marks.without_marks("a\U00100010b") == "a�b"


def test_a_million_unknown_words_are_one() -> None:
    known = Marks()
    for _ in range(70_000):
        last = known.mark(Unknown("$X"))
    assert [part.origin for part in known.of(last)] == ["script"]
