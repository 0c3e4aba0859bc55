"""The lines of a change, whatever hides them, and what of them is too much to read."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from ahp.system import blobs, git, lines, process
from ahp.system.history import BlobView, CommitView
from ahp.system.view import IndexView, View
from ahp.system.worktree import WorkTreeView
from tests.conftest import Repo

Made = Callable[[Repo], View]


def at(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def added(view: View) -> list[tuple[object, ...]]:
    return sorted((line["path"], line["line"], line["text"]) for line in lines.of(view).added)


def removed(view: View) -> list[tuple[object, ...]]:
    return sorted((line["path"], line["line"], line["text"]) for line in lines.of(view).removed)


def staged(repo: Repo) -> View:
    repo.add()
    return IndexView(at(repo))


def committed(repo: Repo) -> View:
    repo.add()
    repo.commit("second")
    return CommitView(at(repo), "HEAD")


def lying(repo: Repo) -> View:
    return WorkTreeView(at(repo))


ALL = pytest.mark.parametrize("made", [staged, committed, lying])


@ALL
def test_a_nul_hides_no_line(repo: Repo, made: Made) -> None:
    repo.commit("first", **{"old.txt": b"kept and\nremoved here\n\0\n"})
    repo.write("old.txt", b"kept and\nadded here\n\0\n")
    repo.write("new.txt", b"\0secret = 12345678\nmore of it\n")
    repo.write("image", b"\0\1\2\3\nno line\n")
    view = made(repo)
    assert added(view) == [
        ("new.txt", 1, "\0secret = 12345678"),
        ("new.txt", 2, "more of it"),
        ("old.txt", 2, "added here"),
    ]
    assert removed(view) == [("old.txt", 2, "removed here")]


@ALL
@pytest.mark.parametrize("name", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_utf_16_and_utf_32_are_text(repo: Repo, made: Made, name: str) -> None:
    before = ["first line", "second line", "third line", "fourth line", "fifth line"]
    after = ["first line", "Zeile zwei", "third line", "line between", "fourth line", "fifth, changed"]
    gone = "gone line\r\n".encode(name)
    repo.commit("first", **{"a.txt": "\r\n".join(before).encode(name), "gone.txt": gone, "moved.txt": gone * 9})
    repo.write("a.txt", "\r\n".join(after).encode(name))
    repo.write("new.txt", "secret = 1\nmore\n".encode(name))
    repo.git("rm", "-q", "gone.txt")
    repo.git("mv", "moved.txt", "there.txt")
    view = made(repo)
    assert added(view) == [
        ("a.txt", 2, "Zeile zwei"),
        ("a.txt", 4, "line between"),
        ("a.txt", 6, "fifth, changed"),
        ("new.txt", 1, "secret = 1"),
        ("new.txt", 2, "more"),
    ]
    assert removed(view) == [("a.txt", 2, "second line"), ("a.txt", 5, "fifth line"), ("gone.txt", 1, "gone line")]


@ALL
def test_a_file_may_come_to_be_in_utf_16(repo: Repo, made: Made) -> None:
    repo.commit("first", **{"a.txt": "one line\nanother line\n"})
    repo.write("a.txt", "one line\nchanged line\n".encode("utf-16"))
    view = made(repo)
    assert added(view) == [("a.txt", 2, "changed line")]
    assert removed(view) == [("a.txt", 2, "another line")]


def test_lines_between_two_changes_of_a_large_file_are_not_new(repo: Repo) -> None:
    before = [str(number) for number in range(4000)]
    repo.commit("first", **{"a.txt": "\n".join(before).encode("utf-16")})
    repo.write("a.txt", "\n".join(["first", *before[1:-1], "last"]).encode("utf-16"))
    assert added(staged(repo)) == [("a.txt", 1, "first"), ("a.txt", 4000, "last")]
    assert removed(staged(repo)) == [("a.txt", 1, "0"), ("a.txt", 4000, "3999")]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach."""
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 4000)
    monkeypatch.setattr(lines, "LIMIT", 4000)
    monkeypatch.setattr(lines, "_AT_ONCE", 1000)
    monkeypatch.setattr(blobs, "_SMALL", 1000)
    real = process.capture
    monkeypatch.setattr(process, "capture", lambda *given, **named: real(*given, **{"limit": 4000, **named}))


@ALL
def test_past_the_limit_the_smallest_files_are_read_and_the_others_named(repo: Repo, small: None, made: Made) -> None:
    repo.commit("first", **{"gone.txt": "gone line\n", "moved.txt": "moved line\n" * 3, "wide.txt": b""})
    for number in range(5):
        repo.write(f"small-{number}", f"line {number}\n")
    repo.write("large-1", "large line\n" * 300)
    repo.write("large-2", "large line\n" * 500)
    repo.write("hidden", b"\0" + b"hidden line\n" * 3)
    repo.write("wide.txt", "wide line\n".encode("utf-16"))
    repo.git("rm", "-q", "gone.txt")
    repo.git("mv", "moved.txt", "there.txt")
    view = made(repo)
    found = lines.of(view)
    assert found.unread == [("large-2", 5500), ("large-1", 3300)]
    assert {line["path"] for line in found.added} == {*[f"small-{n}" for n in range(5)], "hidden", "wide.txt"}
    assert {line["path"] for line in found.removed} == {"gone.txt"}


def test_a_blob_past_the_limit_is_named(repo: Repo, small: None) -> None:
    repo.commit("first")
    oid = repo.git("hash-object", "-w", "--stdin", stdin=b"line\n" * 2000)
    view = BlobView(at(repo), oid, "refs/tags/x")
    assert lines.of(view).unread == [("refs/tags/x", 10000)] and view.change().entries[0].insertions is None
    wide = repo.git("hash-object", "-w", "--stdin", stdin="line\n".encode("utf-16-le") * 2000)
    view = BlobView(at(repo), wide, "refs/tags/x")
    assert [path for path, _ in lines.of(view).unread] == ["refs/tags/x"]


@ALL
def test_another_head_on_path_hides_nothing(
    repo: Repo, made: Made, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = repo.write(".git/fake/head", "#!/bin/sh\nprintf '\\000\\001'\n", 0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    repo.commit("first")
    repo.write(".git/info/attributes", "* -diff\n")
    repo.write("long.txt", "x" * (2 << 20) + "\nsecret\n")
    assert added(made(repo))[-1] == ("long.txt", 2, "secret")
