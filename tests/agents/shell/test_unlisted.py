from __future__ import annotations

from ahp.agents.shell import roles
from ahp.agents.shell.marks import Marks, Unknown
from ahp.agents.shell.usage import Run


def test_words_are_read_by_what_they_look_like() -> None:
    known = Marks()
    found = roles.read("newtool", ["--config=c.toml", "-o", "d/e", "f.g", known.mark(Unknown("$X"))], None, known)
    assert (found.unsure, found.writes, found.places) == (["c.toml", "f.g"], ["d/e"], {"option", "value"})


def test_a_command_or_a_text_that_it_is_given_is_run() -> None:
    known = Marks()
    assert roles.read("newtool", ["git", "commit"], None, known).runs == [Run(("git", "commit"))]
    assert roles.read("newtool", ["--eval", "a (b)"], None, known).runs == [
        Run(code="a (b)", language="newtool"),
        Run(script="a (b)", stdin=""),
    ]
    assert roles.read("newtool", ["--eval", "db.a(b)"], None, known).runs == [Run(code="db.a(b)", language="newtool")]
