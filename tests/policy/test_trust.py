from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.facts.registry import Command
from ahp.policy import compile as compiling
from ahp.policy import layers, trust
from ahp.policy.sources import TextSource
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import jsontext
from ahp.system.errors import AhpError

from .conftest import Load

PERSON = Actor("human", "ann")


def spec(**keys: Any) -> Command:
    entries = jsontext.encode({"run": ["sh", "check.sh"], **keys})
    return compiling.commands(layers.load(TextSource(f"facts: {{lint: {entries}}}")))["facts.lint"]


def absent(path: str) -> None:
    return None


@pytest.mark.parametrize(
    "other",
    [
        {"run": ["sh", "other.sh"]},
        {"directory": "sub"},
        {"parse": "json"},
        {"parse": "lines", "extract": {"n": "len(output)"}},
        {"timeout": "20s"},
    ],
)
def test_all_that_decides_what_a_command_does_is_in_its_digest(other: dict[str, Any]) -> None:
    assert trust.digest(spec(), absent) == trust.digest(spec(), absent)
    assert trust.digest(spec(**other), absent) != trust.digest(spec(), absent)


def test_when_it_runs_is_not_in_its_digest() -> None:
    assert trust.digest(spec(when_changed=["*.py"]), absent) == trust.digest(spec(), absent)


@pytest.mark.parametrize(
    ("run", "directory", "file"),
    [
        (["sh", "check.sh"], ".", "check.sh"),
        (["./check.sh"], ".", "check.sh"),
        (["./check.sh"], "sub", "sub/check.sh"),
        (["python", "--config=tools/x.toml"], ".", "tools/x.toml"),
    ],
)
def test_the_files_that_a_command_names_are_in_its_digest(
    tmp_path: Path, run: list[str], directory: str, file: str
) -> None:
    command = spec(run=run, directory=directory)
    before = trust.digest(command, trust.in_folder(str(tmp_path)))
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("rm -rf /")
    assert trust.digest(command, trust.in_folder(str(tmp_path))) != before
    (tmp_path / file).unlink()
    (tmp_path / file).mkdir()
    assert trust.digest(command, trust.in_folder(str(tmp_path))) == before


def test_files_outside_the_repository_are_never_read() -> None:
    asked: list[str] = []
    trust.digest(spec(run=["/bin/sh", "../x", "-c"]), lambda path: asked.append(path))  # type: ignore[func-returns-value]
    assert asked == ["-c"]


def event(tmp_path: Path) -> Event:
    return Event("pre-push", "git", PERSON, Workspace(str(tmp_path), str(tmp_path / "ahp"), {}), 0.0)


def test_a_command_runs_once_a_person_accepted_it(tmp_path: Path) -> None:
    trusted = trust.checker(event(tmp_path))
    assert not trusted(spec())
    trust.accept(str(tmp_path / "ahp"), {"facts.lint": trust.digest(spec(), absent)}, PERSON)
    trusted = trust.checker(event(tmp_path))
    assert trusted(spec()) and trusted(spec())
    assert not trusted(spec(timeout="1s"))
    (tmp_path / "check.sh").write_text("changed")
    assert not trusted(spec())
    (entry,) = trust.accepted(str(tmp_path / "ahp")).values()
    assert (entry["name"], entry["by"]) == ("facts.lint", "human:ann")
    trust.forget(str(tmp_path / "ahp"))
    assert trust.accepted(str(tmp_path / "ahp")) == {}


@pytest.mark.parametrize("actor", [Actor("agent", "claude"), Actor("ci")])
def test_nobody_but_a_person_can_accept(tmp_path: Path, actor: Actor) -> None:
    with pytest.raises(trust.Untrusted, match="only a person"):
        trust.accept(str(tmp_path), {"x": "sha256:0"}, actor)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', '"x"'])
def test_a_damaged_list_trusts_nothing_and_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "trust.json").write_text(content)
    with pytest.raises(AhpError, match=r"trust\.json is damaged; delete it"):
        trust.accepted(str(tmp_path))


def test_all_commands_of_a_policy_are_listed(load: Load) -> None:
    policy = load("""
        facts: {lint: {run: [ruff]}}
        rules:
          fix: {at: [pre-commit, pre-push], control: files.changed_count > 3, action: {type: run, command: [fix]}}
          split: {at: pre-push, control: push.is_force, action: {type: split_suggestion, max_batch: 3}}
        """)
    found = compiling.commands(policy)
    assert list(found) == ["facts.lint", "rule fix"]
    assert found["rule fix"].run == ["fix"]
    assert trust.digest(found["rule fix"], absent)
