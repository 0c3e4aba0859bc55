"""ahp.runner.parallel.checkouts, ahp.runner.parallel.checkouts and ahp.system.trees"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.runner.parallel.checkouts import Checkout, Checkouts, Conflict, merge, remove_all
from ahp.system import trees
from ahp.system.errors import AhpError
from tests.conftest import Repo


@pytest.fixture
def checkouts(repo: Repo, tmp_path: Path) -> Checkouts:
    repo.write("a", "one\ntwo\nthree\n")
    repo.write("tool", "#!/bin/sh\n", 0o700)
    repo.write("folder/file", "x\n")
    repo.write(".gitignore", "ignored\n")
    repo.add()
    repo.git("commit", "--quiet", "-m", "x")
    return Checkouts(str(repo.root), str(tmp_path / "kept"))


def merged(checkouts: Checkouts, base: str, checkout: Checkout) -> list[str]:
    return merge(checkouts, base, checkouts.tree(checkout))


def test_every_kind_of_change_is_merged(repo: Repo, checkouts: Checkouts) -> None:
    repo.write("private", "mine\n", 0o600)
    base = checkouts.now()
    checkout = checkouts.fill(base, checkouts.place())
    there = Path(checkout.folder)
    (there / "private").write_text("changed\n")
    (there / "a").chmod(0o755)
    (there / "folder" / "file").unlink()
    (there / "folder").rmdir()
    (there / "folder").symlink_to("a")
    (there / "tool").unlink()
    (there / "tool").mkdir()
    (there / "tool" / "new ä").write_bytes(b"\0\xff")
    (there / "ignored").write_text("stays away")
    assert merged(checkouts, base, checkout) == ["a", "folder", "folder/file", "private", "tool", "tool/new ä"]
    root = repo.root
    assert (root / "private").stat().st_mode & 0o777 == 0o600 and (root / "a").stat().st_mode & 0o111 == 0o111
    assert os.readlink(root / "folder") == "a" and (root / "tool" / "new ä").read_bytes() == b"\0\xff"
    assert not (root / "ignored").exists()
    assert merged(checkouts, base, checkout) == []  # it is there already
    checkouts.remove(checkout.folder)
    checkouts.close(keep=False)
    assert not os.path.exists(checkouts.folder) and not os.path.exists(checkouts.store.folder)
    assert len(repo.git("worktree", "list").splitlines()) == 1


def test_what_cannot_be_joined_changes_nothing(repo: Repo, checkouts: Checkouts) -> None:
    base = checkouts.now()
    checkout = checkouts.fill(base, checkouts.place())
    there = Path(checkout.folder)
    (there / "a").write_text("ONE\ntwo\nthree\n")
    (there / "b").write_text("b\n")
    repo.write("a", "Eins\ntwo\nthree\n")
    with pytest.raises(Conflict) as refused:
        merged(checkouts, base, checkout)
    assert refused.value.paths == ["a"] and not (repo.root / "b").exists()
    (there / "a").write_text("one\ntwo\nthree\n")
    (there / ".gitignore").write_text("")
    (there / "ignored").write_text("theirs")
    repo.write("ignored", "mine")
    with pytest.raises(Conflict, match="git ignores is in the way"):
        merged(checkouts, base, checkout)
    assert (repo.root / "ignored").read_text() == "mine"
    (there / "ignored").unlink()
    nested = Repo(there / "nested")
    nested.root.mkdir()
    nested.git("init", "--quiet")
    nested.git("commit", "--quiet", "--allow-empty", "-m", "x")
    with pytest.raises(Conflict, match="git repositories inside the project"):
        merged(checkouts, base, checkout)
    checkouts.close(keep=False)


def test_only_what_a_run_made_is_removed(repo: Repo, checkouts: Checkouts, tmp_path: Path) -> None:
    other = tmp_path / "other"
    repo.git("worktree", "add", "--quiet", str(other))
    remove_all(str(repo.root), [str(tmp_path), str(tmp_path / "ahp-steps-none")])
    checkouts.remove(str(other))
    assert other.is_dir() and len(repo.git("worktree", "list").splitlines()) == 2
    assert checkouts.left_at(str(other), "known") == "known"
    broken = tmp_path / "ahp-steps-broken" / "1"
    broken.mkdir(parents=True)
    with pytest.raises(AhpError, match="no git repository at"):
        checkouts.left_at(str(broken), "known")


def test_an_old_git_is_named(repo: Repo, checkouts: Checkouts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "OLDEST", (99, 0))
    with pytest.raises(AhpError, match=r"git 99\.0 or newer is needed; this is git version"):
        Checkouts(str(repo.root), str(tmp_path / "kept"))


def test_the_lock_of_a_git_that_was_killed_is_in_nobodys_way(checkouts: Checkouts) -> None:
    base = checkouts.now()
    checkout = checkouts.fill(base, checkouts.place())
    for name in ("project", "1", "written"):
        Path(checkouts.store.folder, f"index-{name}.lock").touch()
    Path(checkout.folder, "new").write_text("new\n")
    assert merged(checkouts, base, checkout) == ["new"]
    checkouts.close(keep=False)
