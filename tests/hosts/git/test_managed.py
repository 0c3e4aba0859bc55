"""Hooks that a hook manager runs as commands, without an installation of ahp."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.hosts.git import host
from ahp.system.errors import AhpError
from tests.conftest import Repo

AHP = str(Path(sys.executable).with_name("ahp"))
POLICY = """
version: 1
rules:
  no-txt: {at: [pre-commit, pre-push], block: "any(glob(path, '**/*.txt') for path in files.changed)"}
  no-no: {at: commit-msg, block: "commit.subject == 'no'"}
"""


@pytest.fixture
def stdin() -> Iterator[None]:
    """Standard input is this process's own again afterwards."""
    kept = os.dup(0)
    yield
    os.dup2(kept, 0)
    os.close(kept)


def test_what_pre_commit_tells_of_a_push_is_git_s_line(monkeypatch: pytest.MonkeyPatch, stdin: None) -> None:
    for name, value in (("TO_REF", "a" * 40), ("LOCAL_BRANCH", "refs/heads/topic"), ("REMOTE_NAME", "origin")):
        monkeypatch.setenv(f"PRE_COMMIT_{name}", value)
    name, parent, log, user, git, remote = host.as_installed("pre-push", ())
    assert (name, parent, log, git, remote) == ("pre-push", str(os.getppid()), "", "git", "origin")
    assert user.endswith(".ahp/hooks.yaml")
    assert os.read(0, 1000).decode() == f"refs/heads/topic {'a' * 40} refs/heads/topic {'0' * 40}\n"
    monkeypatch.setenv("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/other")
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "b" * 40)
    assert host.as_installed("pre-push", ("up",))[-1] == "up"
    assert os.read(0, 1000).decode() == f"refs/heads/topic {'a' * 40} refs/heads/other {'b' * 40}\n"


def test_a_push_of_which_nothing_is_told_is_refused(monkeypatch: pytest.MonkeyPatch, stdin: None) -> None:
    monkeypatch.setattr(os, "isatty", lambda fd: True)
    with pytest.raises(AhpError, match="use_stdin"):
        host.as_installed("pre-push", ())
    monkeypatch.setattr(os, "isatty", lambda fd: False)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.write(writing, b"git's own")
    assert host.as_installed("pre-push", ("origin", "url"))[-2:] == ("origin", "url")
    assert os.read(0, 1000) == b"git's own"
    os.close(reading)
    os.close(writing)
    assert host.as_installed("commit-msg", ("message",))[-1] == "message"
    assert os.read(0, 1000) == b""


@pytest.mark.slow
def test_each_hook_judges(repo: Repo) -> None:
    repo.commit("one", **{".ahp/hooks.yaml": POLICY})
    repo.write("a.txt")
    repo.add()
    done = repo.run(AHP, "hook", "git", "pre-commit")
    assert done.returncode == 1 and b"commit refused by no-txt" in done.stderr
    message = repo.write(".git/message", "no\n")
    done = repo.run(AHP, "hook", "git", "commit-msg", str(message))
    assert done.returncode == 1 and b"refused by no-txt" in done.stderr  # nobody let it pass before
    repo.git("rm", "-q", "--cached", "a.txt")
    done = repo.run(AHP, "hook", "git", "commit-msg", str(message))
    repo.add()
    assert done.returncode == 1 and b"refused by no-no" in done.stderr
    pushed = f"refs/heads/main {repo.commit('two')} refs/heads/main {'0' * 40}\n".encode()
    done = repo.run(AHP, "hook", "git", "pre-push", "origin", stdin=pushed)
    assert done.returncode == 1 and b"push refused by no-txt" in done.stderr
    assert repo.run(AHP, "hook", "git", "pre-rebase").returncode == 2
