"""A shell call that moves an issue of Monoco's passes that issue's gate."""

from __future__ import annotations

import pytest

from ahp.agents import issue_gate
from tests.agents.conftest import Ask, Call
from tests.conftest import Repo

POLICY = """
rules:
  tool: {at: pre-tool-use, block: tool.command == 'never', message: never}
  review: {at: pre-issue-submit, block: "true", message: nobody has looked at it, fix: [ask for a review]}
  begin: {at: pre-issue-start, prompt: "true", message: read the ticket first}
"""


@pytest.fixture(autouse=True)
def policy(project: Repo) -> None:
    project.commit("policy", **{".ahp/hooks.yaml": POLICY})
    project.git("switch", "--quiet", "--create", "feat/FEAT-0001-x")


@pytest.mark.parametrize(
    "command",
    [
        "monoco issue submit FEAT-0001",
        "monoco issue submit",
        "python3 -m monoco issue submit FEAT-0001",
        "git status && monoco issue submit FEAT-0001",
    ],
)
def test_what_the_gate_refuses_does_not_run(ask: Ask, call: Call, command: str) -> None:
    said = ask(call("Bash", command=command))
    assert said.code == 2 and "ahp blocked: review" in said.text and "ask for a review" in said.text


def test_what_it_warns_of_is_told(ask: Ask, call: Call) -> None:
    said = ask(call("Bash", command="monoco issue start FEAT-0001"))
    assert said.code == 0 and "read the ticket first" in said.text


def test_what_moves_no_issue_and_what_asks_by_itself_is_not_asked(ask: Ask, call: Call) -> None:
    for command in ("monoco issue list", "monoco issue submit --help", "ahp issue submit FEAT-0001", "echo monoco"):
        assert ask(call("Bash", command=command)) == (0, None, ""), command


def test_where_monoco_asks_by_itself_only_a_call_that_is_nothing_else_is_asked(
    ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issue_gate, "is_installed", lambda repo: True)
    assert ask(call("Bash", command="echo x > done.txt && monoco issue submit FEAT-0001")) == (0, None, "")
    assert ask(call("Bash", command="monoco issue submit FEAT-0001")).code == 2


def test_which_issue_it_is_has_to_be_written_out(ask: Ask, call: Call) -> None:
    said = ask(call("Bash", command='monoco issue submit "$ISSUE"'))
    assert said.code == 2 and "write the id out" in said.text


def test_without_a_rule_about_issues_nothing_is_asked(project: Repo, ask: Ask, call: Call) -> None:
    project.commit("no issues", **{".ahp/hooks.yaml": POLICY.partition("  review")[0]})
    assert ask(call("Bash", command='monoco issue submit "$ISSUE"')) == (0, None, "")
