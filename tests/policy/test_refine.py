from __future__ import annotations

import pytest

from .conftest import Errors, Load
from .test_validate import SEED

ORACLE = """
hooks:
  pre-issue-submit:
    - name: o
      rules:
        - {id: a, condition: "%s", intensity: %s%s}
        - {id: b, condition: "%s", intensity: %s%s}
"""


def oracle(a: str, level_a: str, b: str, level_b: str, more_a: str = "", more_b: str = "") -> str:
    return ORACLE % (a, level_a, more_a, b, level_b, more_b)


def test_the_seeds_checklist_rule_is_softened_by_the_narrower_one_and_its_test_gate_is_not(load: Load) -> None:
    policy = load(SEED)
    assert policy.refines == {
        ("pre-issue-submit", "checklist-validator/2"): {
            "checklist-validator/1": "its condition includes that rule's",
        }
    }
    assert [(s.weaker, s.stronger) for s in policy.softened] == [("checklist-validator/2", "checklist-validator/1")]


def test_a_stronger_rule_refines_whatever_namespaces_it_adds(load: Load) -> None:
    policy = load(oracle("files.changed_count > 3", "prompt", "files.changed_count > 3 and branch.is_default", "block"))
    assert policy.refines == {("pre-issue-submit", "o/b"): {"o/a": "its condition includes that rule's"}}
    assert policy.softened == ()


@pytest.mark.parametrize(
    ("a", "b", "refined"),
    [
        ("tests.failed_count > 0", "tests.failed_count > 0 and tests.total > 5", True),
        ("tests.failed_count > 0", "tests.total > 5 and 0 < tests.failed_count", True),
        ("tests.failed_count > 0", "tests.failed_count >= 1 and tests.total > 5", True),
        ("tests.failed_count > 0", "tests.failed_count > 0 and coverage.current > 90", False),
        ("tests.failed_count > 0", "tests.failed_count > 5", False),
        ("tests.failed_count > 0", "tests.failed_count > 0 and tests.total > limits.few", True),
    ],
)
def test_a_weaker_rule_softens_only_what_it_includes_and_within_its_namespaces(
    load: Load, a: str, b: str, refined: bool
) -> None:
    policy = load("limits: {few: 4}\n" + oracle(a, "block", b, "prompt"))
    assert bool(policy.refines) == refined
    assert bool(policy.softened) == refined


def test_explicit_refinement_needs_neither_inclusion_nor_namespaces(load: Load) -> None:
    policy = load(oracle("tests.failed_count > 0", "block", "coverage.current > 90", "prompt", "", ", refines: a"))
    assert policy.refines == {("pre-issue-submit", "o/b"): {"o/a": "it says so"}}
    assert str(policy.softened[0].place) == "hooks.yaml:7:83"


@pytest.mark.parametrize("explicit", [True, False])
def test_a_locked_rule_is_never_softened(load: Load, errors: Errors, explicit: bool) -> None:
    text = oracle(
        "tests.failed_count > 0",
        "block",
        "tests.failed_count > 0 and tests.total > 5",
        "prompt",
        ", locked: true",
        ", refines: a" if explicit else "",
    )
    if explicit:
        assert "`a` is locked" in errors(text)[0]
    else:
        assert load(text).refines == {}


def test_each_clauses_must_be_the_same(load: Load) -> None:
    one = "each: f in files.changes, "
    text = oracle("f.bytes > 3", "block", "f.bytes > 3 and f.lines > 4", "prompt").replace("{id", "{" + one + "id")
    assert load(text).refines
    assert not load(text.replace(one, "each: f in files.changes if f.bytes > 0, ", 0).replace(
        "{each: f in files.changes, id: b, condition: \"f.bytes > 3 and f.lines > 4\"",
        "{each: g in files.changes, id: b, condition: \"g.bytes > 3 and g.lines > 4\"",
    )).refines  # fmt: skip
    mixed = text.replace(
        '{each: f in files.changes, id: a, condition: "f.bytes > 3"', '{id: a, condition: "tests.total > 3"'
    )
    assert not load(mixed).refines


@pytest.mark.parametrize(
    ("refines_a", "refines_b", "said"),
    [
        ("", ", refines: c", "no rule of this oracle has the id `c`"),
        ("", ", refines: b", "these rules refine each other in a circle"),
        (", refines: b", ", refines: a", "these rules refine each other in a circle"),
    ],
)
def test_explicit_refinement_must_lead_somewhere(errors: Errors, refines_a: str, refines_b: str, said: str) -> None:
    text = oracle("tests.total > 0", "block", "tests.failed_count > 0", "block", refines_a, refines_b)
    assert said in errors(text)[0]


def test_a_rule_that_is_always_spoken_for_is_unreachable(errors: Errors) -> None:
    found = errors(oracle("tests.total > 5", "prompt", "tests.total > 5 and tests.total > 3", "block"))
    assert "this rule is unreachable: `b`" in found[0] and found[0].startswith("hooks.yaml:6:")


def test_a_shadow_rule_softens_nothing(load: Load) -> None:
    text = oracle("tests.total > 5", "block", "tests.total > 5 and tests.total > 3", "prompt", "", ", shadow: true")
    assert load(text).softened == ()


def test_rules_of_the_short_form_are_oracles_of_their_own(load: Load) -> None:
    policy = load("""
        rules:
          a: {at: pre-push, block: push.is_force}
          b: {at: pre-push, prompt: push.is_force and push.is_new}
        """)
    assert policy.refines == {}


def test_a_weaker_rule_of_another_layer_does_not_soften(load: Load) -> None:
    team = "hooks: {pre-push: [{name: o, rules: [{id: a, condition: push.is_force, intensity: block}]}]}"
    own = """
        hooks: {pre-push: [{name: o, rules: [{id: b, condition: push.is_force and push.is_new, intensity: prompt}]}]}
        """
    assert load(team, own).refines == {}
