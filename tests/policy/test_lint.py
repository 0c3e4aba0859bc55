from __future__ import annotations

import pytest

from ahp.conditions import reference
from ahp.conditions.evaluate import set_deadline
from ahp.policy import lint, show
from ahp.policy.problems import PolicyError

from .conftest import Load
from .test_compile import RULES
from .test_validate import DESIGN, SEED


def advice(load: Load, text: str) -> list[str]:
    return [str(problem) for problem in lint.advise(load(text))]


@pytest.mark.parametrize("pack", ["core", "agents"])
def test_a_pack_needs_no_advice(load: Load, pack: str) -> None:
    assert advice(load, f"extends: [{pack}]") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode: observe", "hooks.yaml:1:7: `mode: observe` logs every signal and enforces none"),
        ("rules: {a: {at: pre-issue-close, prompt: issue.title == 'x'}}",
         "`prompt` is unusual at pre-issue-close; the protocol has block there"),
        ("rules: {a: {at: pre-tool-use, prompt: tool.name == 'shell'}}",
         "`prompt` is unusual at pre-tool-use; the protocol has block or control there"),
        ("rules: {a: {at: pre-push, block: push.is_force, enabled: false}}", "`a` is not enabled"),
        ("rules: {a: {at: pre-commit, each: l in diff.added, block: 'any(k.line - l.line == 1 for k in diff.added)'}}",
         "`a` asks of every item of diff.added about every other one; a long list takes too long"),
        ("rules: {a: {at: pre-push, block: push.is_force, on_missing: skip}}", "pass where its facts never"),
        ("rules: {a: {at: pre-push, block: push.is_force}, b: {at: pre-push, prompt: push.is_force}}",
         "`b` asks the same as the rule at hooks.yaml:1:9"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: allow}]}]}",
         "`o/1` is `allow` everywhere"),
        ("rules: {a: {at: pre-issue-submit, prompt: coverage.current < 80}}", "coverage.current"),
        ("limits: {names: []}\nrules: {a: {at: pre-push, block: branch.name in limits.names}}",
         "hooks.yaml:2:34: this condition is never true, as `limits.names` is empty"),
        ("limits: {names: []}\nrules: {a: {at: pre-push, block: \"branch.name not in limits['names']\"}}",
         "this condition is always true, as `limits.names` is empty"),
        ("extends: [core]\nlimits: {max_file: 80}",
         "hooks.yaml:2:10: no rule reads the limit `max_file`; did you mean `max_files`?"),
        ("facts: {lint: {preset: ruff}}", "hooks.yaml:1:9: no rule reads `lint`, so its command never runs"),
        ("rules: {a: {at: pre-push, prompt: push.is_force, continue_allowed: false}}",
         "`continue_allowed: false` is what the signal says; `a` stops nothing by it, `block` does"),
        ("rules: {a: {at: pre-push, prompt: push.is_force, escalate: true}}", "without `escalation` at the top"),
        ("env_allow: [TEAM]", "no rule reads the variable `env.TEAM`"),
        ("rules: {a: {at: pre-commit, block: files.changed_count > 3, action: {type: run, command: [x]}}}",
         "an `action` is carried out by `control`; `a` never does it"),
        ("rules: {a: {at: pre-push, block: files.insertions > 9}, b: {at: pre-push, prompt: files.insertions > 20}}",
         "hooks.yaml:1:83: `b` matches only where `a` refuses; are the two conditions swapped?"),
        ("rules: {a: {at: pre-push, block: files.insertions > 9}, b: {at: pre-push, block: files.insertions < 15}}",
         "`a` and `b` refuse everything together: one of them always holds"),
        ("limits: {zzz: 80}", "no rule reads the limit `zzz`"),
        ("rules: {a: {at: pre-push, control: push.is_force, action: {type: run, command: [x]}}}",
         "`run` fixes what is staged, at pre-commit; at pre-push `a` only names the command"),
        ("rules: {a: {at: pre-commit, prompt: \"contains(files.changed, '*.env')\"}}", "ask for a pattern"),
        ('rules: {a: {at: pre-push, block: push.is_force, message: "see {branch.name"}}',
         "hooks.yaml:1:59: `message` has a brace that nothing closes: `{branch.name`; a brace itself is written twice"),
        ('rules: {a: {at: pre-push, block: push.is_force, fix: ["see branch.name}"]}}',
         "has a brace that closes nothing: `}`"),
        ("rules: {a: {at: pre-push, block: push.is_force, locked: true, shadow: true}}",
         "hooks.yaml:1:71: `a` is `locked`, and yet `shadow` only logs it"),
        ("reports: {coverage_threshold: 0.8}",
         "hooks.yaml:1:31: `coverage_threshold` is a percentage, 0.8 is less than one percent; write 80"),
        ("reports: {tests: ['build/*.{xml,json}']}", "of `tests` braces stand for themselves; write a list:"),
        ("authority: [{ref: release/*, alone: true}]", "`release/*` is judged by its own policy alone"),
        ("authority: ['release/{1,2}']", "write a list: ['release/1', 'release/2']"),
        ("facts: {lint: {preset: ruff, when_changed: '*.{py,pyi}'}}", "write a list: ['*.py', '*.pyi']"),
        (SEED, "softening: where `checklist-validator/2` matches, the stronger `checklist-validator/1` is not heard"),
    ],
)  # fmt: skip
def test_what_is_seldom_meant_is_advice(load: Load, text: str, said: str) -> None:
    assert any(said in line for line in advice(load, text)), advice(load, text)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("{type: append, target: commit.message, value: 'Ticket: {branch.name}'}", "`value`: `{branch.name}`"),
        ("{type: replace, target: commit.message, pattern: x, with: '{branch.name}'}", "`with`: `{branch.name}`"),
        ("{type: set, target: tool.input.paths, value: ['{p}']}", "`value`: `{p}`"),
        ("{type: set, target: tool.input.env, value: {a: '{p.x}'}}", "`value`: `{p.x}`"),
    ],
)
def test_a_fact_is_not_filled_in_where_an_action_writes(load: Load, action: str, said: str) -> None:
    rule = "at: pre-tool-use, each: p in tool.paths, control: p == 'a'"
    if "commit.message" in action:
        rule = "at: commit-msg, control: commit.is_merge"
    [line] = advice(load, f"rules: {{a: {{{rule}, action: {action}}}}}")
    key, _, name = said.partition(": ")
    assert f"{key} is written as it is: {name} is filled in only in what a signal says, as `message`" in line


