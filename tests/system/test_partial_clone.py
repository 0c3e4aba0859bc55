"""A partial clone: what is not here is neither fetched nor taken for nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import diff, files, sizes
from ahp.facts.content import Files
from ahp.facts.registry import Absent
from ahp.policy import policies, tree
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import git, lines, partial_clone
from ahp.system.errors import Unknown
from ahp.system.git import GitError, Repository
from ahp.system.history import CommitView, RangeView
from ahp.system.view import IndexView, View
from ahp.system.worktree import WorkTreeView
from tests.conftest import Repo


@pytest.fixture
def clone(repo: Repo, tmp_path: Path) -> Repo:
    """A clone without the blobs of `big/`, of which it has never looked at one; two commits changed them."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    for version in (1, 2):
        for name in ("one", "two", "three"):
            repo.write(f"big/{name}", "".join(f"{name} {version} {line}\n" for line in range(50)))
        repo.write("a.txt", f"{version}\n")
        repo.add()
        repo.commit(f"version {version}")
    made = Repo(tmp_path / "clone")
    made.root.mkdir()
    made.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repo.root}", ".")
    made.git("sparse-checkout", "set", "--no-cone", "/*", "!/big")
    made.git("checkout", "-q", "main")
    return made


def at(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def missing(repo: Repo) -> set[str]:
    """The objects that the clone lacks."""
    listed = repo.git("rev-list", "--objects", "--all", "--missing=print").splitlines()
    return {line[1:] for line in listed if line.startswith("?")}


def gathered(view: View, *fields: str) -> dict[str, object]:
    """Facts of `files` by name; of an absent one the command that mends it."""

    class Asked:
        pass

    asked = Asked()
    asked.view = view  # type: ignore[attr-defined]
    told = files.gather(asked, frozenset(fields), None)  # type: ignore[arg-type]
    return {
        name: (value.command, value.unknowable) if isinstance(value, Absent) else value for name, value in told.items()
    }


def test_what_is_taken_out_unseen_is_listed_and_not_counted(clone: Repo) -> None:
    before = missing(clone)
    clone.git("rm", "-rq", "--cached", "--sparse", "big")
    clone.write("new.txt", "1\n2\n")
    clone.add("new.txt")
    view = IndexView(at(clone))
    told = gathered(view, "deleted", "added", "changed_count", "largest_bytes", "insertions", "binary")
    unknown = ("git diff --cached --numstat", True)
    assert told == {
        "deleted": ["big/one", "big/three", "big/two"],
        "added": ["new.txt"],
        "changed_count": 4,
        "largest_bytes": 4,
        "insertions": unknown,
        "binary": unknown,
    }
    found = lines.of(view)
    assert [one["text"] for one in found.added] == ["1", "2"]
    assert [entry.path for entry in found.lacking] == ["big/one", "big/three", "big/two"]
    assert missing(clone) == before
    clone.git("diff", "--cached", "--numstat")  # what the fact names as its mend
    assert gathered(IndexView(at(clone)), "insertions", "deletions") == {"insertions": 2, "deletions": 150}


def test_a_removed_line_that_is_not_here_is_unknown_and_an_added_one_is_known(clone: Repo) -> None:
    clone.git("rm", "-q", "--cached", "--sparse", "big/one")

    class Asked:
        view = IndexView(at(clone))

    told = diff.gather(Asked(), frozenset({"added", "removed"}), None)  # type: ignore[arg-type]
    assert told["added"] == []
    absent = told["removed"]
    assert isinstance(absent, Absent) and absent.unknowable
    assert absent.reason == "the content of big/one is not in this partial clone"


def test_a_file_that_only_moves_is_one_renamed_file_without_being_opened(clone: Repo) -> None:
    before = missing(clone)
    oid = clone.git("rev-parse", "HEAD:big/one")
    clone.git("update-index", "--force-remove", "big/one")
    clone.git("update-index", "--add", "--cacheinfo", f"100644,{oid},moved")
    view = IndexView(at(clone))
    assert [(e.status, e.old_path, e.path) for e in view.change().entries] == [("R", "big/one", "moved")]
    assert lines.of(view).lacking == []
    with pytest.raises(Absent, match="is not in this partial clone") as raised:
        Files(view).data("after", "moved")
    assert raised.value.unknowable
    assert missing(clone) == before
    with pytest.raises(Unknown, match=r"the object .* is not in this clone; fix: git diff --cached --numstat"):
        sizes.byte_counts(view, view.change().entries)


@pytest.mark.parametrize("kind", ["commit", "range"])
def test_commits_are_told_by_their_trees(clone: Repo, kind: str) -> None:
    before = missing(clone)
    repo = at(clone)
    view = (
        CommitView(repo, "HEAD")
        if kind == "commit"
        else RangeView(repo, clone.git("rev-parse", "HEAD~1"), clone.head())
    )
    told = gathered(view, "modified", "lines_changed", "changed_count")
    base, tip = clone.git("rev-parse", "HEAD~1")[:16], clone.head()[:16]
    assert told["modified"] == ["a.txt", "big/one", "big/three", "big/two"]
    assert told["lines_changed"] == (f"git diff --numstat {base} {tip}", True)
    assert [entry.path for entry in lines.of(view).lacking] == ["a.txt", "big/one", "big/three", "big/two"]
    assert missing(clone) == before
    clone.git("diff", "--numstat", base, tip)
    assert gathered(CommitView(repo, "HEAD"), "lines_changed") == {"lines_changed": 302}


def test_trees_that_are_not_here_are_unknown_with_the_command_that_gets_them(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    for version in "123":
        repo.commit(f"version {version}", **{".ahp/hooks.yaml": "version: 1\n", f"d/{version}": f"{version}\n"})
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--filter=tree:0", f"file://{repo.root}", str(clone.root))
    here, (first, *_) = at(clone), clone.git("rev-list", "HEAD").splitlines()[::-1]
    with pytest.raises(Unknown, match="fix: git fetch --refetch --no-filter"):
        RangeView(here, first, clone.head()).change()
    event = Event("pre-push", "git", Actor("ci"), Workspace(str(clone.root), str(tmp_path / "ahp"), {}, here), 0.0)
    known = policies.committed([tree.of_commit(here, "HEAD")], event.journal)
    with pytest.raises(Unknown, match=r"a tree of what is judged .*; fix: git fetch --refetch --no-filter"):
        policies.of_commits(here, [first], event, known)
    clone.git("fetch", "-q", "--refetch", "--no-filter")
    assert policies.of_commits(here, [first], event, known) == {}
    assert [one.path for one in RangeView(here, first, clone.head()).change().entries] == ["d/2", "d/3"]


def test_the_work_tree_is_compared_with_what_git_fetches_for_it(clone: Repo) -> None:
    clone.write("a.txt", "3\n")
    view = WorkTreeView(at(clone), clone.git("rev-parse", "HEAD~1"))
    assert [one["text"] for one in lines.of(view).added if one["path"] == "a.txt"] == ["3"]
    assert not view.change().lacking


def test_a_file_that_is_not_here_cannot_be_read_but_the_policy_s(repo: Repo, clone: Repo) -> None:
    before = missing(clone)
    view = IndexView(at(clone))
    with pytest.raises(Unknown, match="not in this partial clone; fix: git cat-file -s :big/one"):
        view.read("big/one")
    assert missing(clone) == before
    repo.commit("policy", **{".ahp/hooks.yaml": "version: 1\n"})
    clone.git("fetch", "-q")
    lacking = missing(clone)
    assert CommitView(at(clone), "origin/main").read(".ahp/hooks.yaml") == b"version: 1\n"
    assert len(missing(clone)) == len(lacking) - 1


def test_a_git_that_calls_missing_what_it_does_not_fetch_hides_nothing(
    clone: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As git 2.45 and newer answer; older ones end with an error."""
    run = Repository.run

    def answered(repo: Repository, *args: str, stdin: bytes = b"", **options: Any) -> bytes:
        try:
            return run(repo, *args, stdin=stdin, **options)
        except GitError:
            if args[0] != "cat-file":
                raise
            return stdin.replace(b"\n", b" missing\n")

    monkeypatch.setattr(Repository, "run", answered)
    here = at(clone)
    oid = clone.git("rev-parse", ":big/one")
    for view, path in ((IndexView(here), "big/one"), (CommitView(here, "HEAD"), "big/one")):
        with pytest.raises(Unknown, match="not in this partial clone"):
            view.read(path)
        assert view.read("big/none") is None and view.read("none/one") is None
    assert partial_clone.lacks(here, oid) and not partial_clone.lacks(here, "HEAD:big/none")
    assert not partial_clone.lacks_trees(here, ["HEAD"])


def test_no_clone_is_partial_by_itself(repo: Repo) -> None:
    oid = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    assert not partial_clone.is_one(at(repo))
    assert partial_clone.present(at(repo), [oid, "0" * 39 + "1"]) == {oid}
