"""What a control action changes, and what it cannot (design §4; seed 002 §2.2)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from ahp.gate import actions
from ahp.gate.actions import CannotApply
from ahp.policy.program import Action
from tests.gate.conftest import Desk


def action_of(given: dict[str, Any]) -> Action:
    named = {"with_" if key == "with" else key: value for key, value in given.items()}
    return Action(**{**dict.fromkeys(Action.fields), **named})


def change(desk: Desk, action: dict[str, Any], **slots: Any) -> Any:
    """(original, updated, the event after it); None when nothing would change."""
    event = desk.event("pre-tool-use", **slots)
    done = actions.modify(action_of(action), event, "because")
    if done is None:
        return None
    modification, after = done
    assert set(modification) == {"target", "original", "updated", "reason"}
    assert (modification["target"], modification["reason"]) == (action["target"], "because")
    return modification["original"], modification["updated"], after


def tool(desk: Desk, action: dict[str, Any], **given: Any) -> Any:
    return change(desk, action, tool={"name": "shell", "input": given})


def message(desk: Desk, action: dict[str, Any], draft: bytes) -> Any:
    done = change(desk, {"target": "commit.message", **action}, draft=draft)
    return None if done is None else done[2].draft


def test_set_puts_a_value(desk: Desk) -> None:
    action = {"type": "set", "target": "tool.input.dry", "value": True}
    before, after, event = tool(desk, action, command="x")
    assert (before, after) == (None, True)
    assert (event.tool["name"], event.tool["input"]) == ("shell", {"command": "x", "dry": True})
    assert tool(desk, action, dry=True) is None


def test_a_target_may_lie_deeper(desk: Desk) -> None:
    action = {"type": "clamp", "target": "tool.input.options.limit", "max": 5}
    given = {"options": {"limit": 9, "all": True}}
    before, after, event = tool(desk, action, **given)
    assert (before, after) == (9, 5)
    assert event.tool["input"] == {"options": {"limit": 5, "all": True}}
    assert given == {"options": {"limit": 9, "all": True}}
    made = tool(desk, {"type": "set", "target": "tool.input.a.b", "value": 1}, a="text")
    assert made[2].tool["input"] == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("bounds", "value", "after"),
    [({"max": 5}, 9, 5), ({"min": 5}, 1, 5), ({"min": 1, "max": 5}, 3, None), ({"max": 0.5}, 1.5, 0.5)],
)
def test_clamp_keeps_a_number_within_bounds(desk: Desk, bounds: dict[str, float], value: float, after: Any) -> None:
    done = tool(desk, {"type": "clamp", "target": "tool.input.n", **bounds}, n=value)
    assert (done and done[1]) == after


@pytest.mark.parametrize("value", ["9", True, None, [9]])
def test_only_numbers_are_clamped(desk: Desk, value: object) -> None:
    with pytest.raises(CannotApply, match="is not a number"):
        tool(desk, {"type": "clamp", "target": "tool.input.n", "max": 5}, n=value)


def test_replace_uses_re2_with_groups(desk: Desk) -> None:
    action = {"type": "replace", "target": "tool.input.command", "pattern": r"curl (\S+)", "with": r"fetch \1"}
    assert tool(desk, action, command="curl x && curl y")[1] == "fetch x && fetch y"
    assert tool(desk, action, command="ls") is None
    with pytest.raises(CannotApply, match="is not a text"):
        tool(desk, action, command=7)


def test_append_goes_to_lists_and_texts(desk: Desk) -> None:
    action = {"type": "append", "target": "tool.input.args", "value": "--dry-run"}
    assert tool(desk, action, args=["a"])[1] == ["a", "--dry-run"]
    assert tool(desk, action, args="a ")[1] == "a --dry-run"
    assert tool(desk, action)[1] == "--dry-run"


@pytest.mark.parametrize(
    ("draft", "after"),
    [
        (b"subject\n", b"subject\n\nline\n"),
        (b"subject\n\n# comment\n# more\n", b"subject\n\nline\n\n# comment\n# more\n"),
        (b"subject", b"subject\n\nline\n"),
        (b"subject\n\nbody\n", b"subject\n\nbody\nline\n"),
        (b"", b"line\n"),
        (b"# only a comment\n", b"line\n# only a comment\n"),
        (b"caf\xe9\n", b"caf\xe9\n\nline\n"),
        (
            b"subject\n; comment\n; ------------------------ >8 ------------------------\ndiff\n",
            b"subject\n\nline\n; comment\n; ------------------------ >8 ------------------------\ndiff\n",
        ),
    ],
)
def test_append_to_a_message_comes_before_git_s_comments(desk: Desk, draft: bytes, after: bytes) -> None:
    assert message(desk, {"type": "append", "value": "line"}, draft) == after


@pytest.mark.parametrize(
    "draft",
    [
        "subject\n",
        "subject\n\nbody\n",
        "fix: looks like a trailer\n",
        "subject\n\nbody\n\nSigned-off-by: A <a@b.c>\n",
        "subject\n\nSigned-off-by: A <a@b.c>\n",
        "subject\n\nbody\n\nFixes: 1\n  folded\nCloses: 2\n\n# comment\n",
        "subject\n\nbody: with colon\nand without\n",
    ],
)
def test_a_trailer_is_appended_where_git_would_put_it(desk: Desk, tmp_path: Path, draft: str) -> None:
    after = message(desk, {"type": "append", "value": "Review: required"}, draft.encode())
    command = ["git", "interpret-trailers", "--if-exists", "add", "--trailer", "Review: required"]
    done = subprocess.run(command, cwd=tmp_path, input=draft.encode(), capture_output=True, check=True)
    assert after == done.stdout


def test_messages_are_set_and_replaced(desk: Desk) -> None:
    assert message(desk, {"type": "set", "value": "new"}, b"old\n") == b"new"
    assert message(desk, {"type": "replace", "pattern": "(?i)wip", "with": "draft"}, b"WIP: x\n") == b"draft: x\n"


def test_the_event_it_came_from_stays_as_it_was(desk: Desk) -> None:
    event = desk.event("commit-msg", draft=b"old\n")
    action = action_of({"type": "set", "target": "commit.message", "value": "new"})
    _, after = actions.modify(action, event, "r") or (None, event)
    assert (event.draft, after.draft) == (b"old\n", b"new")
    assert after.attempt == event.attempt


@pytest.mark.parametrize("target", ["commit.message", "tool.input.x"])
def test_what_the_event_does_not_have_cannot_be_changed(desk: Desk, target: str) -> None:
    with pytest.raises(CannotApply, match="is not something that this action has"):
        change(desk, {"type": "set", "target": target, "value": "x"})


def test_an_unknown_change_cannot_be_applied(desk: Desk) -> None:
    with pytest.raises(CannotApply, match="no installed package adds the action explode"):
        tool(desk, {"type": "explode", "target": "tool.input.x"}, x=1)


def test_long_texts_are_shown_in_part_and_changed_whole(desk: Desk) -> None:
    before, after, event = tool(desk, {"type": "append", "target": "tool.input.c", "value": "!"}, c="x" * 5000)
    assert len(before) == len(after) == 1000
    assert event.tool["input"]["c"] == "x" * 5000 + "!"


def test_batches_are_by_folder(desk: Desk) -> None:
    done = actions.split(2, ["b/2", "a/1", "b/1"], "too big")
    assert done == {
        "target": "batch_size",
        "original": 3,
        "updated": 2,
        "reason": "too big",
        "batches": [["a/1", "b/1"], ["b/2"]],
    }


@pytest.mark.wings
def test_what_follows_from_an_argument_is_read_anew(desk: Desk) -> None:
    action = {"type": "replace", "target": "tool.input.command", "pattern": "cat", "with": "rm >"}
    given = {"name": "shell", "input": {"command": "cat a"}, "command": "cat a", "paths": ["a"], "writes": []}
    _, _, event = change(desk, action, tool=given)
    assert (event.tool["command"], event.tool["writes"], event.tool["target"]) == ("rm > a", ["a"], "shell rm")
    assert [one["program"] for one in event.tool["commands"]] == ["rm"]