def test_advice_on_a_condition_stands_where_another_file_gives_the_limit_it_is_about(load: Load) -> None:
    said = (
        "hooks.yaml:2:24: `conventional-subject` of pack conventional-commits reads 'feat' as `limits.commit_types`: "
    )
    [line] = advice(load, "extends: [conventional-commits]\nlimits: {commit_types: feat}")
    assert line.startswith(said), line


def test_a_whole_rule_under_the_name_of_a_pack_s_is_told_what_it_keeps(load: Load) -> None:
    own = "extends: [core]\nrules:\n  large-files: {at: pre-push, prompt: files.changed_count > 3, message: many}"
    said = "is a rule of pack core, too, and keeps `each`, `finding`, `fix` of that one; give the rule another id, or"
    assert [said in line for line in advice(load, own)] == [True]
    for narrowed in ("{block: f.bytes > 9}", "{at: [pre-commit, pre-push]}", "{level: prompt, message: big}"):
        assert advice(load, f"extends: [core]\nrules: {{large-files: {narrowed}}}") == []


@pytest.mark.slow
def test_rules_that_go_together_need_no_advice(load: Load) -> None:
    assert not advice(
        load,
        """\
env_allow: [TEAM]
escalation: {ladder: [prompt, control, block]}
facts: {lint: {run: [x], parse: lines}, types: {run: [y], parse: lines}}
rules:
  asks: {at: pre-commit, prompt: files.changed_count > 20 and env.TEAM != 'import'}
  refuses: {at: pre-commit, block: files.changed_count > 50}
  other: {at: pre-push, prompt: files.changed_count > 90, message: "{types.count}"}
  lint: {at: pre-push, on_missing: skip, prompt: lint.count > 0}
  marked: {at: commit-msg, prompt: commit.is_merge, action: {type: append, target: commit.message, value: "{x} {"}}
  braced: {at: pre-push, prompt: files.changed_count > 99, message: "{{x}} {files.changed_count} }}", locked: true}
  dry: {at: pre-tool-use, control: tool.name == 'mcp', action: {type: set, target: tool.input.a, value: {b: "${HOME}"}}}
""",
    )


