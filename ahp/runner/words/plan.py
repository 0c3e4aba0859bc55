"""Plans (seed 003 §1.1, §3.1): steps, what each waits for, and how they are read out of a model's words."""

import re
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from itertools import count, islice
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ahp.protocol.text import one_line
from ahp.runner.validation import sentences
from ahp.runner.words import markup

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

    model_config = ConfigDict(extra="ignore", validate_assignment=True, coerce_numbers_to_str=True)

    id: str = Field(min_length=1, max_length=ID_LENGTH)
    description: str = Field(min_length=1)
    dependencies: list[str] = []
    status: StepStatus = StepStatus.PENDING
    tools_expected: list[str] = []

    @field_validator("dependencies")
    @classmethod
    def _each_once(cls, names: list[str]) -> list[str]:
        return list(dict.fromkeys(names))


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
    try:
        in_order(steps)
    except CycleError as error:
        return [f"these steps wait for each other: {', '.join(sorted(error.args[1][1:])[:10])}"]
    return []


def in_order(steps: list[PlanStep]) -> list[PlanStep]:
    """The steps so that each comes after what it depends on, else as listed. Raises CycleError."""
    known = {step.id: step for step in steps}
    sorter = TopologicalSorter[str](dict.fromkeys(known, ()))
    for step in steps:
        sorter.add(step.id, *step.dependencies)
    return [known[name] for name in sorter.static_order()]


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


POLICIES = ("auto", "none", "run_pytest")
_MARKER = re.compile(r"^[ \t>#*]*\[PLAN\][ \t*:：]*(.*)$", re.IGNORECASE)
# A dash only before a box, and not further in: else it is what somebody says of a step.
_ITEM = re.compile(r"^(?:[ \t>]*\d{1,4}[.、)）]|[-*+][ \t]+(?=\[))[ \t]*(?:\[[ xX✓]?\][ \t]*)?(.*)$")
_TOOLS = re.compile(r"[(（][ \t]*(?:工具|tools?)[ \t]*[:：]", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,，、;；]")
_NO_TOOLS = frozenset({"", "无", "none", "-", "…", "..."})
_MOST_STEPS = 10_000  # what is shorter is cut to its first steps, what is longer is no plan
_LONGEST_ITEM = 4_000
# Other names that models write, by ours; the first one that a step has counts.
_OTHER_NAMES = {
    "id": ("step_id", "number"),
    "description": ("task", "title", "action", "step", "content", "goal", "name"),
    "dependencies": ("depends_on", "dependsOn", "depends", "deps"),
    "tools_expected": ("expected_tools", "tools", "tool"),
}
_OTHER_STEPS = ("tasks", "plan", "todos")
_PLACEHOLDERS = ("…", "...")


class PlanError(ValueError):
    """The text holds no plan that can be carried out; `problems` are sentences for the model that wrote it.

    `no_plan` says that nothing in it was meant as one.
    """

    def __init__(self, problems: list[str], *, no_plan: bool = False) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.no_plan = no_plan


def parse_plan_from_text(
    text: str,
    *,
    policies: Iterable[str] = POLICIES,
    finished: Iterable[PlanStep] = (),
    told: list[str] | None = None,
) -> Plan:
    """The plan that `text` holds; longer ones are the caller's to cut (`ahp.runner.words.plan.cut`).

    Steps may be plain texts, lack ids, and have other names for what they hold: `told` gains a sentence for each thing
    that was read as another one.

    `finished` are the steps already done. A copy of one, by id and description or by id and a status of done, is
    dropped, and waiting for it is over; any other step that took its id gets an id of its own, and those that wait for
    it follow. A `[PLAN]` list counts on behind the finished steps. `policies` are the known values of
    `verification_policy`. Raises PlanError with every problem found.
    """
    done = {step.id: step for step in finished}
    read_as: list[str] = [] if told is None else told
    raw = _find(markup.spoken(text), done, read_as)
    if isinstance(raw["steps"], list) and len(raw["steps"]) > _MOST_STEPS:
        raise PlanError([f"{len(raw['steps'])} steps are no plan; write a shorter one"])
    left = _what_is_left(raw["steps"], done, read_as) if isinstance(raw["steps"], list) else raw["steps"]
    if raw["steps"] and left == []:
        raise PlanError(["nothing is left to do in it: all its steps are finished; plan what is still missing"])
    policy = _policy(raw.get("verification_policy"), tuple(policies), read_as)
    try:
        plan = Plan.model_validate({**raw, "steps": left, "verification_policy": policy})
    except ValidationError as error:
        raise PlanError(sentences(error)) from None
    empty = [step.id for step in plan.steps if step.description.strip() in _PLACEHOLDERS]
    if empty:
        raise PlanError([f"step {name!r} has no description: say what is to be done" for name in empty[:10]])
    return plan


def _policy(written: Any, policies: tuple[str, ...], told: list[str]) -> str:
    """The known policy that is meant; a plan only adds to what the settings ask for, so `auto` for any other."""
    name = re.sub(r"\W+", "_", str(written or "auto").strip().lower())
    known = next((one for one in (name, f"run_{name}") if one in policies), "auto")
    if known != (written or "auto"):
        told.append(f"verification_policy {one_line(written, 40)!r} was read as {known}")
    return known


def free_names(finished: Collection[str], taken: Iterable[str] = ()) -> Iterator[str]:
    """The names that steps of a plan behind `finished` ones may have: `step_3` and so on behind two."""
    used = {*finished, *taken}
    return (name for number in count(len(finished) + 1) if (name := f"step_{number}") not in used)


