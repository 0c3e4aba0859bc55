"""ahp.runner.words.plan"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.runner.run.live import line
from ahp.runner.words.plan import Plan, PlanError, PlanStep, StepStatus, parse_plan_from_text
from tests.runner.runs import DONE, Scene

RAW: dict[str, Any] = {
    "title": "goal",
    "steps": [
        {"id": "step_1", "description": "read", "dependencies": [], "status": "pending", "tools_expected": ["grep"]},
        {"id": "step_2", "description": "write", "dependencies": ["step_1"], "status": "pending"},
    ],
    "verification_policy": "run_pytest",
}
JSON = json.dumps(RAW, indent=2, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"```json\n{JSON}\n```",
        f"Here is the plan:\n```\n{JSON}\n```\nShall I start?",
        f"First I think {{a bit}}. {JSON} That is all.",
        f"<think>{{}}</think>{JSON}",
        f'{{"note": "no plan"}}\n{JSON}',
        f'{{"thought": "so", "plan": {JSON}}}',
    ],
    ids=["json", "fenced", "fence in prose", "prose", "thoughts", "second object", "under a key"],
)
def test_a_plan_is_found_where_models_put_it(text: str) -> None:
    plan = parse_plan_from_text(text)
    assert plan.model_dump(mode="json", exclude_defaults=True) == {
        "title": "goal",
        "steps": [
            {"id": "step_1", "description": "read", "tools_expected": ["grep"]},
            {"id": "step_2", "description": "write", "dependencies": ["step_1"]},
        ],
        "verification_policy": "run_pytest",
    }


def test_the_plan_list_gives_ids_a_chain_and_tools() -> None:
    text = """\
