from __future__ import annotations

import pytest

from ahp.shell.options import ANY, Spec, parse


def test_bundles_are_taken_apart_and_known_letters_have_their_names() -> None:
    rm = Spec(("--force", "--recursive", "--dir"), {"f": "--force", "r": "--recursive", "d": "--dir"})
    flags = parse(["-rf", "--forc", "x", "-d"], rm).flags
    assert flags == ["-r", "--recursive", "-f", "--force", "-d", "--dir"]
    assert parse(["-la", "--sort=size", "-", "--", "-x"], ANY).flags == ["-l", "-a", "--sort"]
    assert parse(["-5"], ANY).flags == ["-5"]


def test_reading_stops_at_the_first_operand_where_that_is_the_custom() -> None:
    read = parse(["-n", "5", "git", "-x"], ANY, permute=False)
    assert (read.flags, read.operands) == (["-n"], ["5", "git", "-x"])
    read = parse(["a", "-n", "--", "b", "-c"], ANY)
    assert (read.flags, read.operands) == (["-n"], ["a", "b", "-c"])


@pytest.mark.no_cover
def test_many_words_are_each_looked_at_once(no_hang: None) -> None:
    assert len(parse(["x"] * 1_000_000, ANY).operands) == 1_000_000


def test_values_are_glued_or_follow() -> None:
    spec = Spec(("--file=", "--force"), {"f": "--file"}, "f", "o")
    assert parse(["-fa", "-f", "b", "--file=c", "--fil", "d", "-ox", "-o", "e", "-f"], spec).values == [
        ("--file", "a"),
        ("--file", "b"),
        ("--file", "c"),
        ("--file", "d"),
        ("-o", "x"),
    ]
    assert parse(["--f", "--file"], spec).flags == ["--f", "--file"]
