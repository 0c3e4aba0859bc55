from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ahp.conditions import schema
from ahp.facts.schemas import where
from ahp.policy import validate
from ahp.policy.vocabulary import leaves_root

from .conftest import Errors, Load

SEED = (Path(__file__).parent.parent / "data" / "seed_002.yaml").read_text()
DESIGN = (Path(__file__).parent / "design.yaml").read_text()


def rule(keys: str, top: str = "") -> str:
    return f"{top}\nrules:\n  r: {{at: pre-push, {keys}}}\n"


def test_the_protocols_example_loads_unchanged(load: Load) -> None:
    policy = load(SEED)
    assert [r.key for r in policy.rules] == [
        "checklist-validator/1",
        "checklist-validator/2",
        "change-size-limiter/1",
        "test-gate/1",
        "test-gate/2",
    ]
    assert policy.rules[0].type == "checklist-validator"


def test_the_short_form_of_the_design_loads(load: Load) -> None:
    policy = load(DESIGN)
    assert [r.trigger for r in policy.rules if r.key == "protect-main"] == ["pre-commit", "pre-push"]
    protect = next(r for r in policy.rules if r.key == "protect-main")
    assert protect.raw.get("resolution") == ["work on a branch"]
    assert [s.description for s in protect.raw.get("suggestions")] == ["work on a branch"]
    assert policy.env_names == ("CI",)


def test_a_list_under_the_trigger_is_its_oracles(load: Load) -> None:
    policy = load("hooks: {pre-push: [{name: o, type: t, rules: [{condition: push.is_force, intensity: block}]}]}")
    assert [(r.key, r.type, str(r.place)) for r in policy.rules] == [("o/1", "t", "hooks.yaml:1:47")]


def test_both_forms_of_when_filter_the_same(load: Load) -> None:
    text = """
        hooks:
          pre-issue-submit:
            when: %s
            oracles:
              - name: o
                when: files.changed_count > 3
                rules: [{condition: tests.failed_count > 0, intensity: block}]
        """
    first = load(text % "issue.type in ['feature', 'fix']").rules[0].when
    second = load(text % "{issue.type: [feature, fix]}").rules[0].when
    assert first is not None and second is not None
    assert first.plan == second.plan
    assert first.reads == {"issue.type", "files.changed_count"}


def test_rules_come_by_priority_and_those_of_disabled_oracles_not_at_all(load: Load) -> None:
    policy = load("""
        rules:
          a: {at: pre-push, block: push.is_force, priority: 5}
          b: {at: pre-push, block: push.is_delete, priority: 1}
          c: {at: pre-push, block: push.is_new, enabled: false}
          d: {at: pre-push, block: push.is_tag, priority: 1}
        """)
    assert [r.key for r in policy.at("pre-push")] == ["b", "d", "a"]
    assert policy.at("pre-commit") == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("block: push.is_force", {"on_missing": "prompt", "overridable": True, "locked": False, "escalates": False}),
        ("block: push.is_force, locked: true", {"on_missing": "block", "overridable": False, "locked": True}),
        ("block: push.is_force, locked: true, overridable: true, on_missing: skip",
         {"on_missing": "skip", "overridable": True}),
        ("prompt: push.is_force", {"escalates": True}),
        ("prompt: push.is_force, escalate: false", {"escalates": False}),
    ],
)  # fmt: skip
def test_defaults_follow_the_design(load: Load, keys: str, expected: dict[str, object]) -> None:
    checked = load(rule(keys)).rules[0]
    assert {name: getattr(checked, name) for name in expected} == expected


def test_on_tool_triggers_only_what_says_so_escalates_and_after_the_fact_nothing_does(load: Load) -> None:
    policy = load("""
        rules:
          a: {at: pre-tool-use, prompt: "len(tool.paths) > 3"}
          b: {at: pre-tool-use, prompt: "len(tool.paths) > 3", escalate: true}
          c: {at: post-tool-use, aid: tool.is_error, escalate: true}
        """)
    assert [r.escalates for r in policy.rules] == [False, True, False]
    assert policy.rules[2].on_missing == "skip"


