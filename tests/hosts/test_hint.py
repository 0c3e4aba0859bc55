"""The committed hint: who has no gate in a clone is told so by the project's own tools, and nobody else is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

SAID = "ahp: no gate in this clone, so CI alone judges what you commit; fix: "


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", "version: 1\nrules: {a: {at: pre-commit, block: \"'x' in files.changed\"}}\n")
    return repo


def told(repo: Repo, *argv: str, **env: str) -> str:
    """What a command says on standard error, which it has to end well with."""
    done = subprocess.run(argv, cwd=repo.root, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr


def test_the_script_speaks_only_where_there_is_no_gate(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--hint"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        ".ahp/hint.sh: written",
        "next: run it where colleagues come by, as in a set-up script: sh .ahp/hint.sh",
    ]
    assert told(project, "sh", ".ahp/hint.sh").startswith(SAID)
    assert told(project, "sh", ".ahp/hint.sh", CI="true") == ""
    assert run(["install", "git"]) == 0
    assert told(project, "sh", ".ahp/hint.sh") == ""
    shutil.rmtree(project.root / ".git")
    assert told(project, "sh", ".ahp/hint.sh") == ""


@pytest.mark.parametrize("before", [None, "husky"])
def test_npm_tells_it(before: str | None, project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    scripts = {"test": "x", **({"prepare": before} if before else {})}
    project.write("package.json", json.dumps({"name": "a", "scripts": scripts, "private": True}, indent=4) + "\n")
    for _ in range(2):
        assert run(["init", "--hint"]) == 0
        assert "package.json: tells it at `npm install`\n" in capsys.readouterr().out
    text = (project.root / "package.json").read_text()
    prepare = json.loads(text)["scripts"]["prepare"]
    line = 'git -c "alias.hint=!sh .ahp/hint.sh" hint || exit 0'
    assert prepare == (f"{before} && {line}" if before else line)
    assert text.startswith('{\n    "name": "a",\n    "scripts": {\n        "test": "x",\n')
    assert told(project, "sh", "-c", line).startswith(SAID)
    project.write("below/x.txt")
    assert told(project, "sh", "-c", f"cd below; {line}").startswith(SAID)  # as for a package of a workspace


def test_make_and_direnv_tell_it(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("package.json", "[no json")
    project.write("Makefile", "all:\n\t@true")
    assert run(["init", "--hint"]) == 0
    assert "Makefile: tells it at each `make`\nnext: commit .ahp/hint.sh and Makefile\n" in capsys.readouterr().out
    assert told(project, "make", "--silent").startswith(SAID)
    (project.root / ".ahp/hint.sh").unlink()
    assert told(project, "make", "--silent") == ""
    project.write(".envrc", "export A=1\n")
    assert run(["init", "--hint"]) == 0
    assert told(project, "sh", "./.envrc").startswith(SAID)


def test_a_link_is_not_followed(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("real", "all:\n")
    (project.root / "Makefile").symlink_to("real")
    assert run(["init", "--hint"]) == 0
    assert "Makefile" not in capsys.readouterr().out and (project.root / "real").read_text() == "all:\n"
