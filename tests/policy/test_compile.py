from __future__ import annotations

from pathlib import Path

import pytest

from ahp.conditions import reference
from ahp.gate.decide import decide
from ahp.policy import compile as compiling
from ahp.policy import layers
from ahp.policy.rule import Policy, rule_digest
from ahp.policy.sources import TextSource
from ahp.protocol.event import Actor, Event, Workspace
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, jsontext

from .conftest import Load
from .test_validate import DESIGN, SEED

RULES = """
mode: observe
timezone: UTC
env_allow: [TEAM]
limits: {few: 3, size: {production: 1, default: 2}}
environment: {production: branch.is_default}
escalation: {ladder: [prompt, block]}
reports: {tests: [junit.xml], coverage_threshold: 80}
facts: {lint: {run: [ruff], extract: {n: len(output)}, parse: json}}
hooks:
  pre-push:
    when: push.is_new
    oracles:
      - name: o
        type: kind
        priority: 3
        rules:
          - {id: a, condition: files.changed_count > limits.size, intensity: {production: block, default: prompt}}
          - id: b
            each: f in files.changes
            condition: f.bytes > limits.few and lint.n > 0
            intensity: control
            action: {type: run, command: [fix, it], directory: sub}
            finding: {file: f.path}
            suggestions: [one, {type: follow_up, description: two}]
            resolution: ["look at {files.changed}"]
            message: "{files.changed_count} of {f.path}"
          - {id: c, condition: env.TEAM == 'x' and push.is_force, intensity: prompt}
          - {id: d, condition: push.is_force, intensity: block, shadow: true, ci: range, ask: true}
"""


def test_a_program_holds_what_the_gate_needs(load: Load) -> None:
    program = compiling.programs(load(RULES), [("/root/x", None)])["pre-push"]
    assert (program.trigger, program.sources, program.triggers) == ("pre-push", [("/root/x", None)], ["pre-push"])
    assert program.reads == {
        "env": ["TEAM"],
        "files": ["changed_count", "changes"],
        "limits": ["size"],
        "lint": ["n"],
        "push": ["is_force", "is_new"],
    }
    assert program.slots == sorted(program.slots)
    assert [(rule.key, rule.when, rule.costly, rule.var) for rule in program.rules] == [
        ("o/a", 0, False, ""),
        ("o/b", 0, True, "f"),
        ("o/c", 0, False, ""),
        ("o/d", 0, False, ""),
    ]
    assert (len(program.whens), program.costly) == (1, ["lint"])
    settings = program.settings
    assert settings.limits == {"few": 3, "size": {"production": 1, "default": 2}}
    assert [name for name, _ in settings.environment or ()] == ["production"]
    assert (settings.reports.tests, settings.reports.coverage_threshold) == (["junit.xml"], 80)
    assert (settings.env_allow, settings.timezone) == (["TEAM"], "UTC")
    extract = settings.commands["lint"].extract or {}
    assert [(name, one.value, one.type) for name, one in extract.items()] == [("n", "len(output)", "int")]


@pytest.mark.parametrize(("trigger", "late"), [("pre-tool-use", ["checklist", "issue"]), ("pre-issue-submit", [])])
def test_a_tool_call_reads_tickets_only_where_nothing_else_decides(trigger: str, late: list[str], load: Load) -> None:
    condition = "checklist.total > 0 and default(issue.stage, '') == 'draft'"
    policy = load(
        f"rules: {{a: {{at: {trigger}, block: \"{condition}\"}}, b: {{at: {trigger}, block: branch.name == 'x'}}}}"
    )
    program = compiling.programs(policy)[trigger]
    assert (program.costly, [rule.costly for rule in program.rules]) == (late, [bool(late), False])


def test_a_finding_without_a_message_has_the_regexes_that_name_its_kind(load: Load) -> None:
    """Those that an item has to match; one that it must not match, or of another item, tells no kind."""
    rules = """
limits: {a: {production: "(?P<one>1)", default: "(?P<two>2)"}, b: ["(?P<three>3)", "4"]}
environment: {production: branch.is_default}
rules:
  r:
    at: pre-commit
    each: l in diff.added
    block: >-
      (matches(l.text, limits.a) or matches(l.path, limits.b)) and not matches(l.text, '(?P<not>5)')
      and matches(branch.name, '(?P<branch>6)') and any(matches(k.text, '(?P<other>7)') for k in diff.added)
    finding: {file: l.path}
  s: {at: pre-commit, each: p in files.added, block: "matches(p, '(?P<eight>8)')", finding: {file: p}}
  t: {at: pre-commit, each: p in files.added, block: "matches(p, '(?P<nine>9)')", finding: {file: p, message: own}}
"""
    answers = compiling.programs(load(rules))["pre-commit"].answers
    assert answers is not None
    kinds = [rule.finding.kinds for rule in answers.rules.values() if rule.finding is not None]
    assert sorted(kinds[0]) == [["path", "(?P<three>3)"], ["text", "(?P<one>1)"], ["text", "(?P<two>2)"]]
    assert kinds[1:] == [[["", "(?P<eight>8)"]], []]


