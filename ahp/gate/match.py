"""Which rules match: the sole evaluator in production (design §2).

A rule whose `when` or condition cannot be decided for want of a fact is a hit too: the answer turns it into a signal
of the rule's `on_missing` intensity. Nothing here reads a policy's text or decides an intensity.
"""

from ahp.conditions.evaluate import Bound, Undecided, build, build_each
from ahp.conditions.language import children, with_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.gate.facts import Facts
    from ahp.policy.program import Program, RulePlan


class Hit:
    """A rule that is true (`undecided` None; `items` what an `each` found), or could not be decided, and why.

    `bound` is set when its condition exceeded a limit: the event is refused then (design §5).
    """

    __slots__ = ("bound", "items", "key", "undecided")

    def __init__(
        self,
        key: str,
        undecided: "Undecided | None" = None,
        items: "list[object] | None" = None,
        bound: "Bound | None" = None,
    ) -> None:
        self.key, self.undecided, self.items, self.bound = key, undecided, items, bound


class _Rule:
    """A rule of the program, built to run. `pending` are the namespaces that it is asked without."""

    __slots__ = ("condition", "costly", "each", "key", "when")

    def __init__(self, rule: "RulePlan", slot_of: dict[str, int], pending: "list[str] | None" = None) -> None:
        self.key, self.when, self.costly = rule.key, rule.when, rule.costly
        self.condition: Callable[[list[object]], bool] | None = None
        self.each: Callable[[list[object]], tuple[list[object], Undecided | None]] | None = None
        plan = _open(rule.plan, pending) if pending else rule.plan
        if rule.items is None:
            self.condition = build(plan, slot_of)
        else:
            items = _open(rule.items, pending) if pending else rule.items
            self.each = build_each(items, plan, rule.var, slot_of)


class Matcher:
    """The rules of one program as closures over fact slots, built once and run as often as the event is judged.

    `filtered` are the keys that a `when` kept from being asked in the last run.
    """

    __slots__ = ("_program", "_rules", "_slot_of", "_whens", "filtered")

    def __init__(self, program: "Program") -> None:
        self._program = program
        self._slot_of = slot_of = {path: index for index, path in enumerate(program.slots)}
        costly = program.costly
        self._rules = [_Rule(rule, slot_of, costly if rule.costly else None) for rule in program.rules]
        self.filtered: set[str] = set()
        self._whens = [build(_open(plan, costly) if costly else plan, slot_of) for plan in program.whens]

    def hits(self, facts: "Facts") -> list[Hit]:
        """The hits, in the program's order.

        Costly facts are gathered only when a rule that reads them is undecided without.
        """
        self.filtered.clear()
        hits = self._run(self._rules, self._whens, facts.slots)
        open_keys = {hit.key for hit in hits if hit.undecided is not None}
        keys = {rule.key for rule in self._rules if rule.costly and rule.key in open_keys}
        if not keys:
            return hits
        facts.gather_costly()
        waiting = [_Rule(rule, self._slot_of) for rule in self._program.rules if rule.key in keys]
        whens = [build(plan, self._slot_of) for plan in self._program.whens]
        hits = [hit for hit in hits if hit.key not in keys] + self._run(waiting, whens, facts.slots)
        order = {rule.key: index for index, rule in enumerate(self._rules)}
        return sorted(hits, key=lambda hit: order[hit.key])

    def _run(
        self, rules: list[_Rule], filters: "list[Callable[[list[object]], bool]]", slots: list[object]
    ) -> list[Hit]:
        whens = [_decide(when, slots) for when in filters]
        hits: list[Hit] = []
        for rule in rules:
            holds: bool | Undecided = True
            if rule.when >= 0:
                holds = whens[rule.when]
                if holds is False:
                    self.filtered.add(rule.key)
                    continue
            try:
                if rule.condition is not None:
                    if rule.condition(slots):
                        hits.append(Hit(rule.key, None if holds is True else holds))  # type: ignore[arg-type]
                    continue
                items, doubt = rule.each(slots)  # type: ignore[misc]
            except Undecided as error:
                hits.append(Hit(rule.key, error))
                continue
            except Bound as error:
                hits.append(Hit(rule.key, bound=error))
                continue
            if items:
                hits.append(Hit(rule.key, None if holds is True else holds, items))  # type: ignore[arg-type]
            elif doubt is not None:
                hits.append(Hit(rule.key, doubt))
        return hits


def _decide(condition: "Callable[[list[object]], bool]", slots: list[object]) -> "bool | Undecided":
    """Kleene's third value is the exception that says what was missing; a filter past its bounds counts as unknown."""
    try:
        return condition(slots) is True
    except Undecided as error:
        return error
    except Bound as error:
        return Undecided("bound", str(error))


def _open(plan: "list[Any]", pending: "list[str]") -> "list[Any]":
    """The plan with `has` and `default` of facts that are only pending left open: not gathered yet is not absent."""
    op = plan[0]
    if op in ("has", "default") and _reads(plan[1], pending):
        return ["==", plan[1], plan[1]] if op == "has" else plan[1]
    return with_children(plan, [_open(child, pending) for child in children(plan)])


def _reads(plan: "list[Any]", namespaces: "list[str]") -> bool:
    if plan[0] == "fact":
        return plan[1].partition(".")[0] in namespaces
    return any(_reads(child, namespaces) for child in children(plan))
