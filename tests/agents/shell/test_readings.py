"""What each class of command lines is read as: `readings.jsonl`, one a line, with what must be found in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.agents.calls import tool_call

READINGS = [json.loads(line) for line in (Path(__file__).parent / "readings.jsonl").read_text().splitlines()]
# An unresolved option of these may skip the hooks.
HOOKED = ("commit", "push", "merge", "rebase", "cherry-pick", "am")


def commands(script: str) -> list[dict[str, Any]]:
    found: Any = tool_call.read("shell", "Bash", {"command": script}, root="/repo")["commands"]
    return list(found)


def texts(script: str, field: str) -> list[str]:
    return [text for one in commands(script) for text in one[field]]


def rows(key: str) -> list[dict[str, Any]]:
    found = [row for row in READINGS if key in row]
    assert found
    return found


def test_what_it_runs_is_one_of_its_commands() -> None:
    for row in rows("runs"):
        assert row["runs"] in [" ".join([one["program"], *one["args"]]) for one in commands(row["script"])], row


@pytest.mark.parametrize("key", ["writes", "may_write"])
def test_the_files_it_writes_are_named_and_no_others_where_it_only_reads(key: str) -> None:
    for row in rows(key):
        found = set(texts(row["script"], key))
        assert (set(row[key]) <= found) if row[key] else not found, row


def test_what_it_sets_for_git_is_told_however_it_is_set() -> None:
    for row in rows("config"):
        found = texts(row["script"], "config")
        assert row["config"] in found if row["config"] else not found, row


def test_the_verb_is_told() -> None:
    for row in rows("verb"):
        assert row["verb"] in [f"{one['program']} {one['verb']}".strip() for one in commands(row["script"])], row


def test_a_word_is_unresolved_where_it_matters_and_only_there() -> None:
    for row in rows("at"):
        found = commands(row["script"])
        if row["at"]:
            assert row["at"] in [place for one in found for place in one["unresolved_at"]], row
        else:
            options = [one for one in found if one["program"] == "git" and one["verb"] in HOOKED]
            assert not [one for one in found if {"program", "path"} & set(one["unresolved_at"])], row
            assert not [one for one in options if "option" in one["unresolved_at"]], row


def test_what_shows_help_or_what_it_would_do_does_nothing() -> None:
    for row in rows("nothing"):
        last = commands(row["script"])[-1]
        assert last["does_nothing"] is row["nothing"], row


def test_the_words_that_are_known_later_are_told() -> None:
    for row in rows("unknown"):
        assert texts(row["script"], "unknown") == row["unknown"], row
