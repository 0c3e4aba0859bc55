from __future__ import annotations

from textwrap import dedent

import pytest

from ahp.hosts import policy_test
from ahp.policy import cases, layers
from ahp.policy.rule import Policy
from ahp.policy.sources import TextSource


def run(policy: str, tests: str) -> policy_test.Report:
    checked: Policy = layers.load(TextSource(dedent(policy)))
    return policy_test.run(checked, cases.read(dedent(tests).encode(), "t.yaml", checked))


def faults(policy: str, test: str) -> list[str]:
    (outcome,) = run(policy, test).outcomes
    return outcome.faults


SIZE = "rules: {size: {at: pre-commit, prompt: files.changed_count > 3, message: '{files.changed_count} files'}}"


def case(facts: str, expect: str, trigger: str = "pre-commit") -> str:
    return f"- {{name: x, trigger: {trigger}, facts: {facts}, expect: {expect}}}"


def test_a_case_that_holds_has_no_faults() -> None:
    test = case("{files: {changed_count: 4}}", "{decision: warn, signals: [{rule: size, intensity: prompt}]}")
    assert faults(SIZE, test) == []
    assert faults(SIZE, case("{}", "{decision: allow, signals: []}")) == []
    assert faults(SIZE, case("{files: {changed_count: 4}}", "{decision: warn}")) == []


@pytest.mark.parametrize(
    ("facts", "expect", "said"),
    [
        (
            "{files: {changed_count: 4}}",
            "{decision: deny, signals: [{rule: size}]}",
            "decision: expected deny, got warn",
        ),
        ("{}", "{signals: [{rule: size}]}", "missing signal: size (its condition is false)"),
        ("{files: {changed_count: 4}}", "{signals: []}", "unexpected signal: size (prompt): 4 files"),
        (
            "{files: {changed_count: 4}}",
            "{signals: [{rule: size, intensity: block}]}",
            "size: expected block, got prompt",
        ),
        (
            "{files: {changed_count: 4}}",
            "{signals: [{rule: size, findings: 2}]}",
            "size: expected 2 findings, got 0",
        ),
        ("{files: {changed_count: many}}", "{}", "cannot be judged: files.changed_count is of type int, not 'many'"),
    ],
)
def test_a_case_that_does_not_hold_says_why(facts: str, expect: str, said: str) -> None:
    assert faults(SIZE, case(facts, expect)) == [said]


def test_another_decision_is_told_with_the_signals_that_made_it() -> None:
    said = ["decision: expected deny, got warn", "got signal: size (prompt): 4 files"]
    assert faults(SIZE, case("{files: {changed_count: 4}}", "{decision: deny}")) == said


def test_a_namespace_that_is_given_is_whole_and_the_rest_is_absent() -> None:
    (said,) = faults(SIZE, case("{files: {changed: [a]}}", "{signals: []}"))
    assert "files.changed_count is missing" in said


def test_facts_of_this_machine_take_no_part() -> None:
    policy = (
        "rules: {late: {at: pre-commit, prompt: time.hour >= 1}, failed: {at: pre-commit, prompt: tests.total > 0}}"
    )
    (outcome,) = run(policy, case("{}", "{signals: []}")).outcomes
    assert len(outcome.faults) == 2 and all("is missing" in fault for fault in outcome.faults)


def test_records_may_leave_keys_out() -> None:
    policy = """
    rules:
      a: {at: pre-commit, each: l in diff.added, prompt: l.text == 'x' and l.line == 1}
      b: {at: pre-commit, each: f in files.changes, prompt: f.status == 'added' and f.old_path is None}
    """
    test = case(
        "{diff: {added: [{path: a, text: x}]}, files: {changes: [{path: a}]}}",
        "{signals: [{rule: a, findings: 1}, {rule: b, findings: 1}]}",
    )
    assert faults(policy, test) == []


@pytest.mark.wings
def test_a_shell_command_is_read_as_an_agents_adapter_reads_it() -> None:
    policy = """
    rules:
      rm: {at: pre-tool-use, block: "any(c.program == 'rm' and contains(c.flags, '-r') for c in tool.commands)"}
      wrote: {at: pre-tool-use, prompt: len(tool.writes) > 0}
    """
    both = "{signals: [{rule: rm}, {rule: wrote}]}"
    assert faults(policy, case("{tool: {command: 'cd y && rm -fr x > z'}}", both, "pre-tool-use")) == []
    assert (
        faults(policy, case("{tool: {name: write, writes: [a]}}", "{signals: [{rule: wrote}]}", "pre-tool-use")) == []
    )
    assert (
        faults(policy, case("{tool: {commands: [{program: rm, flags: ['-r']}]}}", "{decision: deny}", "pre-tool-use"))
        == []
    )
    assert faults(policy, case("{tool: {input: {command: 'rm -r x'}}}", "{decision: deny}", "pre-tool-use")) == []


def test_control_actions_change_what_is_judged_next() -> None:
    policy = """
    rules:
      signed:
        at: commit-msg
        control: not contains(commit.message, 'Checked')
        action: {type: append, target: commit.message, value: "Checked-by: ahp"}
      timeout:
        at: pre-tool-use
        control: default(tool.input['timeout'], 0) > 60
        action: {type: clamp, target: tool.input.timeout, max: 60}
    """
    signed = "{decision: allow_with_modification, signals: [{rule: signed, intensity: control}]}"
    assert faults(policy, case("{commit: {subject: x, body: y}}", signed, "commit-msg")) == []
    assert faults(policy, case("{commit: {message: 'Checked'}}", "{decision: allow}", "commit-msg")) == []
    clamped = "{decision: allow_with_modification, signals: [{rule: timeout}]}"
    assert faults(policy, case("{tool: {name: shell, input: {timeout: 90}}}", clamped, "pre-tool-use")) == []


def test_the_report_tells_which_rules_were_reached() -> None:
    policy = """
    hooks:
      pre-commit:
        oracles:
          - name: size
            rules:
              - {id: many, condition: files.changed_count > 3, intensity: prompt}
              - {id: most, condition: files.changed_count > 3 and files.deletions > 9, intensity: block}
          - name: watched
            rules: [{id: one, condition: files.changed_count == 1, intensity: block, shadow: true}]
          - name: unknown
            rules: [{id: one, condition: tests.total == 1, intensity: block, on_missing: skip}]
    """
    tests = f"""
    {case("{files: {changed_count: 4, deletions: 10}}", "{signals: [{rule: size/most}]}")}
    {case("{files: {changed_count: 1, deletions: 0}}", "{decision: allow}")}
    {case("{files: {changed_count: x}}", "{}")}
    """
    report = run(policy, tests)
    assert {rule.rule: (rule.asked, rule.spoke) for rule in report.rules} == {
        "size/many": (2, 1),
        "size/most": (2, 1),
        "watched/one": (2, 1),
        "unknown/one": (2, 0),
    }
    assert [outcome.case.place.line for outcome in report.failed] == [4]


def test_a_dropped_signal_says_what_became_of_it() -> None:
    policy = "rules: {a: {at: pre-commit, block: files.changed_count > 0, shadow: true}}"
    test = case("{files: {changed_count: 1}}", "{signals: [{rule: a}]}")
    assert faults(policy, test) == ["missing signal: a (shadow: would have been block)"]
