from __future__ import annotations

import pytest

from ahp.policy.diff import compare

from .conftest import Load

OLD = """
limits: {n: 10}
environment: {production: branch.is_default}
facts: {lint: {run: [ruff]}}
rules:
  a: {at: pre-push, prompt: files.changed_count > limits.n, when: branch.ahead > 3}
  gone: {at: pre-push, block: push.is_tag}
  env: {at: pre-push, prompt: environment == 'production'}
hooks:
  pre-push:
    - name: o
      rules:
        - {id: wide, condition: push.is_force, intensity: block}
        - {id: narrow, condition: push.is_force and push.is_new, intensity: prompt}
"""


def changes(load: Load, old: str, new: str) -> set[tuple[str, str, str]]:
    return {(change.key, change.part, change.verdict) for change in compare(load(old), load(new))}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("n: 10", "n: 5", {("a", "condition", "stronger")}),
        ("n: 10", "n: 50", {("a", "condition", "weaker")}),
        ("> limits.n", "> limits.n or push.is_new", {("a", "condition", "stronger")}),
        ("> limits.n", "> limits.n and push.is_new", {("a", "condition", "weaker")}),
        ("files.changed_count > limits.n", "files.insertions > 3", {("a", "condition", "unknown")}),
        (", when: branch.ahead > 3", "", {("a", "when", "stronger")}),
        ("ahead > 3}", "ahead > 1}", {("a", "when", "stronger")}),
        ("gone:", "come:", {("gone", "rule", "equal"), ("come", "rule", "stronger")}),
        ("gone: {at: pre-push, block", "come: {at: pre-push, prompt", {
            ("gone", "rule", "weaker"), ("come", "rule", "stronger")}),
        ("production: branch.is_default", "production: branch.name == 'x'", {("env", "environment", "unknown")}),
        (" and push.is_new", " and push.is_new and branch.is_default", {
            ("o/narrow", "condition", "weaker"), ("o/wide", "refines", "stronger")}),
        ("limits: {n: 10}", "limits: {n: 10}\nescalation: {after: 2}", {
            (key, "escalation", "stronger") for key in ("a", "env", "o/narrow")}),
        ("prompt: files", "block: files", {("a", "intensity", "stronger")}),
        ("a: {at: pre-push", "a: {at: pre-push, ci: skip", {("a", "ci", "weaker")}),
        ("a: {at: pre-push", "a: {at: pre-push, message: x, priority: 3, fix: [y]", set()),
        ("run: [ruff]", "run: [mypy]", set()),
    ],
)  # fmt: skip
def test_each_change_has_its_direction(
    load: Load, before: str, after: str, expected: set[tuple[str, str, str]]
) -> None:
    assert before in OLD
    assert changes(load, OLD, OLD.replace(before, after)) == expected
    assert changes(load, OLD, OLD) == set()


def test_a_changed_limit_is_told_with_its_values(load: Load) -> None:
    (change,) = compare(load(OLD), load(OLD.replace("n: 10", "n: 5")))
    assert change.detail == "limits.n: 10 became 5"


def test_a_switch_is_told_as_it_was_turned(load: Load) -> None:
    found = compare(load(OLD), load(OLD.replace("gone: {", "gone: {shadow: true, overridable: false, locked: true, ")))
    assert {(change.part, change.verdict, change.detail) for change in found} == {
        ("shadow", "weaker", "false became true"),
        ("overridable", "stronger", "true became false"),
        ("locked", "stronger", "false became true"),
        ("on_missing", "stronger", "prompt became block"),
    }


SPLIT = """
limits: {{kinds: {kinds}}}
{more}
rules:
{rules}
"""
KEYS = '  keys: {at: pre-push, each: p in files.changed, block: "glob(p, limits.kinds)"}'


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (["a: {at: pre-push, each: p in files.changed, block: \"glob(p, '*.pem')\"}",
          "b: {at: pre-push, each: p in files.changed, block: \"glob(p, '*.key')\"}"], "equal"),
        (["a: {at: pre-push, each: p in files.changed, block: \"glob(p, ['*.pem', '*.key', '*.p12'])\"}"], "equal"),
        (["a: {at: pre-push, each: p in files.changed, block: \"glob(p, '*.pem')\"}",
          "b: {at: pre-push, each: p in files.changed, prompt: \"glob(p, '*.key')\"}"], "weaker"),
        (["a: {at: pre-push, each: p in files.changed, block: \"glob(p, '*.pem')\"}",
          "b: {at: pre-push, each: p in files.added, block: \"glob(p, '*.key')\"}"], "weaker"),
        (["a: {at: pre-commit, each: p in files.changed, block: \"glob(p, limits.kinds)\"}"], "weaker"),
        (["a: {at: pre-push, ci: skip, each: p in files.changed, block: \"glob(p, limits.kinds)\"}"], "weaker"),
    ],
)  # fmt: skip
def test_a_rule_that_others_ask_instead_of_is_no_loss(load: Load, rules: list[str], verdict: str) -> None:
    kinds = "['*.pem', '*.key']"
    old = SPLIT.format(kinds=kinds, more="", rules=KEYS)
    new = SPLIT.format(kinds=kinds, more="", rules="\n".join(f"  {rule}" for rule in rules))
    for prove, wanted in ((True, verdict), (False, "weaker")):
        found = compare(load(old), load(new), prove)
        assert {(c.key, c.verdict) for c in found if c.key == "keys"} == {("keys", wanted)}


