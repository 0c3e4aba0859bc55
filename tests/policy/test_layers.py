from __future__ import annotations

import pytest

from ahp.policy import layers, sources
from ahp.policy.problems import PolicyError

from .conftest import Errors, Load

BASE = """
limits: {max_files: 10, names: [main, dev], secret: abc}
environment: {production: branch.name in limits.names}
facts: {lint: {run: [ruff]}}
reports: {tests: [junit.xml]}
timezone: UTC
escalation: {ladder: [prompt, control], after: 2, forget_after: 14d}
rules:
  size: {at: [pre-commit, pre-push], prompt: files.changed_count > limits.max_files}
  strict: {at: pre-push, block: push.is_force, overridable: false, on_missing: block, redact: true, ask: true}
  linted: {at: pre-push, prompt: lint.count > 0}
  tested: {at: pre-push, prompt: tests.failed_count > 0}
  friday: {at: pre-push, prompt: time.weekday == 'friday'}
  fixed:
    at: pre-push
    control: files.changed_count > 3
    action: {type: split_suggestion, max_batch: 10}
    when: branch.ahead > 3
hooks:
  pre-push:
    - name: o
      rules:
        - {id: env, condition: push.commit_count > 5, intensity: {production: block, default: prompt}}
        - {id: soft, condition: push.commit_count > 9, intensity: block}
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("rules: {size: {prompt: files.changed_count > 20}}", "`size` of the project layer: condition is weaker"),
        ("rules: {size: {prompt: files.insertions > 5}}", "condition cannot be shown to be as strict"),
        ("rules: {size: {at: pre-push}}", "`size` of the project layer: rule is weaker (removed)"),
        ("rules: {strict: {prompt: push.is_force}}", "intensity is weaker (block became prompt)"),
        ("rules: {strict: {enabled: false}}", "enabled is weaker"),
        ("rules: {strict: {shadow: true}}", "shadow is weaker"),
        ("rules: {strict: {overridable: true}}", "overridable is weaker"),
        ("rules: {strict: {on_missing: prompt}}", "on_missing is weaker (block became prompt)"),
        ("rules: {strict: {when: push.is_new}}", "when is weaker"),
        ("rules: {strict: {ci: skip}}", "ci is weaker"),
        ("rules: {strict: {ci: range}}", "ci cannot be shown"),
        ("rules: {strict: {redact: false}}", "redact is weaker"),
        ("rules: {strict: {ask: false}}", "ask is weaker"),
        ("rules: {strict: {each: l in diff.added, block: l.line > 3}}", "another `each`"),
        ("rules: {size: {escalate: false}}", "escalate is weaker"),
        ("rules: {fixed: {action: {type: split_suggestion, max_batch: 99}}}", "action cannot be shown"),
        ("rules: {fixed: {when: branch.ahead > 9}}", "when is weaker"),
        ("limits: {max_files: 20}", "user.yaml:1:21: `size` of the project layer: condition is weaker"),
        ("limits: {max_files: {production: 20, default: 5}}", "condition is weaker"),
        ("environment: {production: branch.is_default}", "user.yaml:1:27: `o/env` of the project layer: intensity is"),
        ("limits: {names: [main]}", "user.yaml:1:17: `o/env` of the project layer: intensity is weaker"),
        ("facts: {lint: {run: ['true']}}", "facts.lint cannot be shown"),
        ("reports: {tests: [other.xml]}", "tests cannot be shown"),
        ("timezone: Europe/Vienna", "timezone cannot be shown"),
        ("escalation: {ladder: [prompt, control], after: 3}", "escalation is weaker"),
        ("escalation: {ladder: [prompt], after: 2}", "escalation is weaker"),
        ("escalation: {ladder: [prompt, control], after: 2, forget_after: 1d}", "escalation is weaker"),
        ("mode: observe", "user.yaml:1:7: "),
        ("hooks: {pre-push: [{name: o, rules: [{id: env, intensity: prompt}]}]}", "intensity is weaker"),
        ("hooks: {pre-push: [{name: o, enabled: false}]}", "enabled is weaker"),
        ("hooks: {pre-push: {when: push.is_new, oracles: []}}", "when is weaker"),
        ("hooks: {pre-push: [{name: o, rules: [{id: x, refines: soft, condition: push.is_new, intensity: prompt}]}]}",
         "refines is weaker (softened by o/x)"),
    ],
)  # fmt: skip
def test_a_users_or_local_layer_may_not_weaken(errors: Errors, change: str, said: str) -> None:
    found = errors(BASE, change)
    assert any(said in line and line.startswith("user.yaml:") for line in found), found
    assert any(said in line.replace("local.yaml:", "user.yaml:") for line in errors(BASE, "", change))


@pytest.mark.parametrize(
    "change",
    [
        "rules: {size: {block: files.changed_count > 5}}",
        "rules: {size: {at: [pre-commit, pre-push, pre-merge-commit]}}",
        "rules: {strict: {locked: true}}",
        "rules: {strict: {message: reworded, fix: x}}",
        "rules: {size: {on_missing: block}}",
        "rules: {fixed: {when: branch.ahead > 1}}",
        "rules: {mine: {at: pre-commit, prompt: files.changed_count > 3}}",
        "limits: {max_files: 5}",
        "limits: {max_files: {production: 5, default: 10}}",
        "limits: {own: 5}\nrules: {mine: {at: pre-commit, prompt: files.changed_count > limits.own}}",
        "escalation: {ladder: [control, block], after: 1, forget_after: 30d}",
        "hooks: {pre-push: [{name: o, rules: [{id: env, intensity: block}]}]}",
        "hooks: {pre-push: [{name: o, rules: [{condition: push.is_new, intensity: block}]}]}",
        "facts: {own: {run: [x]}}",
        "env_allow: [CI]",
        "extends: [core]",
    ],
)
def test_a_users_or_local_layer_may_tighten_and_add(errors: Errors, change: str) -> None:
    assert errors(BASE, change) == []
    assert errors(BASE, "", change) == []


def test_fields_replace_and_remember_their_layer(load: Load) -> None:
    policy = load(BASE, "", "rules: {size: {block: files.changed_count > 5, severity: high}}")
    rule = next(rule for rule in policy.rules if rule.key == "size")
    assert (rule.raw.layer, rule.layer, rule.raw.fields["severity"].layer) == ("project", "local", "local")
    assert rule.intensity == {"default": "block"}
    assert "prompt" not in rule.raw.fields


def test_rules_without_an_id_append(load: Load) -> None:
    one = "hooks: {pre-push: [{name: o, rules: [{condition: push.is_force, intensity: block}]}]}"
    two = "hooks: {pre-push: [{name: o, rules: [{condition: push.is_new, intensity: block}]}]}"
    assert [(r.key, r.condition.text) for r in load(one, two).rules] == [
        ("o/1", "push.is_force"),
        ("o/2", "push.is_new"),
    ]


PACK = "rules: {p: {at: pre-push, block: push.is_force}, q: {at: pre-push, block: push.is_new, locked: true}}"


def test_the_project_may_weaken_unlocked_rules_of_what_it_extends(errors: Errors) -> None:
    assert not errors("extends: team.yaml\nrules: {p: {prompt: push.is_force}}", team__yaml=PACK)
    found = errors("extends: team.yaml\nrules: {q: {prompt: push.is_new}}", team__yaml=PACK)
    assert len(found) == 1
    assert found[0].startswith("hooks.yaml:2:13: `q` of the project layer: intensity is weaker")
    assert found[0].endswith("the rule is locked")
    assert "the rule is locked" in errors("extends: team.yaml\nmode: observe", team__yaml=PACK)[0]
    assert errors("extends: team.yaml\nrules: {q: {locked: false}}", team__yaml=PACK)


def test_locked_rules_of_the_long_form_are_found(errors: Errors) -> None:
    pack = """
        hooks: {pre-push: [{name: o, rules: [{id: a, condition: push.is_force, intensity: block, locked: true}]}]}
        """
    weaker = "extends: team.yaml\nhooks: {pre-push: [{name: o, rules: [{id: a, intensity: prompt}]}]}"
    assert "the rule is locked" in errors(weaker, team__yaml=pack)[0]
    assert not errors("extends: team.yaml\nrules: {x: {at: pre-push, block: push.is_new}}", team__yaml=pack)


def test_a_rule_that_became_invalid_is_reported_as_that_only(errors: Errors) -> None:
    found = errors(BASE, "rules: {size: {block: files.nope > 5}}")
    assert [line for line in found if "only tighten" in line] == []
    assert len(found) == 1


def test_a_pack_of_a_layer_that_may_only_tighten_leaves_the_oracles_of_the_project_alone(load: Load) -> None:
    project = """
        hooks:
          pre-issue-start:
            - name: dependency-check
              rules: [{id: blocked-by, condition: issue.unmet_dependency_count > 5, intensity: block}]
        """
    rules = {rule.key: rule for rule in load(project, local="extends: tickets").rules}
    own = rules["dependency-check/blocked-by"]
    assert (own.condition.text, own.raw.layer) == ("issue.unmet_dependency_count > 5", "project")
    assert {key for key in rules if key.startswith("dependency-check/")} == {"dependency-check/blocked-by"}
    assert any(rule.raw.layer == "pack tickets" for rule in rules.values())


def test_a_layer_with_a_pack_may_be_the_only_one(load: Load) -> None:
    policy = load("", "extends: [core]")
    assert {rule.raw.layer for rule in policy.rules} == {"pack core"}
    assert load("").rules == ()


def test_extends_reads_each_file_once_and_first(load: Load) -> None:
    policy = load(
        "extends: [a.yaml, b.yaml]\nlimits: {x: 3}",
        a__yaml="extends: sub/c.yaml\nlimits: {x: 1}",
        b__yaml="extends: sub/c.yaml\nlimits: {x: 2}",
        **{"sub/c__yaml": "limits: {x: 0, y: 1}"},
    )
    assert policy.raw.files == ["sub/c.yaml", "a.yaml", "b.yaml", "hooks.yaml"]
    assert policy.limits() == {"x": 3, "y": 1}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("cor", "no pack is called 'cor'; did you mean `core`?"),
        ("../x.yaml", "is neither a pack nor a .yaml file inside this policy's folder"),
        ("/etc/x.yaml", "is neither a pack nor a .yaml file inside this policy's folder"),
        ("x/./y.yaml", "is neither a pack nor a .yaml file inside this policy's folder"),
        ("a\tb.yaml", "is neither a pack nor a .yaml file inside this policy's folder"),
        ("Core", "is neither a pack nor a .yaml file inside this policy's folder"),
        ("none.yaml", "there is no file 'none.yaml' beside this policy"),
        ("loop.yaml", "loop.yaml:1:10: a circle of `extends`: project:loop.yaml → project:loop.yaml"),
        ("bad.yaml", "bad.yaml:1:1: unknown key `x`"),
    ],
)
def test_what_cannot_be_extended_is_an_error_at_its_place(errors: Errors, wanted: str, said: str) -> None:
    found = errors(f"extends: ['{wanted}']", loop__yaml="extends: loop.yaml", bad__yaml="x: 1")
    assert any(said in line for line in found), found


def test_the_number_of_extended_files_is_bounded(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "MAX_FILES", 1)
    found = errors("extends: [a.yaml, b.yaml]", a__yaml="limits: {x: 1}", b__yaml="limits: {y: 1}")
    assert found == ["hooks.yaml:1:19: more than 1 files are extended"]


def test_problems_of_all_files_come_together(errors: Errors) -> None:
    found = errors("extends: [a.yaml]\nx: 1", "y: 1", a__yaml="z: 1")
    assert [line.split(":")[0] for line in found] == ["a.yaml", "hooks.yaml", "user.yaml"]


def test_what_a_source_refuses_to_read_is_reported() -> None:
    class Refusing(sources.TextSource):
        def beside(self, layer: str, relative: str) -> bytes | None:
            raise PolicyError([])

    with pytest.raises(PolicyError):
        layers.load(Refusing("extends: [a.yaml]\nx: 1"))
