"""What files say before and after a change, in every view, from the objects of git."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.agents.calls import tool_call
from ahp.agents.calls.call_view import view_of
from ahp.facts import content
from ahp.facts.gather import gather as gather_facts
from ahp.system import git, worktree
from ahp.system.history import CommitView, RangeView
from ahp.system.worktree import WorkTreeView
from tests.conftest import Repo
from tests.facts.conftest import settings_of

BOTH = ("content.before['p.json']", "content.after['p.json']")


@pytest.fixture
def changed(repo: Repo) -> Repo:
    """`p.json` is staged as another one; `same.json` is not touched, `old.json` renamed, `gone.json` deleted."""
    old = '{"name": "old", "more": [1, 2, 3], "list": {"a": 1, "b": 2}}'
    repo.commit("one", **{"p.json": '{"v": 1}', "same.json": "[1]", "old.json": old, "gone.json": "{}"})
    repo.write("p.json", '{"v": 2}')
    repo.git("mv", "old.json", "new.json")
    repo.git("rm", "-q", "gone.json")
    repo.add()
    return repo


def why(event: Any, path: str) -> tuple[str, str, bool]:
    _, missing = gather_facts({"content": [path]}, event, settings_of())
    absent = missing["content." + path]
    return absent.reason, absent.command, absent.unknowable


def test_a_named_file_is_read_before_and_after_whether_it_changed_or_not(
    changed: Repo, make_event: Any, gather: Any
) -> None:
    more = [f"content.{side}['same.json']" for side in ("before", "after")]
    facts = gather(make_event(), *BOTH, *more, "content.before['new.json']", "content.before['old.json']")
    assert [facts[path] for path in (*BOTH, *more)] == [{"v": 1}, {"v": 2}, [1], [1]]
    assert facts["content.before['new.json']"] == facts["content.before['old.json']"]
    assert facts["content.before['old.json']"]["name"] == "old"


def test_what_is_gone_new_or_never_there_is_absent_with_the_reason(changed: Repo, make_event: Any) -> None:
    event = make_event()
    assert why(event, "after['gone.json']")[0] == "there is no gone.json after the change"
    assert why(event, "after['old.json']")[0] == "there is no old.json after the change"
    assert why(event, "before['never.json']")[0] == "there is no never.json before the change"
    assert why(event, "after_text['../x']")[0] == "../x lies outside the repository"


def test_the_same_is_told_of_the_index_the_commit_the_range_and_the_work_tree(
    changed: Repo, make_event: Any, gather: Any
) -> None:
    event = make_event()
    paths = (*BOTH, "content.before", "content.after", "content.after_text")
    staged = gather(event, *paths, "content.after['old.json']", "content.before['x.json']")
    assert staged["content.after"].keys() == {"p.json", "new.json"}
    assert staged["content.before"].keys() == {"p.json", "new.json", "gone.json"}
    lying = gather(make_event(view=WorkTreeView(event.repo)), *paths, "content.after['old.json']")
    first = changed.head()
    changed.commit("two")
    repository = git.discover(str(changed.root), {})
    for view in (CommitView(repository, "HEAD"), RangeView(repository, first, changed.head())):
        found = gather(make_event(view=view), *paths, "content.after['old.json']", "content.before['x.json']")
        assert found == staged
    assert {path: lying[path] for path in paths} == {path: staged[path] for path in paths}


def test_the_worktree_has_an_after_and_no_before(changed: Repo, make_event: Any, gather: Any) -> None:
    repository = make_event().repo
    listed, _ = worktree.listed(repository)
    view = worktree.FilesView(repository, repository.empty_tree(), listed)
    found = gather(make_event(view=view), "content.after", "content.before")
    assert found == {"content.after": {"new.json": {**found["content.after"]["new.json"]}, "p.json": {"v": 2},
                                       "same.json": [1]}, "content.before": {}}  # fmt: skip


def test_a_tool_call_has_both_sides_of_what_it_writes(changed: Repo, make_event: Any, gather: Any) -> None:
    def call(tool: str, **given: object) -> Any:
        event = make_event("pre-tool-use", view=None)
        event.tool = tool_call.read("", tool, given, root=event.root)
        event.view = view_of(event)
        return event

    written = call("Write", file_path="p.json", content='{"v": 3}')
    assert list(gather(written, *BOTH).values()) == [{"v": 2}, {"v": 3}]
    edit = {"file_path": "p.json", "old_string": "2", "new_string": "4"}
    assert list(gather(call("Edit", **edit), *BOTH).values()) == [{"v": 2}, {"v": 4}]
    assert gather(call("Write", file_path="q.json", content="1"), BOTH[1], "content.after['q.json']") == {
        BOTH[1]: {"v": 2},
        "content.after['q.json']": 1,
    }
    unfound = call("Edit", **{**edit, "old_string": "nowhere"})
    assert why(unfound, "after['p.json']")[0] == "the text that the call replaces is not in the file as it stands"
    assert "known only when it runs" in why(call("Bash", command="sed -i s/2/5/ p.json"), "after['p.json']")[0]


def test_a_file_is_also_text_lines_and_a_head(repo: Repo, make_event: Any, gather: Any) -> None:
    repo.write("a.txt", "".join(f"{n}\r\n" for n in range(30)))
    repo.write("w.txt", "ü\n".encode("utf-16"))
    repo.write("b.bin", b"\0\1\2" * 50)
    repo.add()
    event = make_event()
    facts = gather(event, *(f"content.after_{part}['a.txt']" for part in ("text", "lines", "head")))
    text, lines, head = facts.values()
    assert text.count("\n") == 30 and len(lines) == 30 and head.split("\n") == [str(n) for n in range(20)]
    assert gather(event, "content.after_lines['w.txt']") == {"content.after_lines['w.txt']": ["ü"]}
    assert why(event, "after_text['b.bin']")[0] == "b.bin is no text"


def test_of_several_documents_there_is_a_list(repo: Repo, make_event: Any, gather: Any) -> None:
    repo.write("one.yml", "a: 1\n")
    repo.write("two.yml", "a: 1\n---\nb: 2\n")
    repo.add()
    found = gather(make_event(), "content.after", "content.after_documents")
    assert found["content.after"] == {"one.yml": {"a": 1}, "two.yml": [{"a": 1}, {"b": 2}]}
    assert found["content.after_documents"] == {"one.yml": [{"a": 1}], "two.yml": [{"a": 1}, {"b": 2}]}


def test_what_does_not_parse_or_is_too_large_is_absent_with_the_reason(repo: Repo, make_event: Any) -> None:
    repo.write("bad.json", "{")
    repo.write("big.json", "[" + "1," * (5 << 20) + "1]")
    repo.write("twice.yml", "a: 1\na: 2\n")
    repo.add()
    event = make_event()
    values, missing = gather_facts({"content": ["after", "after_text['big.json']"]}, event, settings_of())
    assert values == {"content.after": {}}
    told = {path: absent.reason for path, absent in missing.items()}
    assert told["content.after['bad.json']"].startswith("bad.json cannot be read as data: Expecting property name")
    assert told["content.after['big.json']"] == "big.json is larger than the 8 MiB that are read"
    assert told["content.after_text['big.json']"] == "big.json is larger than the 8 MiB that are read"
    assert "already given in line 1" in told["content.after['twice.yml']"]


def test_all_files_of_an_event_together_are_bounded(
    repo: Repo, make_event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "_TOGETHER", 12)
    for name in "abc":
        repo.write(f"{name}.json", "[1, 2]")
    repo.add()
    values, missing = gather_facts({"content": ["after"]}, make_event(), settings_of())
    assert values["content.after"].keys() == {"a.json", "b.json"}
    assert "over 0 MiB together" in missing["content.after['c.json']"].reason


@pytest.mark.parametrize("part", ["", "_text"])
def test_a_link_is_never_followed_and_no_file_whether_it_changed_or_not(repo: Repo, make_event: Any, part: str) -> None:
    repo.write("real.yaml", "a: 1\n")
    (repo.root / "new.yaml").symlink_to("real.yaml")
    repo.add()
    (repo.root / "Dockerfile").symlink_to("/etc/passwd")
    event = make_event()
    for view in (event.view, WorkTreeView(event.repo)):
        reason = why(make_event(view=view), f"after{part}['new.yaml']")[0]
        assert reason == "new.yaml is a symbolic link, which is not followed"
    assert "Dockerfile is a symbolic link" in why(make_event(view=WorkTreeView(event.repo)), "after['Dockerfile']")[0]
    repo.commit("a link")
    repo.write("other.txt", "x\n")
    repo.add()
    for side in ("before", "after"):
        reason = why(make_event(), f"{side}{part}['new.yaml']")[0]
        assert reason == "new.yaml is a symbolic link, which is not followed"
