"""Facts that are stated in place of those that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.hosts import given_facts
from ahp.hosts.given_facts import as_call, state
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system.errors import AhpError


def stated(trigger: str = "pre-tool-use", **facts: object) -> Event:
    event = Event(trigger, "test", Actor("human"), Workspace("/p", "/p/.ahp", {}), 0.0, "dry")
    state(event, facts, {"tests": {}, "tool": {}})
    return event


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("files: {changed_count: 3}\n", {"files": {"changed_count": 3}}),
        ('{"files": {"changed": ["a"]}, "environment": "ci"}', {"files": {"changed": ["a"]}, "environment": "ci"}),
    ],
)
def test_facts_are_yaml_or_json(tmp_path: Path, text: str, given: object) -> None:
    path = tmp_path / "facts"
    path.write_text(text)
    assert given_facts.read(str(path)) == given


def test_facts_may_stand_in_the_argument_itself() -> None:
    assert given_facts.read('{tool: {command: "rm -rf /"}}') == {"tool": {"command": "rm -rf /"}}
    with pytest.raises(AhpError, match="--facts is neither YAML nor JSON"):
        given_facts.read("{a: [")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "there is no file .*facts"),
        (b"a: [", "neither YAML nor JSON"),
        (b"\xff", "neither YAML nor JSON"),
        (b"[1]", "no mapping of namespaces"),
        (b"1: {}", "a key must be text, not 1"),
        (b"files: {changed_cnt: 3}", "there is no fact `files.changed_cnt`; did you mean `files.changed_count`"),
        (b"!!python/object/apply:os.system [x]", "neither YAML nor JSON"),
    ],
)
def test_other_facts_are_refused(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "facts"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AhpError, match=why):
        given_facts.read(str(path))


def test_what_is_stated_is_whole_and_the_rest_is_as_it_is_told() -> None:
    event = stated(files={"changed_count": 3}, environment="ci", tool={"command": "ls"})
    assert event.given == {"files": {"changed_count": 3}, "environment": {"": "ci"}, "tests": {}}
    assert stated().given == {"tests": {}, "tool": {}}


@pytest.mark.parametrize("facts", [{"tool": "bash"}, {"files": [1]}, {"session": None}])
def test_a_namespace_that_is_no_mapping_is_refused(facts: dict[str, Any]) -> None:
    (name,) = facts
    with pytest.raises(AhpError, match=f"{name} is a mapping of facts, not "):
        stated(**facts)


def test_records_may_leave_keys_out() -> None:
    event = stated("pre-commit", diff={"added": [{"path": "a", "text": "x"}, 7]})
    assert event.given is not None
    assert event.given["diff"]["added"] == [{"path": "a", "line": 1, "text": "x"}, 7]


@pytest.mark.parametrize(
    ("facts", "message"),
    [({"subject": "feat: x"}, "feat: x\n"), ({"subject": "a", "body": "b"}, "a\n\nb\n"), ({"message": "m"}, "m")],
)
def test_a_message_is_the_event_s_own(facts: dict[str, object], message: str) -> None:
    event = stated("commit-msg", commit={"author": "Ann <a@b>", **facts})
    assert event.draft == message.encode()
    assert event.given is not None
    commit = event.given["commit"]
    assert (commit["message"], commit["author"], commit["is_merge"]) == (message, "Ann <a@b>", False)
    assert stated("pre-commit", commit={"author": "x"}).draft is None


@pytest.mark.wings
def test_a_shell_call_is_read_as_a_client_s() -> None:
    call = as_call({"command": "rm -fr x > z && cat y"}, "/p")
    assert (call["name"], call["native_name"], call["input"]) == (
        "shell",
        "shell",
        {"command": "rm -fr x > z && cat y"},
    )
    assert [one["program"] for one in call["commands"]] == ["rm", "cat"]  # type: ignore[attr-defined]
    assert (call["writes"], call["paths"]) == (["z"], ["x", "z", "y"])
    assert as_call({"input": {"command": "ls"}})["command"] == "ls"


@pytest.mark.wings
def test_what_is_stated_adds_to_what_follows_from_the_call() -> None:
    call = as_call({"name": "write", "native_name": "Write", "input": {"path": "/p/a"}, "paths": ["b", "a"]}, "/p")
    assert (call["paths"], call["writes"], call["native_name"]) == (["a", "b"], ["a"], "Write")
    assert as_call({"name": "write", "writes": ["a"]})["writes"] == ["a"]
    hidden = as_call({"command": "rm > a", "commands": [], "paths": [], "writes": [], "target": "nothing"})
    assert hidden["writes"] == ["a"] and len(hidden["commands"]) == 1  # type: ignore[arg-type]
    assert hidden["target"] == "shell rm"
    after = as_call({"name": "other", "output": "no", "is_error": True})
    assert (after["output"], after["is_error"]) == ("no", True)
    assert "output" not in as_call({"name": "other"})


@pytest.mark.wings
def test_a_call_of_another_kind_may_write_the_files_that_it_names() -> None:
    call = as_call({"name": "other", "native_name": "w", "writes": True, "input": {"path": "/p/a"}}, "/p")
    assert (call["paths"], call["writes"]) == (["a"], ["a"])


@pytest.mark.parametrize(
    "call",
    [{"name": "bash"}, {"input": "ls"}, {"writes": "a"}, {"paths": [1]}, {"is_error": "no"}, {"command": ["ls"]}],
)
def test_a_call_with_facts_of_a_wrong_type_is_refused(call: dict[str, object]) -> None:
    with pytest.raises(AhpError, match=f"tool.{next(iter(call))} is "):
        as_call(call)
