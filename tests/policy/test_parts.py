"""`let` of a rule and the policy's `conditions`: how layers meet, and what is told of mistakes."""

from __future__ import annotations

import pytest

from ahp.policy import layers
from ahp.policy.lint import advise
from ahp.policy.problems import PolicyError
from ahp.policy.rule import rule_digest

from .conftest import Layers, Load

BASE = """\
conditions: {large: files.changed_count > 10}
rules:
  size: {at: [pre-commit, pre-push], block: conditions.large and not mine, let: {mine: branch.name == 'me'}%s}
"""


def test_a_later_layer_gives_a_named_condition_anew_and_every_rule_has_it(load: Load) -> None:
    policy = load(BASE % "", local="conditions: {large: files.changed_count > 5}")
    assert {rule.condition.text for rule in policy.rules} == {"files.changed_count > 5 and (not branch.name == 'me')"}
    assert rule_digest(policy.rules[0], policy) != rule_digest(load(BASE % "").rules[0], load(BASE % ""))


@pytest.mark.parametrize("locked", [", locked: true", ""])
def test_a_layer_loosens_no_rule_by_a_named_condition(locked: str) -> None:
    with pytest.raises(PolicyError, match="only tighten"):
        layers.load(Layers(BASE % locked, local="conditions: {large: files.changed_count > 50}"))


def test_an_extended_file_s_locked_rule_stands_against_another_condition(load: Load) -> None:
    with pytest.raises(PolicyError, match="the rule is locked"):
        load("extends: [base.yaml]\nconditions: {large: files.changed_count > 50}", base__yaml=BASE % ", locked: true")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "conditions: {a: files.changd > 1, b: conditions.a}\nrules: {r: {at: pre-commit, block: conditions.b}}",
            "1:17",
        ),
        ("rules:\n  r:\n    at: pre-commit\n    let:\n      p: files.changd\n      q: p\n    block: q > 1", "5:10"),
        ("rules: {r: {at: pre-commit, let: {files: 'true'}, block: files}}", "cannot call a part `files`"),
        (
            "rules: {r: {at: pre-commit, let: {f: 'true'}, each: f in files.changed, block: f == ''}}",
            "'f' is a part, and no variable",
        ),
        (
            "conditions: {a-b: 'true'}\nrules: {r: {at: pre-commit, block: 'true'}}",
            "the condition `a-b` cannot be named",
        ),
        (
            "conditions: {a: commit.subject == ''}\nrules: {r: {at: pre-commit, block: conditions.a}}",
            "`commit.subject` is not available at pre-commit",
        ),
    ],
)
def test_a_mistake_in_a_part_is_told_once(load: Load, text: str, told: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(text)
    assert told in str(caught.value)
    assert len(caught.value.problems) == 1


def test_a_part_that_nothing_names_is_told(load: Load) -> None:
    policy = load(
        "conditions: {a: 'true'}\nrules: {r: {at: pre-commit, let: {p: '1'}, block: files.changed_count > 9}}"
    )
    told = [problem.what for problem in advise(policy)]
    assert "no condition of `r` names its part `p`" in told
    assert "no rule names the condition `conditions.a`" in told


@pytest.mark.parametrize("named", ["conditions: {named: %s}\nrules: {r: {at: pre-push, block: conditions.named}}", ""])
def test_a_part_has_the_patterns_of_each_environment(load: Load, named: str) -> None:
    limits = "limits: {p: {ci: '^a', default: '^b'}}\nenvironment: {ci: branch.is_default}\n"
    own = "rules: {r: {at: pre-push, block: named, let: {named: %s}}}"
    [rule] = load(limits + (named or own) % '"matches(branch.name, limits.p)"').rules
    assert rule.condition.plan == ["matches", ["fact", "branch.name"], ["fact", "limits.p"], ["^a", "^b"]]
