"""Where a repository is, and small questions to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.system import git
from ahp.system.errors import AhpError
from ahp.system.git import GitError, NotARepository
from tests.conftest import Repo


def found(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def test_a_repository_is_found_from_a_folder_below(repo: Repo) -> None:
    repo.write("a/b/c.txt")
    where = git.discover(str(repo.root / "a" / "b"), dict(os.environ))
    assert (where.root, where.git_dir, where.common_dir) == (
        str(repo.root),
        f"{repo.root}/.git",
        f"{repo.root}/.git",
    )


@pytest.mark.parametrize("name", ["a\nb", "\udcff", " ", "--x"])
def test_a_repository_may_have_any_name(tmp_path: Path, name: str) -> None:
    made = Repo(tmp_path / name)
    made.root.mkdir()
    made.git("init", "-q")
    assert found(made).root == str(made.root)
    assert git.locate(str(made.root), {}).git_dir == f"{made.root}/.git"


def test_no_repository_is_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match="no git repository at"):
        git.discover(str(tmp_path), dict(os.environ))
    with pytest.raises(NotARepository, match="no git repository at"):
        git.locate(str(tmp_path), {})


def test_another_complaint_of_git_is_passed_on(repo: Repo) -> None:
    repo.write(".git/config", "[core\n")
    with pytest.raises(GitError, match="git rev-parse failed: fatal: bad config"):
        found(repo)


def test_a_bare_repository_has_no_root(tmp_path: Path, repo: Repo) -> None:
    repo.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    where = git.discover(str(tmp_path / "bare.git"), dict(os.environ))
    assert (where.root, where.git_dir) == ("", str(tmp_path / "bare.git"))
    assert where.commit_id("HEAD") is None


def test_linked_worktrees_and_submodules_are_located_as_git_finds_them(repo: Repo, tmp_path: Path) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    repo.git("submodule", "--quiet", "add", str(repo.root), "sub")
    for root in (repo.root, tmp_path / "linked", repo.root / "sub"):
        asked, read = git.discover(str(root), dict(os.environ)), git.locate(str(root), {})
        assert (read.root, read.git_dir, read.common_dir) == (asked.root, asked.git_dir, asked.common_dir)
        # What is kept must not hang on a work tree that is removed tomorrow.
        assert ".." not in read.common_dir


def test_a_hook_is_told_its_places_by_the_environment(repo: Repo, tmp_path: Path) -> None:
    where = git.locate(str(repo.root), {"GIT_DIR": ".git", "GIT_COMMON_DIR": "./.git"})
    assert (where.git_dir, where.common_dir) == (f"{repo.root}/.git", f"{repo.root}/.git")
    where = git.locate(str(repo.root), {"GIT_DIR": f"{repo.root}/.git"})
    assert where.git_dir == f"{repo.root}/.git"
    bare = git.locate(str(repo.root / ".git"), {"GIT_DIR": "."})
    assert bare.git_dir == f"{repo.root}/.git"


def test_branches(repo: Repo) -> None:
    assert found(repo).branch() == "main"
    repo.commit("first")
    repo.git("checkout", "-q", "-b", "feat/ünïcode-\udcff")
    assert found(repo).branch() == "feat/ünïcode-\udcff"
    repo.git("checkout", "-q", "--detach")
    assert found(repo).branch() == ""
    assert found(repo).head_text() == repo.head()


def test_the_reftable_format_keeps_head_elsewhere(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    where = found(repo)
    monkeypatch.setattr(git.Repository, "head_text", lambda self: "ref: refs/heads/.invalid")
    assert where.branch() == "main"


def test_a_git_directory_without_head_is_named(repo: Repo) -> None:
    where = found(repo)
    (repo.root / ".git" / "HEAD").unlink()
    with pytest.raises(GitError, match="has no HEAD"):
        where.head_text()


def test_ids_of_commits(repo: Repo) -> None:
    where = found(repo)
    assert where.commit_id("HEAD") is None
    head = repo.commit("first", **{"a.txt": "1\n"})
    assert where.commit_id("HEAD") == where.commit_id("main") == head
    assert where.commit_id("HEAD:a.txt") is None
    assert where.commit_id("--all") is None
    assert where.commit_id("^main") is None
    repo.git("commit", "--amend", "--quiet", "--allow-empty", "--message", "again")
    assert where.commit_id("HEAD") not in (None, head)
    assert where.commit_id(head) == head


def test_a_tag_is_no_branch_whose_full_name_it_has(repo: Repo) -> None:
    where, head = found(repo), repo.commit("first")
    for name in ("refs/heads/gone", "refs/remotes/origin/main", "refs/heads/topic"):
        repo.git("update-ref", f"refs/tags/{name}", head)
        assert where.commit_id(name) is None, name
    repo.git("branch", "topic/one")
    for packed in (False, True):
        assert where.commit_id("refs/heads/main") == where.commit_id("refs/heads/topic/one~0") == head, packed
        assert where.commit_id("refs/heads/topic") is None and not where.has_ref("refs/heads/topic")
        repo.git("pack-refs", "--all")
    (repo.root / ".git/refs/heads/main").mkdir()  # git leaves it where a push of main/x was refused
    assert where.commit_id("refs/heads/main") == head == where.head_id() and where.branch() == "main"


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_the_empty_tree_is_that_of_the_repository_s_hash(tmp_path: Path, kind: str) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "--quiet", f"--object-format={kind}")
    assert found(repo).empty_tree() == repo.git("hash-object", "-t", "tree", "--stdin")


def test_a_commit_that_was_found_is_not_asked_for_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    where, head = found(repo), repo.commit("first")
    assert where.commit_id("HEAD") == head
    monkeypatch.setattr(git.Repository, "run", lambda *arguments, **options: pytest.fail("git was asked"))
    assert where.commit_id(head) == head


def test_configuration(repo: Repo) -> None:
    assert found(repo).config("user.name") == "Test Person"
    assert found(repo).config("no.such") == ""


def test_git_s_own_words_are_in_the_error(repo: Repo) -> None:
    with pytest.raises(GitError, match="git rev-parse failed: fatal: "):
        found(repo).run("rev-parse", "--verify", "no-such-branch")
    with pytest.raises(GitError, match="git diff failed: exit code 1"):
        repo.write("a", "1\n")
        repo.write("b", "2\n")
        found(repo).run("diff", "--quiet", "--no-index", "a", "b")


def test_the_line_by_which_git_mends_it_is_in_the_error(repo: Repo) -> None:
    where = found(repo)
    where.env = {**where.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    del where.env["GIT_DIR"], where.env["GIT_WORK_TREE"]
    with pytest.raises(GitError, match=r"dubious ownership .*; fix: git config --global --add safe\.directory /"):
        where.run("rev-parse", "HEAD")


def test_a_git_that_is_gone_is_an_error(repo: Repo) -> None:
    with pytest.raises(AhpError, match="cannot start"):
        git.discover(str(repo.root), dict(os.environ), git="/no/such/git")


def test_a_dot_git_that_is_neither_folder_nor_link_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("nonsense")
    with pytest.raises(NotARepository):
        git.locate(str(tmp_path), {})


@pytest.mark.parametrize("kind", ["unborn", "loose", "packed", "packed and moved", "detached", "alias", "linked"])
def test_the_commit_of_head_is_what_git_says(repo: Repo, kind: str, tmp_path: Path) -> None:
    at = repo
    if kind != "unborn":
        repo.commit("first", a="1")
        repo.git("branch", "other/main")
    if kind.startswith("packed"):
        repo.git("pack-refs", "--all")
    if kind in ("packed and moved", "loose"):
        repo.commit("second", a="2")
    if kind == "detached":
        repo.git("checkout", "-q", "--detach")
    if kind == "alias":
        repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
        repo.git("symbolic-ref", "HEAD", "refs/heads/alias")
    if kind == "linked":
        repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        at = Repo(tmp_path / "side")
        at.commit("third", a="3")
    where = found(at)
    assert where.head_id() == (where.commit_id("HEAD") or "")
    assert bool(where.head_id()) == (kind != "unborn")


def test_the_end_of_a_file_system_is_no_error_of_gits(tmp_path: Path) -> None:
    fake = tmp_path / "git"
    words = "fatal: not a git repository (or any parent up to mount point /)\\nStopping at filesystem boundary."
    fake.write_text(f"#!/bin/sh\nprintf '{words}' >&2\nexit 128\n")
    fake.chmod(0o755)
    with pytest.raises(NotARepository):
        git.discover(str(tmp_path), dict(os.environ), str(fake))
