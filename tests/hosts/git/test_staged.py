"""What git tells a hook of the commit that is about to be made, before Python has loaded what judges."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.hosts.git import staged
from ahp.system.errors import AhpError
from tests.conftest import Repo

GIT = shutil.which("git") or ""
Change = Callable[[Repo], None]


def told(parent: str, git: str = GIT) -> tuple[bytes | None, bytes | None, str]:
    asked = staged.ask("pre-commit", parent, git)
    return asked.told() if asked else (None, None, "")


def many(repo: Repo) -> None:
    repo.git("config", "index.threads", "2")  # places the end of the entries (EOIE) behind them
    for number in range(1200):
        repo.write(f"f{number % 7}/{number}")


def resolved(repo: Repo) -> None:
    repo.commit("base", **{"a.txt": "1\n"})
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("theirs", **{"a.txt": "2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", **{"a.txt": "3\n"})
    repo.git("merge", "other", check=False)
    repo.write("a.txt", "4\n")  # what was resolved is kept behind the tree (REUC)


def untracked(repo: Repo) -> None:
    repo.git("config", "core.untrackedCache", "true")
    repo.write("TREE/TREE", "TREE")
    repo.git("status")


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)], ids=["sha1", "sha256"])
@pytest.mark.parametrize(
    "made",
    [
        lambda repo: repo.write("a.txt"),
        lambda repo: [repo.write(name) for name in ("TREE", "b/TREE/TREE", "c/d/e")],
        lambda repo: repo.git("config", "index.version", "4"),
        lambda repo: repo.git("config", "core.splitIndex", "true"),
        lambda repo: repo.git("config", "index.skipHash", "true"),
        many,
        resolved,
        untracked,
    ],
)
def test_it_is_the_tree_that_git_writes(tmp_path: Path, made: Change, options: tuple[str, ...]) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "-q", *options)
    repo.commit("first", **{"z/z.txt": "1\n"})
    made(repo)
    repo.write("later/TREE.txt", "TREE")
    repo.add()
    index = tmp_path / ".git" / "index"
    assert staged.tree_of(index.read_bytes()) == ""  # what was added is in no tree yet
    wanted = repo.git("write-tree")
    assert staged.tree_of(index.read_bytes()) == wanted


def test_what_tells_more_than_one_tree_or_none_tells_nothing(repo: Repo) -> None:
    repo.commit("x", **{"a.txt": "1\n", "b/b.txt": "2\n"})
    data = (repo.root / ".git" / "index").read_bytes()
    assert staged.tree_of(data) == repo.git("write-tree")
    body, end = data[:-20], data[-20:]
    at = body.index(b"TREE")
    twice = body + body[at:] + end
    assert staged.tree_of(twice) == ""
    for cut in (b"", data[:12], data[:at], data[:-1], b"DIRX" + data[4:], data.replace(b"TREE\0", b"TREE\1")):
        assert staged.tree_of(cut) == ""


def test_an_index_is_read_once_and_its_name_is_left(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": "version: 1\nrules: {}\n"})
    repo.write("a.txt")
    repo.add()
    monkeypatch.chdir(repo.root)
    repo.write(".git/ahp-index.12", "of another process that had this id")
    tree = repo.git("write-tree")
    asked = staged.ask("pre-commit", "12", GIT)
    repo.write("b.txt")
    repo.add()
    assert asked is not None
    listing, change, found = asked.told()
    assert found == tree
    assert (listing or b"").startswith(b"100644 blob ") and b".ahp/hooks.yaml" in (listing or b"")
    assert b"a.txt" in (change or b"") and b"b.txt" not in (change or b"")
    assert not (repo.root / ".git" / "index").samefile(repo.root / ".git" / "ahp-index.12")


def test_a_tree_that_the_index_does_not_hold_is_written(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("x", **{"a.txt": "1\n"})
    repo.write("b.txt")
    repo.add()
    monkeypatch.chdir(repo.root)
    monkeypatch.setenv("GIT_TRACE", "/dev/stdout")
    found = told("7")[2]
    monkeypatch.delenv("GIT_TRACE")
    assert found == repo.git("write-tree")
    assert not os.path.exists(".git/ahp-index.7.lock")


def test_where_nothing_can_be_asked_the_hook_asks_later(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    nothing = (None, None, "")
    assert told("7", "git") == told("x") == nothing
    assert told("7", "/no/such/git") == nothing
    assert staged.ask("post-commit", "7", GIT) is None
    listing, change, _ = told("7")  # before the first commit
    assert (listing, change) == (None, None)
    monkeypatch.setenv("GIT_INDEX_FILE", "/no/such/index")
    assert told("7") == nothing


def test_too_long_a_list_is_refused(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("x", **{"a.txt": "1\n"})
    repo.write("b.txt")
    repo.add()
    repo.git("write-tree")
    monkeypatch.chdir(repo.root)
    asked = staged.ask("pre-commit", "7", GIT)
    assert asked is not None
    monkeypatch.setattr(staged, "_LIMIT", 4)
    with pytest.raises(AhpError, match="more than 4 bytes"):
        asked.told()


def test_of_an_index_that_is_not_read_whole_no_tree_is_taken(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("x", **{"a.txt": "1\n"})
    repo.write("b.txt")
    repo.add()
    wanted = repo.git("write-tree")
    index = repo.root / ".git" / "index"
    data = index.read_bytes()
    cut = data[:-20].replace(bytes.fromhex(wanted), bytes(20)) + bytes(20)  # one that ends where the reading does
    monkeypatch.chdir(repo.root)
    monkeypatch.setattr(staged, "_LIMIT", len(cut))
    monkeypatch.setattr(staged, "_written", lambda argv, env: "written")
    assert staged.tree_of(cut) == bytes(20).hex()
    index.write_bytes(cut + data)
    assert staged.ask("pre-commit", "7", GIT).tree == "written"  # type: ignore[union-attr]


def test_an_index_that_is_made_to_hurt_its_reader_is_read_in_one_pass(no_hang: None) -> None:
    assert staged.tree_of(b"DIRC" + bytes(8) + (b"TREE" + bytes(4)) * 4_000_000 + bytes(20)) == ""
    assert staged.tree_of(b"DIRC" + bytes(8) + (b"AAAA" + bytes(4)) * 4_000_000 + b"TREE" + bytes(24)) == ""
