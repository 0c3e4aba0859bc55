"""`diff` holds exactly the lines that git adds and removes, whatever they look like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.facts import diff
from ahp.facts.registry import Absent
from ahp.system import lines, patch, process
from ahp.system.errors import AhpError
from ahp.system.worktree import WorkTreeView
from tests.examples import examples


def test_lines_carry_path_and_number(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.txt": "1\n2\n3\n4\n"})
    repo.write("a.txt", "1\nzwei\n3\n4\nfive\nsix")
    repo.write("b.txt", "new")
    repo.add()
    facts = gather(make_event(), "diff.added", "diff.removed")
    assert facts["diff.added"] == [
        {"path": "a.txt", "line": 2, "text": "zwei"},
        {"path": "a.txt", "line": 5, "text": "five"},
        {"path": "a.txt", "line": 6, "text": "six"},
        {"path": "b.txt", "line": 1, "text": "new"},
    ]
    assert facts["diff.removed"] == [{"path": "a.txt", "line": 2, "text": "2"}]


def test_only_the_side_that_is_read_is_built(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("a.txt", "2\n")
    repo.add()
    assert gather(make_event(), "diff.removed") == {"diff.removed": [{"path": "a.txt", "line": 1, "text": "1"}]}
    assert gather(make_event(), "diff.added") == {"diff.added": [{"path": "a.txt", "line": 1, "text": "2"}]}


def test_lines_that_look_like_a_diff_are_lines(repo: Any, make_event: Any, gather: Any) -> None:
    lines = ["-- x", "++ y", "+++ b/evil", "--- a/evil", "@@ -1 +1 @@", "diff --git a/x b/x", "\\ No newline", ""]
    repo.commit("first", **{"a.txt": "-- old\n+++ b/old\n"})
    repo.write("a.txt", "\n".join(lines) + "\n")
    repo.add()
    facts = gather(make_event(), "diff.added", "diff.removed")
    assert [line["text"] for line in facts["diff.added"]] == lines
    assert {line["path"] for line in facts["diff.added"]} == {"a.txt"}
    assert [line["text"] for line in facts["diff.removed"]] == ["-- old", "+++ b/old"]


def test_missing_last_newlines_on_either_side(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.txt": "a\nold", "b.txt": "same"})
    repo.write("a.txt", "a\nnew")
    repo.write("b.txt", "same\n")
    repo.add()
    facts = gather(make_event(), "diff.added", "diff.removed")
    assert [(line["path"], line["line"], line["text"]) for line in facts["diff.added"]] == [
        ("a.txt", 2, "new"),
        ("b.txt", 1, "same"),
    ]
    assert [line["text"] for line in facts["diff.removed"]] == ["old", "same"]


def test_renames_binaries_modes_and_deletions(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"old name": "line\n" * 10, "bin": b"\0\1", "mode": "x\n", "gone": "bye\n"})
    repo.git("mv", "old name", "new name")
    repo.write("new name", "line\n" * 10 + "more\n")
    repo.write("bin", b"\0\2")
    (repo.root / "mode").chmod(0o755)
    repo.git("rm", "--quiet", "gone")
    repo.add()
    facts = gather(make_event(), "diff.added", "diff.removed")
    assert facts["diff.added"] == [{"path": "new name", "line": 11, "text": "more"}]
    assert facts["diff.removed"] == [{"path": "gone", "line": 1, "text": "bye"}]


def test_hostile_names_and_bytes(repo: Any, make_event: Any, gather: Any, hostile_names: list[str]) -> None:
    for name in hostile_names:
        repo.write(name, b"caf\xe9 \xf0\x9f\x98\x80\r\n")
    repo.add()
    facts = gather(make_event(), "diff.added")
    assert sorted(line["path"] for line in facts["diff.added"]) == sorted(hostile_names)
    assert {line["text"] for line in facts["diff.added"]} == {"caf\udce9 \U0001f600"}


def test_names_come_through_without_quoting_too(repo: Any, make_event: Any, gather: Any) -> None:
    repo.git("config", "core.quotePath", "false")
    repo.git("config", "diff.noprefix", "true")
    repo.git("config", "diff.external", "false")
    for name in ("ümlaut", 'tab\tand "quote"', "blank name"):
        repo.write(name, "x\n")
    repo.add()
    paths = {line["path"] for line in gather(make_event(), "diff.added")["diff.added"]}
    assert paths == {"ümlaut", 'tab\tand "quote"', "blank name"}


def test_context_lines_that_the_environment_asks_for_are_stepped_over(
    repo: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("first", **{"a.txt": "1\n\n3\n4\n5\n6"})
    repo.write("a.txt", "1\n\ndrei\n4\n5\n6\nsieben\n")
    repo.add()
    plain = gather(make_event(), "diff.added", "diff.removed")
    repo.git("config", "diff.suppressBlankEmpty", "true")
    assert gather(make_event(env={"GIT_DIFF_OPTS": "-u3"}), "diff.added", "diff.removed") == plain
    assert [(line["line"], line["text"]) for line in plain["diff.added"]] == [(3, "drei"), (6, "6"), (7, "sieben")]


def test_the_work_tree_shows_untracked_files(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("new dir/fresh file", "hello\n")
    event = make_event("pre-issue-submit")
    event.view = WorkTreeView(event.repo)
    assert gather(event, "diff.added")["diff.added"] == [{"path": "new dir/fresh file", "line": 1, "text": "hello"}]


def test_lines_that_nobody_tells_are_absent_and_not_none(make_event: Any, gather: Any) -> None:
    missing = gather(make_event("pre-tool-use", view=None), "diff.added")["missing"]
    assert missing == {"diff.added": ("the client does not tell what the call changes", "")}


def test_a_huge_line_is_one_line(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "x" * 3_000_000)
    repo.add()
    (line,) = gather(make_event(), "diff.added")["diff.added"]
    assert len(line["text"]) == 3_000_000


@pytest.mark.parametrize(
    "text",
    [
        b"--- a/x\n+++ b/x\n@@ -1 +1,5 @@\n-a\n+b\n",
        b"--- a/x\n+++ b/x\n@@ -a +b @@\n-a\n+b\n",
        b"--- a/x\n+++ b/x\n@@ -1\n-a\n+b\n",
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n+b\n",
    ],
)
def test_a_diff_that_is_cut_or_bent_is_an_error(text: bytes) -> None:
    with pytest.raises(AhpError, match="diff"):
        patch.parse(text)


@given(old=st.lists(st.text(), max_size=6), new=st.lists(st.text(), max_size=6))
@examples(25, HealthCheck.function_scoped_fixture)
def test_removing_and_adding_lines_leads_from_old_to_new(
    repo: Any, make_event: Any, gather: Any, old: list[str], new: list[str]
) -> None:
    before, after = ("\n".join(lines).encode("utf-8", "surrogatepass").replace(b"\0", b"") for lines in (old, new))
    repo.git("rm", "-q", "--cached", "--ignore-unmatch", "a.txt")
    repo.write(".gitattributes", "a.txt diff\n")
    repo.write("a.txt", before)
    repo.add("a.txt")
    repo.git("commit", "-q", "--allow-empty", "-m", "base")
    repo.write("a.txt", after)
    repo.add("a.txt")
    facts = gather(make_event(), "diff.added", "diff.removed")
    lines = _lines(before)
    for item in sorted(facts["diff.removed"], key=lambda item: -item["line"]):
        assert lines.pop(item["line"] - 1) == item["text"]
    for item in facts["diff.added"]:
        lines.insert(item["line"] - 1, item["text"])
    assert lines == _lines(after)


def _lines(data: bytes) -> list[str]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix(b"\r").decode("utf-8", "surrogateescape") for line in lines]


def test_what_is_too_long_to_read_names_no_command_that_would_not_help(
    repo: Any, make_event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("first")
    repo.write("large.txt", "large line\n" * 300)
    repo.add()
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1000)
    monkeypatch.setattr(lines, "LIMIT", 1000)
    real = process.capture
    monkeypatch.setattr(process, "capture", lambda *given, **named: real(*given, **{"limit": 1000, **named}))
    found = diff.gather(make_event(), frozenset({"added"}), None)["added"]
    assert isinstance(found, Absent) and "large.txt (1 MiB) were not read" in found.reason and found.command == ""
