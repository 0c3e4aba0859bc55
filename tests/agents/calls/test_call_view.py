"""What a tool call does to files is a change like a commit's: `files` and `diff` read it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.agents.calls import call_edits, tool_call
from ahp.agents.calls.call_view import view_of
from ahp.runner.tools import edit_tools

FILES = [f"files.{field}" for field in ("changed", "added", "modified", "deleted", "insertions", "deletions")]


def call(event: Any, native: str, arguments: dict[str, Any], trigger: str = "pre-tool-use") -> Any:
    made = event(trigger, view=None)
    made.tool = tool_call.read("", native, arguments, root=made.root)
    made.view = view_of(made)
    return made


def added(facts: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(line["path"], line["line"], line["text"]) for line in facts["diff.added"]]


def removed(facts: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(line["path"], line["line"], line["text"]) for line in facts["diff.removed"]]


def test_a_new_file_is_added_with_all_its_lines(make_event: Any, gather: Any) -> None:
    event = call(make_event, "Write", {"file_path": "a.txt", "content": "one\ntwo\n"})
    facts = gather(event, *FILES, "diff.added", "diff.removed", "files.changes")
    assert [facts[name] for name in FILES] == [["a.txt"], ["a.txt"], [], [], 2, 0]
    assert added(facts) == [("a.txt", 1, "one"), ("a.txt", 2, "two")] and not removed(facts)
    (record,) = facts["files.changes"]
    assert (record["status"], record["bytes"], record["lines"]) == ("added", 8, 2)


def test_a_written_file_is_compared_with_what_it_holds(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("d/a.txt", "1\n2\n3\n4\n")
    path = str(repo.root / "d" / "a.txt")
    event = call(make_event, "create_file", {"path": path, "file_text": "1\nzwei\n3\n4\n5\n"})
    facts = gather(event, *FILES, "diff.added", "diff.removed")
    assert [facts[name] for name in FILES] == [["d/a.txt"], [], ["d/a.txt"], [], 2, 1]
    assert added(facts) == [("d/a.txt", 2, "zwei"), ("d/a.txt", 5, "5")]
    assert removed(facts) == [("d/a.txt", 2, "2")]


PATCH = "*** Begin Patch\n*** Update File: a\n@@\n a\n-b\n+B\n c\n*** End Patch\n"


@pytest.mark.parametrize(
    ("native", "arguments", "expected"),
    [
        ("Edit", {"file_path": "a", "old_string": "b\n", "new_string": "B\nB\n"}, "a\nB\nB\nc\nb\n"),
        ("edit", {"filePath": "a", "oldString": "b", "newString": "B", "replaceAll": True}, "a\nB\nc\nB\n"),
        ("str_replace_editor", {"path": "a", "old_str": "c", "new_str": "C"}, "a\nb\nC\nb\n"),
        ("insert", {"path": "a", "insert_line": 1, "insert_text": "x"}, "a\nx\nb\nc\nb\n"),
        (
            "MultiEdit",
            {
                "file_path": "a",
                "edits": [{"old_string": "a", "new_string": "x"}, {"old_string": "x", "new_string": "y"}],
            },
            "y\nb\nc\nb\n",
        ),
        ("mcp__fs__edit", {"path": "a", "edits": [{"oldText": "a\nb", "newText": "z"}]}, "z\nc\nb\n"),
        ("mcp__fs__push", {"files": [{"path": "a", "content": "new\n"}]}, "new\n"),
        (
            "apply_patch",
            {"command": PATCH},
            "a\nB\nc\nb\n",
        ),
        ("patch", {"patch": "--- a/a\n+++ b/a\n@@ -2,2 +2,1 @@\n-b\n-c\n+x\n"}, "a\nx\nb\n"),
        (
            "Bash",
            {"command": f"apply_patch <<'E'\n{PATCH}E\n"},
            "a\nB\nc\nb\n",
        ),
    ],
)
def test_every_shape_of_an_edit_is_made(
    repo: Any, make_event: Any, native: str, arguments: dict[str, Any], expected: str
) -> None:
    repo.write("a", "a\nb\nc\nb\n")
    event = call(make_event, native, arguments)
    assert event.view.read("a") == expected.encode()
    assert [entry.path for entry in event.view.change().entries] == ["a"]
    assert "a" in event.view.paths()


def test_a_patch_adds_deletes_and_moves(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("gone", "x\n")
    repo.write("old", "1\n2\n")
    text = "*** Begin Patch\n*** Add File: n\n+k\n*** Delete File: gone\n*** Update File: old\n*** Move to: new\n@@\n"
    event = call(make_event, "apply_patch", {"input": text + "-1\n+eins\n 2\n*** End Patch"})
    facts = gather(event, "files.changed", "files.added", "files.deleted", "diff.added")
    assert sorted(facts["files.changed"]) == ["gone", "n", "new", "old"]
    assert sorted(facts["files.added"]) == ["n", "new"] and sorted(facts["files.deleted"]) == ["gone", "old"]
    assert ("n", 1, "k") in added(facts) and ("new", 1, "eins") in added(facts)
    whole = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+k\n--- a/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"
    other = call(make_event, "patch", {"patch": whole})
    assert gather(other, "files.added", "files.deleted") == {"files.added": ["n"], "files.deleted": ["gone"]}


def test_a_file_that_a_patch_makes_holds_the_lines_of_all_its_hunks(make_event: Any) -> None:
    text = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+one\n@@ -0,0 +2 @@\n+two\n"
    event = call(make_event, "patch", {"patch": text})
    assert event.view.read("n") == b"one\ntwo\n"


@pytest.mark.parametrize("said", ["@@ -3,0 +4,0 @@", "@@ -3,0 +4 @@", "@@"])
def test_the_lines_of_a_hunk_count_though_it_says_that_it_has_none(
    repo: Any, make_event: Any, gather: Any, said: str
) -> None:
    repo.write("a", "1\n2\n")
    text = f"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n{said}\n 2\n+key\n"
    (change,) = edit_tools.parse(text)
    assert edit_tools.applied("1\n2\n", change) == "one\n2\nkey\n"  # what the runner's tool makes of it
    facts = gather(call(make_event, "apply_patch", {"patch": text}), "diff.added")
    assert added(facts) == [("a", 1, "one"), ("a", 3, "key")]


def test_a_line_that_looks_like_a_header_is_a_line_of_the_hunk(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "-- x\n")
    text = "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n--- x\n+++ y\n+key\n"
    facts = gather(call(make_event, "apply_patch", {"patch": text}), "diff.added")
    assert added(facts) == [("a", 1, "++ y"), ("a", 2, "key")]
    (change,) = edit_tools.parse(text)
    assert edit_tools.applied("-- x\n", change) == "++ y\nkey\n"


def test_an_edit_that_does_not_fit_still_tells_its_lines(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "x\n")
    event = call(make_event, "Edit", {"file_path": "a", "old_string": "not there", "new_string": "key"})
    assert added(gather(event, "diff.added")) == [("a", 1, "key")]
    cell = call(make_event, "NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "key\n"})
    assert added(gather(cell, "diff.added")) == [("n.ipynb", 1, "key")]


def test_a_link_is_followed_to_what_is_written(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("real", "x\n")
    (repo.root / "link").symlink_to("real")
    event = call(make_event, "Write", {"file_path": "link", "content": "y\n"})
    assert gather(event, "files.changed", "files.modified") == {"files.changed": ["real"], "files.modified": ["real"]}


@pytest.mark.parametrize("command", ["ls", "git status | grep x", "echo a", "git commit -m x", ""])
def test_a_command_that_writes_nothing_changes_nothing(make_event: Any, gather: Any, command: str) -> None:
    facts = gather(call(make_event, "Bash", {"command": command}), "files.changed", "diff.added")
    assert facts == {"files.changed": [], "diff.added": []}


@pytest.mark.parametrize("command", ["make", "./x", "$X", "npm test", "git checkout x", "rm *.o"])
def test_what_only_running_tells_is_absent_not_empty(make_event: Any, gather: Any, command: str) -> None:
    facts = gather(call(make_event, "Bash", {"command": command}), "files.changed", "diff.added", "deps.changed")
    assert set(facts) == {"missing"} and len(facts["missing"]) == 3
    assert facts["missing"]["files.changed"][0].endswith(("only when it runs", "is known only when it runs"))


def test_of_a_file_written_in_an_unknown_way_the_name_is_known(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("f", "x\n")
    facts = gather(call(make_event, "Bash", {"command": "git log > f"}), "files.modified", "files.insertions")
    assert facts["files.modified"] == ["f"] and "files.insertions" in facts["missing"]
    assert set(gather(call(make_event, "Bash", {"command": "git log > f"}), "diff.added")) == {"missing"}


@pytest.mark.parametrize(
    ("native", "arguments"), [("Read", {"file_path": "a"}), ("TodoWrite", {"todos": [{"content": "x"}]}), ("Skill", {})]
)
def test_reading_and_meta_tools_change_nothing(
    make_event: Any, gather: Any, native: str, arguments: dict[str, Any]
) -> None:
    facts = gather(call(make_event, native, arguments), "files.changed_count", "diff.added")
    assert facts == {"files.changed_count": 0, "diff.added": []}


def test_a_tool_nobody_knows_that_names_a_file_is_not_taken_for_harmless(make_event: Any, gather: Any) -> None:
    assert set(gather(call(make_event, "mcp__fs__touch", {"path": "a"}), "files.changed")) == {"missing"}
    known = call(make_event, "delete_file", {"target_file": "a"})
    assert gather(known, "files.changed") == {"files.changed": ["a"]}


def test_folders_and_large_files_are_not_read(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("d/a", "x\n")
    with (repo.root / "large").open("wb") as file:
        file.truncate(9 << 20)
    facts = gather(call(make_event, "Bash", {"command": "git log > d"}), "files.changed", "files.insertions")
    assert facts["files.changed"] == ["d"] and "files.insertions" in facts["missing"]
    edit = call(make_event, "Edit", {"file_path": "large", "old_string": "a", "new_string": "key"})
    assert added(gather(edit, "diff.added")) == [("large", 1, "key")]
    assert gather(edit, "files.modified") == {"files.modified": ["large"]}
    written = call(make_event, "Write", {"file_path": "large", "content": "k\n"})
    assert gather(written, "files.insertions") == {"files.insertions": 1}


def test_binary_content_has_no_lines(make_event: Any, gather: Any) -> None:
    event = call(make_event, "Write", {"file_path": "a", "content": "\0\n"})
    assert gather(event, "files.binary", "diff.added") == {"files.binary": ["a"], "diff.added": []}


def test_afterwards_an_edit_is_taken_back_for_the_state_before(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "1\nnew\n")
    edit = {"file_path": "a", "old_string": "old", "new_string": "new"}
    facts = gather(call(make_event, "Edit", edit, "post-tool-use"), "diff.added", "diff.removed")
    assert added(facts) == [("a", 2, "new")] and removed(facts) == [("a", 2, "old")]
    other = {"file_path": "a", "old_string": "x", "new_string": "is gone again"}
    assert added(gather(call(make_event, "Edit", other, "post-tool-use"), "diff.added")) == [("a", 1, "is gone again")]
    written = call(make_event, "Write", {"file_path": "a", "content": "1\n"}, "post-tool-use")
    facts = gather(written, "files.changed", "diff.added")
    assert facts["files.changed"] == ["a"] and "before the call" in facts["missing"]["diff.added"][0]


def test_the_same_call_is_the_same_change_and_another_is_another(make_event: Any) -> None:
    one, same, other = (call(make_event, "Bash", {"command": c}).view.change().digest for c in ("ls", "ls", "pwd"))
    assert one == same != other


def test_outside_a_repository_the_files_are_those_of_the_folder(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "x\n")
    event = call(make_event, "Write", {"file_path": "b", "content": "y"})
    event.repo = None
    event.view = view_of(event)
    assert event.view.paths() == ["b"] and event.view.read("a") == b"x\n" and event.view.read("no") is None
    assert gather(event, "files.added") == {"files.added": ["b"]}
    with pytest.raises(Exception, match="no commit"):
        event.view.base()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
)
KEYS = st.sampled_from(
    ["path", "file_path", "content", "edits", "old_string", "new_string", "command", "patch", "insert_line"]
)


@pytest.mark.slow
@given(st.dictionaries(KEYS, JSON), st.sampled_from(["Write", "Edit", "apply_patch", "Bash", "mcp__x", "Nothing"]))
def test_whatever_a_call_holds_is_read(arguments: dict[str, Any], native: str) -> None:
    call_edits.of(tool_call.read("", native, arguments, root="/nowhere"))