MISTAKES = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text())


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["said"][:50])
def test_mistakes_say_what_is_wrong_and_where(errors: Errors, mistake: dict[str, str]) -> None:
    found = errors(mistake["text"])
    assert any(mistake["said"] in line for line in found), found


def test_all_errors_of_all_rules_come_at_once_in_order(errors: Errors) -> None:
    found = errors("""\
        limits: {'a b': 1}
        rules:
          a: {at: [pre-commit, pre-push], block: nope.x}
          b: {at: pre-push, blok: x}
        """)
    assert [line.split(":")[1] for line in found] == ["1", "3", "4"]
    assert "unknown key `blok`" in found[2]
    found = errors("""\
        limits: {'a b': 1}
        rules:
          a: {at: [pre-commit, pre-push], block: nope.x}
          b: {at: pre-push}
        """)
    assert [line.split(":")[1] for line in found] == ["1", "3", "4"]


def test_a_literal_condition_is_what_its_author_meant(load: Load) -> None:
    assert load(rule("prompt: 'true'")).rules[0].condition.constant is True


def test_actions_that_fit_their_trigger_are_accepted(load: Load) -> None:
    policy = load("""
        rules:
          a:
            {at: pre-tool-use, control: tool.name == 'shell', action: {type: set, target: tool.input.wait, value: 5}}
          b:
            at: commit-msg
            control: commit.subject == 'x'
            action: {type: replace, target: commit.message, pattern: x, with: y}
          c: {at: pre-commit, control: files.changed_count > 3, action: {type: run, command: [ruff, format]}}
          d: {at: pre-push, block: push.is_force, action: {type: split_suggestion, max_batch: 3}}
        """)
    assert len(policy.rules) == 4


def test_messages_may_name_facts_limits_and_items(load: Load) -> None:
    policy = load("""
        limits: {max_bytes: 10}
        rules:
          a:
            at: pre-push
            each: f in files.changes
            block: f.bytes > limits.max_bytes
            message: "{files.changed_count} files, some over {limits.max_bytes}: {f.path}"
            finding: {file: f.path, message: "{f.bytes} bytes"}
        """)
    assert policy.rules[0].shows == {"files.changed_count", "limits.max_bytes"}


