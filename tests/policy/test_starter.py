from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.hosts import policy_test
from ahp.policy import cases, layers, lint, starter
from ahp.policy.presets import PRESETS
from ahp.policy.rule import Policy
from ahp.policy.sources import TextSource
from ahp.policy.starter import Plan
from ahp.policy.survey import Survey
from tests.examples import examples

TOOLS = ("pytest", "ruff", "mypy", "coverage", "eslint")
NOTHING = Survey(languages=(), tickets=False, tools=(), managers=(), mypy_files=False)
ALL = Survey(languages=("python", "node"), tickets=True, tools=TOOLS, managers=("husky",), mypy_files=False)


def read(plan: Plan) -> Policy:
    return layers.load(TextSource(starter.write(plan), "hooks.yaml"))


def test_the_policy_of_an_empty_project_is_the_core_pack() -> None:
    policy = read(Plan(NOTHING, ["core"]))
    assert {rule.key for rule in policy.rules} == {
        rule.key for rule in layers.load(TextSource("extends: [core]")).rules
    }
    assert "a project without a known language or tool" in starter.write(Plan(NOTHING, ["core"]))


def test_linters_run_at_pushes_only_and_nobody_is_bothered_without_them() -> None:
    policy = read(Plan(ALL, ["core", "python", "node", "tickets"]))
    lint.compare_evaluators(policy)
    own = {rule.key: rule for rule in policy.rules if rule.key.endswith("-clean")}
    assert set(own) == {"ruff-clean", "mypy-clean", "eslint-clean"}
    assert {rule.trigger for rule in own.values()} == {"pre-push"}
    assert {rule.on_missing for rule in own.values()} == {"skip"}
    assert policy.raw.facts["mypy"].value.run == PRESETS["mypy"]["run"]


def test_mypy_is_left_to_its_own_configuration_where_that_names_files() -> None:
    named = Survey(languages=("python",), tickets=False, tools=("mypy",), managers=(), mypy_files=True)
    assert read(Plan(named, ["core"])).raw.facts["mypy"].value.run == PRESETS["mypy"]["run"][:-1]


def test_a_watched_rule_is_shadow_and_a_comment_says_why() -> None:
    plan = Plan(NOTHING, ["core"], watched={"no-secrets": "It would have blocked 2 of the last 9 commits."})
    text = starter.write(plan)
    assert "  # It would have blocked 2 of the last 9 commits. So it only watches" in text
    assert [rule.key for rule in read(plan).rules if rule.shadow] == ["no-secrets", "no-secrets"]


def test_a_rule_that_only_asks_keeps_its_condition() -> None:
    plan = Plan(NOTHING, ["core"], asked={"no-secrets": "It would have blocked 1 of the last 90 commits."})
    assert "So it only asks; to have it refuse, take `level: prompt` away" in starter.write(plan)
    found = [rule for rule in read(plan).rules if rule.key == "no-secrets"]
    known = [rule for rule in read(Plan(NOTHING, ["core"])).rules if rule.key == "no-secrets"]
    assert [rule.intensity for rule in found] == [{"default": "prompt"}] * 2
    assert [rule.condition.plan for rule in found] == [rule.condition.plan for rule in known]


def test_a_default_branch_that_only_its_name_tells_may_ask_only() -> None:
    policy = read(Plan(NOTHING, ["core"], branch="trunk", asked={"protect-main": "One author."}))
    (rule,) = [rule for rule in policy.rules if rule.key == "protect-main"]
    assert rule.intensity == {"default": "prompt"} and "limits.protected" in rule.condition.text


@pytest.mark.parametrize("quiet", [(), ("no-merge-markers",)])
def test_the_first_test_holds(quiet: tuple[str, ...]) -> None:
    plan = Plan(NOTHING, ["core"], watched=dict.fromkeys(quiet, "It would have."))
    policy = read(plan)
    report = policy_test.run(policy, cases.read(starter.first_test(plan).encode(), "first.yaml", policy))
    assert report.failed == []


