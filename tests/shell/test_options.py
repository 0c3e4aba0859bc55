from __future__ import annotations

from ahp.shell.options import Spec, flags_of, parse


def test_bundles_are_taken_apart_and_known_letters_have_their_names() -> None:
    assert flags_of("rm", ["-rf", "--forc", "x", "-d"]) == ["-r", "--recursive", "-f", "--force", "-d", "--dir"]
    assert flags_of("ls", ["-la", "--sort=size", "-", "--", "-x"]) == ["-l", "-a", "--sort"]
    assert flags_of("head", ["-5"]) == ["-5"]


def test_programs_with_whole_words_keep_them() -> None:
    assert flags_of("find", [".", "-name", "x", "-exec", "--", "-"]) == ["-name", "-exec"]


def test_reading_stops_at_the_first_operand_where_that_is_the_custom() -> None:
    assert flags_of("nice", ["-n", "5", "git", "-x"], permute=False) == ["-n"]


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