def test_too_many_rules_or_too_much_work_at_a_trigger_is_refused(
    errors: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "rules: {a: {at: pre-push, block: push.is_force}, b: {at: pre-push, block: push.is_new}}"
    monkeypatch.setattr(validate, "MAX_RULES", 1)
    assert errors(text) == ["hooks.yaml:1:50: 2 rules at pre-push; at most 1 can be judged in time"]
    monkeypatch.setattr(validate, "MAX_RULES", schema.MAX_RULES)
    monkeypatch.setattr(validate, "MAX_COST", 1)
    assert "more than 1, this one 2: a loop inside of `each` asks every item about every other" in errors(text)[0]
    told = errors("extends: [core]\nrules: {a: {at: pre-push, block: push.is_force}}")
    assert next(line for line in told if "at pre-push may take" in line).startswith("hooks.yaml:2:")  # not in the pack


def test_beside_the_packs_there_is_room_for_rules_that_look_at_all_lines_of_each_file(load: Load) -> None:
    rule = "{at: pre-commit, each: p in files.added, block: %s}"
    asked = "\"not any(l.path == p and l.line <= 3 and matches(l.text, 'SPDX') for l in diff.added)\""
    load("extends: [core, python]\nrules:\n" + "".join(f"  r{n}: {rule % asked}\n" for n in range(6)))


def test_a_condition_asked_of_every_item_costs_as_much_as_a_loop(load: Load) -> None:
    policy = load("""
        rules:
          a: {at: pre-push, each: f in files.changes, block: f.bytes > 3}
          b: {at: pre-push, block: any(f.bytes > 3 for f in files.changes)}
          c: {at: pre-push, block: files.largest_bytes > 3}
        """)
    a, b, c = (r.cost for r in policy.rules)
    assert b / 2 < a < b * 2 and c < a / 100


@pytest.mark.parametrize("level", ["prompt", "allow"])
def test_an_environment_chosen_by_a_variable_may_not_lower_a_level(errors: Errors, level: str) -> None:
    found = errors(f"""
        environment: {{ci: env.CI == 'true', production: branch.is_default}}
        hooks:
          pre-push:
            - name: o
              rules: [{{condition: push.is_force, intensity: {{ci: {level}, production: block, default: prompt}}}}]
        """)
    assert f"`{level}` is weaker than `block` in `production`" in found[0]


def test_an_environment_chosen_by_a_variable_may_raise_a_level(errors: Errors) -> None:
    assert not errors("""
        environment: {production: branch.is_default, ci: env.CI == 'true'}
        hooks:
          pre-push:
            - name: o
              rules: [{condition: push.is_force, intensity: {production: block, ci: control, default: prompt},
                       action: {type: split_suggestion, max_batch: 2}}]
        """)


@pytest.mark.parametrize(("ci", "refused"), [(5, False), (50, True), (10, False)])
@pytest.mark.parametrize("limit", ["limits.max_files", "limits['max_files']"])
def test_an_environment_chosen_by_a_variable_may_only_tighten_limits(
    errors: Errors, ci: int, refused: bool, limit: str
) -> None:
    found = errors(f"""
        environment: {{ci: env.CI == 'true'}}
        limits: {{max_files: {{ci: {ci}, default: 10}}, other: {{ci: 1, default: 2}}}}
        rules: {{r: {{at: pre-push, block: "files.changed_count > {limit}"}}}}
        """)
    assert bool(found) == refused
    assert not refused or "`ci` is chosen by an environment variable, so it may only raise" in found[0]


def test_a_variable_that_a_rule_reads_must_be_allowed(errors: Errors) -> None:
    assert errors(rule("block: env.CI == 'x'"))
    assert not errors(rule("block: env.CI == 'x'", "env_allow: CI"))


def test_an_environment_condition_cannot_read_the_environment(errors: Errors) -> None:
    assert errors("environment: {a: environment == 'b'}")


def test_paths_and_facts_are_placed() -> None:
    assert leaves_root("/x") and leaves_root("a/../..") and leaves_root("~x") and not leaves_root("a/b..c")
    assert where("tool.name") == ["pre-tool-use", "post-tool-use"]


def test_a_condition_in_a_block_scalar_is_placed_in_its_own_lines(errors: Errors) -> None:
    found = errors("rules:\n  r:\n    at: pre-push\n    block: |\n      (push.is_force and\n        push.nope)\n")
    assert re.match(r"hooks.yaml:6:9: ", found[0]), found


def test_unguarded_facts_are_advice(load: Load) -> None:
    policy = load("rules: {r: {at: pre-issue-submit, prompt: coverage.current < 80}}")
    assert any("coverage.current" in problem.what for problem in policy.advice)


def test_hostile_text_in_a_policy_costs_an_error_and_nothing_else(errors: Errors, tmp_path: Path) -> None:
    found = errors(rule("block: \"__import__('os').system('x')\""))
    assert found and all(len(line) < 700 for line in found)


@pytest.mark.parametrize(
    "text",
    [
        "rules: {a: {at: null, block: push.is_force}}",
        "rules: {a: {at: pre-push, block: null}}",
        "hooks: {pre-push: [{name: o, rules: [{condition: null, intensity: block}]}]}",
    ],
)
def test_a_key_without_a_value_counts_as_not_given(errors: Errors, load: Load, text: str) -> None:
    assert "needs" in errors(text)[0]
    assert load("rules: {a: {at: pre-push, block: push.is_force, when: null, each: null, action: null}}").rules