def _find(text: str, done: dict[str, PlanStep], told: list[str]) -> dict[str, Any]:
    """The raw mapping of the first plan in a text. Raises PlanError."""
    broken = nothing = "it holds neither a JSON object with `steps` nor a [PLAN] list"
    for written in _candidates(text):
        try:
            value = markup.load(written)
        except ValueError as error:
            if '"steps"' in written:
                broken = f"its JSON cannot be read: {error}"
            continue
        value = {"steps": value} if isinstance(value, list) and value else value
        for plan in (value, value.get("plan")) if isinstance(value, dict) else ():
            if isinstance(plan, dict) and (steps := _steps(plan)) is not None:
                few = isinstance(steps, list) and len(steps) <= _MOST_STEPS
                return {**plan, "steps": [_own_names(one, told) for one in steps] if few else steps}
    listed = _from_list(text, done)
    if listed is None:
        raise PlanError([broken], no_plan=broken == nothing)
    return listed


def _steps(plan: dict[str, Any]) -> Any:
    """What a plan has for its steps, whatever it calls them; None for what is no plan."""
    other = next((plan[name] for name in _OTHER_STEPS if isinstance(plan.get(name), list)), None)
    return plan.get("steps", other)


def _own_names(step: Any, told: list[str]) -> Any:
    """A step with our names for what it holds; a text is what it does."""
    if not isinstance(step, dict):
        return {"description": step} if isinstance(step, str) else step
    step = dict(step)
    for own, others in _OTHER_NAMES.items():
        other = next((name for name in others if step.get(own) is None and step.get(name) is not None), None)
        if other is not None:
            step[own] = step.pop(other)
            told.append(f"{other} of a step was read as {own}")
    for own in ("dependencies", "tools_expected"):
        value = step.get(own)
        if own in step and not isinstance(value, list):
            step[own] = [] if value is None else [value]
    return step


def _candidates(text: str) -> Iterator[str]:
    whole = markup.inside(text) or text.strip()
    if whole.startswith(("{", "[")):
        yield whole
    for span in markup.spans(text):
        yield text[span.start : span.end]


def _from_list(text: str, done: dict[str, PlanStep]) -> dict[str, Any] | None:
    """`[PLAN]` and numbered lines: ids step_1 … behind the finished ones, each step depending on the former."""
    title: str | None = None
    items: list[str] = []
    for line in text.split("\n"):
        if title is None:
            marker = _MARKER.match(line) if "[" in line else None
            title = marker[1].strip() if marker else None
        elif len(items) <= _MOST_STEPS and (item := _ITEM.match(line.rstrip()[:_LONGEST_ITEM])):
            items.append(item[1])
    known = {_same(step.description) for step in done.values()}
    new = [split for split in map(_split_tools, items) if _same(split[0]) not in known]
    if items and not new:
        return {"title": title, "steps": [step.model_dump(mode="json") for step in done.values()]}
    ids = list(islice(free_names(done), len(new)))
    steps = [
        {"id": name, "description": description, "tools_expected": tools, "dependencies": [former] if former else []}
        for name, former, (description, tools) in zip(ids, ["", *ids], new, strict=False)
    ]
    return {"title": title, "steps": steps} if steps else None


def _split_tools(item: str) -> tuple[str, list[str]]:
    found = _TOOLS.search(item)
    if found is None:
        return item.strip(), []
    listed = item[found.end() :].strip().rstrip(")）")
    tools = [tool.strip().strip("`") for tool in _SEPARATORS.split(listed)]
    return item[: found.start()].strip(), [tool for tool in tools if tool.lower() not in _NO_TOOLS]


def _id(step: Any) -> str:
    return _name(step.get("id")) if isinstance(step, dict) else ""


def _name(value: Any) -> str:
    """An id as text; a number is one, too."""
    return str(value) if isinstance(value, str | int) else ""


def _same(description: object) -> str:
    """A description as it is compared: without regard to case and white space."""
    return " ".join(str(description).split()).casefold()


def _is_copy(step: Any, done: dict[str, PlanStep]) -> bool:
    """Whether a step of the text is a finished one, told again."""
    original = done.get(_id(step))
    if original is None:
        return False
    return step.get("status") == StepStatus.DONE.value or _same(step.get("description")) == _same(original.description)


def _what_is_left(steps: list[Any], done: dict[str, PlanStep], told: list[str]) -> list[Any]:
    """The steps without copies of finished ones, each with an id of its own and waiting for no finished one."""
    left = [step for step in steps if not _is_copy(step, done)]
    free = free_names(done, map(_id, left))
    fresh: dict[str, str] = {}  # an id of its own for each that a finished step has already
    named: list[tuple[Any, str]] = []
    for step in left:
        name = _id(step)
        if isinstance(step, dict) and step.get("id") in (None, ""):
            own = next(free)
            told.append(f"a step without an id is {own}")
        else:
            own = fresh.setdefault(name, next(free)) if name in done and name not in fresh else fresh.get(name, "")
        named.append((step, own))
    return [_alone(step, own, fresh, done) if isinstance(step, dict) else step for step, own in named]


def _alone(step: dict[str, Any], own: str, fresh: dict[str, str], done: dict[str, PlanStep]) -> dict[str, Any]:
    """The step under its `own` id, where that is another one, waiting for steps of this plan only."""
    former = _id(step)
    changed = {**step, "id": own or step.get("id")}
    changed.pop("status", None)  # where a step stands is the runner's to say
    if isinstance(step.get("dependencies"), list):
        # A step that waits for its own id waits for the finished one of that name.
        waits = [d for d in step["dependencies"] if _name(d) not in done or (_name(d) in fresh and _name(d) != former)]
        changed["dependencies"] = [fresh.get(_name(d), d) for d in waits]
    return changed
