from __future__ import annotations

import json

import pytest

from ahp.cli.main import run
from ahp.system import terminal
from tests.conftest import Repo

POLICY = """
facts: {lint: {run: [sh, lint.sh]}}
rules: {fix: {at: pre-commit, control: files.changed_count > 3, action: {type: run, command: [fix, "a b"]}}}
"""


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", POLICY)


def test_a_person_sees_the_commands_and_accepts_them(
    repo: Repo, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    assert run(["trust"]) == 0
    assert person == ["ahp: may these 2 commands run from now on?"]
    out = capsys.readouterr().out
    assert "waits: facts.lint: sh lint.sh  (in .)" in out and "waits: rule fix: fix 'a b'" in out
    assert run(["trust", "--list"]) == 0
    assert capsys.readouterr().out.count("accepted: ") == 2
    (record,) = [
        record
        for record in map(json.loads, (repo.root / ".git/ahp/signals.jsonl").read_text().splitlines())
        if record["kind"] == "trust"
    ]
    assert set(record["commands"]) == {"facts.lint", "rule fix"}
    repo.write("lint.sh", "changed")
    assert run(["trust", "--list"]) == 0
    assert "waits: facts.lint" in capsys.readouterr().out
    assert run(["trust", "--forget"]) == 0
    assert run(["trust", "--list"]) == 0
    assert capsys.readouterr().out.count("waits: ") == 2


def test_nothing_of_a_command_is_hidden(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    command = "true # lint" + " " * 2000 + "the tree\ntouch \x1b[8m/evil"
    repo.write(".ahp/hooks.yaml", json.dumps({"facts": {"lint": {"run": ["sh", "-c", command]}}, "rules": {}}))
    assert run(["trust", "--list"]) == 0
    out = capsys.readouterr().out
    assert "the tree\n    touch " in out and "[8m/evil'  (in .)" in out and "\x1b" not in out


@pytest.mark.parametrize("marker", ["CLAUDECODE", "CI"])
def test_an_agent_or_ci_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], marker: str, person: list[str]
) -> None:
    monkeypatch.setenv(marker, "true")
    assert run(["trust"]) == 2
    err = capsys.readouterr().err
    assert "only a person can trust a command" in err and "ahp trust" not in err
    monkeypatch.delenv(marker)
    assert run(["trust", "--list"]) == 0
    assert "accepted" not in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "code"), [(True, 0), (False, 1), (None, 2)])
def test_a_person_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: bool | None, code: int
) -> None:
    monkeypatch.setattr(terminal, "ask", lambda question, patience: answer)
    assert run(["trust"]) == code
    assert ("run in a terminal: ahp trust" in capsys.readouterr().err) == (answer is None)
    run(["trust", "--list"])
    assert ("waits" in capsys.readouterr().out) == (answer is not True)


def test_nothing_to_accept_needs_nobody(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", "version: 1\n")
    assert run(["trust"]) == 0
    assert capsys.readouterr().out == "the policy runs no command\n"
