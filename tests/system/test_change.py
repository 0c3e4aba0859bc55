"""Reading git's list of changed files."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.system import change
from ahp.system.errors import AhpError
from ahp.system.git import discover
from ahp.system.history import CommitView
from ahp.system.view import IndexView
from tests.conftest import Repo

A, B, ZERO = "a" * 40, "b" * 40, "0" * 40


def test_entries_have_status_modes_ids_and_lines() -> None:
    data = (
        f":000000 100644 {ZERO} {A} A\0new\0:100644 100755 {A} {B} R090\0old\0moved\0"
        f":100644 000000 {A} {ZERO} D\0gone\0"
        f":100644 100644 {A} {B} M\0image\0"
        "3\t0\tnew\0" + "1\t2\t\0old\0moved\0" + "0\t4\tgone\0" + "-\t-\timage\0"
    ).encode()
    found = [(e.status, e.path, e.old_path, e.insertions, e.deletions) for e in change.parse(data).entries]
    assert found == [
        ("A", "new", None, 3, 0),
        ("R", "moved", "old", 1, 2),
        ("D", "gone", None, 0, 4),
        ("M", "image", None, None, None),
    ]
    moved = change.parse(data).entries[1]
    assert (moved.old_mode, moved.new_mode, moved.old_oid, moved.new_oid) == (0o100644, 0o100755, A, B)


def test_no_output_is_no_change() -> None:
    assert change.parse(b"").entries == []


@pytest.mark.parametrize(
    "data",
    [b"x", b":100644\0a\0", f":100644 100644 {A} {B} M\0".encode(), b"1\t2\tunknown\0", b"\0", b"x\ty\ta\0", b"1\t2\0"],
)
def test_a_cut_list_is_refused(data: bytes) -> None:
    with pytest.raises(AhpError, match="cut or not understood"):
        change.parse(data)


def test_what_was_staged_and_what_was_committed_have_one_digest(repo: Repo, hostile_names: list[str]) -> None:
    repo.commit("first", **{"old name": "1\n" * 50, "gone": "2\n"})
    for name in hostile_names:
        repo.write(name)
    repo.git("mv", "old name", "new name")
    repo.git("rm", "-q", "gone")
    repo.add()
    where = discover(str(repo.root), dict(os.environ))
    staged = IndexView(where).change()
    repo.git("commit", "-q", "-m", "x")
    made = CommitView(where, "HEAD").change()
    assert made.digest == staged.digest
    assert made.digest.startswith("change1:")
    # Without rename detection, too.
    raw = where.run("diff-tree", "-r", "--raw", "--numstat", "-z", "--no-renames", "--no-abbrev", "HEAD^", "HEAD")
    assert change.parse(raw).digest == made.digest


def test_another_content_has_another_digest() -> None:
    def of(**more: Any) -> str:
        entry = change.FileChange("a", "M", 0o100644, more.pop("mode", 0o100644), A, more.pop("oid", B))
        entry.content = more.pop("content", "")
        return change.Change([entry]).digest

    assert len({of(), of(oid=A), of(mode=0o100755), of(content="c")}) == 4
