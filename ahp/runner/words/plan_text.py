"""Reading a plan out of a model's words: JSON, JSON in a fence or in prose, or the `[PLAN]` list (seed 003 §3.1)."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from ahp.runner.validation import sentences
from ahp.runner.words import fences, strict_json
from ahp.runner.words.plan import ID_LENGTH, Plan, StepStatus

POLICIES = ("auto", "none", "run_pytest")
_MARKER = re.compile(r"^[ \t>#*]*\[PLAN\][ \t*:：]*(.*)$", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t>]*\d{1,4}[.、)）][ \t]*(?:\[([ xX✓]?)\][ \t]*)?(.*)$")
_TOOLS = re.compile(r"[(（][ \t]*(?:工具|tools?)[ \t]*[:：]", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,，、;；]")
_NO_TOOLS = frozenset({"", "无", "none", "-", "…", "..."})
_MOST_STEPS = 10_000  # what is shorter is cut to its first steps, what is longer is no plan
_LONGEST_ITEM = 4_000


class PlanError(ValueError):
    """The text holds no plan that can be carried out; `problems` are sentences for the model that wrote it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def parse_plan_from_text(text: str, *, policies: Iterable[str] = POLICIES, finished: Iterable[str] = ()) -> Plan:
    """The plan that `text` holds; longer ones are the caller's to cut (`ahp.runner.words.plan.cut`).

    `finished` are ids of steps already done: their copies in the text are dropped, and waiting for them is over.
    `policies` are the known values of `verification_policy`. Raises PlanError with every problem found.
    """
    known = set(finished)
    raw = _find(fences.without_thoughts(text))
    if isinstance(raw["steps"], list) and len(raw["steps"]) > _MOST_STEPS:
        raise PlanError([f"{len(raw['steps'])} steps are no plan; write a shorter one"])
    problems = _model_may_not_say(raw, known)
    if problems:
        raise PlanError(problems)
    try:
        plan = Plan.model_validate(_without_finished(raw, known))
    except ValidationError as error:
        raise PlanError(sentences(error)) from None
    if plan.verification_policy not in set(policies):
        raise PlanError(
            [f"verification_policy {plan.verification_policy!r} is not known; it is one of {', '.join(policies)}"]
        )
    return plan


def _find(text: str) -> dict[str, Any]:
    """The raw mapping of the first plan in a text. Raises PlanError."""
    broken = "it holds neither a JSON object with `steps` nor a [PLAN] list"
    for written in _candidates(text):
        try:
            value = strict_json.load_object(written)
        except ValueError as error:
            if '"steps"' in written:
                broken = f"its JSON cannot be read: {error}"
            continue
        if "steps" in value:
            return value
    listed = _from_list(text)
    if listed is None:
        raise PlanError([broken])
    return listed


def _candidates(text: str) -> Iterator[str]:
    if text.strip().startswith("{"):
        yield text
    for span in strict_json.spans(text):
        yield text[span.start : span.end]


def _from_list(text: str) -> dict[str, Any] | None:
    """`[PLAN]` and numbered lines: ids step_1 …, each step depending on the former."""
    steps: list[dict[str, Any]] = []
    title: str | None = None
    for line in text.split("\n"):
        if title is None:
            marker = _MARKER.match(line) if "[" in line else None
            title = marker[1].strip() if marker else None
            continue
        item = _ITEM.match(line.rstrip()[:_LONGEST_ITEM]) if len(steps) <= _MOST_STEPS else None
        if item is None:
            continue
        description, tools = _split_tools(item[2])
        step: dict[str, Any] = {"id": f"step_{len(steps) + 1}", "description": description, "tools_expected": tools}
        step["dependencies"] = [steps[-1]["id"]] if steps else []
        if item[1] and item[1].strip():
            step["status"] = StepStatus.DONE.value
        steps.append(step)
    return {"title": title, "steps": steps} if steps else None


def _split_tools(item: str) -> tuple[str, list[str]]:
    found = _TOOLS.search(item)
    if found is None:
        return item.strip(), []
    listed = item[found.end() :].strip().rstrip(")）")
    tools = [tool.strip().strip("`") for tool in _SEPARATORS.split(listed)]
    return item[: found.start()].strip(), [tool for tool in tools if tool.lower() not in _NO_TOOLS]


def _id(step: Any) -> str | None:
    return str(step["id"]) if isinstance(step, dict) and isinstance(step.get("id"), str | int) else None


def _model_may_not_say(raw: dict[str, Any], finished: set[str]) -> list[str]:
    """A model reports progress by working, not by writing `done` into its plan."""
    steps = raw["steps"] if isinstance(raw["steps"], list) else []
    return [
        f"step {str(_id(step))[:ID_LENGTH]!r} has status {str(step['status'])[:20]!r}; write pending or leave it out"
        for step in steps
        if isinstance(step, dict) and step.get("status", "pending") != "pending" and _id(step) not in finished
    ][:10]


def _without_finished(raw: dict[str, Any], finished: set[str]) -> dict[str, Any]:
    """The mapping without finished steps and without waiting for them: they are behind us."""
    if not finished or not isinstance(raw["steps"], list):
        return raw
    steps = []
    for step in raw["steps"]:
        if _id(step) in finished:
            continue
        if isinstance(step, dict) and isinstance(step.get("dependencies"), list):
            open_ones = [d for d in step["dependencies"] if not isinstance(d, str | int) or str(d) not in finished]
            step = {**step, "dependencies": open_ones}
        steps.append(step)
    return {**raw, "steps": steps}
