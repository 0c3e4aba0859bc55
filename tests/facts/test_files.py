"""`files` tells of real git what is staged, committed, pushed, or lies in the work tree."""

from __future__ import annotations

import time
from typing import Any

from ahp.facts import files
from ahp.system.history import CommitView, RangeView

ALL = [f"files.{field}" for field in files.NAMESPACE.schema]


def test_every_kind_of_staged_change_is_told_apart(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"keep.txt": "1\n2\n3\n", "old name.txt": "same\n" * 20, "gone.txt": "x\n"})
    repo.write("keep.txt", "1\nzwei\n3\n4\n")
    repo.git("mv", "old name.txt", "new name.txt")
    repo.git("rm", "--quiet", "gone.txt")
    repo.write("new.bin", b"\0\1\2")
    repo.add()
    facts = gather(make_event(), *ALL)
    assert sorted(facts["files.changed"]) == ["gone.txt", "keep.txt", "new name.txt", "new.bin", "old name.txt"]
    assert facts["files.changed_count"] == 4
    assert sorted(facts["files.added"]) == ["new name.txt", "new.bin"] and facts["files.binary"] == ["new.bin"]
    assert facts["files.modified"] == ["keep.txt"]
    assert sorted(facts["files.deleted"]) == ["gone.txt", "old name.txt"]
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
        "mode": "100644",
    }
    assert records["gone.txt"]["status"] == "deleted" and records["gone.txt"]["bytes"] == 0
    assert records["new.bin"]["lines"] is None and records["new.bin"]["bytes"] == 3
    assert records["keep.txt"]["lines"] == 4


def test_an_attribute_makes_no_text_binary(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write(".gitattributes", "package-lock.json -diff\n*.svg binary\n")
    repo.write("package-lock.json", "{}\n")
    repo.write("a.svg", "<svg/>\n")
    repo.write("b.svg", b"\0\1\2")
    repo.write("strings.rc", "text\n".encode("utf-16"))
    repo.add()
    facts = gather(make_event(), "files.binary", "files.insertions")
    assert facts == {"files.binary": ["b.svg"], "files.insertions": 2}


def test_nothing_staged_is_an_empty_change_not_an_unknown_one(repo: Any, make_event: Any, gather: Any) -> None:
    facts = gather(make_event(), *ALL)
    assert facts["files.changed"] == facts["files.changes"] == []
    assert facts["files.changed_count"] == facts["files.largest_bytes"] == 0


def test_files_that_nobody_tells_are_absent_and_not_none(make_event: Any, gather: Any) -> None:
    for trigger in ("pre-tool-use", "post-tool-use"):
        assert set(gather(make_event(trigger, repo=None, view=None), *ALL)["missing"]) == set(ALL)


def test_hostile_names_come_through_unharmed(repo: Any, make_event: Any, gather: Any, hostile_names: list[str]) -> None:
    for name in hostile_names:
        repo.write(name, "x\n")
    repo.add()
    facts = gather(make_event(), "files.added", "files.changes")
    assert sorted(facts["files.added"]) == sorted(hostile_names)
    assert {record["lines"] for record in facts["files.changes"]} == {1}


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


def test_what_changed_in_an_agents_turn_while_no_call_ran_is_unexplained(
    repo: Any, make_event: Any, gather: Any
) -> None:
    repo.commit("first", **{"d/gone.txt": "x\n", "d/old.txt": "x\n", "e/person.txt": "x\n"})
    repo.write("e/person.txt", "before\n")
    time.sleep(0.05)
    folder = repo.root / ".git/ahp/sessions"
    folder.mkdir(parents=True)
    begun = time.time()
    time.sleep(0.05)
    repo.git("rm", "-q", "d/gone.txt", "d/old.txt")
    repo.write("new.txt", "x\n")
    time.sleep(0.05)
    repo.add()
    (folder / "s").write_text(f'[{begun}, "begun"]\n[{time.time()}, "ended"]\n')
    found = gather(make_event(), "files.unexplained", "files.changed")
    assert sorted(found["files.unexplained"]) == ["d/gone.txt", "d/old.txt", "new.txt"]
    assert "e/person.txt" in found["files.changed"]
    repo.commit("second")
    late = gather(make_event(view=CommitView(make_event().repo, "HEAD")), "files.unexplained")
    assert "missing" in late
