"""`action: {type: sandbox}`, `otherwise` and the top-level `box`: loaded, compiled, compared."""

from __future__ import annotations

import pytest

from ahp.hosts import policy_test
from ahp.policy import cases, lint
from ahp.policy import compile as compiling
from ahp.policy.diff import compare
from ahp.policy.problems import PolicyError

from .conftest import Load

RULE = "rules: {b: {at: pre-tool-use, control: tool.name == 'shell', action: {type: sandbox%s}%s}}\n"
TEST = """\
- {name: in, trigger: pre-tool-use, facts: {tool: {name: shell, command: ls}}, expect: {signals: [], box: true}}
- {name: out, trigger: pre-tool-use, facts: {tool: {name: read}}, expect: {box: false}}
- {name: wrong, trigger: pre-tool-use, facts: {tool: {name: read}}, expect: {box: true}}
"""


def test_its_keys_are_added_to_those_of_the_policy(load: Load) -> None:
    policy = load("box: {hidden: [a], writable: [w]}\n" + RULE % (", hidden: [b]", ", otherwise: skip"))
    (plan,) = compiling.programs(policy)["pre-tool-use"].rules
    keys = {"writable": ["w"], "read_only": [], "hidden": ["a", "b"], "shown": [], "network": []}
    assert plan.box == {"type": "sandbox", "keys": keys, "otherwise": "skip", "reads": ["tool.name"]}
    assert lint.advise(policy) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RULE.replace("pre-tool-use", "pre-commit").replace("tool.name == 'shell'", "branch.is_default") % ("", ""),
         "`sandbox` is for tool calls"),
        (RULE.replace("control:", "block:") % ("", ""), "is a control in every environment"),
        ("rules: {b: {at: pre-commit, block: branch.is_default, otherwise: skip}}", "`otherwise` is for a rule whose"),
        (RULE % (", memory: 1", ""), "memory"),
        *[(RULE % (f", network: ['{one}']", ""), "network") for one in
          ("127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "017700000001", "2130706433", "::1", "[::1]", "a.0x1", "a..b",
           "http://a.b", "a.b/", "u@a.b", "a.b:", "-a.b", "*.b", "a b")],
    ],
)  # fmt: skip
def test_what_it_cannot_say(load: Load, text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", ", writable: [x]", "weaker"),
        (", shown: [x]", "", "stronger"),
        ("", ", network: ['index.example', 'me:8000']", "weaker"),
        (", hidden: [x]", "", "weaker"),
        ("", ", read_only: [x]", "stronger"),
        (", hidden: [x]", ", hidden: [x]", ""),
    ],
)
def test_which_box_is_weaker(load: Load, old: str, new: str, verdict: str) -> None:
    found = compare(load(RULE % (old, "")), load(RULE % (new, "")))
    assert [one.verdict for one in found] == ([verdict] if verdict else [])


def test_a_rule_reads_the_box_of_the_policy(load: Load) -> None:
    (change,) = compare(load(RULE % ("", "")), load("box: {shown: [~/.ssh]}\n" + RULE % ("", "")))
    assert (change.key, change.verdict, change.detail) == ("b", "weaker", "shown + ['~/.ssh']")


def test_otherwise_is_compared(load: Load) -> None:
    (change,) = compare(load(RULE % ("", "")), load(RULE % ("", ", otherwise: prompt")))
    assert (change.part, change.verdict) == ("otherwise", "weaker")


@pytest.mark.parametrize("how", [", shadow: true", ", enabled: false"])
def test_one_that_is_not_enforced_is_not_compiled(load: Load, how: str) -> None:
    assert compiling.programs(load(RULE % ("", how)))["pre-tool-use"].rules == []
    assert compiling.programs(load("mode: observe\n" + RULE % ("", "")))["pre-tool-use"].rules == []


def test_policy_tests_say_whether_a_call_is_boxed(load: Load) -> None:
    policy = load(RULE % ("", ""))
    report = policy_test.run(policy, cases.read(TEST.encode(), "t.yaml", policy))
    assert [one.faults for one in report.outcomes] == [[], [], ["box: expected one, got none"]]


SAVING = RULE.replace("sandbox", "snapshot")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SAVING.replace("pre-tool-use", "pre-commit").replace("tool.name == 'shell'", "branch.is_default") % ("", ""),
         "`snapshot` is for tool calls"),
        (SAVING.replace("control:", "block:") % ("", ""), "is a control in every environment"),
        (SAVING % (", writable: [x]", ""), "writable"),
    ],
)  # fmt: skip
def test_what_a_snapshot_cannot_say(load: Load, text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(text)
    assert said in str(caught.value)


def test_a_snapshot_beside_a_box(load: Load) -> None:
    boxing, saving = load(RULE % ("", "")), load(SAVING % ("", ""))
    (plan,) = compiling.programs(saving)["pre-tool-use"].rules
    assert plan.box == {"type": "snapshot", "keys": {}, "otherwise": "block", "reads": ["tool.name"]}
    assert lint.advise(saving) == []
    assert [one.verdict for one in compare(saving, saving)] == []
    assert [one.verdict for one in compare(saving, load("rules: {}\n"))] == ["weaker"]
    assert [one.verdict for one in compare(boxing, saving)] == ["unknown"]
    (change,) = compare(saving, load(SAVING % ("", ", otherwise: skip")))
    assert (change.part, change.verdict) == ("otherwise", "weaker")


def test_policy_tests_say_whether_the_work_tree_is_saved(load: Load) -> None:
    policy = load(SAVING % ("", ""))
    tests = TEST.replace("box:", "snapshot:")
    report = policy_test.run(policy, cases.read(tests.encode(), "t.yaml", policy))
    assert [one.faults for one in report.outcomes] == [[], [], ["snapshot: expected one, got none"]]
