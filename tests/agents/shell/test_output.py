from __future__ import annotations

import pytest

from ahp.agents.shell.marks import Marks, Unknown, is_known
from ahp.agents.shell.output import printed


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (["echo", "a", "b"], "a b\n"),
        (["echo", "-n", "a"], "a"),
        (["echo", "-e", r"a\x2d\055\n\u002d\e\q"], "a--\n-\\e\\q\n"[:5] + "\x1b\\q\n"),
        (["echo", "-e", r"a\cb"], "a"),
        (["echo", "-ne", r"\\"], "\\"),
        (["printf", r"\147\x69\t%%"], "gi\t%"),
        (["printf", "%s-%s\n", "a", "b", "c"], "a-b\nc-\n"),
        (["printf", "--", "%s", "-n"], "-n"),
        (["printf", "%b", r"\055n"], "-n"),
        (["printf", "%d", "12"], "12"),
        (["printf", "x", "y"], "x"),
        (["cat"], "in"),
        (["cat", "-"], "in"),
        (["cat", "f", "g"], "FG"),
        (["tee", "f"], "in"),
        (["true"], ""),
    ],
)
def test_what_is_plain_is_told(line: list[str], text: str) -> None:
    assert printed(line[0], line[1:], "in", {"f": "F", "g": "G"}, Marks()) == text


@pytest.mark.parametrize(
    "line",
    [
        ["echo", r"a\x2d"],
        ["printf", "%q", "a"],
        ["printf", "%d", "a"],
        ["printf", "%5s", "a"],
        ["printf", r"a\cb"],
        ["printf", "--"],
        ["printf", "-v", "X", "a"],
        ["printf", "%s", "a" * 20_000],
        ["cat", "h"],
        ["rev"],
        ["git", "log"],
    ],
)
def test_what_is_not_plain_is_unknown_and_never_wrong(line: list[str]) -> None:
    assert not is_known(printed(line[0], line[1:], None, {}, Marks()))


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("pwd", "."),
        ("mktemp", "/tmp/tmp.XXXXXXXXXX"),
        ("mktemp -d", "/tmp/tmp.XXXXXXXXXX"),
        ("mktemp x.XXX", "x.XXX"),
        ("mktemp -t x.XXX", "/tmp/x.XXX"),
        ("mktemp --tmpdir=d x.XXX", "x.XXX"),
        ("which ahp", "**/ahp"),
        ("command -v ahp", "**/ahp"),
        ("realpath a/b", "a/b"),
        ("dirname a/b", "a"),
        ("dirname a", "."),
        ("git rev-parse --git-dir", ".git"),
        ("git rev-parse --git-path hooks", ".git/hooks"),
        ("git rev-parse --show-toplevel", "."),
        ("git rev-parse HEAD", "**"),
        ("git ls-files", "./**"),
        ("git diff --name-only", "./**"),
        ("git log", "**"),
        ("find src -name x", "src/**/x"),
        ("find a b", "a/**/*\nb/**/*"),
        ("git grep -l x", "./**"),
        ("ls", "./**"),
        ("grep -rl x .", "./**"),
        ("rg --files", "./**"),
        ("fd x", "./**"),
    ],
)
def test_a_path_that_is_printed_has_a_pattern(line: str, pattern: str) -> None:
    known = Marks()
    program, *args = line.split()
    assert known.pattern(printed(program, args, None, {}, known)) == pattern


def test_names_pass_through_filters() -> None:
    known = Marks()
    names = known.mark(Unknown("", pattern="src/**"))
    for program in ("sort", "grep", "head", "tr"):
        assert known.pattern(printed(program, ["x"], names, {}, known)) == "src/**"
    assert known.pattern(printed("sed", ["s/a/.b/"], names, {}, known)) == "**"


@pytest.mark.parametrize(
    ("program", "stdin", "origin"),
    [("base64", "eA==", "script"), ("date", None, "outside"), ("curl", None, "output")],
)
def test_where_an_unknown_output_comes_from(program: str, stdin: str | None, origin: str) -> None:
    known = Marks()
    assert known.of(printed(program, [], stdin, {}, known))[0].origin == origin


def test_what_was_made_from_a_text_of_the_script_stays_so() -> None:
    known = Marks()
    first = printed("rev", [], "x", {}, known)
    assert known.of(printed("tr", ["a", "b"], first, {}, known))[0].origin == "script"
    assert known.of(printed("realpath", [known.mark(Unknown("$X"))], None, {}, known))[0].pattern == "**"
