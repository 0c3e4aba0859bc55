"""What a commit or the index has under `.ahp/`, and that an object is what its id says."""

from __future__ import annotations

import os

import pytest

from ahp.policy import tree as trees
from ahp.system import git
from ahp.system.errors import AhpError
from tests.conftest import Repo

POLICY = "version: 1\nrules: {}\n"


def here(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def test_a_commit_s_files_are_read_by_id_but_never_its_local_layer(repo: Repo) -> None:
    repo.commit("x", **{".ahp/hooks.yaml": POLICY, ".ahp/hooks.local.yaml": "l\n", ".ahp/sub/a b.yaml": "b\n"})
    tree = trees.of_commit(here(repo), "HEAD")
    assert sorted(tree.entries) == [".ahp/hooks.yaml", ".ahp/sub/a b.yaml"]
    assert tree.read(".ahp/hooks.yaml") == POLICY.encode()
    assert (tree.read(".ahp/hooks.local.yaml"), tree.read(".ahp/other.yaml")) == (None, None)
    assert tree.key == trees.of_index(here(repo)).key


def test_before_the_first_commit_there_is_none(repo: Repo) -> None:
    assert not trees.of_commit(here(repo), "HEAD").has_policy
    with pytest.raises(git.GitError):
        trees.of_commit(here(repo), "0" * 40)


@pytest.mark.parametrize("path", [".ahp", ".ahp/hooks.yaml"])
def test_a_link_and_a_submodule_are_no_policy(repo: Repo, path: str) -> None:
    first = repo.commit("x", a="a\n")
    for mode, oid, word in (("120000", repo.git("rev-parse", "HEAD:a"), "link"), ("160000", first, "submodule")):
        repo.git("update-index", "--add", "--cacheinfo", f"{mode},{oid},{path}")
        tree = trees.of_index(here(repo))
        assert tree.has_policy
        with pytest.raises(AhpError, match=f"{path} is a .*{word}"):
            tree.read(".ahp/hooks.yaml")
        repo.git("rm", "-q", "--cached", path)


def test_an_object_that_is_missing_or_too_large_is_told(repo: Repo) -> None:
    repo.commit("x", **{".ahp/hooks.yaml": POLICY, ".ahp/big.yaml": "#" * (1 << 20) + "\n"})
    tree = trees.of_commit(here(repo), "HEAD")
    with pytest.raises(AhpError, match="more than the"):
        tree.read(".ahp/big.yaml")
    mode, oid = tree.entries[".ahp/hooks.yaml"]
    tree.entries[".ahp/hooks.yaml"] = (mode, oid[::-1])
    with pytest.raises(AhpError, match="is missing here"):
        tree.read(".ahp/hooks.yaml")


def test_a_tree_with_two_entries_of_one_name_is_no_policy(repo: Repo) -> None:
    """`ls-tree` names the last of them, `cat-file HEAD:PATH` the first."""
    folders = []
    for text in (POLICY, "version: 1\n"):
        repo.commit("x", **{".ahp/hooks.yaml": text})
        folders.append(bytes.fromhex(repo.git("rev-parse", "HEAD:.ahp")))
    entries = b"".join(b"40000 .ahp\0" + oid for oid in folders)
    tree = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=entries)
    commit = repo.git("commit-tree", "-m", "x", tree)
    with pytest.raises(AhpError, match=r"has two entries of one name in \.ahp; `git fsck` tells more"):
        trees.of_commit(here(repo), commit)


def test_a_list_that_is_cut_is_not_taken_for_an_empty_one() -> None:
    with pytest.raises(AhpError, match="cut or not understood"):
        trees.parse(b"100644 blob\0")


def test_what_git_said_of_a_commit_is_asked_for_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("x", **{".ahp/hooks.yaml": POLICY})
    first = trees.of_head(here(repo), None, keeps=True)
    repository = here(repo)
    asked: list[str] = []
    run = git.Repository.run
    monkeypatch.setattr(git.Repository, "run", lambda self, *a, **more: asked.append(a[0]) or run(self, *a, **more))
    assert trees.of_head(repository, None, keeps=True).key == first.key
    assert asked == []
    repo.commit("y", **{".ahp/hooks.yaml": POLICY + "# more\n"})
    assert trees.of_head(repository, None, keeps=True).key != first.key
    assert "ls-tree" in asked
    (repo.root / ".git/ahp-head").write_text("")  # cut
    assert trees.of_head(repository, None, keeps=True).has_policy
