"""What is judged is what its id says: git checks no hash when it reads a loose object."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from ahp.system import commits, git
from ahp.system.git import GitError
from ahp.system.history import CommitView
from ahp.system.view import IndexView
from tests.conftest import Repo


def forge(repo: Repo, oid: str, kind: str, content: bytes) -> bytes:
    """Puts another content in the place of a loose object; what was there."""
    path = repo.root / ".git" / "objects" / oid[:2] / oid[2:]
    true = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(content)) + content))
    return true


@pytest.fixture
def states(repo: Repo) -> Repo:
    repo.commit("one", **{"a.txt": "old\n"})
    repo.write("a.txt", "SECRET\n")
    repo.add()
    return repo


def at(repo: Repo) -> git.Repository:
    import os

    return git.discover(str(repo.root), dict(os.environ))


@pytest.mark.parametrize("name", ["HEAD:a.txt", ":a.txt"])
def test_a_forged_file_is_no_diff(states: Repo, name: str) -> None:
    """Neither side: one that was, and holds the line already, would hide it as well."""
    assert b"+SECRET" in IndexView(at(states)).diff()
    oid = states.git("rev-parse", name).strip()
    forge(states, oid, "blob", b"plain\n" if name == ":a.txt" else b"SECRET\n")
    with pytest.raises(GitError, match=f"the object {oid[:12]} is not what its id says; `git fsck` tells more"):
        IndexView(at(states)).diff()


def test_a_forged_file_is_not_read(states: Repo) -> None:
    view = IndexView(at(states))
    assert view.read("a.txt") == b"SECRET\n"
    forge(states, states.git("rev-parse", ":a.txt").strip(), "blob", b"plain\n")
    for ask in (lambda: view.read("a.txt"), lambda: view.blob_lines({states.git("rev-parse", ":a.txt").strip(): 6})):
        with pytest.raises(GitError, match="is not what its id says"):
            ask()


def test_a_forged_file_of_a_past_commit_is_no_diff(states: Repo) -> None:
    states.git("commit", "-q", "-m", "two")
    repo = at(states)
    past = commits.listed(repo, [states.head()])
    (view,) = commits.views(repo, past, with_text=True)
    assert b"+SECRET" in view.diff()
    forge(states, states.git("rev-parse", "HEAD:a.txt").strip(), "blob", b"plain\n")
    repo = at(states)
    (view,) = commits.views(repo, past, with_text=True)
    with pytest.raises(GitError, match="is not what its id says"):
        view.diff()
    with pytest.raises(GitError, match="is not what its id says"):
        CommitView(at(states), "HEAD").diff()


def test_a_forged_commit_is_not_listed(states: Repo) -> None:
    head = states.head()
    raw = states.run("git", "cat-file", "commit", head).stdout
    assert commits.listed(at(states), [head])[0].subject == "one"
    forge(states, head, "commit", raw.replace(b"one", b"two"))
    with pytest.raises(GitError, match="is not what its id says"):
        commits.listed(at(states), [head])


def test_a_message_is_read_behind_a_nul(states: Repo) -> None:
    raw = states.run("git", "cat-file", "commit", "HEAD").stdout
    oid = (
        states.run("git", "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw + b"\0WIP\n")
        .stdout.decode()
        .strip()
    )
    assert commits.listed(at(states), [oid])[0].message == "one\nWIP\n"
    assert commits.texts(at(states), [oid]) == {oid: "one\nWIP\n"}
    assert commits.listed(at(states), [states.head()])[0].message == "one\n"


def test_no_graph_of_commits_is_believed(states: Repo, tmp_path: Path) -> None:
    """A forged one leaves out a parent; here one that is of no use at all."""
    states.git("commit", "-q", "-m", "two")
    states.git("commit-graph", "write", "--reachable")
    graph = states.root / ".git" / "objects" / "info" / "commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes()[:50])
    assert at(states).run("rev-list", "--count", "HEAD") == b"2\n"
    assert "core.commitGraph=false" in at(states).command("log")[0]


@pytest.mark.parametrize("name", ["GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE2_EVENT"])
def test_no_trace_is_written_among_the_answers(states: Repo, name: str) -> None:
    env = {name: "/dev/stdout", "GIT_DIR": str(states.root / ".git")}
    repo = git.locate(str(states.root), {**at(states).env, **env})
    assert repo.line("rev-parse", "HEAD") == states.head()