def test_under_another_name_a_rule_keeps_its_limits_and_climbs_anew(load: Load) -> None:
    old = SPLIT.format(kinds="['*.pem']", more="", rules=KEYS)
    named = old.replace("keys:", "others:")
    (lost, _) = compare(load(old), load(named))
    assert (lost.verdict, lost.detail) == ("equal", "removed; `others` asks as much")
    for kinds, verdict in (("['*.pem', '*.key']", "equal"), ("['*.key']", "weaker")):
        assert compare(load(old), load(named.replace("['*.pem']", kinds)), prove=True)[0].verdict == verdict
    climbing = SPLIT.format(kinds="['*.pem']", more="escalation: {after: 1}", rules=KEYS.replace("block:", "prompt:"))
    (lost, _) = compare(load(climbing), load(climbing.replace("keys:", "others:")))
    assert lost.verdict == "unknown" and lost.detail.endswith("but climbs from the first rung again")
    by_environment = old.replace("['*.pem']", "{production: ['*.pem', '*.key'], default: ['*.pem']}")
    by_environment = by_environment.replace("limits:", "environment: {production: branch.is_default}\nlimits:", 1)
    less = by_environment.replace("keys:", "others:").replace(", '*.key']", "]")
    assert compare(load(by_environment), load(by_environment.replace("keys:", "others:")))[0].verdict == "equal"
    assert compare(load(by_environment), load(less))[0].verdict == "weaker"


def test_the_other_way_round_stronger_is_weaker(load: Load) -> None:
    new = OLD.replace("n: 10", "n: 5").replace(", when: branch.ahead > 3", "").replace("a: {", "a: {ci: skip, ")
    swapped = {"stronger": "weaker", "weaker": "stronger", "unknown": "unknown"}
    there = changes(load, OLD, new)
    assert changes(load, new, OLD) == {(key, part, swapped[verdict]) for key, part, verdict in there}


ENV = """
environment: {%s}
limits: {n: {production: 5, default: 10}}
hooks:
  pre-push:
    - name: o
      rules:
        - {id: levels, condition: push.is_force, intensity: {production: block, default: prompt}}
        - {id: limit, condition: files.changed_count > limits.n, intensity: prompt}
        - {id: plain, condition: push.is_new, intensity: prompt}
"""


def test_another_choice_of_environments_touches_what_depends_on_them(load: Load) -> None:
    found = changes(load, ENV % "production: branch.is_default", ENV % "production: branch.is_detached")
    assert found == {("o/levels", "intensity", "weaker"), ("o/limit", "condition", "unknown")}


def test_limits_by_environment_are_compared_in_each(load: Load) -> None:
    old = ENV % "production: branch.is_default"
    assert changes(load, old, old.replace("default: 10", "default: 9")) == {("o/limit", "condition", "stronger")}
    mixed = old.replace("{production: 5, default: 10}", "{production: 6, default: 9}")
    assert changes(load, old, mixed) == {("o/limit", "condition", "weaker")}
    text = old.replace("{production: 5, default: 10}", "{production: x, default: y}").replace(
        "files.changed_count > limits.n", "branch.name == limits.n"
    )
    assert changes(load, old, text) == {("o/limit", "condition", "unknown")}


def test_actions_count_where_both_sides_control(load: Load) -> None:
    text = "rules: {a: {at: pre-push, %s: push.is_force, action: {type: split_suggestion, max_batch: %s}}}"
    assert changes(load, text % ("control", 3), text % ("control", 4)) == {("a", "action", "unknown")}
    assert changes(load, text % ("block", 3), text % ("block", 4)) == set()


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("{after: 2}", "{after: 1}", "stronger"),
        ("{after: 1}", "{after: 2}", "weaker"),
        ("{ladder: [prompt, control, block]}", "{ladder: [prompt, block]}", "stronger"),
        ("{ladder: [prompt, block]}", "{ladder: [prompt, control]}", "weaker"),
        ("{ladder: [prompt, block]}", "{ladder: [prompt, control, block]}", "weaker"),
        ("{forget_after: 1d}", "{forget_after: 2d}", "stronger"),
    ],
)
def test_ladders_are_compared_rung_by_rung(load: Load, old: str, new: str, verdict: str) -> None:
    text = "escalation: %s\nrules: {a: {at: pre-push, prompt: push.is_force}}"
    assert changes(load, text % old, text % new) == {("a", "escalation", verdict)}
    assert changes(load, text % old, "rules: {a: {at: pre-push, prompt: push.is_force}}") == {
        ("a", "escalation", "weaker")
    }
