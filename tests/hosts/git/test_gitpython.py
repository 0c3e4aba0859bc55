"""Programs that commit and push through GitPython come to the gate as people do (docs/embedding.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import git
import pytest

from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  size: {at: pre-commit, block: files.changed_count > 1}
  words: {at: commit-msg, block: commit.subject.startswith('wip')}
  pushed: {at: pre-push, block: files.changed_count > 1}
"""
REFUSED = (git.GitCommandError, git.HookExecutionError)
Commit = Callable[..., None]


@pytest.fixture(params=["index.commit", "git.commit"])
def commit(gated: Gated, request: pytest.FixtureRequest) -> Commit:
    """Stages files and commits them, in one of GitPython's two ways."""
    gated.policy(POLICY)

    def made(message: str, *names: str) -> None:
        repo = git.Repo(gated.root)
        for name in names:
            gated.write(name)
        repo.index.add(list(names))
        if request.param == "index.commit":
            repo.index.commit(message)
        else:
            repo.git.commit("-m", message)

    return made


def test_its_commits_are_judged_by_content_and_message(gated: Gated, commit: Commit) -> None:
    first = gated.head()
    with pytest.raises(REFUSED, match="refused by size"):
        commit("two", "a.txt", "b.txt")
    gated.git("reset", "-q")
    with pytest.raises(REFUSED, match="refused by words"):
        commit("wip", "a.txt")
    assert gated.head() == first
    gated.git("reset", "-q")
    commit("one", "a.txt")
    assert gated.git("log", "-1", "--format=%s") == "one"
    assert gated.log("bypass") == []


def test_its_push_is_judged(gated: Gated, commit: Commit, tmp_path: Path) -> None:
    gated.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    gated.git("remote", "add", "origin", str(tmp_path / "up.git"))
    gated.git("push", "-q", "--no-verify", "origin", "main")
    for name in ("a.txt", "b.txt"):
        commit(name, name)
    with pytest.raises(git.GitCommandError):
        git.Repo(gated.root).remote("origin").push("main").raise_if_error()
    assert [signal["rule"] for signal in gated.log("signal")] == ["pushed"]
