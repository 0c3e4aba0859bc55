"""What was refused a moment ago: the same call in one line, the same file through another tool not at all."""

from __future__ import annotations

import pytest

from ahp.journal import session_calls
from ahp.system import clock
from tests.agents.conftest import Ask, Call
from tests.conftest import Repo

POLICY = """
extends: [agents]
rules:
  in-a-box: {enabled: false}
  frozen: {at: pre-tool-use, block: "tool.name == 'write' and tool.writes == ['gen.py']", message: it is generated}
  secret: {at: pre-tool-use, each: l in diff.added, block: "contains(l.text, 'AKIA')", message: a key, on_missing: skip}
"""


@pytest.fixture(autouse=True)
def policy(project: Repo) -> None:
    project.write(".ahp/hooks.yaml", POLICY)
    project.write("app.py", "old = 1\n")


def test_the_same_call_again_is_told_in_one_line(ask: Ask, call: Call) -> None:
    told = call("Write", file_path="gen.py", content="x = 1\n")
    assert "\nWhy: " in ask(told).text
    again = ask({**told, "tool_use_id": "c2"})
    assert again.code == 2 and again.text.startswith("ahp blocked again: frozen (") and "\n" not in again.text
    assert "it is generated" in again.text
    other = ask(call("Write", file_path="gen.py", content="x = 2\n"))
    assert "\nWhy: " in other.text  # another call is told in full


@pytest.mark.parametrize(
    ("command", "rule", "code"),
    [
        ("sed -i s/old/new/ gen.py", "may-write-what-was-refused", 0),
        ("cp /tmp/gen.py gen.py", "may-write-what-was-refused", 0),
        ("cat > gen.py <<'E'\nx = 1\nE", "refused-to-another-tool", 2),
    ],
)
def test_a_refused_file_is_told_through_the_shell(
    project: Repo, ask: Ask, call: Call, command: str, rule: str, code: int
) -> None:
    project.write("gen.py", "old = 1\n")
    assert rule not in ask(call("Bash", command=command)).text
    assert ask(call("Write", file_path="gen.py", content="x = 1\n")).code == 2
    said = ask(call("Bash", command=command, call="c3"))
    assert said.code == code and rule in said.text and "gen.py: 'frozen'" in said.text
    assert ask(call("Bash", command=command, session="another")).code == 0


def test_mended_and_readable_it_goes_through_whatever_tool(ask: Ask, call: Call) -> None:
    key = "key = 'AKIA1'\n"
    assert ask(call("Write", file_path="app.py", content=key)).code == 2
    assert ask(call("Edit", file_path="app.py", old_string="old = 1", new_string="key = env['KEY']")).code == 0
    assert ask(call("Bash", command="cat > app.py <<'E'\nkey = env['KEY']\nE")).code == 0
    assert ask(call("Bash", command="rm app.py")).code == 0
    assert ask(call("Bash", command="ls app.py && touch other.py")).code == 0


@pytest.mark.parametrize("command", ["git rm -f gen.py", "git checkout -- gen.py", "git restore gen.py"])
def test_what_git_has_of_it_may_come_back(project: Repo, ask: Ask, call: Call, command: str) -> None:
    project.commit("two", **{"gen.py": "old = 1\n"})
    assert ask(call("Write", file_path="gen.py", content="x = 1\n")).code == 2
    assert ask(call("Bash", command=command)).code == 0


def test_what_was_written_since_by_a_tool_that_shows_it_settles_it(ask: Ask, call: Call) -> None:
    assert ask(call("Write", file_path="app.py", content="key = 'AKIA1'\n")).code == 2
    assert "may-write-what" in ask(call("Bash", command="sed -i s/old/new/ app.py")).text
    assert ask(call("Edit", file_path="app.py", old_string="old = 1", new_string="old = 2")).code == 0
    assert "may-write-what" not in ask(call("Bash", command="sed -i s/old/new/ app.py", call="c4")).text


def test_what_is_long_ago_counts_no_more(project: Repo, ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(call("Write", file_path="gen.py", content="x = 1\n")).code == 2
    (kept,) = session_calls.read(str(project.root / ".git/ahp"), "s1")
    assert (kept.kind, kept.writes, list(kept.contents)) == ("write", ["gen.py"], ["gen.py"])
    later = clock.now() + 700
    monkeypatch.setattr(clock, "now", lambda: later)
    assert ask(call("Bash", command="cp /tmp/gen.py gen.py")).code == 0