def test_answers_hold_words_and_actions(load: Load) -> None:
    answers = compiling.programs(load(RULES))["pre-push"].answers
    assert answers is not None and answers.escalation is not None
    a, b, c, d = (answers.rules[f"o/{name}"] for name in "abcd")
    assert a.intensity == {"production": "block", "default": "prompt"}
    assert (a.id, a.oracle, a.type, a.priority, a.when) == ("a", "o", "kind", 3, "push.is_new")
    assert (a.escalates, a.on_missing, a.reversible, a.severity) == (True, "prompt", True, "medium")
    assert b.action is not None and b.action.command is not None and b.finding is not None
    assert (b.action.type, b.action.target, b.action.max_batch) == ("run", None, None)
    fixer = b.action.command
    assert (fixer.run, fixer.directory, fixer.timeout, fixer.parse) == (["fix", "it"], "sub", 60.0, None)
    assert b.reversible is False
    assert [(one.type, one.description) for one in b.suggestions] == [("best_practice", "one"), ("follow_up", "two")]
    assert (b.finding.file, b.finding.line, b.finding.message) == ("f.path", None, None)
    assert b.shows == ["files.changed", "files.changed_count"]
    assert c.refines == {}
    assert (d.shadow, d.ci, d.ask, d.escalates) == (True, "range", True, False)
    climb = answers.escalation
    assert (climb.ladder, climb.after, climb.forget_after) == (["prompt", "block"], 1, 1209600.0)
    assert answers.mode == "observe"
    assert a.position.startswith("hooks.yaml:18:")


def test_every_trigger_has_a_program_that_json_holds(load: Load) -> None:
    for text in (SEED, DESIGN, RULES, "extends: [core]", ""):
        programs = compiling.programs(load(text))
        assert list(programs) == list(TRIGGERS)
        for program in programs.values():
            for half in (program, program.answers):
                assert half is not None
                encoded = jsontext.encode(half)
                assert jsontext.encode(type(half).of(jsontext.decode(encoded))) == encoded


def digest(policy: Policy) -> str:
    (found,) = {program.policy for program in compiling.programs(policy).values()}
    return found


def test_the_digest_follows_what_judges_not_where_it_was_read(load: Load) -> None:
    first = digest(load(SEED))
    assert first == digest(load("# a comment\n\n" + SEED))
    assert first == digest(layers.load(TextSource(SEED, "HEAD:.ahp/hooks.yaml")))
    assert first != digest(load(SEED.replace("> 20", "> 21")))
    assert first != digest(load(SEED + "mode: observe\n"))


def test_a_rules_digest_is_bound_to_its_meaning_not_its_words(load: Load) -> None:
    text = "limits: {n: %s}\nrules: {a: {at: [pre-commit, pre-push], prompt: files.changed_count > limits.n%s}}"

    def digests(*values: str) -> set[str]:
        policy = load(text % values)
        return {rule_digest(rule, policy) for rule in policy.rules}

    first = digests("3", "")
    assert len(first) == 1
    assert digests("3", ", message: hello, severity: low") == first
    assert digests("4", "") != first
    assert digests("3", ", on_missing: block") != first
    assert digests("3", ", when: branch.is_default") != first


def policy_at(root: Path, text: str) -> Event:
    """An event of pre-commit in a folder with this policy, which nobody has compiled yet."""
    (root / ".ahp").mkdir()
    (root / ".ahp" / "hooks.yaml").write_text(text)
    where = Workspace(str(root), str(root / "git"), {})
    return Event("pre-commit", "test", Actor("human"), where, clock.monotonic() + 600, "dry")


def test_a_policy_of_a_thousand_rules_is_compiled_within_the_event_that_it_judges(tmp_path: Path) -> None:
    short = [f"  s{n}: {{at: pre-commit, block: files.changed_count > {1000 + n}}}" for n in range(500)]
    long = [
        f"        - {{id: l{n}, condition: files.changed_count > {n} and branch.name == 'b{n}', intensity: prompt}}"
        for n in range(500)
    ]
    head = ["hooks:", "  pre-commit:", "    - name: o", "      rules:"]
    event = policy_at(tmp_path, "\n".join(["rules:", *short, *head, *long]))
    event.given = {"files": {"changed_count": 1005}, "branch": {"name": "b7"}}
    said = [str(signal.context["rule"]) for signal in decide(event).signals]
    assert sorted(said) == ["o/l7", "s0", "s1", "s2", "s3", "s4"]


def test_no_hook_asks_the_reference_evaluator(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def asked(*arguments: object) -> None:
        raise AssertionError("comparing evaluators takes as long as it takes; no commit waits for it")

    monkeypatch.setattr(reference, "disagreement", asked)
    assert decide(
        policy_at(
            tmp_path, SEED + "  pre-commit: [{name: o, rules: [{condition: branch.is_default, intensity: block}]}]\n"
        )
    )