@pytest.mark.parametrize("watched", [{}, {"protect-main": "2 of 2 went there."}])
def test_a_default_branch_that_only_its_name_tells_is_named(watched: dict[str, str]) -> None:
    policy = read(Plan(NOTHING, ["core"], branch="trunk", watched=dict(watched)))
    assert policy.limits()["protected"] == ["trunk"]
    by_key = {rule.key: rule for rule in policy.rules if rule.trigger == "pre-push"}
    assert "branch.name in limits.protected" in by_key["protect-main"].condition.text
    assert "branch.name in limits.protected" in by_key["no-force-push"].condition.text
    assert "branch.name in limits.protected" in by_key["keep-main"].condition.text
    assert by_key["protect-main"].shadow is bool(watched)


@examples(40)
@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1, max_size=30), st.text())
def test_no_branch_name_and_no_reason_changes_the_meaning(branch: str, reason: str) -> None:
    policy = read(Plan(NOTHING, ["core"], branch=branch, watched={"no-secrets": reason}))
    assert policy.limits()["protected"] == [branch]
    assert {rule.key for rule in policy.rules if rule.shadow} == {"no-secrets"}


def test_the_packs_follow_what_is_there() -> None:
    assert starter.packs_for(NOTHING, []) == ["core"]
    assert starter.packs_for(ALL, ["a"] * 9) == ["core", "python", "node", "tickets"]


@pytest.mark.parametrize(
    ("monoco", "chinese", "packs"),
    [
        (False, False, ["tickets"]),
        (True, False, ["monoco"]),
        (False, True, ["tickets-zh"]),
        (True, True, ["tickets-zh", "monoco"]),
    ],
)
def test_tickets_get_their_gates_in_their_own_language(monoco: bool, chinese: bool, packs: list[str]) -> None:
    found = replace(NOTHING, tickets=True, monoco=monoco, chinese=chinese)
    assert starter.packs_for(found, []) == ["core", *packs]
    rules = {rule.key: rule for rule in read(Plan(found, ["core", *packs])).rules}
    boxes = rules["checklist-validator/open-boxes"].raw.fields["message"].value
    assert boxes.startswith("Checklist 未完成" if chinese else "the checklist is not done")
    begin = rules["permission-check/not-started"].raw.fields["resolution"].value
    assert begin == [f"{'monoco' if monoco else 'ahp'} issue start {{issue.id}}"]


@pytest.mark.parametrize(
    ("subjects", "follow"),
    [
        (["feat: a", "fix(b)!: c", "docs: d", "test: e", "Fix f"], True),
        (["feat: a", "fix: c", "docs: d", "E", "Fix f"], False),
        (["feat: a", "fix: c"], False),
        (["Merge branch x"] * 9 + ["feat: a"] * 5, True),
    ],
)
def test_conventional_commits_are_asked_for_where_they_are_a_habit(subjects: list[str], follow: bool) -> None:
    assert ("conventional-commits" in starter.packs_for(NOTHING, subjects)) is follow


def test_types_that_are_in_use_are_added_to_the_usual_ones() -> None:
    assert starter.types_for(["feat: a", "bump: b", "Bump: c", "odd: d", "words"], ["feat"]) == ["feat", "bump"]
    assert starter.types_for(["feat: a", "feat: b"], ["feat"]) == []
    assert starter.types_for([*["feat: a"] * 798, "types: b", "types: c"], ["feat"]) == ["feat", "types"]
    assert starter.types_for([*["feat: a"] * 799, "tpyes: b", "tpyes: c"], ["feat"]) == []
    plan = Plan(NOTHING, ["core", "conventional-commits"], branch="trunk", types=["feat", "bump"])
    assert read(plan).limits()["commit_types"] == ["feat", "bump"]


def test_lint_has_nothing_to_advise_on_what_was_written() -> None:
    plan = Plan(ALL, ["core", "python", "node", "conventional-commits", "tickets"], branch="trunk")
    (told,) = [str(problem) for problem in lint.advise(read(plan))]
    assert "`checklist-validator/nearly-done`" in told  # the softening of the protocol's own example
