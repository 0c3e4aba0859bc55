"""`files` tells of real git what is staged, committed, pushed, or lies in the work tree."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.facts import files, sizes
from ahp.system.errors import AhpError
from ahp.system.history import CommitView, RangeView
from ahp.system.worktree import WorkTreeView

ALL = [f"files.{field}" for field in files.NAMESPACE.schema]


def test_every_kind_of_staged_change_is_told_apart(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"keep.txt": "1\n2\n3\n", "old name.txt": "same\n" * 20, "gone.txt": "x\n"})
    repo.write("keep.txt", "1\nzwei\n3\n4\n")
    repo.git("mv", "old name.txt", "new name.txt")
    repo.git("rm", "--quiet", "gone.txt")
    repo.write("new.bin", b"\0\1\2")
    repo.add()
    facts = gather(make_event(), *ALL)
    assert sorted(facts["files.changed"]) == ["gone.txt", "keep.txt", "new name.txt", "new.bin"]
    assert facts["files.changed_count"] == 4
    assert facts["files.added"] == facts["files.binary"] == ["new.bin"]
    assert facts["files.modified"] == ["keep.txt"]
    assert facts["files.deleted"] == ["gone.txt"]
    assert facts["files.renamed"] == ["new name.txt"]
    assert (facts["files.insertions"], facts["files.deletions"], facts["files.lines_changed"]) == (2, 2, 4)
    assert facts["files.largest_bytes"] == 100
    records = {record["path"]: record for record in facts["files.changes"]}
    assert records["new name.txt"] == {
        "path": "new name.txt",
        "old_path": "old name.txt",
        "status": "renamed",
        "insertions": 0,
        "deletions": 0,
        "lines": 20,
        "bytes": 100,
    }
    assert records["gone.txt"]["status"] == "deleted" and records["gone.txt"]["bytes"] == 0
    assert records["new.bin"]["lines"] is None and records["new.bin"]["bytes"] == 3
    assert records["keep.txt"]["lines"] == 4


def test_nothing_staged_is_an_empty_change_not_an_unknown_one(repo: Any, make_event: Any, gather: Any) -> None:
    facts = gather(make_event(), *ALL)
    assert facts["files.changed"] == facts["files.changes"] == []
    assert facts["files.changed_count"] == facts["files.largest_bytes"] == 0


def test_a_call_outside_any_repository_changes_no_files(make_event: Any, gather: Any) -> None:
    facts = gather(make_event("pre-tool-use", repo=None, view=None), *ALL)
    assert facts["files.changed"] == facts["files.changes"] == [] and facts["files.largest_bytes"] == 0


def test_hostile_names_come_through_unharmed(repo: Any, make_event: Any, gather: Any, hostile_names: list[str]) -> None:
    for name in hostile_names:
        repo.write(name, "x\n")
    repo.add()
    facts = gather(make_event(), "files.added", "files.changes")
    assert sorted(facts["files.added"]) == sorted(hostile_names)
    assert {record["lines"] for record in facts["files.changes"]} == {1}


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
    monkeypatch.setattr("ahp.system.worktree._FILE_LIMIT", 100)
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
    assert facts["files.largest_bytes"] == 200 and facts["files.binary"] == ["huge"]
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


def test_commits_and_ranges_give_their_own_files(repo: Any, make_event: Any, gather: Any) -> None:
    first = repo.commit("first", **{"a.txt": "1\n"})
    second = repo.commit("second", **{"b.txt": "1\n2\n"})
    event = make_event("post-commit")
    event.view = CommitView(event.repo, second)
    assert gather(event, "files.added") == {"files.added": ["b.txt"]}
    event.view = RangeView(event.repo, event.repo.empty_tree(), second)
    assert gather(event, "files.added", "files.insertions")["files.insertions"] == 3
    event.view = CommitView(event.repo, first)
    assert gather(event, "files.changed") == {"files.changed": ["a.txt"]}


def test_a_submodule_has_no_size(repo: Any, make_event: Any, gather: Any, tmp_path: Any) -> None:
    commit = repo.commit("first")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    facts = gather(make_event(), "files.changes", "files.largest_bytes")
    assert facts["files.largest_bytes"] == 0
    assert [(r["path"], r["bytes"]) for r in facts["files.changes"]] == [("sub", 0)]


def test_lines_of_large_files_are_not_counted_and_reading_is_cut_into_batches(
    repo: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "LINES_LIMIT", 30)
    monkeypatch.setattr(sizes, "_BATCH", 30)
    for name, lines in (("a", 5), ("b", 10), ("c", 15), ("big", 16)):
        repo.write(name, "x\n" * lines)
    repo.add()
    records = gather(make_event(), "files.changes")["files.changes"]
    assert {r["path"]: r["lines"] for r in records} == {"a": 5, "b": 10, "c": 15, "big": None}


def test_a_missing_object_is_an_error_that_names_it(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a.txt", "1\n")
    repo.add()
    oid = repo.git("rev-parse", ":a.txt")
    event = make_event()
    event.view.change()
    (repo.root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(AhpError, match=oid):
        gather(event, "files.largest_bytes")
