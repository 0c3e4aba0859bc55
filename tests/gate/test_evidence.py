"""What an override is bound to follows from git's objects: the same before the commit, of it, and after a rebase."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.gate import candidate
from ahp.gate.match import Hit
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import git
from ahp.system.errors import OutputLimit
from ahp.system.history import CommitView
from ahp.system.view import IndexView, View
from tests.conftest import Repo


def content(repo: Repo, commit: str = "", items: list[object] | None = None) -> str:
    """Of what is staged, or of a commit."""
    found = git.discover(str(repo.root), dict(os.environ))
    view: View = CommitView(found, commit) if commit else IndexView(found)
    where = Workspace(str(repo.root), "", {}, found)
    event = Event("pre-commit", "git", Actor("human"), where, 0.0).but(view=view)
    return candidate.content(event, Hit("r", items=items))


def test_the_commit_has_the_evidence_of_what_was_staged_and_keeps_it_when_it_is_rebased(repo: Repo) -> None:
    repo.commit("first", **{"a.txt": "one\ntwo\nthree\n", "old": "text\n" * 9, "b.bin": b"\0\1"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.write("a.txt", "one\ntwo\nmore\nthree\n")
    repo.write("b.bin", b"\0\2")
    repo.git("mv", "old", "new")
    repo.add()
    staged = content(repo)
    assert staged.startswith("sha256:")
    second = repo.commit("second")
    assert content(repo, second) == staged
    repo.git("checkout", "-q", "main")
    repo.commit("other", **{"a.txt": "zero\none\ntwo\nthree\n"})
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    assert repo.head() != second and content(repo, repo.head()) == staged


@pytest.mark.parametrize(
    ("name", "text"), [("a.txt", "one\nTWO\n"), ("c.txt", "one\ntwo\n"), ("b.bin", b"\0\3"), ("empty", "")]
)
def test_another_line_file_or_binary_is_another_change(repo: Repo, name: str, text: str | bytes) -> None:
    repo.commit("first")
    repo.write("a.txt", "one\ntwo\n")
    repo.write("b.bin", b"\0\2")
    repo.add()
    before = content(repo)
    repo.write(name, text)
    repo.add()
    assert content(repo) != before


def test_a_mode_counts(repo: Repo) -> None:
    repo.commit("first", **{"a.sh": "x\n"})
    repo.write("b", "x\n")
    repo.add()
    before = content(repo)
    repo.git("update-index", "--chmod=+x", "a.sh")
    assert content(repo) != before


def test_findings_stand_for_the_change_without_their_lines(repo: Repo) -> None:
    repo.commit("first")
    found: list[object] = [{"path": "a", "line": 3, "text": "key"}, {"path": "b", "line": 1, "text": "key"}]
    moved: list[object] = [{"path": "b", "line": 7, "text": "key"}, {"path": "a", "line": 9, "text": "key"}]
    before = content(repo, items=found)
    repo.write("elsewhere")
    repo.add()
    assert content(repo, items=moved) == before
    assert content(repo, items=[*found, found[0]]) != before
    assert content(repo, items=[{"path": "a", "line": 3, "text": "another"}]) != before
    assert content(repo, items=["a", "b"]) == content(repo, items=["b", "a"]) != before


def test_no_change_has_no_content(repo: Repo) -> None:
    repo.commit("first")
    assert content(repo) == ""
    event: Any = Event("pre-tool-use", "git", Actor("human"), Workspace("", "", {}), 0.0)
    assert candidate.content(event, Hit("r")) == ""


def test_of_lines_past_the_limit_the_files_stand(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("first")
    repo.write("a.txt", "one\n")
    repo.add()

    def too_much(*_: object) -> None:
        raise OutputLimit("too much")

    small = content(repo)
    monkeypatch.setattr(candidate.diff, "gather", too_much)
    large = content(repo)
    assert large not in ("", small)
    repo.write("a.txt", "two\n")
    repo.add()
    assert content(repo) not in ("", large)
