"""Messages are cleaned, split and read as git itself does it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from ahp.facts import commit_message
from tests.examples import examples

SCISSORS = "# ------------------------ >8 ------------------------"
TEXTS = st.lists(
    st.sampled_from(
        # one word a line
        """
        |
        | |# comment| # no comment|subject|body  |\ttext\t|a: b|Key-1: value| folded|key : v|Fixes #1|é: ü|x:
        |Signed-off-by: A <a@b>|Signed-off-by: A|not a trailer|http://x.y|(cherry picked from commit 1)
        |BREAKING CHANGE: all
        """.replace("\n        |", "|").split("|")
    ),
    max_size=9,
).map("\n".join)
FEW = examples(60, HealthCheck.function_scoped_fixture)


@given(text=TEXTS)
@FEW
def test_cleaning_is_git_stripspace(repo: Any, text: str) -> None:
    for mode, options in (("whitespace", []), ("strip", ["-s"])):
        done = repo.run("git", "stripspace", *options, stdin=text.encode())
        assert commit_message.clean(text, mode, "#", edited=False) == done.stdout.decode()


@given(text=TEXTS)
@FEW
@example(text="s\n\nSigned-off-by: A <a@b>\nnot a trailer\nneither\nnor")
@example(text="s\n\nSigned-off-by: A <a@b>\nnot\na\ntrailer\nat all")
@example(text="s\n\na: b\n folded\n\tand more")
@example(text="s\n\nx:\n(cherry picked from commit 1)\n # folded")
@example(text="s\n\na: b\n(cherry picked from commit 1)\nneither")
@example(text="only: subject")
def test_trailers_are_those_of_git(repo: Any, text: str) -> None:
    cleaned = commit_message.clean(text, "strip", "#", edited=False)
    # git folds values itself only with --unfold; keys keep their case, a `---` line would end a patch's message.
    done = repo.run("git", "interpret-trailers", "--parse", "--no-divider", stdin=cleaned.encode())
    assert commit_message.trailers(cleaned) == done.stdout.decode().split("\n")[:-1]


@given(text=TEXTS)
@FEW
def test_subject_and_body_are_those_of_git(repo: Any, text: str) -> None:
    cleaned = commit_message.clean(text, "strip", "#", edited=False)
    tree = repo.git("hash-object", "-t", "tree", "-w", "--stdin")
    commit = repo.git("commit-tree", tree, stdin=cleaned.encode())
    subject, _, body = repo.git("log", "-1", "--format=%s%x00%b", commit).partition("\0")
    assert commit_message.split(cleaned) == (subject, body.strip("\n"))


def test_an_edited_draft_loses_comments_and_what_is_below_the_scissors() -> None:
    text = f"subject\n# comment\n\n{SCISSORS}\n# Do not modify\ndiff --git a/x b/x\n"
    assert commit_message.clean(text, "", "#", edited=True) == "subject\n"
    assert commit_message.clean(text, "scissors", "#", edited=True) == "subject\n# comment\n"
    assert commit_message.clean(text, "verbatim", "#", edited=True) == text
    assert "diff --git" in commit_message.clean(text, "", "#", edited=False)


def test_any_comment_string_works() -> None:
    assert commit_message.clean("a\n// b\n", "strip", "//", edited=True) == "a\n"
    assert commit_message.clean("#1 fixed\n\n; Please enter\n;\n", "", "auto", edited=True) == "#1 fixed\n"
    assert commit_message.clean("plain\n", "", "auto", edited=True) == "plain\n"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("feat: add", ("feat", "", False)),
        ("Fix(core)!: mend", ("fix", "core", True)),
        ("docs(a, b): x", ("docs", "a, b", False)),
        ("feat!: x", ("feat", "", True)),
        ("feat:add", ("", "", False)),
        ("feat: ", ("", "", False)),
        ("feat", ("", "", False)),
        ("two words: x", ("", "", False)),
        ("feat(): x", ("", "", False)),
        ("feat(a)(b): x", ("", "", False)),
        (": x", ("", "", False)),
        ("Merge branch 'x'", ("", "", False)),
        ("https://x: y", ("", "", False)),
        ("", ("", "", False)),
    ],
)
def test_conventional_subjects(subject: str, expected: tuple[str, str, bool]) -> None:
    assert commit_message.conventional(subject) == expected


@pytest.mark.no_cover
@pytest.mark.usefixtures("no_hang")
@pytest.mark.parametrize("text", [" \n" * 1_000_000 + "x", "s\n\nA: b\n" + " c\n" * 1_000_000], ids=["blank", "folded"])
def test_a_message_of_a_million_lines_is_read_line_by_line(text: str) -> None:
    assert commit_message.split(text)[0] in ("x", "s")
    assert commit_message.trailers(text) == ([] if text.endswith("x") else ["A: b" + " c" * 1_000_000])


def test_plain_texts_are_known_without_asking_git() -> None:
    assert commit_message.is_plain("feat: x\n\n  indented\nümlaut\n")
    assert not commit_message.is_plain("a\n# b\n")
    assert not commit_message.is_plain("a\n; b\n")
