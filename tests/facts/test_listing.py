"""`ahp facts` shows every fact of a trigger with type, source and value, and no secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ahp.cli.main import run
from ahp.facts import schemas
from ahp.facts.listing import listing
from ahp.protocol.triggers import TRIGGERS
from tests.facts.conftest import settings_of


@pytest.fixture
def here(repo: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    repo.write("a.txt", "hunter2\n")
    repo.add()
    monkeypatch.chdir(repo.root)
    return repo


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["facts", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("trigger", sorted(TRIGGERS))
def test_every_trigger_can_be_listed(here: Any, capsys: pytest.CaptureFixture[str], trigger: str) -> None:
    listed = json.loads(shown(capsys, trigger, "--format", "json"))
    assert listed["trigger"] == trigger
    assert listed["facts"].keys() == schemas.schema_for(trigger).keys()
    for about in listed["facts"].values():
        assert about["source"] and about["type"] and ("value" in about) != ("absent" in about)


def test_text_for_people(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "pre-commit")
    assert "files: what is staged, against HEAD\n" in text
    assert any(line.split() == ["files.changed", "list[str]", "1:", '"a.txt"'] for line in text.splitlines())
    assert any(line.split() == ["branch.is_default", "bool", "true"] for line in text.splitlines())
    assert "(to get it: git branch --set-upstream-to=REMOTE/BRANCH)" in text
    # one reason for a whole namespace is said once
    assert text.count("there is no JUnit XML report") == 1


def test_contents_variables_and_arguments_are_never_shown(
    here: Any, make_event: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, "pre-commit") + shown(capsys, "pre-commit", "--format", "json")
    assert "hunter2" not in text and "sha256:" in text
    event = make_event("pre-tool-use", tool={"input": {"password": "hunter2", "n": 1}}, env={"TOKEN": "hunter2"})
    rows = {row.path: row.value for row in listing(event, settings_of(env_allow=["TOKEN", "UNSET"]))}
    assert "hunter2" not in str(rows)
    assert set(rows["tool.input"]) == {"password", "n"}  # type: ignore[call-overload]
    assert str(rows["env.TOKEN"]).startswith("sha256:") and rows["env.UNSET"] == ""


def test_what_the_policy_adds_is_listed_too(here: Any, make_event: Any) -> None:
    settings = {
        "limits": {"names": ["main"], "size": {"default": 3}},
        "commands": {
            "lint": {"run": ["true"], "extract": {"errors": {"value": "len(output)", "type": "int"}}},
            "scan": {"run": ["true"], "parse": "sarif"},
        },
    }
    rows = {row.path: row for row in listing(make_event(), settings_of(**settings))}
    assert (rows["limits.names"].type, rows["limits.names"].value) == ("list[str]", ["main"])
    assert (rows["limits.size"].type, rows["limits.size"].value) == ("int", 3)
    assert (rows["lint.errors"].type, rows["lint.errors"].command) == ("int", "ahp trust")
    assert rows["scan.findings"].type == "list[record]" and rows["scan.findings"].is_absent
    assert rows["lint.count"].source == "a command of the policy"


def test_given_facts_are_shown_as_such(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    here.write("facts.yaml", "tests: {failed: [a, b, c, d], failed_count: 4}\nenvironment: production\n")
    text = shown(capsys, "pre-commit", "--facts", "facts.yaml")
    assert "tests: the given facts\n" in text
    assert '4: "a", "b", "c", …' in text
    assert '"production"' in text
