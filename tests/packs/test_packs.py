"""Every pack does what its policy tests say, alone and with all others, and nags nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.hosts import policy_test
from ahp.policy import cases, compile, layers, lint
from ahp.policy.rule import Policy
from ahp.policy.sources import TextSource, packs
from ahp.protocol.triggers import TRIGGERS

HERE = Path(__file__).parent
ALL = ["core", "python", "node", "go", "rust", "java", "conventional-commits", "tickets", "agents"]
# Those that begin in shadow.
SHADOWS = [
    "c",
    "ci",
    "docker",
    "elixir",
    "kubernetes",
    "licences",
    "notebooks",
    "owners",
    "php",
    "ruby",
    "sql",
    "supply-chain",
    "terraform",
    "tests-kept",
]
ALL += SHADOWS
LIKE = {"monoco": "tickets", "tickets-zh": "tickets"}  # the same rules in other words, hence the same tests
# The protocol's own example prompts where most boxes are done and blocks otherwise.
SOFTENED = "where `checklist-validator/nearly-done` matches, the stronger `checklist-validator/open-boxes` is not heard"


def policy_of(*names: str) -> Policy:
    """With every rule enforced."""
    policy = layers.load(TextSource(f"extends: [{', '.join(names)}]"))
    rules = {rule.key: {"shadow": False} for rule in policy.rules if rule.shadow}
    return layers.load(TextSource(json.dumps({"extends": [*names], "rules": rules})))


def told(report: policy_test.Report) -> list[str]:
    return [f"{outcome.case.place}: {fault}" for outcome in report.failed for fault in outcome.faults]


def test_the_packs_are_those_of_the_documentation() -> None:
    assert set(packs()) == {*ALL, *LIKE}


@pytest.mark.parametrize("name", [*ALL, *LIKE])
def test_a_pack_does_what_its_tests_say_and_they_reach_all_of_it(name: str) -> None:
    policy = policy_of(name)
    file = f"{LIKE.get(name, name)}.yaml"
    report = policy_test.run(policy, cases.read((HERE / file).read_bytes(), file, policy))
    assert told(report) == []
    assert [rule for rule in report.rules if not rule.spoke] == []


def test_all_of_the_catalogue_begins_in_shadow_and_asks_where_files_are_told() -> None:
    rules = layers.load(TextSource(f"extends: [{', '.join(SHADOWS)}]")).rules
    assert {(rule.shadow, rule.trigger, rule.intensity["default"]) for rule in rules} == {
        (True, "pre-commit", "prompt")
    }


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("names", [ALL, [*ALL, *reversed(LIKE)]])
def test_the_packs_are_valid_to_both_evaluators_and_lint_has_one_thing_to_tell(names: list[str]) -> None:
    policy = policy_of(*names)
    lint.compare_evaluators(policy)
    told = [str(problem) for problem in lint.advise(policy)]
    # What is not certain is asked about, though the protocol's table has no prompt there.
    assert [line for line in told if "unusual at pre-tool-use" not in line or "pack agents" not in line] == [
        line for line in told if SOFTENED in line
    ]
    assert sum(SOFTENED in line for line in told) == 1


def test_every_rule_of_a_pack_says_what_is_wrong_and_how_to_mend_it() -> None:
    for program in compile.programs(policy_of(*ALL)).values():
        for key, answer in program.answers.rules.items():
            assert answer.message and (answer.resolution or answer.suggestions), key


def test_an_event_without_reports_and_without_change_hears_nothing() -> None:
    quiet = []
    for trigger in TRIGGERS:
        facts: dict[str, dict[str, object]] = {}
        if trigger == "pre-push":
            facts["push"] = {"is_delete": False, "is_new": False, "is_force": False}
        if trigger.endswith("tool-use"):  # there is no such event without a call
            facts["tool"] = {"command": "ls"}
        if "-issue-" in trigger:
            facts["issue"] = {"unmet_dependency_count": 0}
        expected = {"decision": "allow", "signals": []}
        if trigger != "commit-msg":
            quiet.append({"name": trigger, "trigger": trigger, "facts": facts, "expect": expected})
    policy = policy_of(*ALL)
    assert told(policy_test.run(policy, cases.read(json.dumps(quiet).encode(), "quiet.yaml", policy))) == []
