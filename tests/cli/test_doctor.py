"""`ahp doctor` as a person types it (design §9)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.hosts.git import install as installing
from ahp.hosts.git.githooks import HOOKS
from ahp.system import git
from tests.conftest import Repo


@pytest.fixture(autouse=True)
def installed(repo: Repo, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    repo.write(".ahp/hooks.yaml", "version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 100}\n")
    monkeypatch.chdir(repo.root)
    installing.install(git.discover(str(repo.root), dict(os.environ)), str(home / ".ahp/hooks.yaml"))


def test_a_line_a_check_and_nothing_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    of_newer_git = [line for line in lines if "configuration" in line]  # since 2.54
    assert len(lines) == 9 + len(HOOKS) + len(of_newer_git)
    assert all(line.startswith("ok     ") for line in lines)
    assert run(["doctor"]) == 0
    assert capsys.readouterr().out == f"ok     {len(lines)} checks  each with what it found: ahp doctor --all\n"


@pytest.mark.slow
def test_what_is_wrong_comes_last(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.add(".ahp")
    repo.commit("ask ahp", "--no-verify")
    repo.write(".ahp/hooks.yaml", "version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 10}\n")
    (repo.root / ".git/hooks/pre-commit").unlink()
    assert run(["doctor"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ok", "note", "wrong"]


@pytest.mark.slow
def test_what_is_wrong_is_mended_with_fix(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.root / ".git/hooks/pre-push").unlink()
    assert run(["doctor"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("ok")]
    assert line.startswith("wrong  pre-push")
    assert line.endswith("pre-push is not there; fix: ahp install git")
    assert run(["doctor", "--fix", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["ok"], said["mended"]) == (True, True)
    assert said["checks"][1] == {"name": "pre-commit", "status": "ok", "detail": "reached", "mend": "", "ours": False}
    (repo.root / ".git/hooks/pre-push").unlink()
    assert run(["doctor", "--fix"]) == 0
    assert capsys.readouterr().out.startswith("ahp: installed anew\nok ")


def test_hooks_that_are_not_there_are_one_row(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    for hook in ("pre-push", "post-commit"):
        (repo.root / ".git/hooks" / hook).unlink()
    assert run(["doctor"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("ok")]
    assert line.startswith("wrong  hooks ") and line.endswith("has no pre-push and post-commit; fix: ahp install git")


def test_what_is_not_ahp_s_to_mend_stays_wrong(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", "version: 1\nrules: 7\n")
    assert run(["doctor", "--fix", "--format", "json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["ok"], said["mended"]) == (False, False)


def test_outside_a_repository_it_cannot_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["doctor"]) == 2
    assert "no git repository" in capsys.readouterr().err
