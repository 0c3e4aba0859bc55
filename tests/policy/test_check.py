from __future__ import annotations

import re
from pathlib import Path

import pytest

from ahp.conditions import schema
from ahp.policy import check
from ahp.policy.vocabulary import leaves_root, where

from .conftest import Errors, Load

SEED = """\
hooks:
  pre-issue-submit:
    # 触发器：提交前
    trigger: pre-issue-submit
    oracles:
      - name: checklist-validator
        rules:
          - condition: "checklist.incomplete_count > 0"
            intensity: block
            message: "Checklist 未完成"
          - condition: "checklist.incomplete_count > 0 and checklist.completion_rate > 0.8"
            intensity: prompt
            message: "大部分已完成，确认提交？"
      - name: change-size-limiter
        rules:
          - condition: "files.changed_count > 20"
            intensity: control
            action:
              type: split_suggestion
              max_batch: 10
      - name: test-gate
        rules:
          - condition: "tests.failed_count > 0"
            intensity: block
            message: "测试未通过"
          - condition: "coverage.current < coverage.threshold"
            intensity: prompt
            message: "覆盖率低于阈值"
"""

DESIGN = """\
version: 1
requires: ">=0.3"                    # read first; its error is the upgrade command
extends: [core]
limits: {protected: [main], max_files: {production: 10, default: 30}, secret: "AKIA[0-9A-Z]{16}"}
environment: {production: branch.name in limits.protected, ci: env.CI == 'true'}
escalation: {ladder: [prompt, control, block], after: 1, forget_after: 14d}
facts:
  lint: {run: [ruff, check, --output-format, json, .], parse: json, extract: {error_count: len(output)}, timeout: 20s, when_changed: ["**/*.py"]}
rules:
  protect-main: {at: [pre-commit, pre-push], block: branch.name in limits.protected, fix: ["work on a branch"], ci: skip}
  change-size:  {at: pre-push, prompt: files.changed_count > limits.max_files, message: "{files.changed_count} files in one push"}
  no-secrets:
    at: [pre-tool-use, pre-commit]
    each: l in diff.added
    block: matches(l.text, limits.secret)
    finding: {file: l.path, line: l.line}
    redact: true
  lint-clean: {at: pre-push, prompt: lint.error_count > 0 or lint.exit_code > 1}
"""


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
            oracles: [{name: o, when: files.changed_count > 3, rules: [{condition: tests.failed_count > 0, intensity: block}]}]
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (rule("block: file.changed_count > 3"), "hooks.yaml:3:28: unknown name 'file'; did you mean 'files'?"),
        (rule("block: files.changedCount > 3"), "changed_count"),
        (rule("block: files.changed_count > 'x'"), "hooks.yaml:3:"),
        (rule('block: "files.changed_count > nope"'), "hooks.yaml:3:51: "),
        (rule("block: files.changed_count >= 0"), "always true"),
        (rule("block: files.changed_count > 5 and files.changed_count < 3"), "never true"),
        (rule("block: tool.name == 'shell'"), "`tool.name` cannot be had at pre-push; it can at pre-tool-use, post-tool-use"),
        (rule("fix: x"), "the rule `r` needs a level with its condition"),
        ("rules: {r: {block: push.is_force}}", "the rule `r` needs its triggers"),
        ("rules: {r: {at: [], block: push.is_force}}", "the rule `r` needs its triggers"),
        ("rules: {r: {at: pre-psh, block: push.is_force}}", "hooks.yaml:1:17: no trigger is called `pre-psh`; did you mean `pre-push`?"),
        ("hooks: {pre-psh: []}", "hooks.yaml:1:9: no trigger is called `pre-psh`; did you mean `pre-push`?"),
        ("hooks: {pre-push: {trigger: pre-commit}}", "hooks.yaml:1:29: `trigger` says pre-commit, but this stands under pre-push"),
        ("hooks: {pre-push: [{name: o}, {name: o}]}", "hooks.yaml:1:38: the oracle `o` is already given here"),
        ("hooks: {pre-push: [{name: o, rules: [{intensity: block}]}]}", "a rule needs a `condition`"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: push.is_force}]}]}", "a rule needs a level"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: block, locked: true}]}]}", "`locked` needs the rule to have an `id`"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: block, refines: x}]}]}", "`refines` needs the rule to have an `id`"),
        ("hooks: {pre-push: [{name: o, rules: [{id: a, condition: push.is_force, intensity: block}, {id: a, condition: push.is_new, intensity: block}]}]}", "the rule `a` is already given in this oracle"),
        ("hooks: {pre-push: [{name: o, rules: [{id: '2', condition: push.is_force, intensity: block}, {condition: push.is_new, intensity: block}]}]}", "the id `o/2` is already taken at pre-push by hooks.yaml:1:38"),
        (rule("aid: push.is_force"), "`aid` cannot be carried by pre-push, which comes before the action; it can: block, control, prompt"),
        ("rules: {r: {at: post-commit, block: commit.is_merge}}", "`block` cannot be carried by post-commit, which comes after the action; it can: aid"),
        ("rules: {r: {at: session-start, prompt: branch.is_default}}", "`prompt` cannot be carried by session-start"),
        (rule("control: push.is_force"), "`control` needs an `action`"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: {ci: block, default: prompt}}]}]}", "names the environment `ci`, which is not defined"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: {development: block}}]}]}", "needs a level for `default`"),
        (rule("block: push.is_force, each: l in diff.adde"), "hooks.yaml:3:"),
        (rule("block: push.is_force, when: push.is_forc"), "is_force"),
        (rule("block: files.changed_count > 5, when: files.changed_count < 3"), "this rule is unreachable"),
        (rule('block: push.is_force, message: "{files.changed_cont}"'), "there is no such fact at this trigger; did you mean `files.changed_count`?"),
        (rule('block: push.is_force, message: "{a b}"'), "braces hold a fact path"),
        (rule('block: push.is_force, fix: "{diff.added}"'), "never shown or logged"),
        (rule('block: push.is_force, suggestions: ["{env.TOKEN}"]'), "never shown or logged"),
        (rule('block: push.is_force, finding: {file: l.path}'), "`finding` shows the items of `each`; this rule has none"),
        (rule("each: l in diff.added, block: l.line > 3, finding: {file: l.pat}"), "`file` of `finding` is a part of the item; did you mean `l.path`?"),
        (rule("each: l in diff.added, block: l.line > 3, finding: {file: l.path, line: l.text}"), "`line` of `finding` is a line number, but `l.text` is str"),
        (rule("each: p in files.changed, block: p.startswith('a'), finding: {file: x}"), "`file` of `finding` is a part of the item"),
        (rule("each: l in diff.added, block: l.line > 3, finding: {file: l.path, message: '{l.text}'}"), "the text of a line is never shown"),
        (rule("each: f in files.changes, block: f.bytes > 3, message: '{f.byts}'"), "`f` has no `byts`; did you mean `bytes`?"),
        (rule("each: p in files.changed, block: p.startswith('a'), message: '{p.x}'"), "it has no parts"),
        ("rules: {r: {at: post-commit, aid: commit.is_merge, action: {type: run, command: [x]}}}", "comes after the action; nothing is left to change"),
        (rule("control: push.is_force, action: {type: set, target: a, value: 1}"), "nothing can be changed at pre-push"),
        (rule("control: push.is_force, action: {type: run, command: [x], directory: ../x}"), "`directory` is a folder inside the repository"),
        ("rules: {r: {at: pre-tool-use, control: tool.name == 'shell', action: {type: set, target: x, value: 1}}}", "`target` is an argument of the tool"),
        ("rules: {r: {at: commit-msg, control: commit.subject == 'x', action: {type: clamp, target: commit.message, max: 1}}}", "the only thing to change at commit-msg"),
        ("rules: {r: {at: commit-msg, control: commit.subject == 'x', action: {type: replace, target: commit.message, pattern: '(', with: a}}}", "`pattern`: "),
        ("limits: {'a b': 1}", "the limit `a b` cannot be named in a condition"),
        ("limits: {a: {production: 1}}", "the limit `a` needs a value for `default`"),
        ("limits: {a: {default: 1, prod: 2}}", "names the environment `prod`"),
        ("limits: {a: {default: 1, development: x}}", "has values of several types"),
        ("env_allow: ['A-B']", "the variable `A-B` cannot be named"),
        ("facts: {files: {run: [x]}}", "`files` is ahp's own"),
        ("facts: {any: {run: [x]}}", "`any` is ahp's own"),
        ("facts: {x: {run: [x], extract: {'a b': len(output)}}}", "the fact `x.a b` cannot be named"),
        ("facts: {x: {run: [x], extract: {a: outpt.b}}}", "`extract`: `a`: "),
        ("facts: {x: {run: [x], directory: /etc}}", "`directory` is a folder inside the repository"),
        ("environment: {default: branch.is_default}", "`default` is what holds when no environment does"),
        ("environment: {production: branch.nam}", "hooks.yaml:1:27: "),
        ("timezone: Europe/Viena", "no time zone is called `Europe/Viena`; did you mean `Europe/Vienna`?"),
        ("reports: {tests: [/etc/passwd]}", "`tests` names a path inside the repository"),
        ("approvers: ../keys", "`approvers` names a path inside the repository"),
    ],
)  # fmt: skip
def test_mistakes_say_what_is_wrong_and_where(errors: Errors, text: str, said: str) -> None:
    assert any(said in line for line in errors(text)), errors(text)


