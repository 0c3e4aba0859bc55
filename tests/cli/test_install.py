"""`ahp install`, `ahp uninstall` and what installed hooks call."""

from __future__ import annotations

import os
import posix
import sys

import pytest

from ahp.cli import main
from ahp.hosts.git import install as installing
from ahp.hosts.git import main as hook
from ahp.system import environ, terminal
from tests.conftest import Repo

_RULE = "rules: {a: {at: pre-push, block: push.is_force}}\n"


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.commit("first", README="text\n")
    monkeypatch.chdir(repo.root)
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    monkeypatch.setattr(installing.bundle, "write", lambda path, python, paths: None)
    return repo


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main.run(list(arguments))
    out, err = capsys.readouterr()
    return code, out + err


def test_install_and_uninstall_say_what_they_did(
    here: Repo, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    here.write(".ahp/hooks.yaml", _RULE)
    here.write(".git/hooks/pre-push", "#!/bin/sh\n", 0o755)
    folder = f"{here.root}/.git/hooks"
    installed = f"git: 5 hooks in {folder}\ngit: earlier hooks keep running: pre-push\n"
    assert run(capsys, "install", "git") == (0, installed)
    assert run(capsys, "install", "git") == (0, installed)
    stays = f"git: the policy stays in .ahp, the log in {here.root}/.git/ahp; delete what you do not want\n"
    removed = f"git: 5 hooks removed from {folder}\ngit: earlier hooks are back: pre-push\n{stays}"
    assert run(capsys, "uninstall", "git") == (0, removed)
    assert run(capsys, "uninstall", "git") == (0, f"git: 0 hooks removed from {folder}\n")


@pytest.mark.parametrize("marker", ["CLAUDECODE", "CI"])
def test_only_a_person_takes_the_gate_away(
    here: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, person: list[str], marker: str
) -> None:
    run(capsys, "install", "git")
    monkeypatch.setenv(marker, "1")
    code, said = run(capsys, "uninstall", "git")
    assert code == 2 and "only a person can take the gate away" in said and "ahp uninstall" not in said
    assert person == [] and (here.root / ".git/hooks/pre-push").exists()


@pytest.mark.parametrize(("answer", "code"), [(False, 1), (None, 2)])
def test_without_a_person_s_yes_the_gate_stays(
    here: Repo,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: bool | None,
    code: int,
) -> None:
    run(capsys, "install", "git")
    monkeypatch.setattr(terminal, "ask", lambda question, patience: answer)
    ended, said = run(capsys, "uninstall", "git")
    assert ended == code and (here.root / ".git/hooks/pre-push").exists()
    assert ("run in a terminal: ahp uninstall git" in said) == (answer is None)


def test_outside_a_repository_there_is_nothing_to_install_into(
    here: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here.root.parent)
    for command in ("install", "uninstall"):
        code, said = run(capsys, command, "git")
        assert (code, said) == (2, f"ahp: no git repository at {here.root.parent} or above it\n")


def test_an_unknown_host_names_the_known_ones(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "install", "svn")
    assert code == 2
    assert "git" in said


def test_hook_is_for_the_shims(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((), ("no-hook", "1", "", "", "git")):  # with the name alone a hook manager runs it
        code, said = run(capsys, "hook", "git", *arguments)
        assert code == 2
        assert "ahp check pre-commit" in said


def test_hook_hands_the_shim_s_arguments_on(
    here: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["ahp"])
    monkeypatch.setattr(posix, "_exit", lambda code: None)
    monkeypatch.setattr(hook, "main", lambda: seen.append(sys.argv[1:]))
    assert run(capsys, "hook", "git", "commit-msg", "1", "", "", "git", "--odd", "file")[0] == 0
    assert seen == [["commit-msg", "1", "", "", "git", "--odd", "file"]]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (f"facts: {{x: {{run: [no-such-program]}}}}\n{_RULE}", "no such program on PATH for facts.x (no-such-program)"),
        (
            f"facts: {{x: {{run: [sh]}}}}\n{_RULE}",
            "nobody has accepted facts.x in this clone: they do not run; a person runs",
        ),
        ("rules: []\n", "the policy here is not valid; what is wrong: ahp policy lint"),
        (_RULE, ""),
        ("version: 1\n", "git: policy: there is none here, so every commit passes; ahp init"),
    ],
)
def test_install_says_which_checkers_cannot_run(
    here: Repo, capsys: pytest.CaptureFixture[str], policy: str, said: str
) -> None:
    here.write(".ahp/hooks.yaml", policy)
    code, out = run(capsys, "install", "git")
    assert code == 0 and said in out and len(out.splitlines()) == (2 if said else 1)