Some words.
> **[PLAN]** fix the login
> 1. [ ] 分析代码 (工具: read_file, grep)
> 2. [ ] 修改配置（工具：`apply_patch`）
>    a remark
> 3) run the tests (tools: none)
> 4、 done
"""
    plan = parse_plan_from_text(text)
    assert plan.title == "fix the login"
    assert [(s.id, s.description, s.dependencies, s.tools_expected) for s in plan.steps] == [
        ("step_1", "分析代码", [], ["read_file", "grep"]),
        ("step_2", "修改配置", ["step_1"], ["apply_patch"]),
        ("step_3", "run the tests", ["step_2"], []),
        ("step_4", "done", ["step_3"], []),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "neither a JSON object"),
        ("no plan", "neither a JSON object"),
        ("1. [ ] a list without its mark", "neither a JSON object"),
        ("[PLAN]\nnothing", "neither a JSON object"),
        ('{"tool": "x", "args": {}}', "neither a JSON object"),
        ('{"steps": [}', "cannot be read"),
        ('{"steps": [], "steps": []}', "duplicate key"),
        ('{"steps": []}', "at least 1"),
        ('{"steps": "a"}', "valid list"),
        ('{"steps": [5]}', "valid dictionary"),
        ('{"steps": [{"id": "step_1", "description": "…"}]}', "'step_1' has no description"),
        ('{"steps": [{"id": "a"}]}', "description"),
        ('{"steps": [{"id": "a", "description": "d", "dependencies": ["b"]}]}', "no step"),
    ],
)
def test_what_is_no_plan_is_refused_with_a_sentence(text: str, problem: str) -> None:
    with pytest.raises(PlanError, match=problem) as caught:
        parse_plan_from_text(text)
    assert all(len(said) < 1_000 for said in caught.value.problems)


def test_dashes_with_a_box_are_steps_and_others_are_remarks() -> None:
    text = "[PLAN]\n- [ ] read\n  - [ ] with care\n  - closely\n* [ ] write (tools: edit)\n- not the tests"
    assert [step.description for step in parse_plan_from_text(text).steps] == ["read", "write"]


def test_policies_are_the_callers() -> None:
    text = '{"steps": [{"id": "a", "description": "d"}], "verification_policy": "run_mypy"}'
    assert parse_plan_from_text(text, policies=["run_mypy"]).verification_policy == "run_mypy"


def done(**descriptions: str) -> list[PlanStep]:
    return [PlanStep(id=name, description=said, status=StepStatus.DONE) for name, said in descriptions.items()]


def told(plan: Plan) -> list[tuple[str, str, list[str]]]:
    return [(step.id, step.description, step.dependencies) for step in plan.steps]


def test_copies_of_finished_steps_are_dropped_and_waited_for_no_more() -> None:
    text = json.dumps(
        {
            "steps": [
                {"id": "a", "description": "told otherwise", "status": "done"},
                {"id": 1, "description": "The  first"},
                {"id": "b", "description": "new", "dependencies": ["a", 1, "c"]},
                {"id": "c", "description": "new", "dependencies": {}},
            ]
        }
    )
    finished = [*done(a="as it was"), PlanStep(id="1", description="the first", status=StepStatus.DONE)]
    with pytest.raises(PlanError, match="valid string"):
        parse_plan_from_text(text, finished=finished)
    plan = parse_plan_from_text(text.replace("{}", "[]"), finished=finished)
    assert told(plan) == [("b", "new", ["c"]), ("c", "new", [])]
    with pytest.raises(PlanError, match="valid list"):
        parse_plan_from_text('{"steps": 5}', finished=finished)


def test_another_step_under_the_id_of_a_finished_one_is_a_step_of_its_own() -> None:
    text = json.dumps(
        {
            "steps": [
                {"id": "step_1", "description": "mend the red test", "dependencies": ["step_1"]},
                {"id": "step_2", "description": "then test", "dependencies": ["step_1"]},
                {"id": "step_4", "description": "then write", "dependencies": ["step_2", "step_1"]},
            ]
        }
    )
    plan = parse_plan_from_text(text, finished=done(step_1="write a", step_2="write b"))
    assert told(plan) == [
        ("step_3", "mend the red test", []),
        ("step_5", "then test", ["step_3"]),
        ("step_4", "then write", ["step_5", "step_3"]),
    ]


def test_a_plan_list_counts_on() -> None:
    finished = done(step_1="write a")
    assert told(parse_plan_from_text("[PLAN]\n1. write c\n2. write d", finished=finished)) == [
        ("step_2", "write c", []),
        ("step_3", "write d", ["step_2"]),
    ]
    whole = "[PLAN]\n1. [x] write a\n2. [ ] write c (tools: none)"
    assert told(parse_plan_from_text(whole, finished=finished)) == [("step_2", "write c", [])]
    unticked = "[PLAN]\n1. Write a\n2. write c"
    assert told(parse_plan_from_text(unticked, finished=finished)) == [("step_2", "write c", [])]
    assert told(parse_plan_from_text("[PLAN]\n1. c", finished=done(step_3="b", a="a"))) == [("step_4", "c", [])]
    other_names = "[PLAN]\n1. [x] write a\n2. write c"
    assert told(parse_plan_from_text(other_names, finished=done(a="write a"))) == [("step_2", "write c", [])]
    assert told(parse_plan_from_text("[PLAN]\n1. [x] never done", finished=finished)) == [("step_2", "never done", [])]


@pytest.mark.parametrize(
    "text", ['{"steps": [{"id": "step_1", "description": "write a"}]}', "[PLAN]\n1. write a", "[PLAN]\n3. [x] write A"]
)
def test_a_plan_of_copies_has_nothing_left(text: str) -> None:
    with pytest.raises(PlanError, match="nothing is left to do"):
        parse_plan_from_text(text, finished=done(step_1="write a"))


def test_ids_stay_unique_in_a_new_plan() -> None:
    twice = '{"steps": [{"id": "step_1", "description": "x"}, {"id": "step_1", "description": "y"}]}'
    with pytest.raises(PlanError, match="used twice"):
        parse_plan_from_text(twice, finished=done(step_1="write a"))


@pytest.mark.parametrize(
    "text",
    [
        "{" * (1 << 20),
        '{"steps": [' * (1 << 17),
        "[PLAN]\n" + "1. [ ] (" * (1 << 17),
        "[PLAN]\n" + "1. x\n" * (1 << 17),
        '{"steps": []} ' * (1 << 16),
        '{"steps": ['
        + ",".join(f'{{"id":{i},"description":"d","dependencies":[{i - 1}]}}' for i in range(1, 9999))
        + "]}",
    ],
    ids=["braces", "open plans", "open item", "items", "empty plans", "long chain"],
)
@pytest.mark.slow
def test_huge_texts_are_read(text: str) -> None:
    try:
        parse_plan_from_text(text)
    except PlanError:
        pass


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"steps": ["read it", "write it"]}, "a step without an id is step_1"),
        ({"steps": [{"description": "read it"}, {"description": "write it"}]}, "a step without an id is step_2"),
        (["read it", "write it"], "a step without an id is step_1"),
        ([{"task": "read it"}, {"task": "write it"}], "task of a step was read as description"),
        ({"tasks": [{"id": 1, "task": "read it"}, {"id": 2, "title": "write it"}]}, "title of a step was read as"),
        ({"plan": ["read it", "write it"]}, "a step without an id is step_2"),
    ],
)
def test_a_plan_in_other_words_is_read_and_told(written: object, told: str) -> None:
    said: list[str] = []
    plan = parse_plan_from_text(json.dumps(written), told=said)
    assert [step.description for step in plan.steps] == ["read it", "write it"]
    assert any(told in one for one in said)


def test_a_plan_that_was_read_as_another_is_told_to_whoever_looks_on() -> None:
    scene = Scene([json.dumps({"steps": ["look"]}), DONE, "done"], planning=True)
    [event] = scene.of("plan_generated")
    assert event["told"] == ["a step without an id is step_1"]
    assert "a step without an id is step_1" in str(line(event))


def test_what_models_write_for_nothing_yet_is_no_fault() -> None:
    step = {"id": "a", "description": "d", "tools_expected": None, "dependencies": None, "status": "todo"}
    [read] = parse_plan_from_text(json.dumps({"steps": [step]})).steps
    assert (read.tools_expected, read.dependencies, read.status) == ([], [], "pending")
    waits = [{"id": 1, "description": "x"}, {"id": 2, "description": "y", "depends_on": 1, "tools": "edit"}]
    read = parse_plan_from_text(json.dumps({"steps": waits})).steps[1]
    assert (read.dependencies, read.tools_expected) == (["1"], ["edit"])


@pytest.mark.parametrize("status", ["done", "in_progress", "todo"])
def test_where_a_step_stands_is_the_runners_to_say(status: str) -> None:
    step = {"id": "a", "description": "d", "status": status}
    assert parse_plan_from_text(json.dumps({"steps": [step]})).steps[0].status == "pending"


@pytest.mark.parametrize(
    ("written", "policy"),
    [("pytest", "run_pytest"), ("Run Pytest", "run_pytest"), ("trust_me", "auto"), (None, "auto")],
)
def test_a_policy_is_read_as_a_known_one_and_adds_nothing_else(written: str | None, policy: str) -> None:
    said: list[str] = []
    text = json.dumps({"steps": [{"id": "a", "description": "d"}], "verification_policy": written})
    assert parse_plan_from_text(text, told=said).verification_policy == policy
    assert bool(said) is (written is not None)


@given(
    st.text()
    | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists).map(
        lambda value: json.dumps({"steps": value})
    )
)
def test_only_plan_errors_come_out(text: str) -> None:
    try:
        parse_plan_from_text(text, finished=done(x="x"))
    except PlanError as error:
        assert error.problems


@pytest.mark.parametrize("name", ["dependencies", "depends_on", "dependsOn", "deps"])
def test_a_step_waits_for_what_it_names_whatever_that_is_called(name: str) -> None:
    steps = [{"id": 1, "description": "read"}, {"id": 2, "description": "write", name: [1]}]
    plan = parse_plan_from_text(json.dumps({"steps": steps}))
    assert [step.dependencies for step in plan.steps] == [[], ["1"]]
    with pytest.raises(PlanError, match="which is no step"):
        parse_plan_from_text(json.dumps({"steps": [{"id": "a", "description": "x", name: ["b"]}]}))
    done = [PlanStep(id="1", description="read", status=StepStatus.DONE)]
    assert parse_plan_from_text(json.dumps({"steps": steps}), finished=done).steps[0].dependencies == []
