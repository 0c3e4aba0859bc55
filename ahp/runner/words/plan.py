"""Plans (seed 003 §1.1): steps, what each waits for, and which may run next."""

from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

ID_LENGTH = 64
BROKEN_OFF = "the step was broken off"  # the problem of a step that a stop of the whole run ended


class StepStatus(StrEnum):
    """Where a step stands. A model may only write `pending`; everything else is the runner's to say."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    FAILED = "failed"
    BLOCKED = "blocked"


class PlanStep(BaseModel):
    """One step of a plan. `dependencies` are ids of steps that have to be done before; their order does not matter."""

    model_config = ConfigDict(extra="ignore", validate_assignment=True)

    id: str = Field(min_length=1, max_length=ID_LENGTH)
    description: str = Field(min_length=1)
    dependencies: list[str] = []
    status: StepStatus = StepStatus.PENDING
    tools_expected: list[str] = []

    @field_validator("id", mode="before")
    @classmethod
    def _number_is_a_name(cls, value: object) -> object:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("dependencies", mode="before")
    @classmethod
    def _numbers_are_names(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        names = [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
        return list(dict.fromkeys(names)) if all(isinstance(name, str) for name in names) else names


class Plan(BaseModel):
    """A task as steps whose dependencies form no cycle, and how its result is verified.

    Raises pydantic's ValidationError for no steps, ids used twice, unknown or own ids among the dependencies, cycles.
    """

    model_config = ConfigDict(extra="ignore")

    title: str = ""
    steps: list[PlanStep] = Field(min_length=1)
    verification_policy: str = Field(default="auto", pattern=r"^[a-z][a-z0-9_]{0,63}$")

    @model_validator(mode="after")
    def _is_a_graph(self) -> "Plan":
        problems = graph_problems(self.steps)
        if problems:
            raise ValueError("; ".join(problems[:10]))
        return self

    def step(self, step_id: str) -> PlanStep:
        """The step of that id. Raises KeyError."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    @property
    def done(self) -> bool:
        """Whether every step is done."""
        return all(step.status is StepStatus.DONE for step in self.steps)


def graph_problems(steps: list[PlanStep]) -> list[str]:
    """What is wrong with ids and dependencies, a sentence each; empty when the steps can be put in order."""
    ids = {step.id for step in steps}
    problems = []
    seen: set[str] = set()
    for step in steps:
        if step.id in seen:
            problems.append(f"the id {step.id!r} is used twice")
        seen.add(step.id)
        if step.id in step.dependencies:
            problems.append(f"step {step.id!r} depends on itself")
        problems += [f"step {step.id!r} depends on {d!r}, which is no step" for d in step.dependencies if d not in ids]
    if problems:
        return problems
    ordered = {step.id for step in in_order(steps)}
    left = [step.id for step in steps if step.id not in ordered]
    return [f"these steps wait for each other: {', '.join(left[:10])}"] if left else []


def in_order(steps: list[PlanStep]) -> list[PlanStep]:
    """The steps so that each comes after what it depends on, else as listed; those in or behind a cycle left out."""
    waiting = {step.id: len(set(step.dependencies)) for step in steps}
    followers: dict[str, list[PlanStep]] = {}
    for step in steps:
        for dependency in set(step.dependencies):
            followers.setdefault(dependency, []).append(step)
    ordered = [step for step in steps if not waiting[step.id]]
    for step in ordered:  # grows while it is read
        for follower in followers.get(step.id, ()):
            waiting[follower.id] -= 1
            if not waiting[follower.id]:
                ordered.append(follower)
    return ordered


def cut(plan: Plan, limit: int) -> tuple[Plan, list[str]]:
    """The plan with at most `limit` steps, in its own order, and the ids left out; no dependency dangles."""
    if len(plan.steps) <= limit:
        return plan, []
    # The first ones of an order by dependency depend on nothing behind them.
    kept = {step.id for step in in_order(plan.steps)[:limit]}
    left_out = [step.id for step in plan.steps if step.id not in kept]
    return plan.model_copy(update={"steps": [step for step in plan.steps if step.id in kept]}), left_out


def ready_steps(plan: Plan) -> list[PlanStep]:
    """The pending steps whose dependencies are all done, in the plan's order."""
    done = {step.id for step in plan.steps if step.status is StepStatus.DONE}
    return [step for step in plan.steps if step.status is StepStatus.PENDING and done.issuperset(step.dependencies)]


def replaced(plan: Plan, step_id: str) -> tuple[Plan, str]:
    """The plan with a new step in the place of one, for which waits what waited for that, and the new step's id."""
    taken = {one.id for one in plan.steps}
    number = 2
    while (new_id := f"{step_id[: ID_LENGTH - 8]}-{number}") in taken:
        number += 1
    steps = []
    for one in plan.steps:
        waits = [new_id if name == step_id else name for name in one.dependencies]
        own = {"id": new_id, "status": StepStatus.PENDING} if one.id == step_id else {}
        steps.append(one.model_copy(update={"dependencies": waits, **own}))
    return plan.model_copy(update={"steps": steps}), new_id


def unreachable(plan: Plan) -> list[PlanStep]:
    """Every pending step that waits, directly or not, for one that will not finish."""
    lost = {step.id for step in plan.steps if step.status in (StepStatus.FAILED, StepStatus.BLOCKED)}
    blocked = []
    for step in in_order(plan.steps):
        if step.status is StepStatus.PENDING and not lost.isdisjoint(step.dependencies):
            lost.add(step.id)
            blocked.append(step)
    return blocked


def names(steps: Iterable[PlanStep]) -> str:
    """The ids of steps for a sentence."""
    return ", ".join(step.id for step in steps)
