from __future__ import annotations

import pytest

from ahp.agents.shell.marks import Marks, Unknown
from ahp.agents.shell.special import READERS
from ahp.agents.shell.usage import Usage


def read(line: str, stdin: str | None = None) -> Usage:
    program, *args = line.split()
    return READERS[program](program, args, stdin, Marks())


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("dd if=a of=b bs=1", ["a"], ["b"]),
        ("chmod -x f", [], ["f"]),
        ("chmod -R u+w f", [], ["f"]),
        ("sh f a", ["f"], []),
    ],
)
def test_the_files_of_a_line(line: str, reads: list[str], writes: list[str]) -> None:
    found = read(line)
    assert (found.reads, found.writes) == (reads, writes)


@pytest.mark.parametrize(
    ("line", "stdin", "runs"),
    [
        ("sh -c a b", None, ["a"]),
        ("sh -ec -x a", None, ["a"]),
        ("sh -s b", "a", ["a"]),
        ("sh", "a", ["a"]),
        ("sh /dev/stdin", "a", ["a"]),
        ("bash -O extglob -o pipefail -c a", None, ["a"]),
        ("sh -c", None, []),
        ("bash --version", None, []),
        ("trap a EXIT", None, ["a"]),
        ("trap - EXIT", None, []),
        ("tar xf a -I c --checkpoint-action=exec=d", None, ["c", "d"]),
    ],
)
def test_the_texts_that_a_line_runs(line: str, stdin: str | None, runs: list[str]) -> None:
    assert [run.script for run in read(line, stdin).runs] == runs


@pytest.mark.parametrize(
    ("line", "stdin", "runs"),
    [
        ("xargs a", "b c\n", [("a", "b", "c")]),
        ("xargs", "b", [("echo", "b")]),
        ("xargs -I{} a {} x{}", "b c\nd\n", [("a", "b c", "xb c"), ("a", "d", "xd")]),
        ("xargs -0 a", "b c\0d", [("a", "b c", "d")]),
        ("xargs -i a {}", "b\n", [("a", "b")]),
    ],
)
def test_the_commands_that_a_line_runs(line: str, stdin: str | None, runs: list[tuple[str, ...]]) -> None:
    assert [run.words for run in read(line, stdin).runs] == runs


@pytest.mark.parametrize(
    ("line", "stdin", "place"),
    [
        ("sh", None, "program"),
        ("xargs sh", "x", "program"),
    ],
)
def test_what_nobody_can_tell(line: str, stdin: str | None, place: str) -> None:
    assert place in read(line, stdin).places


def test_words_that_come_from_a_file_may_be_options() -> None:
    known = Marks()
    found = READERS["xargs"]("xargs", ["-a", "f", "git", "commit"], None, known)
    assert found.runs[0].opens
    assert known.may_be_option(found.runs[0].words[-1])


def test_names_below_a_folder_are_no_options() -> None:
    known = Marks()
    names = known.mark(Unknown("", pattern="src/**"))
    found = READERS["xargs"]("xargs", ["rm"], names, known)
    assert not known.may_be_option(found.runs[0].words[-1])


def test_a_written_path_that_a_command_prints_is_unresolved() -> None:
    known = Marks()
    found = READERS["dd"]("dd", ["of=" + known.mark(Unknown("$(x)", "output"))], None, known)
    assert found.places == {"path"}
