"""A namespace declares everything about itself: one module and its name are all that a new one takes."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest

from ahp.cli.main import run
from ahp.facts import registry
from ahp.gate.explain import explain
from ahp.hosts import history
from ahp.policy import layers
from ahp.policy.problems import PolicyError
from ahp.policy.sources import TextSource
from ahp.protocol.triggers import TRIGGERS
from ahp.system import environ, git
from ahp.system.commits import commits
from tests.facts.test_docs import generated
from tests.gate.conftest import Desk, desk  # noqa: F401

LFS = '''
"""`lfs`: what Git LFS keeps for the project."""

from ahp.facts.registry import COMMIT, Namespace

NAMESPACE = Namespace(
    source="git lfs",
    triggers=COMMIT,
    past="nobody keeps what the server had",
    private=("url",),
    schema={
        "missing_count": {"type": "int", "min": 0, "doc": "objects that were not uploaded"},
        "url": {"type": "str", "doc": "address of the server, with its password"},
    },
)


def gather(event, fields, settings):
    return {"missing_count": 2, "url": "https://sesame@lfs.invalid"}
'''
POLICY = """
rules:
  uploaded: {at: pre-commit, prompt: lfs.missing_count > 1 and lfs.url != '', message: "{lfs.missing_count} missing"}
"""


@pytest.fixture
def lfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new namespace: its module, and its name in the registry."""
    module = ModuleType("ahp.facts.lfs")
    exec(LFS, module.__dict__)
    monkeypatch.setitem(sys.modules, "ahp.facts.lfs", module)
    monkeypatch.setattr(registry, "NAMESPACES", (*registry.NAMESPACES, "lfs"))


def test_its_schema_is_known_where_it_says(lfs: None) -> None:
    layers.load(TextSource(POLICY))
    with pytest.raises(PolicyError, match="pre-push"):
        layers.load(TextSource(POLICY.replace("pre-commit", "pre-push")))


def test_its_source_is_shown_and_its_private_values_are_not(
    lfs: None, repo: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    assert run(["facts", "pre-commit"]) == 0
    shown = capsys.readouterr().out
    assert "\nlfs: git lfs\n" in shown
    assert "sesame" not in shown and "sha256:" in shown.partition("lfs.url")[2]


def test_its_private_values_are_in_no_sentence_explanation_or_log(lfs: None, desk: Desk) -> None:  # noqa: F811
    desk.policy(POLICY)
    verdict = desk.judge()
    assert verdict.decision == "warn"
    assert "sesame" not in json.dumps(verdict.as_dict()) + json.dumps(desk.log())
    assert "lfs.missing_count" in json.dumps(desk.log())
    assert "sesame" not in str(explain(desk.event(mode="dry")))
    with pytest.raises(PolicyError, match="never shown or logged"):
        layers.load(TextSource(POLICY.replace("{lfs.missing_count}", "{lfs.url}")))


def test_a_policy_test_gives_it_or_it_is_absent(
    lfs: None, repo: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    repo.write("policy.yaml", POLICY)
    case = "- {name: %s, trigger: pre-commit, facts: {%s}, expect: {signals: [{rule: uploaded%s}]}}\n"
    given = case % ("given", "lfs: {missing_count: 2, url: x}", ", intensity: prompt")
    repo.write("cases.yaml", given + case % ("absent", "", ""))
    assert run(["policy", "test", "cases.yaml", "--policy", "policy.yaml", "--format", "json"]) == 0
    tests = json.loads(capsys.readouterr().out)["tests"]
    assert [test["faults"] for test in tests] == [[], []]


def test_the_past_does_not_know_it(lfs: None, repo: Any) -> None:
    repo.commit("one")
    programs = history.enforced(layers.load(TextSource(POLICY)))
    here = git.discover(str(repo.root), environ.current())
    (said,) = history.judge(here, programs, commits(here, None)).said
    assert said.level == "undecidable" and "nobody keeps what the server had" in said.message


def test_its_documentation_is_generated(lfs: None) -> None:
    section = generated().partition("## `lfs`\n")[2]
    first = section.strip().splitlines()[0]
    assert first.endswith("Triggers: commits. Absent for past commits.")
    assert "| `lfs.url` str, private | " in section


def test_every_namespace_says_where_its_values_come_from() -> None:
    of_the_change = {name for name, declared in registry.declared().items() if not declared.source}
    assert of_the_change == {"files", "diff", "deps"}


def test_only_what_git_keeps_is_known_of_a_past_commit() -> None:
    """A new namespace joins this list, or says why it is absent."""
    known = {name for name, declared in registry.declared().items() if declared.source and not declared.past}
    assert known == {
        "commit",
        "content",
        "coverage",
        "debuggers",
        "environment",
        "generated",
        "ignored",
        "limits",
        "owners",
        "policy",
        "push",
        "repo",
        "request",
        "source",
        "tests",
        "time",
        "tool",
    }


def test_every_trigger_is_in_a_group() -> None:
    assert set(registry.ALL) == set(TRIGGERS)


def test_what_follows_from_the_present_is_absent_in_the_past() -> None:
    assert {name for name, declared in registry.declared().items() if declared.past} == {
        "env",
        "branch",
        "issue",
        "checklist",
        "session",
        "actor",
    }
