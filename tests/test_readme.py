"""The quick start of the README is what a new user types, so a test types it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Repo

PAGE = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def quick_start() -> str:
    """The commands of "Use it", without those that bring ahp and the reader to the place."""
    (block, *_) = re.findall(r"```sh\n(.*?)```", PAGE.split("\n## Use it\n")[1], re.DOTALL)
    lines = [line for line in block.splitlines() if not line.startswith(("pip install ", "cd "))]
    assert lines and lines[0].startswith("ahp init && ahp install && ")
    return "\n".join(lines)


@pytest.fixture(params=["nothing", "plain", "conventional"])
def project(request: pytest.FixtureRequest, repo: Repo) -> Repo:
    """A repository without a commit; with some; with some whose messages are conventional."""
    words = {
        "nothing": [],
        "plain": ["First", "More"],
        "conventional": ["feat: a", "fix: b", "docs: c", "ci: d", "chore: e"],
    }
    for number, subject in enumerate(words[request.param]):
        repo.commit(subject, **{"src/module.py": f"VALUE = {number}\n", "pyproject.toml": '[project]\nname = "x"\n'})
    return repo


def test_the_quick_start_works_and_is_brief(project: Repo) -> None:
    done = project.run("sh", "-e", "-c", quick_start())
    said = os.fsdecode(done.stdout + done.stderr)
    assert done.returncode == 0, said
    assert len(said.splitlines()) <= 15, said
    assert project.git("log", "-1", "--format=%s") == "chore: let ahp judge this repository"
    assert project.git("status", "--short") == ""


def test_an_ordinary_commit_afterwards_prints_nothing(project: Repo) -> None:
    project.run("sh", "-e", "-c", quick_start())
    project.write("src/module.py", "VALUE = 9\n")
    project.add()
    done = project.run("git", "commit", "--quiet", "--message", "fix: another value")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_secret_is_refused_from_then_on(project: Repo) -> None:
    project.run("sh", "-e", "-c", quick_start())
    project.write("key.txt", "AKIA" + "ABCDEFGHIJ234567\n")
    project.add()
    done = project.run("git", "commit", "--quiet", "--message", "fix: a key")
    assert done.returncode == 1 and b"no-secrets" in done.stderr and b"key.txt:1" in done.stderr