def test_all_errors_of_all_rules_come_at_once_in_order(errors: Errors) -> None:
    found = errors("""\
        limits: {'a b': 1}
        rules:
          a: {at: [pre-commit, pre-push], block: nope.x}
          b: {at: pre-push, blok: x}
        """)
    assert len(found) == 1, "shape first: keys that are not understood could mean anything"
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
          a: {at: pre-tool-use, control: tool.name == 'shell', action: {type: set, target: tool.input.timeout, value: 5}}
          b: {at: commit-msg, control: commit.subject == 'x', action: {type: replace, target: commit.message, pattern: x, with: y}}
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
    monkeypatch.setattr(check, "MAX_RULES", 1)
    assert errors(text) == ["hooks.yaml:1:50: 2 rules at pre-push; at most 1 can be judged in time"]
    monkeypatch.setattr(check, "MAX_RULES", schema.MAX_RULES)
    monkeypatch.setattr(check, "MAX_COST", 1)
    assert "more than 1; this one costs the most" in errors(text)[0]


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
def test_an_environment_chosen_by_a_variable_may_only_tighten_limits(errors: Errors, ci: int, refused: bool) -> None:
    found = errors(f"""
        environment: {{ci: env.CI == 'true'}}
        limits: {{max_files: {{ci: {ci}, default: 10}}, other: {{ci: 1, default: 2}}}}
        rules: {{r: {{at: pre-push, block: files.changed_count > limits.max_files}}}}
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
