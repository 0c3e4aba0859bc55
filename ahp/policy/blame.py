"""Which limit is to blame for what is wrong with a condition that stands in another file."""

from collections.abc import Callable, Iterator
from typing import Any

from ahp.conditions.diagnostics import ConditionError
from ahp.conditions.diagnostics import Problem as ConditionProblem
from ahp.policy.raw import Field, RawPolicy
from ahp.policy.rule import limits_in

Ask = Callable[..., Any]  # of `constants=`, what is checked

_SAMPLES: tuple[Any, ...] = (50, "x", ["x"])  # values of a limit that no other file gives


def limit_of(
    found: ConditionProblem, text: str, field: Field, raw: RawPolicy, constants: dict[str, Any], ask: Ask
) -> tuple[str, Field] | None:
    """The full path of a limit named in `text`, and its value, without which `found` would not be said; None where the
    condition's own file is to blame.

    `field` has the condition; `ask` checks it with the constants it is given. A limit is to blame only where a later
    file gives it than the condition's, or any file that a pack's condition cannot know, and where `found` goes away
    with the value that another file gives, or with a sample.
    """
    foreign = [(path, limit) for path, limit in _limits(text, raw) if _is_later(limit, field, raw)]
    before = _told(ask, constants) if foreign else set()
    kept = dict(constants)
    for path, limit in foreign:
        given = [one.value for one in raw.every_limit[path.removeprefix("limits.")]]
        others = [_one(value) for value in given if value != limit.value]
        for value in others or _SAMPLES:
            again = _told(ask, {**kept, path: value})
            if _mark(found) not in again and again <= before:
                return path, limit
        if others:  # where two limits are wrong, neither alone takes the problem away
            kept[path] = others[0]
    return None


def _limits(text: str, raw: RawPolicy) -> Iterator[tuple[str, Field]]:
    for path in sorted(limits_in(text)):
        limit = raw.limits.get(path.removeprefix("limits."))
        if limit is not None:
            yield path, limit


def _is_later(limit: Field, field: Field, raw: RawPolicy) -> bool:
    if limit.layer.startswith("pack ") or limit.place.file == field.place.file:
        return False
    order = {name: number for number, name in enumerate(raw.files)}
    return field.layer.startswith("pack ") or order[limit.place.file] > order[field.place.file]


def _one(value: Any) -> Any:
    """A value of a limit, which may differ by environment."""
    return value.get("default") if isinstance(value, dict) else value


Mark = tuple[str, int, int]


def _mark(problem: ConditionProblem) -> Mark:
    return problem.kind, problem.line, problem.column


def _told(ask: Ask, constants: dict[str, Any]) -> set[Mark]:
    """All that is said of a condition with these constants."""
    try:
        checked = ask(constants=constants)
    except ConditionError as error:
        return {_mark(problem) for problem in error.problems}
    told = (*getattr(checked, "advice", ()), getattr(checked, "constant_problem", None))
    return {_mark(problem) for problem in told if problem is not None}
