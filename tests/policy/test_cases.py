from __future__ import annotations

import pytest

from ahp.policy import cases
from ahp.policy.problems import PolicyError
from tests.policy.conftest import Load

POLICY = """
limits: {max: 3}
env_allow: [CI]
facts: {lint: {run: [lint]}}
rules:
  size: {at: pre-commit, prompt: files.changed_count > limits.max}
  linted: {at: pre-push, prompt: lint.count > 0}
"""


@pytest.fixture
def mistakes(load: Load) -> object:
    def of(text: str) -> list[str]:
        with pytest.raises(PolicyError) as caught:
            cases.read(text.encode(), "t.yaml", load(POLICY))
        return [str(problem) for problem in caught.value.problems]

    return of


def test_a_case_has_a_name_a_trigger_facts_and_an_expectation(load: Load) -> None:
    text = """
- name: many files
  trigger: pre-commit
  facts: {files: {changed_count: 4, changes: [{path: a, bytes: 3}]}, env: {CI: "true"}, environment: production}
  expect: {decision: warn, signals: [{rule: size, intensity: prompt}]}
- {name: lint, trigger: pre-push, facts: {lint: {count: 1}, checklist: {tasks: {total: 3}}}, expect: {decision: warn}}
"""
    first, second = cases.read(text.encode(), "t.yaml", load(POLICY))
    assert (first.keys.name, first.keys.trigger, str(first.place)) == ("many files", "pre-commit", "t.yaml:2:3")
    assert first.keys.expect.signals is not None and first.keys.expect.signals[0].rule == "size"
    assert second.keys.facts["lint"] == {"count": 1}


def test_an_empty_file_holds_no_cases(load: Load) -> None:
    assert cases.read(b"# nothing yet\n", "t.yaml", load(POLICY)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x", "t.yaml:1:1: policy tests are a list"),
        ("- {name: x, trigger: pre-commit}", "t.yaml:1:3: a test needs `expect`"),
        (
            "- {name: x, trigger: pre-commit, triger: pre-commit, expect: {}}",
            "t.yaml:1:34: unknown key `triger`; did you mean `trigger`?",
        ),
        ("- {name: x, trigger: pre-comit, expect: {}}", "t.yaml:1:22: there is no trigger 'pre-comit'; did you mean"),
        (
            "- {name: x, trigger: pre-commit, expect: {signals: [{rule: siz}]}}",
            "t.yaml:1:60: no rule 'siz' is asked at pre-commit; did you mean `size`?",
        ),
        (
            "- {name: x, trigger: pre-commit, expect: {decision: block}}",
            "t.yaml:1:53: 'block' is no `decision`",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {file: {}}, expect: {}}",
            "t.yaml:1:42: no fact `file` can be had here",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {files: {change: []}}, expect: {}}",
            "t.yaml:1:50: no fact `files.change` can be had here; did you mean `files.changes`?",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {files: 3}, expect: {}}",
            "t.yaml:1:42: `files` is a mapping of facts, not 3",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {push: {ref: x}}, expect: {}}",
            "t.yaml:1:42: no fact `push` can be had here",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {commit: {subject: x}}, expect: {}}",
            "t.yaml:1:51: no fact `commit.subject` can be had here; it is known at commit-msg, post-commit",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {diff: {added: [{file: a}]}}, expect: {}}",
            "t.yaml:1:58: items of `diff.added` have no `file`",
        ),
        (
            "- {name: x, trigger: pre-commit, facts: {limits: {max: 9}}, expect: {}}",
            "t.yaml:1:42: limits are the policy's",
        ),
        ("- {name: x, trigger: pre-commit, name: y, expect: {}}", "t.yaml:1:34: the key 'name' is already given"),
    ],
)
def test_a_mistake_is_named_at_its_place(mistakes: object, text: str, said: str) -> None:
    (first, *_) = mistakes(text)  # type: ignore[operator]
    assert first.startswith(said)


def test_all_mistakes_are_named_at_once(mistakes: object) -> None:
    text = "- {name: x, trigger: nope, expect: {}}\n- {name: y, trigger: pre-commit, facts: {nope: {}}, expect: {}}"
    assert len(mistakes(text)) == 2  # type: ignore[operator]
