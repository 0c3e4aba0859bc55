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
        ("find a b", "a/**\nb/**"),
        ("du d", "d/**"),
        ("git ls-files d", "d/**"),
        ("git grep -l x", "./**"),
        ("git grep -lz x d e", "d/**\ne/**"),
        ("git grep --name-only x HEAD -- d", "d/**"),
        ("git grep -l -e x -- .ahp", ".ahp/**"),
        ("git grep x d", "**"),
        ("grep -rl x d", "d/**"),
        ("ls", "./**"),
        ("ls d", "d/**"),
        ("grep -rl x .", "./**"),
        ("grep x f", "**"),
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
    assert known.pattern(printed("sort", [], names, {}, known)) == "src/**"
    assert known.pattern(printed("grep", ["ahp"], names, {}, known)) == "src/**/*ahp*"
    assert known.pattern(printed("grep", ["-v", "ahp"], names, {}, known)) == "src/**"
    for program, text in [
        ("sed", "s/a/b/"),
        ("sed", r"s/\.a$/.b/;p"),
        ("awk", "{print $2}"),
        ("tr", "x"),
        ("pv", "-l"),
    ]:
        assert known.pattern(printed(program, [text], names, {}, known)) == "src/**"
    for program, text in [("sed", "s/a/.b/"), ("sed", "s|a|b/c|"), ("sed", "y/a/b/"), ("awk", '{print "a"$1}')]:
        assert known.pattern(printed(program, [text], names, {}, known)) == "**"


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


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("gofmt -l .", "./**/*.go"),
        ("goimports -l cmd pkg", "cmd/**/*.go pkg/**/*.go"),
        ("rustfmt -l src/lib.rs", "src/lib.rs/**/*.rs"),
        ("prettier -l .", "./**"),
        ("prettier --list-different src/**/*.ts", "src/**/*.ts"),
        ("shfmt -l .ahp", ".ahp/**"),
        ("git diff --name-only -- src", "src/**"),
        ("git diff --name-status main .ahp", "main/** .ahp/** ./**"),
        ("gofmt -d .", "**"),
        ("prettier --check .", "**"),
    ],
)
def test_what_would_be_formatted_or_has_changed_lies_in_the_folders_named(line: str, pattern: str) -> None:
    known = Marks()
    program, *args = line.split()
    assert " ".join(part.pattern for part in known.of(printed(program, args, None, {}, known))) == pattern