def test_limits_that_are_read_need_no_advice(load: Load) -> None:
    text = """\
limits: {a: 1, b: 2, c: x, d: y, e: [z]}
environment: {production: limits.c == branch.name}
rules:
  r:
    at: pre-commit
    when: files.changed_count > limits['a']
    each: f in files.changed
    prompt: glob(f, limits.e)
    message: "{limits.b}"
    fix: ["{limits.d}"]
"""
    assert [line for line in advice(load, text) if "no rule reads" in line] == []


def test_the_merged_policy_names_the_layer_of_each_part(load: Load) -> None:
    policy = load(
        DESIGN + "hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: {production: block,"
        " default: prompt}, locked: true, id: x}, {condition: push.is_force and push.is_new, intensity: block}]}]}",
        "",
        "rules: {lint-clean: {on_missing: block, when: push.is_new, enabled: true}, old: {at: pre-push, shadow: true,"
        " block: push.is_tag, enabled: false}}".replace(", when: push.is_new", ""),
    )
    waiver = {"rule": "protect-main", "subject": "FEAT-1", "expires": "2026-12-01"}
    described = show.describe(policy, [waiver])
    assert described["files"] == ["pack core", "hooks.yaml", "local.yaml"]
    assert described["limits"]["max_lines"]["layer"] == "pack core"
    (files, settings), *triggers = show.sections(described, whole=True)
    assert files == "# pack core, then hooks.yaml, then local.yaml"
    assert ("limits.protected", "[main]  [project]") in settings
    assert dict(settings)["facts.lint"].startswith("{run: [ruff,")  # type: ignore[arg-type]
    rules = {row[0]: row[1:] for _, rows in triggers for row in rows}
    for rule, level, said in (
        ("change-size", "prompt", "\n[pack core, changed by project] sha256:"),
        ("lint-clean", "prompt", "\n[project, changed by local] sha256:"),
        ("old", "block", "\n[local] (shadow, not enabled) sha256:"),
        ("o/x", "production: block, default: prompt", "\n[project] (locked) sha256:"),
        ("o/2", "block", "\nrefines o/x: its condition includes that rule's\n"),
        ("protect-main", "block", "\nwaived for FEAT-1 until 2026-12-01\n"),
        ("no-secrets", "block", "each l in diff.added\nif "),
    ):
        assert rules[rule][0] == level and said in rules[rule][1], rules[rule]


def test_softenings_and_filters_are_shown(load: Load) -> None:
    policy = load(SEED.replace("    oracles", "    when: issue.id != ''\n    oracles"))
    text = "\n".join(row[-1] for _, rows in show.sections(show.describe(policy)) for row in rows)
    assert "\nsoftened by checklist-validator/2\n" in text
    assert "\nwhen issue.id != ''\n" in text
    assert show.sections(show.describe(load(""))) == [("# no policy file", [])]


def test_both_evaluators_agree_on_the_examples(load: Load) -> None:
    for text in (SEED, DESIGN, RULES, "extends: [core]"):
        lint.compare_evaluators(load(text))


def test_a_limit_may_be_an_empty_list_and_differ_by_environment(load: Load) -> None:
    loops = "any(glob(f, limits.kept) for f in files.changed) or any(x == branch.name for x in limits.names)"
    for kept in ("[]", "{default: []}", '{production: [], default: ["*.png"]}', '{production: "*.png", default: a}'):
        text = f"""
            limits: {{kept: {kept}, names: []}}
            environment: {{production: branch.is_default}}
            rules: {{a: {{at: pre-push, block: "{loops}"}}, b: {{at: pre-push, block: "not ({loops})"}}}}
            """
        lint.compare_evaluators(load(text))
    lint.compare_evaluators(load("extends: [core, agents]\nlimits: {media: [], key_files: [], no_commits: []}"))


def test_a_disagreement_refuses_the_policy_with_its_place(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "disagreement", lambda checked, schema: "true here, false there")
    with pytest.raises(PolicyError) as caught:
        lint.compare_evaluators(load(SEED))
    assert str(caught.value).splitlines()[0].startswith("hooks.yaml:12:")
    assert "true here, false there" in str(caught.value)


def test_the_deadline_of_an_earlier_event_does_not_end_the_comparison(load: Load) -> None:
    set_deadline(0.0)
    lint.compare_evaluators(load("rules: {a: {at: pre-push, block: any(p.startswith('x') for p in files.changed)}}"))
