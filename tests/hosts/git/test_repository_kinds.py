"""Repositories of unusual kinds, through the installed hooks (issue: bad input)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.hosts.git import install as installing
from tests.hosts.git.gated import Gated

BAD = """\
version: 1
rules:
  names: {at: pre-commit, each: p in files.changed, block: "p.startswith('bad')", message: bad}
"""


def test_a_repository_of_sha256_ids(tmp_path: Path) -> None:
    made = Gated(tmp_path / "repo")
    made.root.mkdir()
    made.git("init", "-q", "--object-format=sha256")
    made.write(".git/info/exclude", "/.ahp/\n")
    installing.install(made.repository(), "")
    made.policy(BAD)
    made.write("bad.txt")
    made.add()
    assert made.say("commit", "-m", "x").code == 1
    made.git("mv", "bad.txt", "good.txt")
    assert made.say("commit", "-q", "-m", "x") == (0, "")
    assert made.say("commit", "-q", "--amend", "-m", "y") == (0, "")
    assert made.log("bypass") == []


def test_a_separate_git_directory(tmp_path: Path) -> None:
    made = Gated(tmp_path / "work")
    made.root.mkdir()
    made.git("init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
    installing.install(made.repository(), "")
    assert made.repository().common_dir == str(tmp_path / "elsewhere.git")
    made.write(".ahp/hooks.yaml", BAD)
    made.write("bad.txt")
    made.add("bad.txt")
    assert made.say("commit", "-m", "x").code == 1
    made.git("mv", "bad.txt", "good.txt")
    assert made.say("commit", "-q", "-m", "x") == (0, "")


def test_git_told_by_its_environment_where_everything_is(gated: Gated, tmp_path: Path) -> None:
    gated.policy(BAD)
    gated.write("bad.txt")
    gated.add()
    away = Gated(tmp_path)
    env = {"GIT_DIR": str(gated.root / ".git"), "GIT_WORK_TREE": str(gated.root)}
    assert away.say("commit", "-m", "x", env=env).code == 1
    gated.git("mv", "bad.txt", "good.txt")
    assert away.say("commit", "-q", "-m", "x", env=env) == (0, "")
    assert gated.log("bypass") == []


@pytest.mark.slow
def test_installing_from_a_folder_below_does_not_hang_on_it(tmp_path: Path) -> None:
    made = Gated(tmp_path / "repo")
    made.root.mkdir()
    made.git("init", "-q")
    made.write("deep/er/x")
    done = made.run("sh", "-c", "cd deep/er && ahp install git")
    assert done.returncode == 0, done.stderr
    installed = (made.root / ".git" / "hooks" / "pre-commit").read_text()
    made.run("ahp", "install", "git")
    assert (made.root / ".git" / "hooks" / "pre-commit").read_text() == installed
    assert "deep" not in installed and "../.." not in installed
    assert os.listdir(made.root / ".git" / "ahp")
