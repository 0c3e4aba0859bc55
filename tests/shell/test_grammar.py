"""What no shell runs at all."""

import pytest

from ahp.shell.grammar import never_runs


@pytest.mark.parametrize("text", ["a 'b", 'a "b', "a 'b' \"c'", "a >", "a <b>", r"a \'b 'c"])
def test_a_line_that_no_shell_accepts_never_runs(text: str) -> None:
    assert never_runs(text)


@pytest.mark.parametrize(
    "text",
    [
        "a 'b'", "a \\'", "a 'b\nc", "a # don't", 'a "$(b")', "a $'b\\''", "a `b'`", "a ${b#'}", "a <<E '",
        r"a 'it\'s'", "a \\>", "a '>'", 'a "it\'s"',
    ],
)  # fmt: skip
def test_a_text_that_may_be_whole_is_read(text: str) -> None:
    assert not never_runs(text)
