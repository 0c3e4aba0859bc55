"""How large changed files are: in the work tree, in objects, in none."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.facts import sizes
from ahp.system import blobs
from ahp.system.worktree import WorkTreeView


def test_the_work_tree_counts_what_is_not_stored_yet(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("a.txt", "1\n2\n3")
    repo.write("fresh.txt", "x" * 50)
    (repo.root / "a.txt").chmod(0o755)
    event = make_event("pre-issue-submit")
    event.view = WorkTreeView(event.repo)
    facts = gather(event, "files.changes", "files.largest_bytes")
    by_path = {record["path"]: record for record in facts["files.changes"]}
    assert (by_path["a.txt"]["lines"], by_path["a.txt"]["bytes"]) == (3, 5)
    assert (by_path["fresh.txt"]["lines"], by_path["fresh.txt"]["bytes"]) == (1, 50)
    assert facts["files.largest_bytes"] == 50


def test_links_pipes_and_huge_files_in_the_work_tree(
    repo: Any, make_event: Any, gather: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ahp.system.worktree.FILE_LIMIT", 100)
    (tmp_path / "secret").write_text("outside\n" * 9)
    (repo.root / "to folder").symlink_to(tmp_path)
    (repo.root / "to secret").symlink_to(tmp_path / "secret")
    (repo.root / "dangling").symlink_to("nowhere")
    os.mkfifo(repo.root / "pipe")
    repo.write("huge", "x\n" * 100)
    repo.write("tool.sh", "#!/bin/sh\n", mode=0o755)
    event = make_event("pre-issue-submit")
    event.view = WorkTreeView(event.repo)
    facts = gather(event, "files.added", "files.binary", "files.changes", "files.largest_bytes")
    assert facts["files.added"] == ["dangling", "huge", "to folder", "to secret", "tool.sh"]
    assert facts["files.largest_bytes"] == 200 and facts["files.binary"] == []
    assert {record["lines"] for record in facts["files.changes"] if record["path"] != "huge"} == {1}
    assert event.view.read("to secret") == bytes(tmp_path / "secret")
    modes = [entry.new_mode for entry in event.view.change().entries]
    assert modes == [0o120000, 0o100644, 0o120000, 0o120000, 0o100755]


def test_a_file_that_vanishes_meanwhile_has_no_size(repo: Any, make_event: Any) -> None:
    repo.write("fresh.txt", "x")
    event = make_event("pre-issue-submit")
    view = WorkTreeView(event.repo)
    entries = view.change().entries
    (repo.root / "fresh.txt").unlink()
    assert sizes.line_counts(view, entries) == [(0, 0)]


def test_a_submodule_has_no_size(repo: Any, make_event: Any, gather: Any, tmp_path: Any) -> None:
    commit = repo.commit("first")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    facts = gather(make_event(), "files.changes", "files.largest_bytes")
    assert facts["files.largest_bytes"] == 0
    assert [(r["path"], r["bytes"]) for r in facts["files.changes"]] == [("sub", 0)]


def test_lines_of_large_files_are_not_counted_and_reading_is_cut_into_batches(
    repo: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "LINES_LIMIT", 30)
    monkeypatch.setattr(blobs, "_BATCH", 30)
    for name, lines in (("a", 5), ("b", 10), ("c", 15), ("big", 16)):
        repo.write(name, "x\n" * lines)
    repo.add()
    records = gather(make_event(), "files.changes")["files.changes"]
    assert {r["path"]: r["lines"] for r in records} == {"a": 5, "b": 10, "c": 15, "big": None}


def test_a_missing_object_makes_sizes_unknowable_and_is_named(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a.txt", "1\n")
    repo.add()
    oid = repo.git("rev-parse", ":a.txt")
    event = make_event()
    event.view.change()
    (repo.root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    facts = gather(event, "files.changed", "files.largest_bytes", "files.changes")
    assert facts["files.changed"] == ["a.txt"]
    for field in ("files.largest_bytes", "files.changes"):
        reason, command = facts["missing"][field]
        assert oid[:12] in reason and command.startswith("git fetch")
