"""ahp.runner.words.plan"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ahp.runner.words.plan import (
    Plan,
    PlanStep,
    StepStatus,
    cut,
    in_order,
    names,
    ready_steps,
    replaced,
    unreachable,
)


def step(step_id: str, *dependencies: str, status: str = "pending") -> PlanStep:
    return PlanStep(id=step_id, description=step_id, dependencies=list(dependencies), status=StepStatus(status))


def ids(steps: list[PlanStep]) -> list[str]:
    return [item.id for item in steps]


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([step("a"), step("a")], "used twice"),
        ([step("a", "a")], "depends on itself"),
        ([step("a", "b")], "which is no step"),
        ([step("a", "b"), step("b", "a")], "wait for each other: a, b"),
        ([step("a", "b"), step("b", "c"), step("c", "b"), step("d")], "wait for each other: b, c"),
        ([], "at least 1"),
    ],
)
def test_steps_that_are_no_graph_are_refused(steps: list[PlanStep], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Plan(steps=steps)


@pytest.mark.parametrize(
    "raw", [{"id": ""}, {"id": True}, {"description": ""}, {"dependencies": "a"}, {"id": "x" * 65}]
)
def test_a_step_has_a_name_and_says_something(raw: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PlanStep.model_validate({"id": "a", "description": "d", **raw})


def test_numbers_are_names_and_a_dependency_counts_once() -> None:
    read = PlanStep.model_validate({"id": 2, "description": "d", "dependencies": [1, "1"]})
    assert (read.id, read.dependencies) == ("2", ["1"])
    with pytest.raises(ValidationError):
        PlanStep.model_validate({"id": "a", "description": "d", "dependencies": [[]]})


def test_a_status_is_one_of_five() -> None:
    with pytest.raises(ValidationError):
        step("a").status = "finished"  # type: ignore[assignment]


def test_order_follows_dependencies_and_else_the_listing() -> None:
    assert ids(in_order([step("c", "b"), step("x"), step("b", "a"), step("a")])) == ["x", "a", "b", "c"]


def test_a_cut_plan_has_no_dangling_dependency() -> None:
    plan = Plan(steps=[step("c", "b"), step("b", "a"), step("a"), step("d")])
    kept, left_out = cut(plan, 3)
    assert (ids(kept.steps), left_out) == (["b", "a", "d"], ["c"])
    assert Plan.model_validate(kept.model_dump()) == kept


@pytest.mark.parametrize(("limit", "kept"), [(1, 1), (3, 3), (4, 4), (5, 4)])
def test_a_plan_is_cut_only_beyond_the_limit(limit: int, kept: int) -> None:
    plan, left_out = cut(Plan(steps=[step(name) for name in "abcd"]), limit)
    assert (len(plan.steps), len(left_out)) == (kept, 4 - kept)


def test_the_next_step_has_all_its_dependencies_done() -> None:
    plan = Plan(steps=[step("c", "a", "b"), step("b", "a"), step("a")])
    order = []
    while ready := ready_steps(plan):
        order.append(ready[0].id)
        ready[0].status = StepStatus.DONE
    assert order == ["a", "b", "c"]
    assert plan.done


def test_what_waits_for_a_failed_step_is_blocked_at_any_distance() -> None:
    plan = Plan(steps=[step("c", "b"), step("b", "a"), step("a", status="failed"), step("d")])
    assert ids(unreachable(plan)) == ["b", "c"]
    for lost in unreachable(plan):
        lost.status = StepStatus.BLOCKED
    assert ready_steps(plan) == [plan.step("d")]
    assert unreachable(plan) == []
    assert not plan.done


def test_all_steps_that_nothing_keeps_waiting_are_ready() -> None:
    plan = Plan(steps=[step("a"), step("c", "a"), step("b"), step("d", status="in_progress")])
    assert ids(ready_steps(plan)) == ["a", "b"]


def test_a_step_is_replaced_by_one_with_an_id_of_its_own() -> None:
    plan = Plan(steps=[step("a"), step("a-2"), step("b", "a", "a-2"), step("x" * 64)])
    new, name = replaced(plan, "a")
    assert (ids(new.steps)[:3], name, new.step(name).status) == (["a-3", "a-2", "b"], "a-3", StepStatus.PENDING)
    assert new.step("b").dependencies == ["a-3", "a-2"]
    assert len(replaced(plan, "x" * 64)[1]) <= 64
    assert ids(plan.steps)[0] == "a"
    Plan.model_validate(new.model_dump())


def test_a_step_is_found_by_its_id() -> None:
    plan = Plan(steps=[step("a")])
    assert names(plan.steps) == "a"
    with pytest.raises(KeyError):
        plan.step("b")


@st.composite
def graphs(draw: st.DrawFn) -> list[PlanStep]:
    count = draw(st.integers(1, 8))
    steps = [
        step(str(i), *(str(d) for d in draw(st.sets(st.integers(0, i - 1))))) if i else step("0") for i in range(count)
    ]
    return draw(st.permutations(steps))


@given(graphs(), st.integers(1, 8))
def test_any_plan_without_cycle_runs_to_its_end_and_can_be_cut(steps: list[PlanStep], limit: int) -> None:
    plan, _ = cut(Plan(steps=steps), limit)
    plan = Plan.model_validate(plan.model_dump())
    assert len(plan.steps) == min(limit, len(steps))
    while ready := ready_steps(plan):
        ready[0].status = StepStatus.DONE
    assert plan.done


def test_twenty_thousand_steps_are_put_in_order() -> None:
    steps = [PlanStep.model_construct(id=str(i), dependencies=[str(i + 1)]) for i in range(20_000)]
    steps.append(PlanStep.model_construct(id="20000", dependencies=[]))
    assert len(in_order(steps)) == 20_001
